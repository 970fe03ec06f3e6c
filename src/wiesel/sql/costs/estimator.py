"""Internal. Estimator of row counts of relations.

The formulas are those of Flink's ``FlinkRelMdRowCount``, which go back to Selinger et al., "Access Path Selection in a Relational Database
Management System" (1979): values of different columns do not depend on each other, and the values of the side that has fewer of them are
all found on the other side of a join.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from wiesel.columnar.expressions import Expression, InputRef, Literal, input_refs
from wiesel.core.errors import WieselError
from wiesel.spi.table.statistics import TableStatistics, number_of
from wiesel.sql.catalog.table_factories import table_facts
from wiesel.sql.costs.estimates import ColumnEstimate, Estimate, width_of
from wiesel.sql.costs.selectivity import part_left, selectivity
from wiesel.sql.plan.equations import sides_of_equation
from wiesel.sql.plan.relations import Filter, Join, JoinType, Relation, TableScan
from wiesel.sql.plan.upsert_keys import upsert_keys
from wiesel.sql.rules.push_down import conjuncts
from wiesel.sql.session.stream_rows import table_row_info

__all__ = ["REPORTED", "Estimator", "joined_rows"]

REPORTED = "table.optimizer.source.report-statistics-enabled"
"""Use statistics reported by connectors if the catalog has none (``true`` by default, as in Flink)."""

_ROWS = 1e8
"""Rows of a table of which nothing is known, as in Flink."""


class Estimator:
    """Estimates relations; each one once.

    Args:
        asks_connectors: Whether connectors are asked for statistics where the catalog has none.
    """

    def __init__(self, *, asks_connectors: bool = True) -> None:
        self._asks = asks_connectors
        self._known: dict[int, tuple[Relation, Estimate]] = {}
        self._reported: dict[Any, TableStatistics | None] = {}

    def of(self, relation: Relation) -> Estimate:
        """Return the estimate of a relation."""
        if id(relation) not in self._known:
            made = _RULES.get(relation.name, _as_input)(self, relation)
            made = replace(made, rows=max(made.rows, 0.0), keys=upsert_keys(relation))
            self._known[id(relation)] = (relation, made)  # the relation stays alive, and so its id
        return self._known[id(relation)][1]

    def statistics(self, scan: TableScan, filters: tuple[Expression, ...] = ()) -> TableStatistics | None:
        """Return what is known of a table: what ANALYZE found, else what its connector tells.

        ``filters``: conditions on partition keys, by which other partitions do not count.
        """
        table = scan.table
        if () in table.statistics:
            return table.statistics[()]
        found = self._told(scan, filters) if self._asks else None
        return TableStatistics.of_all(table.statistics.values()) if found is None and table.statistics else found

    def _told(self, scan: TableScan, filters: tuple[Expression, ...]) -> TableStatistics | None:
        key = (scan.identifier, frozenset(scan.table.options.items()), filters)
        if key not in self._reported:
            try:
                facts = table_facts(scan.identifier, scan.table, table_row_info(scan.row_type), filters)
            except WieselError:
                facts = None  # who reads the table tells what is wrong with it
            self._reported[key] = None if facts is None else facts.statistics
        return self._reported[key]


def _fresh(relation: Relation, rows: float, *, known: bool = True) -> Estimate:
    """Return an estimate of which nothing is known but the number of rows."""
    return Estimate(rows, tuple(ColumnEstimate(width=width_of(field.data_type)) for field in relation.fields), known=known)


def _as_input(estimator: Estimator, relation: Any) -> Estimate:
    below = [estimator.of(each) for each in relation.inputs]
    if not below:
        return _fresh(relation, _ROWS, known=False)
    known = all(each.known for each in below)
    columns = below[0].columns[: len(relation.fields)]
    more = tuple(ColumnEstimate(width=width_of(field.data_type)) for field in relation.fields[len(columns) :])
    return Estimate(below[0].rows, (*columns, *more), known=known)


def _scanned(estimator: Estimator, scan: TableScan) -> Estimate:
    return _of_table(estimator, scan, ())


def _of_table(estimator: Estimator, scan: TableScan, filters: tuple[Expression, ...]) -> Estimate:
    found = estimator.statistics(scan, filters)
    if found is None:
        return _fresh(scan, _ROWS, known=False)
    columns = []
    for field in scan.fields:
        of, width = found.columns.get(field.name), float(width_of(field.data_type))
        if of is None:
            columns.append(ColumnEstimate(width=width))
            continue
        distinct = of.distinct if of.true_count is None or of.false_count is None else bool(of.true_count) + bool(of.false_count)
        nulls = None if of.nulls is None or not found.rows else of.nulls / found.rows
        columns.append(ColumnEstimate(distinct, nulls, of.least, of.greatest, width if of.average_length is None else of.average_length))
    return Estimate(found.rows, tuple(columns))


def _filtered(estimator: Estimator, relation: Filter) -> Estimate:
    parts = list(conjuncts(relation.condition))
    below, scan = relation.input, relation.input
    if not isinstance(scan, TableScan) or not scan.table.partition_keys:
        whole = estimator.of(below)
        return whole.of_rows(whole.rows * selectivity(relation.condition, whole))
    # Partitions that are left out do not count, so conditions on their keys leave all other rows.
    keys = {index for index, field in enumerate(scan.fields) if field.name in scan.table.partition_keys}
    on_keys = tuple(part for part in parts if input_refs(part) and input_refs(part) <= keys)
    whole = _of_table(estimator, scan, on_keys)
    left = whole.rows
    for part in parts:
        left *= part_left(part, whole) if part not in on_keys else 1.0
    return whole.of_rows(left)


def _projected(estimator: Estimator, relation: Any) -> Estimate:
    below = estimator.of(relation.input)
    columns = []
    for expression in relation.expressions:
        if isinstance(expression, InputRef):
            columns.append(below.columns[expression.index])
        elif isinstance(expression, Literal):
            number = number_of(expression.value)
            nulls = 1.0 if expression.value is None else 0.0
            columns.append(ColumnEstimate(1.0, nulls, number, number, width_of(expression.data_type)))
        else:
            columns.append(ColumnEstimate(width=width_of(expression.data_type)))
    return replace(below, columns=tuple(columns))


def _grouped(estimator: Estimator, relation: Any) -> Estimate:
    below = estimator.of(relation.input)
    rows = groups_of(below, relation.keys)
    if getattr(relation, "window", None) is not None:
        # Flink's guess: keys come in two windows each, in four where windows overlap.
        rows *= 4.0 if relation.window.kind in ("HOP", "CUMULATE") else 2.0
    elif relation.grouping_sets is not None:
        rows = sum(groups_of(below, keys) for keys in relation.grouping_sets)
    keys = [below.columns[key] for key in relation.keys]
    columns = [each if each.distinct is None else replace(each, distinct=min(each.distinct, rows)) for each in keys]
    more = [ColumnEstimate(width=width_of(field.data_type)) for field in relation.fields[len(keys) :]]
    return Estimate(rows, (*columns, *more), known=below.known)


def groups_of(estimate: Estimate, keys: tuple[int, ...]) -> float:
    """Return how many groups rows have by some columns; where it is not known how many values there are, Flink's part of the rows."""
    if not keys:
        return 1.0
    distinct = estimate.distinct(keys)
    return estimate.rows * -math.expm1(-0.1 * len(keys)) if distinct is None else min(distinct, estimate.rows)


