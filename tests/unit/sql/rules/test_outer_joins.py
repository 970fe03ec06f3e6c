"""Outer joins become inner ones where a condition leaves out padded rows."""

from __future__ import annotations

import pytest

from tests.unit.sql.rules.plans import environment, found, plan
from wiesel.sql.plan.relations import JoinType
from wiesel.sql.rules.outer_joins import with_inner_joins

JOIN = "SELECT a.id FROM orders AS a {kind} JOIN orders AS b ON a.id = b.id WHERE {condition}"


def kinds(sql: str) -> list[JoinType]:
    return [join.type for join in found(with_inner_joins(plan(environment(), sql)), "Join")]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("kind", "condition"),
    [
        ("LEFT", "b.price > 3"),
        ("LEFT", "a.price + 1 < b.price * 2"),
        ("LEFT", "b.item IS NOT NULL"),
        ("RIGHT", "a.price = b.price"),
        ("RIGHT", "CAST(a.price AS INT) <> 7"),
    ],
)
def test_padded_rows_are_refused(kind: str, condition: str) -> None:
    assert kinds(JOIN.format(kind=kind, condition=condition)) == [JoinType.INNER]


@pytest.mark.parametrize(
    ("kind", "condition"),
    [
        ("LEFT", "b.item IS NULL"),
        ("LEFT", "COALESCE(b.price, 1) > 0"),
        ("LEFT", "b.price > 3 OR a.price > 3"),
        ("LEFT", "a.price > 3"),
        ("RIGHT", "b.price > 3"),
        ("FULL", "b.price > 3"),
    ],
)
def test_padded_rows_are_kept(kind: str, condition: str) -> None:
    assert kinds(JOIN.format(kind=kind, condition=condition)) == [JoinType[kind]]


def test_a_subquery_of_one_value_is_joined_without_padding() -> None:
    assert kinds("SELECT id FROM orders WHERE price > (SELECT AVG(price) FROM orders)") == [JoinType.INNER]
