"""Internal. Columns that nobody reads are left out, from the results down to the tables.

Each kind of relation has a function that takes the columns that are read of it, and returns the relation without others and which of its
columns are left; these keep their order, and may be more than are read. Of a kind without a function all columns are read.

All readings of one table get the columns that any of them needs, so that they are one reading still.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from wiesel.columnar.expressions import Expression, InputRef, input_refs, remapped
from wiesel.sql.catalog.table_factories import reads_some_columns
from wiesel.sql.plan.lateral_relations import Unnest
from wiesel.sql.plan.over_relations import OverAggregate
from wiesel.sql.plan.relations import (
    Aggregate,
    AggregateCall,
    ArrowScan,
    Field,
    Filter,
    Join,
    JoinType,
    Project,
    Relation,
    TableScan,
    TopN,
    Union,
    WatermarkAssigner,
)
from wiesel.sql.plan.window_relations import Expand, WindowAggregate, WindowTable
from wiesel.types import logical as t

__all__ = ["pruned"]

Kept = Sequence[int]
_WINDOW_COLUMNS = 3
_NARROW = (t.BooleanType, t.NumericType, t.DateType, t.TimestampType)


def pruned(roots: Sequence[Relation]) -> list[Relation]:
    """Return relations of the same fields that read and carry as few columns as possible."""
    first = _Pruner(None)
    for root in roots:
        first.prune(root, range(len(root.fields)))
    second = _Pruner(first.read)
    return [second.prune(root, range(len(root.fields)))[0] for root in roots]


class _Pruner:
    """Prunes relations.

    Attributes:
        read: Tables with the columns that are read of them, by one reading or another.
    """

    def __init__(self, known: list[tuple[TableScan, set[int]]] | None) -> None:
        self._known = known
        self.read: list[tuple[TableScan, set[int]]] = []

    def prune(self, relation: Relation, read: Iterable[int]) -> tuple[Relation, Kept]:
        """Return a relation of which some columns are read, and which of its columns are left."""
        wanted = set(read)
        fields = relation.fields
        if not wanted and fields:
            # Rows without columns could not be counted.
            wanted = {_narrowest(relation)}
        rule = _RULES.get(type(relation).__name__)
        if rule is None:
            inputs = [self.prune(below, range(len(below.fields)))[0] for below in relation.inputs]
            return (relation.with_inputs(*inputs) if inputs else relation), range(len(fields))
        return rule(self, relation, wanted)

    def exactly(self, relation: Relation, read: Iterable[int]) -> tuple[Relation, Kept]:
        """Return a relation with no other columns than are read (but one, if none is), as they are going to be sent and kept."""
        wanted = sorted(set(read)) or [_narrowest(relation)][: len(relation.fields)]
        found, kept = self.prune(relation, wanted)
        if list(kept) == wanted:
            return found, kept
        places = _places(kept)
        fields = tuple(relation.fields[index] for index in wanted)
        refs = tuple(InputRef(field.data_type, places[index], field.name) for index, field in zip(wanted, fields, strict=True))
        return Project(found, refs, fields), wanted

    def columns_of(self, scan: TableScan, wanted: set[int]) -> set[int]:
        """Return the columns that are read of a table, by this reading or others."""
        for other, columns in self.read if self._known is None else self._known:
            if other.identifier == scan.identifier and other.table == scan.table:
                columns |= wanted
                return columns
        self.read.append((scan, set(wanted)))
        return wanted


def _narrowest(relation: Relation) -> int:
    fields = relation.fields
    return next((index for index, field in enumerate(fields) if isinstance(field.data_type, _NARROW)), 0)


def _places(kept: Kept) -> dict[int, int]:
    return {index: place for place, index in enumerate(kept)}



def _refs(expressions: Iterable[Expression | None]) -> set[int]:
    return {index for expression in expressions if expression is not None for index in input_refs(expression)}


def _chosen(columns: Sequence[Field], kept: Kept) -> tuple[Field, ...]:
    return tuple(columns[index] for index in kept)


def _scan(pruner: _Pruner, scan: TableScan, wanted: set[int]) -> tuple[Relation, Kept]:
    if scan.columns is not None or not reads_some_columns(scan.table):
        return scan, range(len(scan.fields))
    kept = sorted(pruner.columns_of(scan, wanted))
    if len(kept) == len(scan.fields):
        return scan, kept
    return replace(scan, columns=tuple(kept)), kept


def _arrow_scan(pruner: _Pruner, scan: ArrowScan, wanted: set[int]) -> tuple[Relation, Kept]:
    kept = sorted(wanted)
    return ArrowScan(scan.rows.select(kept), _chosen(scan.columns, kept)), kept


def _watermark(pruner: _Pruner, relation: WatermarkAssigner, wanted: set[int]) -> tuple[Relation, Kept]:
    below, kept = pruner.prune(relation.input, wanted | {relation.column} | _refs([relation.watermark]))
    places = _places(kept)
    watermark = None if relation.watermark is None else remapped(relation.watermark, places)
    return replace(relation, input=below, column=places[relation.column], watermark=watermark), kept


def _project(pruner: _Pruner, relation: Project, wanted: set[int]) -> tuple[Relation, Kept]:
    kept = sorted(wanted)
    expressions = [relation.expressions[index] for index in kept]
    below, left = pruner.prune(relation.input, _refs(expressions))
    places = _places(left)
    return Project(below, tuple(remapped(each, places) for each in expressions), _chosen(relation.columns, kept)), kept


def _filter(pruner: _Pruner, relation: Filter, wanted: set[int]) -> tuple[Relation, Kept]:
    below, kept = pruner.prune(relation.input, wanted | input_refs(relation.condition))
    return Filter(below, remapped(relation.condition, _places(kept))), kept


def _call(call: AggregateCall, places: Mapping[int, int]) -> AggregateCall:
    arguments = tuple(places[index] for index in call.arguments)
    return replace(call, arguments=arguments, filter=None if call.filter is None else places[call.filter])


def _read_by(calls: Iterable[AggregateCall]) -> set[int]:
    return {index for call in calls for index in (*call.arguments, *(() if call.filter is None else (call.filter,)))}


def _aggregate(pruner: _Pruner, relation: Aggregate, wanted: set[int]) -> tuple[Relation, Kept]:
    width = len(relation.keys)
    count = len(relation.columns) - len(relation.calls)
    chosen = [index for index in range(len(relation.calls)) if index + count in wanted]
    if not chosen and not width:
        chosen = [0]
    calls = [relation.calls[index] for index in chosen]
    below, left = pruner.exactly(relation.input, {*relation.keys, *_read_by(calls)})
    places = _places(left)
    kept = [*range(count), *(index + count for index in chosen)]
    changed: dict[str, Any] = {"keys": tuple(places[key] for key in relation.keys), "calls": tuple(_call(each, places) for each in calls)}
    return replace(relation, input=below, columns=_chosen(relation.columns, kept), **changed), kept


def _window_aggregate(pruner: _Pruner, relation: WindowAggregate, wanted: set[int]) -> tuple[Relation, Kept]:
    width, last = len(relation.keys), len(relation.columns)
    chosen = [index for index in range(len(relation.calls)) if index + width in wanted]
    calls = [relation.calls[index] for index in chosen]
    times = {index for index in (relation.time, relation.end) if index is not None}
    below, left = pruner.exactly(relation.input, {*relation.keys, *times, *_read_by(calls)})
    places = _places(left)
    kept = [*range(width), *(index + width for index in chosen), *range(last - _WINDOW_COLUMNS, last)]
    changed: dict[str, Any] = {
        "keys": tuple(places[key] for key in relation.keys),
        "calls": tuple(_call(each, places) for each in calls),
        "time": None if relation.time is None else places[relation.time],
        "end": None if relation.end is None else places[relation.end],
    }
    return replace(relation, input=below, columns=_chosen(relation.columns, kept), **changed), kept


def _window_table(pruner: _Pruner, relation: WindowTable, wanted: set[int]) -> tuple[Relation, Kept]:
    width = len(relation.input.fields)
    read = {index for index in wanted if index < width} | {relation.time, *(relation.partition or ())}
    below, left = pruner.exactly(relation.input, read)
    places = _places(left)
    partition = None if relation.partition is None else tuple(places[index] for index in relation.partition)
    made = replace(relation, input=below, time=places[relation.time], partition=partition)
    return made, [*left, *range(width, width + _WINDOW_COLUMNS)]


def _join(pruner: _Pruner, relation: Join, wanted: set[int]) -> tuple[Relation, Kept]:
    width = len(relation.left.fields)
    read = wanted | _refs([relation.condition])
    left, lefts = pruner.exactly(relation.left, {index for index in read if index < width})
    right, rights = pruner.exactly(relation.right, {index - width for index in read if index >= width})
    both = [*lefts, *(index + width for index in rights)]
    condition = None if relation.condition is None else remapped(relation.condition, _places(both))
    kept = list(lefts) if relation.type in (JoinType.SEMI, JoinType.ANTI) else both
    return replace(relation, left=left, right=right, condition=condition, columns=_chosen(relation.columns, kept)), kept


def _union(pruner: _Pruner, relation: Union, wanted: set[int]) -> tuple[Relation, Kept]:
    kept = sorted(wanted)
    inputs = tuple(pruner.exactly(each, kept)[0] for each in relation.relations)
    return Union(inputs, _chosen(relation.columns, kept)), kept


def _top_n(pruner: _Pruner, relation: TopN, wanted: set[int]) -> tuple[Relation, Kept]:
    width = len(relation.input.fields)
    read = {index for index in wanted if index < width} | set(relation.partition) | {key.index for key in relation.keys}
    below, left = pruner.exactly(relation.input, read)
    places = _places(left)
    keys = tuple(replace(key, index=places[key.index]) for key in relation.keys)
    made = replace(relation, input=below, partition=tuple(places[index] for index in relation.partition), keys=keys)
    return made, [*left, width] if relation.numbered else left


def _expand(pruner: _Pruner, relation: Expand, wanted: set[int]) -> tuple[Relation, Kept]:
    kept = sorted(wanted)
    projections = [[each[index] for index in kept] for each in relation.projections]
    below, left = pruner.prune(relation.input, _refs(part for each in projections for part in each))
    places = _places(left)
    made = tuple(tuple(remapped(part, places) for part in each) for each in projections)
    return Expand(below, made, _chosen(relation.columns, kept)), kept


def _over(pruner: _Pruner, relation: OverAggregate, wanted: set[int]) -> tuple[Relation, Kept]:
    width = len(relation.input.fields)
    if all(index < width for index in wanted):
        # Rows that are late for it then come through, as in Flink.
        return pruner.prune(relation.input, wanted)
    order = {key.index for key in relation.keys}
    read = {index for index in wanted if index < width} | {*relation.partition} | order | _read_by(relation.calls)
    below, left = pruner.exactly(relation.input, read)
    places = _places(left)
    kept = [*left, *range(width, len(relation.columns))]
    changed: dict[str, Any] = {
        "partition": tuple(places[index] for index in relation.partition),
        "keys": tuple(replace(key, index=places[key.index]) for key in relation.keys),
        "calls": tuple(_call(each, places) for each in relation.calls),
    }
    return replace(relation, input=below, columns=_chosen(relation.columns, kept), **changed), kept


def _unnest(pruner: _Pruner, relation: Unnest, wanted: set[int]) -> tuple[Relation, Kept]:
    width = len(relation.input.fields)
    below, left = pruner.prune(relation.input, {index for index in wanted if index < width} | input_refs(relation.collection))
    kept = [*left, *range(width, len(relation.columns))]
    collection = remapped(relation.collection, _places(left))
    return replace(relation, input=below, collection=collection, columns=_chosen(relation.columns, kept)), kept


_RULES: dict[str, Callable[[_Pruner, Any, set[int]], tuple[Relation, Kept]]] = {
    "TableScan": _scan,
    "ArrowScan": _arrow_scan,
    "WatermarkAssigner": _watermark,
    "Project": _project,
    "Filter": _filter,
    "Aggregate": _aggregate,
    "WindowAggregate": _window_aggregate,
    "WindowTable": _window_table,
    "Join": _join,
    "Union": _union,
    "TopN": _top_n,
    "Expand": _expand,
    "OverAggregate": _over,
    "Unnest": _unnest,
}