def _ranked(estimator: Estimator, relation: Any) -> Estimate:
    below = estimator.of(relation.input)
    groups = groups_of(below, relation.partition)
    rows = below.rows if relation.last is None else min(below.rows, groups * max(relation.last - relation.first + 1, 0))
    found = below.of_rows(rows)
    return replace(found, columns=(*found.columns, ColumnEstimate(width=8)) if relation.numbered else found.columns)


def _united(estimator: Estimator, relation: Any) -> Estimate:
    parts = [estimator.of(each) for each in relation.relations]
    return _fresh(relation, sum(each.rows for each in parts), known=all(each.known for each in parts))


def _joined(estimator: Estimator, relation: Join) -> Estimate:
    left, right = estimator.of(relation.left), estimator.of(relation.right)
    both = Estimate(max(left.rows, right.rows), (*left.columns, *right.columns))
    pairs = joined_rows(left, right, relation.condition)
    known = left.known and right.known
    if relation.type in (JoinType.SEMI, JoinType.ANTI):
        found = min(1.0, pairs / left.rows) if left.rows else 0.0
        rows = left.rows * (found if relation.type is JoinType.SEMI else 1.0 - found)
        return replace(left.of_rows(rows), known=known)
    rows = {
        JoinType.INNER: pairs,
        JoinType.LEFT: max(left.rows, pairs),
        JoinType.RIGHT: max(right.rows, pairs),
        JoinType.FULL: max(left.rows, pairs) + max(right.rows, pairs) - pairs,
    }[relation.type]
    return replace(both.of_rows(rows), known=known)


def joined_rows(left: Estimate, right: Estimate, condition: Expression | None) -> float:
    """Return how many pairs of rows of two inputs fulfil a condition over the columns of the left one, then those of the right one."""
    width = len(left.columns)
    lefts: list[int] = []
    rights: list[int] = []
    computed = 0
    rest = 1.0
    both = Estimate(max(left.rows, right.rows), (*left.columns, *right.columns))
    for part in conjuncts(condition):
        sides = sides_of_equation(part, width)
        if sides is None:
            rest *= part_left(part, both)
        elif isinstance(sides[0], InputRef) and isinstance(sides[1], InputRef):
            lefts.append(sides[0].index)
            rights.append(sides[1].index - width)
        else:
            computed += 1
    if not lefts and not computed:
        return left.rows * right.rows * rest
    if any(_are_apart(left.columns[one], right.columns[other]) for one, other in zip(lefts, rights, strict=True)):
        return 0.0
    counts = (left.distinct(tuple(lefts)), right.distinct(tuple(rights))) if lefts and not computed else (None, None)
    if counts[0] is not None and counts[1] is not None:
        return left.rows * right.rows / max(counts[0], counts[1], 1.0) * rest
    unique = lefts and left.is_unique(tuple(lefts)), rights and right.is_unique(tuple(rights))
    if unique[0] and unique[1]:
        return min(left.rows, right.rows) * rest
    if unique[0] or unique[1]:
        return (right.rows if unique[0] else left.rows) * rest
    return (left.rows + right.rows) * 0.15 ** (len(lefts) + computed) * rest


def _are_apart(one: ColumnEstimate, other: ColumnEstimate) -> bool:
    """Return whether two columns have no value in common, by the least and the greatest ones."""
    if None in (one.least, one.greatest, other.least, other.greatest):
        return False
    return one.greatest < other.least or other.greatest < one.least  # type: ignore[operator]


_RULES: dict[str, Callable[[Estimator, Any], Estimate]] = {
    "TableScan": _scanned,
    "ArrowScan": lambda estimator, relation: _fresh(relation, relation.rows.num_rows),
    "Values": lambda estimator, relation: _fresh(relation, len(relation.rows)),
    "StatisticsScan": lambda estimator, relation: _fresh(relation, 1),
    "Filter": _filtered,
    "Project": _projected,
    "Aggregate": _grouped,
    "WindowAggregate": _grouped,
    "TopN": _ranked,
    "Union": _united,
    "Join": _joined,
}
