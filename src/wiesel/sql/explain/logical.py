"""Internal. The abstract syntax tree of EXPLAIN: a bound query as relational algebra in Calcite's notation.

The tree shows how the binder has understood a query. Where the binder makes one relation of several parts of a query (the first rows of
partitions, windows that are aggregated) these are written out again, as Flink has them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from wiesel.columnar.expressions import Call, Expression, InputRef, Literal, input_refs, remapped
from wiesel.columnar.functions.intervals import DAY_TIME
from wiesel.sql.dml.insert import Insertion
from wiesel.sql.explain.expressions import Expressions, Notation
from wiesel.sql.explain.nodes import PlanNode
from wiesel.sql.explain.type_names import record_type
from wiesel.sql.plan.relations import AggregateCall, Filter, JoinType, Project, Relation, SortKey, Union
from wiesel.sql.plan.window_relations import WINDOW_COLUMNS, Expand, WindowAggregate, WindowTable
from wiesel.sql.rules.push_down import conjuncts
from wiesel.types.logical import CharType, VarCharType

__all__ = ["logical_plan", "uncast_text"]

_WRITER = Expressions(Notation.LOGICAL)
_WINDOW_COLUMN_COUNT = len(WINDOW_COLUMNS)


def logical_plan(root: Relation | Insertion) -> PlanNode:
    """Return the abstract syntax tree of a query or of an INSERT."""
    builder = _Builder()
    if not isinstance(root, Insertion):
        return builder.node(root)
    below = builder.node(without_text_casts(root.relation))
    return PlanNode("LogicalSink", (("table", str(root.identifier)), ("fields", ", ".join(below.names))), below.names, (below,))


def without_text_casts(relation: Relation) -> Relation:
    """Return what a projection reads that only names columns, or lengthens strings, as that of an INSERT does; else the projection."""
    if not isinstance(relation, Project):
        return relation
    plain = replace(relation, expressions=tuple(map(uncast_text, relation.expressions)))
    return relation.input if _is_identity(plain) else plain


def uncast_text(expression: Expression) -> Expression:
    """Return what a cast to a longer character type reads, which Flink does without; another expression as it is."""
    if isinstance(expression, Call) and expression.function == "CAST" and isinstance(expression.data_type, VarCharType):
        read = expression.operands[0]
        if isinstance(read.data_type, CharType | VarCharType) and read.data_type.length <= expression.data_type.length:
            return read
    return expression


def _is_identity(relation: Project) -> bool:
    places = [each.index if isinstance(each, InputRef) else None for each in relation.expressions]
    return places == list(range(len(relation.input.fields)))


class _Builder:
    """Makes the nodes of one tree."""

    def __init__(self) -> None:
        self._streams = 0

    def node(self, relation: Relation, names: tuple[str, ...] | None = None) -> PlanNode:
        """Return the node of a relation.

        Args:
            relation: The relation.
            names: Names for the results of aggregates, where a projection above only names them.
        """
        handler = _NODES.get(type(relation).__name__)
        if handler is not None:
            return handler(self, relation, names)
        below = tuple(self.node(each) for each in relation.inputs)
        own = tuple(field.name for field in relation.fields)
        return PlanNode(f"Logical{relation.name}", (("fields", ", ".join(own)),), own, below)

    def scan(self, relation: Any, names: Any) -> PlanNode:
        """Return the scan of a table."""
        path = ", ".join((relation.identifier.catalog_name, relation.identifier.database_name, relation.identifier.object_name))
        return PlanNode("LogicalTableScan", (("table", f"[{path}]"),), _names(relation))

    def stream(self, relation: Any, names: Any) -> PlanNode:
        """Return the scan of a stream or of rows of the program."""
        self._streams += 1
        return PlanNode("LogicalTableScan", (("table", f"[*anonymous_datastream_source${self._streams}*]"),), _names(relation))

    def values(self, relation: Any, names: Any) -> PlanNode:
        """Return rows of literals; others are computed over one row."""
        if all(_literal(each) is not None for row in relation.rows for each in row):
            tuples = ", ".join(f"{{ {', '.join(map(_WRITER.operand, row)) or '0'} }}" for row in relation.rows)
            return PlanNode("LogicalValues", (("tuples", f"[{tuples}]"),), _names(relation))
        one = PlanNode("LogicalValues", (("tuples", "[{ 0 }]"),), ("ZERO",))
        rows = tuple(_projection(one, row, _names(relation)) for row in relation.rows)
        return rows[0] if len(rows) == 1 else PlanNode("LogicalUnion", (("all", "true"),), _names(relation), rows)

    def project(self, relation: Any, names: Any) -> PlanNode:
        """Return a projection; one that only names the columns of groups is a part of their node."""
        groups = _groups_below(relation.input)
        if isinstance(groups, WindowAggregate) and groups.time is not None:
            return self._over_windows(relation, groups)
        sets = _grouping_sets(relation)
        if sets is not None:
            relation = sets
            groups = _groups_below(sets.input)
        if groups is None or isinstance(groups, WindowAggregate):
            return _projection(self.node(relation.input), relation.expressions, _names(relation))
        below = self.node(relation.input, _chosen_names(relation, groups))
        if _is_identity(relation):
            return below
        return _projection(below, relation.expressions, _names(relation))

    def filter(self, relation: Any, names: Any) -> PlanNode:
        """Return a filter; several that follow each other are one."""
        parts = [relation.condition]
        below = relation.input
        while isinstance(below, Filter):
            parts.insert(0, below.condition)
            below = below.input
        under = self.node(below, names)
        return PlanNode("LogicalFilter", (("condition", _WRITER.condition(parts)),), under.names, (under,))

    def watermark(self, relation: Any, names: Any) -> PlanNode:
        """Return what assigns watermarks."""
        below = self.node(relation.input)
        watermark = "SOURCE_WATERMARK()" if relation.watermark is None else _WRITER.text(relation.watermark)
        attributes = (("rowtime", below.names[relation.column]), ("watermark", watermark))
        return PlanNode("LogicalWatermarkAssigner", attributes, below.names, (below,))

    def aggregate(self, relation: Any, names: tuple[str, ...] | None) -> PlanNode:
        """Return groups."""
        if not relation.calls and isinstance(relation.input, Union) and relation.grouping_sets is None:
            below = self.node(relation.input)
            return PlanNode("LogicalUnion", (("all", "false"),), below.names, below.inputs)
        keys = relation.keys
        under = self.node(relation.input)
        if isinstance(relation.input, Project) and names is not None:
            under.names = _renamed(under, relation.input, keys, names)
            under.attributes = _assignments(relation.input.expressions, under.names)
        key_names = tuple(under.names[key] for key in keys)
        calls = names[len(keys) :] if names is not None else tuple(f"$f{len(keys) + place}" for place in range(len(relation.calls)))
        attributes = [("group", f"{{{', '.join(map(str, keys))}}}")]
        if relation.grouping_sets is not None:
            sets = ", ".join(f"{{{', '.join(map(str, each))}}}" for each in relation.grouping_sets)
            attributes.append(("groups", f"[{sets}]"))
        attributes += [(name, _call_text(call)) for name, call in zip(calls, relation.calls, strict=True)]
        return PlanNode("LogicalAggregate", tuple(attributes), (*key_names, *calls), (under,))

    def _over_windows(self, relation: Project, groups: WindowAggregate) -> PlanNode:
        """Return groups of windows: the function of the table, what is read of its rows, and the aggregate over that."""
        width = len(groups.keys)
        first = len(groups.columns) - _WINDOW_COLUMN_COUNT
        read = {each.index for each in relation.expressions if isinstance(each, InputRef)} | {first, first + 1}
        bounds = [place for place in range(_WINDOW_COLUMN_COUNT) if first + place in read]
        order = [*(first + place for place in bounds), *range(width), *range(width, first)]
        places = {old: new for new, old in enumerate(order)}
        base, expressions = _before_windows(groups)
        table = self._window_table(base, groups)
        rows = groups.input
        arguments = list(
            dict.fromkeys(index for call in groups.calls for index in (*call.arguments, *([] if call.filter is None else [call.filter])))
        )
        taken = [*groups.keys, *(index for index in arguments if index not in groups.keys)]
        below_names = (*(WINDOW_COLUMNS[place] for place in bounds), *(rows.fields[index].name for index in taken))
        refs = [f"${len(base.fields) + place}" for place in bounds] + [_WRITER.text(expressions[index]) for index in taken]
        under = PlanNode("LogicalProject", tuple(zip(below_names, refs, strict=True)), below_names, (table,))
        chosen = _chosen_names(relation, groups)
        names = tuple(below_names[: len(bounds) + width]) + tuple(chosen[width:first])
        moved = {index: len(bounds) + place for place, index in enumerate(taken)}
        attributes = [("group", f"{{{', '.join(map(str, range(len(bounds) + width)))}}}")]
        attributes += [(name, _call_text(call, moved)) for name, call in zip(names[len(bounds) + width :], groups.calls, strict=True)]
        found = PlanNode("LogicalAggregate", tuple(attributes), names, (under,))
        conditions: list[Expression] = []
        below = relation.input
        while isinstance(below, Filter):
            conditions.insert(0, remapped(below.condition, places))
            below = below.input
        if conditions:
            found = PlanNode("LogicalFilter", (("condition", _WRITER.condition(conditions)),), names, (found,))
        above = [remapped(each, places) for each in relation.expressions]
        if [each.index if isinstance(each, InputRef) else None for each in above] == list(range(len(names))):
            return found
        return _projection(found, above, _names(relation))

    def _window_table(self, base: Relation, groups: WindowAggregate | WindowTable, time: int | None = None) -> PlanNode:
        """Return the function that assigns rows to windows, over all columns of what it reads."""
        below = self.node(base)
        rows = _projection(below, [InputRef(field.data_type, place, field.name) for place, field in enumerate(base.fields)], below.names)
        if isinstance(groups, WindowTable):
            column, partition, added = groups.time, groups.partition, groups.fields[len(base.fields) :]
        else:
            _, expressions = _before_windows(groups)
            of_time = expressions[groups.time or 0]
            column = of_time.index if isinstance(of_time, InputRef) else 0
            partition = tuple(each.index for key in groups.keys if isinstance(each := expressions[key], InputRef))
            added = groups.fields[-_WINDOW_COLUMN_COUNT:]
        attributes = (
            ("invocation", _invocation(groups.window, below.names[column], partition or ())),
            ("rowType", record_type((*base.fields, *added))),
        )
        return PlanNode("LogicalTableFunctionScan", attributes, (*below.names, *WINDOW_COLUMNS), (rows,))

    def window_table(self, relation: Any, names: Any) -> PlanNode:
        """Return rows with the windows that they are in."""
        return self._window_table(relation.input, relation)

    def join(self, relation: Any, names: Any) -> PlanNode:
        """Return a join; one that stands for INTERSECT or EXCEPT as such."""
        set_operation = _set_operation(relation)
        if set_operation is not None:
            sides = (self.node(relation.left.input), self.node(relation.right))
            return PlanNode(set_operation, (("all", "false"),), sides[0].names, sides)
        left, right = self.node(relation.left), self.node(relation.right)
        condition = _WRITER.condition([] if relation.condition is None else [relation.condition])
        attributes = (("condition", condition), ("joinType", relation.type.value.lower()))
        return PlanNode("LogicalJoin", attributes, _names(relation), (left, right))

    def temporal_join(self, relation: Any, names: Any) -> PlanNode:
        """Return rows beside the version of a row that was there at their time."""
        left, right = self.node(relation.left), self.node(relation.right)
        width = len(left.names)
        outer = [f"$cor0.{name}" for name in left.names]
        columns = [*outer, *(f"${place}" for place in range(len(right.names)))]
        snapshot = PlanNode("LogicalSnapshot", (("period", outer[relation.left_time]),), right.names, (right,))
        condition = Expressions(Notation.PHYSICAL, columns).condition([relation.condition])
        versions = PlanNode("LogicalFilter", (("condition", condition),), right.names, (snapshot,))
        read = sorted({relation.left_time, *(index for index in input_refs(relation.condition) if index < width)})
        attributes = (
            ("correlation", "$cor0"),
            ("joinType", relation.type.value.lower()),
            ("requiredColumns", f"{{{', '.join(map(str, read))}}}"),
        )
        return PlanNode("LogicalCorrelate", attributes, _names(relation), (left, versions))

    def union(self, relation: Any, names: Any) -> PlanNode:
        """Return the rows of several relations."""
        sides = [each.input if _only_fits_types(each) else each for each in relation.relations]
        return PlanNode("LogicalUnion", (("all", "true"),), _names(relation), tuple(map(self.node, sides)))

    def top(self, relation: Any, names: Any) -> PlanNode:
        """Return the first rows: of all, or of partitions by their number."""
        below = self.node(relation.input)
        if not relation.partition and not relation.numbered:
            return _sorted(below, relation.keys, relation.first - 1, _count(relation.first, relation.last))
        over = f"PARTITION BY {_columns(relation.partition)} " if relation.partition else ""
        number = f"ROW_NUMBER() OVER ({over}ORDER BY {_over_order(relation.keys)})"
        return self._numbered(relation, below, number)

    def _numbered(self, relation: Any, below: PlanNode, number: str) -> PlanNode:
        width = len(below.names)
        columns = [*((name, f"${place}") for place, name in enumerate(below.names)), (relation.number.name, number)]
        rows = PlanNode("LogicalProject", tuple(columns), (*below.names, relation.number.name), (below,))
        if relation.first == 1 and relation.last is None:
            return rows
        if relation.first == relation.last:
            condition = f"=(${width}, {relation.last})"
        else:
            bounds = [f">=(${width}, {relation.first})"] if relation.first > 1 else []
            bounds += [] if relation.last is None else [f"<=(${width}, {relation.last})"]
            condition = bounds[0] if len(bounds) == 1 else f"AND({', '.join(bounds)})"
        return PlanNode("LogicalFilter", (("condition", condition),), rows.names, (rows,))

    def sort(self, relation: Any, names: Any) -> PlanNode:
        """Return rows in an order."""
        return _sorted(self.node(relation.input), relation.keys, 0, None)

    def limit(self, relation: Any, names: Any) -> PlanNode:
        """Return some rows."""
        return _sorted(self.node(relation.input), (), relation.offset, relation.count)

    def over(self, relation: Any, names: Any) -> PlanNode:
        """Return rows with the results of functions over the rows around them."""
        rows = relation.input
        below = self.node(rows.input if isinstance(rows, Project) and _is_identity(rows) else rows)
        columns = [(name, f"${place}") for place, name in enumerate(below.names)]
        added = [(f"w0$o{place}", _over_text(relation, call)) for place, call in enumerate(relation.calls)]
        return PlanNode("LogicalProject", (*columns, *added), (*below.names, *(name for name, _ in added)), (below,))

    def unnest(self, relation: Any, names: Any) -> PlanNode:
        """Return rows beside the elements of a collection."""
        below = self.node(relation.input)
        added = _names(relation)[len(below.names) :]
        collection = relation.collection
        name = collection.name if isinstance(collection, InputRef) else "EXPR$0"
        taken = Expressions(Notation.PHYSICAL, [f"$cor0.{each}" for each in below.names]).text(collection)
        row = PlanNode("LogicalValues", (("tuples", "[{ 0 }]"),), ("ZERO",))
        lists = PlanNode("Uncollect", (), added, (PlanNode("LogicalProject", ((name, taken),), (name,), (row,)),))
        elements = PlanNode("LogicalProject", tuple((each, f"${place}") for place, each in enumerate(added)), added, (lists,))
        read = ", ".join(map(str, sorted(input_refs(collection))))
        attributes = (("correlation", "$cor0"), ("joinType", "left" if relation.outer else "inner"), ("requiredColumns", f"{{{read}}}"))
        return PlanNode("LogicalCorrelate", attributes, (*below.names, *added), (below, elements))


def _names(relation: Relation) -> tuple[str, ...]:
    return tuple(field.name for field in relation.fields)


def _only_fits_types(relation: Relation) -> bool:
    """Return whether a projection only makes columns of another one nullable, as for a union."""
    return isinstance(relation, Project) and isinstance(relation.input, Project) and _is_identity(relation)


def _literal(expression: Expression) -> Literal | None:
    while isinstance(expression, Call) and expression.function == "CAST":
        expression = expression.operands[0]
    return expression if isinstance(expression, Literal) else None


def _assignments(expressions: Sequence[Expression], names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, _WRITER.text(each)) for name, each in zip(names, expressions, strict=True))


def _projection(below: PlanNode, expressions: Sequence[Expression], names: Sequence[str]) -> PlanNode:
    """Return a projection; expressions of one over functions with OVER are written with them."""
    if below.name == "LogicalProject" and any(" OVER (" in value for _, value in below.attributes):
        values = [value for _, value in below.attributes]
        if all(isinstance(each, InputRef) for each in expressions):
            chosen = tuple((name, values[each.index]) for name, each in zip(names, expressions, strict=True))  # type: ignore[attr-defined]
            return PlanNode("LogicalProject", chosen, tuple(names), below.inputs)
    return PlanNode("LogicalProject", _assignments(expressions, names), tuple(names), (below,))


def _groups_below(relation: Relation) -> Any:
    """Return the aggregate that is read, directly or behind HAVING."""
    while isinstance(relation, Filter):
        relation = relation.input
    return relation if type(relation).__name__ in ("Aggregate", "WindowAggregate") else None


def _grouping_sets(relation: Project) -> Project | None:
    """Return a projection of groups that read each row once per grouping set as one of groups with grouping sets."""
    groups = relation.input
    rows = getattr(groups, "input", None)
    if type(groups).__name__ != "Aggregate" or not isinstance(rows, Expand):
        return None
    number = len(groups.keys) - 1  # type: ignore[attr-defined]
    if any(number in input_refs(each) for each in relation.expressions):
        return None
    sets = tuple(
        tuple(place for place, key in enumerate(groups.keys[:-1]) if _literal(row[key]) is None)  # type: ignore[attr-defined]
        for row in rows.projections
    )
    below = Project(rows.input, _first_values(rows), rows.columns[:-1]) if not _passes(rows) else rows.input
    columns = (*groups.fields[:number], *groups.fields[number + 1 :])
    made = replace(groups, input=below, keys=groups.keys[:-1], columns=columns, grouping_sets=sets)  # type: ignore[type-var, attr-defined]
    places = {place: place - (place > number) for place in range(len(groups.fields))}
    return replace(relation, input=made, expressions=tuple(remapped(each, places) for each in relation.expressions))


def _passes(rows: Expand) -> bool:
    """Return whether each column of rows that are expanded is one of theirs, in their order, in one projection at least."""
    width = len(rows.columns) - 1
    return width == len(rows.input.fields) and all(
        any(isinstance(row[place], InputRef) and row[place].index == place for row in rows.projections)  # type: ignore[attr-defined]
        for place in range(width)
    )


def _first_values(rows: Expand) -> tuple[Expression, ...]:
    """Return for each column but the number of the set what is not NULL in one of the projections."""
    columns = list(zip(*rows.projections, strict=True))[:-1]
    return tuple(next((each for each in column if _literal(each) is None), column[0]) for column in columns)


def _chosen_names(relation: Project, groups: Any) -> tuple[str, ...]:
    """Return names for the columns of groups: those that the projection above gives to results, and to keys without one."""
    found: dict[int, str] = {}
    for expression, column in zip(relation.expressions, relation.columns, strict=True):
        if isinstance(expression, InputRef):
            found.setdefault(expression.index, column.name)
    width = len(groups.keys)
    names = []
    for place, field in enumerate(groups.fields):
        kept = place < width and not field.name.startswith("$")
        names.append(field.name if kept else found.get(place, f"$f{place}"))
    return tuple(names)


def _renamed(under: PlanNode, rows: Project, keys: Sequence[int], names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the rows that are grouped, in which computed keys have those of the groups."""
    wanted = dict(zip(keys, names, strict=False))
    return tuple(
        wanted[place] if place in wanted and not isinstance(rows.expressions[place], InputRef) else name
        for place, name in enumerate(under.names)
    )


