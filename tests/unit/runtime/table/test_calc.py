"""Filters and projections of random changelogs, beside the same row by row."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.unit.runtime.harness import OperatorHarness
from wiesel.columnar.expressions import Expression, InputRef, Literal
from wiesel.columnar.functions.registry import call
from wiesel.columnar.functions.user_functions import UserFunction, user_call
from wiesel.columnar.row_batch import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, RowBatch
from wiesel.runtime.table.calc import calc_operator
from wiesel.types import logical as t

SEED = random.randrange(10**6)
SCHEMA = pa.schema([("n", pa.int64()), ("text", pa.string())])
N, TEXT = InputRef(t.BigIntType(), 0, "n"), InputRef(t.VarCharType(t.MAX_LENGTH), 1, "text")


def counted(calls: Path) -> UserFunction:
    """Return a function that adds one, and writes what it was called with into a file: functions are pickled on their way."""

    def plus(n: int | None) -> int | None:
        with calls.open("a") as out:
            print(n, file=out)
        return None if n is None else n + 1

    return UserFunction("plus", plus, t.BigIntType())


def _number(value: int) -> Literal:
    return Literal(t.BigIntType(), value)


def _query(plus: UserFunction) -> tuple[Expression, list[Expression]]:
    """Return ``plus(n) > 2``, which may be NULL, and ``text, plus(n), CASE WHEN n < 4 THEN plus(n) * 10 ELSE 0 END``."""
    added = user_call(plus, [N])
    case = call("CASE", [call("<", [N, _number(4)]), call("*", [user_call(plus, [N]), _number(10)]), _number(0)])
    return call(">", [added, _number(2)]), [TEXT, added, case]


def _run(condition: Expression | None, expressions: list[Expression] | None, batch: RowBatch) -> list[tuple[Any, ...]]:
    schema = SCHEMA if expressions is None else pa.schema([("text", pa.string()), ("p", pa.int64()), ("c", pa.int64())])
    harness = OperatorHarness(calc_operator, payload={"condition": condition, "expressions": expressions, "schema": schema})
    harness.push([batch])
    found = []
    for each in harness.values:
        found += zip(each.kinds_or_inserts().tolist(), *(column.to_pylist() for column in each.rows.columns), strict=True)
    return found


@pytest.mark.parametrize("kinds", [(INSERT,), (INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE)])
@pytest.mark.parametrize("most", [9, 2, 30])
def test_random_changes(kinds: tuple[int, ...], most: int, tmp_path: Path) -> None:
    rng = random.Random(SEED)
    calls = tmp_path / "calls"
    condition, expressions = _query(counted(calls))
    least = 2 if most > 9 else -3  # with 30 all rows are left, with 2 few
    rows = [(rng.choice(kinds), rng.choice((rng.randint(least, most), None if most <= 9 else 3)), rng.choice("ab")) for _ in range(50)]
    numbers = np.array([kind for kind, _, _ in rows], np.uint8)
    columns = {"n": pa.array([n for _, n, _ in rows], pa.int64()), "text": [text for _, _, text in rows]}
    batch = RowBatch(pa.record_batch(columns, SCHEMA), numbers if numbers.any() else None)
    left = [(kind, n, text) for kind, n, text in rows if n is not None and n + 1 > 2]
    wanted = [(kind, text, n + 1, (n + 1) * 10 if n < 4 else 0) for kind, n, text in left]
    found = _run(condition, expressions, batch)
    assert found == wanted, f"seed {SEED}"
    # What the condition has computed is there for the columns, and for the branch of CASE.
    assert calls.read_text().split() == [str(n) for _, n, _ in rows], f"seed {SEED}"
    assert _run(condition, None, batch) == left, f"seed {SEED}"
    assert len(_run(None, [*expressions[:1], N, N], batch)) == len(rows), f"seed {SEED}"


def test_a_projection_without_columns_keeps_the_number_of_rows() -> None:
    batch = RowBatch(pa.record_batch({"n": [1, 2, 3], "text": ["a", "b", "c"]}, SCHEMA))
    payload = {"condition": call("<", [N, _number(3)]), "expressions": [], "schema": pa.schema([])}
    harness = OperatorHarness(calc_operator, payload=payload)
    harness.push([batch])
    assert [len(each) for each in harness.values] == [2]
