"""What does not depend on rows is computed once."""

from __future__ import annotations

import pytest

from tests.unit.columnar.test_expressions_of_flink import bound
from wiesel.columnar.evaluation import Session
from wiesel.columnar.expressions import Call, InputRef, Literal
from wiesel.columnar.folding import folded


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 + 2 * 3", 7),
        ("UPPER('a') || 'b'", "Ab"),
        ("CAST('12' AS INT)", 12),
        ("TIMESTAMP '1970-01-01 00:00:01' + INTERVAL '1' SECOND", 2000),
    ],
)
def test_parts_without_columns_are_literals(expression: str, value: object) -> None:
    whole = bound(expression)
    found = folded(whole, Session())
    assert isinstance(found, Literal)
    assert (found.value, found.data_type) == (value, whole.data_type)


def test_parts_with_columns_stay() -> None:
    found = folded(bound("i + (1 + 2)"), Session())
    assert isinstance(found, Call)
    assert isinstance(found.operands[0], InputRef)
    assert found.operands[1] == Literal(found.operands[1].data_type, 3)


@pytest.mark.parametrize("expression", ["RAND()", "CURRENT_TIMESTAMP", "CAST('x' AS INT)", "1 / 0", "UUID()"])
def test_what_changes_or_fails_stays(expression: str) -> None:
    assert isinstance(folded(bound(expression), Session()), Call)