def _before_windows(groups: WindowAggregate) -> tuple[Relation, Sequence[Expression]]:
    """Return the rows that were assigned to windows, and the columns of the aggregate's input over them."""
    rows = groups.input
    if isinstance(rows, Project):
        return rows.input, rows.expressions
    return rows, [InputRef(field.data_type, place, field.name) for place, field in enumerate(rows.fields)]



def _invocation(window: Any, time: str, partition: Sequence[int]) -> str:
    def interval(ms: int) -> str:
        return _WRITER.text(Literal(DAY_TIME, ms))

    within = f" PARTITION BY({_columns(partition)})" if window.kind == "SESSION" and partition else ""
    lengths = {"HOP": (window.step, window.size), "CUMULATE": (window.step, window.size)}.get(window.kind, (window.size,))
    if window.offset:
        lengths = (*lengths, window.offset)
    return f"{window.kind}(TABLE(#0){within}, DESCRIPTOR(_UTF-16LE'{time}'), {', '.join(map(interval, lengths))})"


def _columns(indexes: Sequence[int]) -> str:
    return ", ".join(f"${index}" for index in indexes)


def _over_order(keys: Sequence[SortKey]) -> str:
    return ", ".join(f"${key.index}{'' if key.ascending else ' DESC'} NULLS {'FIRST' if key.nulls_first else 'LAST'}" for key in keys)


