"""Regular expressions that kernels of Arrow compute find what Java's find, and what those of Python find in their place."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.differential.pattern_samples import pattern, texts
from wiesel.columnar.evaluation import Frame, Session, evaluate
from wiesel.columnar.expressions import Expression, InputRef, Literal
from wiesel.columnar.functions.linear_patterns import linear_pattern
from wiesel.columnar.functions.registry import call
from wiesel.types import logical as t

SEED = random.randrange(10**6)
GOLDENS = json.loads((Path(__file__).parents[2] / "differential" / "goldens" / "sql_patterns.json").read_text())
TEXT = t.VarCharType(t.MAX_LENGTH)
MANY = 40
"""Texts enough for kernels."""

Constants = tuple[str | int, ...]


def _operands(constants: Constants) -> list[Expression]:
    return [Literal(t.IntType() if isinstance(each, int) else TEXT, each) for each in constants]


def _many(function: str, values: list[str | None], *constants: str | int) -> list[Any]:
    """Compute a function of a column of texts that is long enough for kernels, and return as many results as there are texts."""
    times = MANY // len(values) + 1
    frame = Frame(pa.record_batch({"t": pa.array(values * times, pa.string())}), Session())
    found = evaluate(call(function, [InputRef(TEXT, 0, "t"), *_operands(constants)]), frame)
    assert len(found) == times * len(values)
    return found.to_pylist()[-len(values) :]  # type: ignore[no-any-return]


def _one_by_one(function: str, values: list[str | None], *constants: str | int) -> list[Any]:
    """Compute it for each text alone, which is done by Python."""
    made = call(function, [InputRef(TEXT, 0, "t"), *_operands(constants)])
    frames = [Frame(pa.record_batch({"t": pa.array([each], pa.string())}), Session()) for each in values]
    return [evaluate(made, frame)[0].as_py() for frame in frames]


def _calls(each: str) -> list[tuple[str, Constants]]:
    groups = [("REGEXP_EXTRACT", (each, number)) for number in range(4)]
    others = [("REGEXP", (each,)), ("REGEXP_SUBSTR", (each,)), ("REGEXP_COUNT", (each,)), ("REGEXP_REPLACE", (each, r"<\1$0>"))]
    return [*groups, *others, ("SIMILAR TO", (each,))]


@pytest.mark.parametrize("part", range(4))
def test_kernels_find_what_python_finds(part: int) -> None:
    seed, computed = SEED + part, 0
    rng = random.Random(seed)
    for _ in range(150):
        each, values = pattern(rng), [*texts(rng, 12), None]
        computed += linear_pattern(each) is not None
        for function, constants in _calls(each):
            found, wanted = _many(function, values, *constants), _one_by_one(function, values, *constants)
            assert found == wanted, f"seed {seed}: {function} of {values} and {constants}"
    assert computed > 50, f"seed {seed}: hardly any pattern is computed by kernels"


def test_kernels_find_what_flink_finds() -> None:
    counts: dict[str, int] = {}
    for each, its in GOLDENS["cases"]:
        linear, values = linear_pattern(each), [text for text, _ in its]
        if linear is None:
            continue  # it repeats what may be nothing: Java and Python do not agree about the groups in it
        for number, name in enumerate(GOLDENS["calls"]):
            function, group, new = re.fullmatch(r"(\w+)\(t, p(?:, (\d)|, '(.*)')?\)", name).groups()  # type: ignore[union-attr]
            constants: Constants = (each, *([int(group)] if group else [new] if new else []))
            for found, (text, results) in zip(_many(function, values, *constants), its, strict=True):
                # Between the two halves that a character has in Java there is nothing to be found here.
                if not (linear.may_be_empty and function in ("REGEXP_COUNT", "REGEXP_REPLACE") and "😀" in text):
                    assert found == results[number], f"{name} of {text!r} and {each!r}"
            counts[name] = counts.get(name, 0) + (linear_pattern(each, int(group) if group else None) is not None)
    assert min(counts.values()) > 10, counts


@pytest.mark.parametrize(
    "unknown",
    ["a$", r"a\b", "(?i)a", "(?=a)", "(?<name>a)", r"(a)\1", "a*+", "a++", "a{,2}", "a{", "[[a]b]", "[a&&b]", "[]a]", "[^]a]", r"[\S]",
     r"\p{L}", r"\Qa\E", "(a*)*", "(|a)+", "^*", "a{101}", r"(?:\w{100}){100}", r"\ud83d", "a)", "(a", "[a", "a\\", "*", "\0",
     "[b-a]", r"[a-\d]"],
)  # fmt: skip
def test_what_is_not_known_to_mean_the_same_is_left_to_python(unknown: str) -> None:
    assert linear_pattern(unknown) is None


@pytest.mark.parametrize(("known", "group"), [("(a)|b", 1), ("(?:(a))?b", 1), ("(?:(a)b)+", 1), ("(a)+", 1), ("a", 1), ("(a)", -1)])
def test_groups_that_may_have_no_value_are_left_to_python(known: str, group: int) -> None:
    assert linear_pattern(known) is not None
    assert linear_pattern(known, group) is None


@pytest.mark.parametrize(("like", "escape"), [("a#%%", "#"), ("%#_b_", "#"), ("##a.\n%", "#"), ("\\%%", "\\")])
def test_like_with_an_escape(like: str, escape: str) -> None:
    values = [*texts(random.Random(SEED), 100), "a%", "a%b", "x_bc", "#a.\nq", "#ax\nq", "%", "%\n", "", None]
    assert _many("LIKE", values, like, escape) == _one_by_one("LIKE", values, like, escape), f"seed {SEED}"


@pytest.mark.parametrize("similar", ["a%", "%(a|b)_", "[ab]+.", "a.c%", "[^a]{2}%|b", "[[:DIGIT:]_]*"])
def test_similar(similar: str) -> None:
    values = [*texts(random.Random(SEED), 100), "ab", "a\n", "a.c", "axc\n", "b", "", None]
    assert _many("SIMILAR TO", values, similar) == _one_by_one("SIMILAR TO", values, similar), f"seed {SEED}"
