"""SPLIT_INDEX of columns of texts, beside that of each text by itself."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from wiesel.columnar.evaluation import Frame, Session, evaluate
from wiesel.columnar.expressions import InputRef, Literal
from wiesel.columnar.functions.registry import call
from wiesel.types import logical as t

SEED = random.randrange(10**6)
TEXT = t.VarCharType(t.MAX_LENGTH)


def _part(text: str | None, separator: str, index: int) -> str | None:
    """Return the part by its definition; an empty text has none."""
    parts = text.split(separator) if text else []
    return parts[index] if 0 <= index < len(parts) else None


@pytest.mark.parametrize("letters", ["/", "a/", "ab/é😀", "abcdefgh/", "x"])
@pytest.mark.parametrize("separator", ["/", "a", "é", "//"])
def test_columns(letters: str, separator: str) -> None:
    rng = random.Random(SEED)
    values = [rng.choice(("".join(rng.choices(letters, k=rng.randrange(12))), None if letters != "x" else "x")) for _ in range(300)]
    column = pa.array(values, pa.string())
    for begin, end in ((0, 300), (17, 230), (5, 9), (300, 300)):
        frame = Frame(pa.record_batch({"t": column.slice(begin, end - begin)}), Session())
        for index in (3, 0, 1, 2, 40, -1):
            made = call("SPLIT_INDEX", [InputRef(TEXT, 0, "t"), Literal(TEXT, separator), Literal(t.IntType(), index)])
            found = evaluate(made, frame)
            found.validate(full=True)
            assert found.to_pylist() == [_part(text, separator, index) for text in values[begin:end]], f"seed {SEED}: {index}"


def test_texts_that_come_and_go_are_not_taken_for_each_other() -> None:
    values = [f"{number}a{number}A{number}" for number in range(100)]
    frame = Frame(pa.record_batch({"t": values}), Session())
    for function, separator in (("UPPER", "A"), ("LOWER", "A"), ("UPPER", "A"), ("LOWER", "a")):
        changed = call(function, [InputRef(TEXT, 0, "t")])
        found = evaluate(call("SPLIT_INDEX", [changed, Literal(TEXT, separator), Literal(t.IntType(), 2)]), frame).to_pylist()
        texts = [text.upper() if function == "UPPER" else text.lower() for text in values]
        assert found == [_part(text, separator, 2) for text in texts]