def _count(first: int, last: int | None) -> int | None:
    return None if last is None else last - first + 1


def _sorted(below: PlanNode, keys: Sequence[SortKey], offset: int, fetch: int | None) -> PlanNode:
    attributes = [(f"sort{place}", f"${key.index}") for place, key in enumerate(keys)]
    attributes += [
        (f"dir{place}", f"{'ASC' if key.ascending else 'DESC'}-nulls-{'first' if key.nulls_first else 'last'}")
        for place, key in enumerate(keys)
    ]
    attributes += [("offset", str(offset))] if offset else []
    attributes += [("fetch", str(fetch))] if fetch is not None else []
    return PlanNode("LogicalSort", tuple(attributes), below.names, (below,))


def _set_operation(relation: Any) -> str | None:
    """Return the set operation that a join was made of."""
    if relation.type not in (JoinType.SEMI, JoinType.ANTI) or type(relation.left).__name__ != "Aggregate" or relation.left.calls:
        return None
    parts = list(conjuncts(relation.condition))
    if len(parts) != len(relation.left.fields) or any(not isinstance(p, Call) or p.function != "IS NOT DISTINCT FROM" for p in parts):
        return None
    return "LogicalIntersect" if relation.type is JoinType.SEMI else "LogicalMinus"


def _call_text(call: AggregateCall, places: dict[int, int] | None = None) -> str:
    """Return the call of an aggregate function over columns."""
    moved = places or {}
    arguments = ", ".join(f"${moved.get(index, index)}" for index in call.arguments)
    distinct = "DISTINCT " if call.distinct else ""
    condition = "" if call.filter is None else f" FILTER ${moved.get(call.filter, call.filter)}"
    return f"{call.function}({distinct}{arguments}){condition}"


