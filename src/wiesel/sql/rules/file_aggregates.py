"""Internal. Aggregates over whole tables that connectors know without reading rows: COUNT, MIN and MAX of Parquet files, COUNT(*) of ORC.

In batch mode only, as the rows of a table in streaming mode may not all be there yet.
"""

from __future__ import annotations

from typing import Any

from wiesel.columnar.expressions import Expression, InputRef, Literal
from wiesel.spi.table.statistics import Facts
from wiesel.sql.catalog.table_factories import table_facts
from wiesel.sql.plan.relations import Aggregate, AggregateCall, Filter, Project, Relation, StatisticsScan, TableScan
from wiesel.sql.rules.push_down import conjuncts
from wiesel.sql.session.stream_rows import table_row_info

__all__ = ["AGGREGATES", "with_known_aggregates"]

AGGREGATES = "table.optimizer.source.aggregate-pushdown-enabled"
"""Enables the rule (``true`` by default, as in Flink)."""

_UNKNOWN = object()


def with_known_aggregates(relation: Relation) -> Relation:
    """Return a relation in which aggregates that connectors know are not computed."""
    if isinstance(relation, Aggregate) and not relation.keys and relation.grouping_sets is None:
        known = _known(relation)
        if known is not None:
            return known
    inputs = [with_known_aggregates(each) for each in relation.inputs]
    if all(new is old for new, old in zip(inputs, relation.inputs, strict=True)):
        return relation
    return relation.with_inputs(*inputs)


def _known(relation: Aggregate) -> StatisticsScan | None:
    found = _scan_below(relation)
    if found is None or not all(map(_is_simple, relation.calls)):
        return None
    scan, columns, filters = found
    facts = table_facts(scan.identifier, scan.table, table_row_info(scan.row_type), filters)
    if facts is None:
        return None
    values = [_value(call, facts, [columns[index] for index in call.arguments], scan) for call in relation.calls]
    if any(value is _UNKNOWN for value in values):
        return None
    row = tuple(Literal(call.data_type, value) for call, value in zip(relation.calls, values, strict=True))
    calls = tuple(_text(call, [columns[index] for index in call.arguments]) for call in relation.calls)
    return StatisticsScan(scan.identifier, calls, row, relation.columns)


def _is_simple(call: AggregateCall) -> bool:
    return call.function in ("COUNT", "MIN", "MAX") and not call.distinct and call.filter is None and len(call.arguments) <= 1


def _scan_below(relation: Aggregate) -> tuple[TableScan, list[Expression], tuple[Expression, ...]] | None:
    """Return the table whose rows are aggregated, the aggregate's input over its columns, and the conditions on them."""
    below = relation.input
    columns: list[Expression] | None = None
    if isinstance(below, Project):
        columns, below = list(below.expressions), below.input
    filters: tuple[Expression, ...] = ()
    if isinstance(below, Filter):
        filters, below = tuple(conjuncts(below.condition)), below.input
    if not isinstance(below, TableScan):
        return None
    if columns is None:
        columns = [InputRef(field.data_type, index, field.name) for index, field in enumerate(below.fields)]
    return below, columns, filters


def _value(call: AggregateCall, facts: Facts, arguments: list[Expression], scan: TableScan) -> Any:
    """Return the value of an aggregate, ``_UNKNOWN`` if it has to be computed."""
    if not arguments:
        return facts.rows
    argument = arguments[0]
    if isinstance(argument, Literal) and call.function == "COUNT":
        return 0 if argument.value is None else facts.rows
    if not isinstance(argument, InputRef):
        return _UNKNOWN
    column = facts.columns.get(scan.fields[argument.index].name)
    if call.function == "COUNT":
        if not argument.data_type.is_nullable:
            return facts.rows
        return _UNKNOWN if column is None or column.nulls is None else facts.rows - column.nulls
    if column is None or column.bounds is None:
        return _UNKNOWN
    return column.bounds[call.function == "MAX"]


def _text(call: AggregateCall, arguments: list[Expression]) -> str:
    return f"{call.function}({', '.join(map(str, arguments)) or '*'})"
