"""The differential suite itself: every program has a golden of real Flink, and the two tell of the same variants."""

from __future__ import annotations

import ast
import datetime
import json
from decimal import Decimal
from typing import Any

import pytest

from tests.differential.canonical import canonical, difference, multiset
from tests.differential.programs_loader import GOLDENS, PROGRAMS, load, program_names


def stored(name: str) -> dict[str, Any]:
    return json.loads((GOLDENS / f"{name}.json").read_text(encoding="utf-8"))


def test_programs_and_goldens_are_the_same_set():
    recorded = [path.stem for path in GOLDENS.glob("*.json") if "program" in json.loads(path.read_text(encoding="utf-8"))]
    assert program_names() == sorted(recorded)
    assert len(program_names()) >= 60


@pytest.mark.parametrize("name", program_names())
def test_golden_was_recorded_for_the_program_as_it_is(name, pyflink_names):
    program, golden = load(name), stored(name)
    assert golden["flink"].startswith("2.3")
    assert golden["about"] == program.about
    assert list(golden["results"]) == [variant.key for variant in program.variants]


@pytest.mark.parametrize("name", program_names())
def test_programs_are_plain_pyflink(name):
    tree = ast.parse((PROGRAMS / f"{name}.py").read_text(encoding="utf-8"))
    imported = {node.module.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    imported |= {alias.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert imported <= {"pyflink", "punctuated", "asyncio", "time", "datetime", "decimal", "fractions", "collections", "functools"}
    assert ast.get_docstring(tree) and "\n" not in ast.get_docstring(tree), "one line that says what the program shows"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (1, True),
        (1, 1.0),
        ((1, 2), [1, 2]),
        ("a", b"a"),
        (None, "None"),
        (0.1, Decimal("0.1")),
        (datetime.date(2024, 1, 1), datetime.datetime(2024, 1, 1)),
        ({1: 2}, {"1": 2}),
    ],
)
def test_values_of_different_types_are_different(left, right):
    assert canonical(left) != canonical(right) or type(canonical(left)) is not type(canonical(right))
    assert difference(multiset([left]), multiset([right])) != ""


def test_order_does_not_matter_but_numbers_do():
    assert difference(multiset([3, 1, 2, 1]), multiset([1, 1, 2, 3])) == ""
    text = difference(multiset([1, 1, 2]), multiset([1, 2, 2, 3]))
    assert "3 records expected, 4 came" in text
    assert "missing (1):\n  - 1" in text
    assert "surplus (2):\n  + 2\n  + 3" in text


def test_what_has_no_canonical_form_is_refused():
    with pytest.raises(TypeError, match="no canonical form"):
        canonical(object())