def _over_text(relation: Any, call: AggregateCall) -> str:
    """Return the call of a function over the rows around each row; a SUM as Calcite has it, NULL where there are no values."""
    parts = [f"PARTITION BY {_columns(relation.partition)}"] if relation.partition else []
    parts += [f"ORDER BY {_over_order(relation.keys)}"] if relation.keys else []
    frame = relation.frame
    if frame.preceding is not None or frame.following != 0:
        parts.append(_frame(frame))
    rows = f" OVER ({' '.join(parts)})"
    if call.function != "SUM":
        return _call_text(call) + rows
    count, total = (_call_text(replace(call, function=name)) + rows for name in ("COUNT", "$SUM0"))
    return f"CASE(>({count}, 0), {total}, {_WRITER.text(Literal(call.data_type, None))})"


def _frame(frame: Any) -> str:
    def distance(length: Any) -> str:
        return str(length) if frame.by_rows else _WRITER.text(Literal(DAY_TIME, length))

    kind = "ROWS" if frame.by_rows else "RANGE"
    begin = "UNBOUNDED PRECEDING" if frame.preceding is None else f"{distance(frame.preceding)} PRECEDING"
    if frame.following == 0:
        return f"{kind} {begin}"
    end = "UNBOUNDED FOLLOWING" if frame.following is None else f"{distance(frame.following)} FOLLOWING"
    return f"{kind} BETWEEN {begin} AND {end}"


_NODES: dict[str, Callable[[_Builder, Any, Any], PlanNode]] = {
    "TableScan": _Builder.scan,
    "StreamScan": _Builder.stream,
    "ArrowScan": _Builder.stream,
    "Values": _Builder.values,
    "Project": _Builder.project,
    "Filter": _Builder.filter,
    "WatermarkAssigner": _Builder.watermark,
    "Aggregate": _Builder.aggregate,
    "WindowTable": _Builder.window_table,
    "Join": _Builder.join,
    "Union": _Builder.union,
    "TemporalJoin": _Builder.temporal_join,
    "TopN": _Builder.top,
    "Sort": _Builder.sort,
    "Limit": _Builder.limit,
    "OverAggregate": _Builder.over,
    "Unnest": _Builder.unnest,
}
