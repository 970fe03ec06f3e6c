"""Internal. The physical operators of a plan in Flink's notation: for EXPLAIN, and for the descriptions of operators.

The operators are those that Wiesel runs: where its optimizer has chosen another plan than Flink's, this shows it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from wiesel.columnar.expressions import Call, Expression, InputRef, Literal, input_refs, walk
from wiesel.sql.binding.selection import unique_names
from wiesel.sql.catalog.table_factories import source_kinds
from wiesel.sql.dml.insert import Insertion
from wiesel.sql.explain.aggregate_calls import call_text, phase_calls
from wiesel.sql.explain.expressions import Expressions, Notation
from wiesel.sql.explain.nodes import PlanNode
from wiesel.sql.explain.type_names import record_type, type_name
from wiesel.sql.physical.placement import lies_by
from wiesel.sql.plan.changelog import ALL_CHANGES, APPEND, UPSERTS, ChangelogPlan, Changes, changes_of, needs_before_of
from wiesel.sql.plan.equations import equi_keys
from wiesel.sql.plan.interval_joins import interval_of
from wiesel.sql.plan.kept_state import shown as shown_time
from wiesel.sql.plan.relations import Filter, JoinType, Project, Relation, SortKey, TimeAttribute
from wiesel.sql.plan.upsert_keys import upsert_keys
from wiesel.sql.plan.window_relations import WINDOW_COLUMNS, window_bounds_of, window_of_top, windows_of_join
from wiesel.types.row import RowKind

__all__ = ["PhysicalPlan"]

_JOINS = {
    JoinType.INNER: "InnerJoin",
    JoinType.LEFT: "LeftOuterJoin",
    JoinType.RIGHT: "RightOuterJoin",
    JoinType.FULL: "FullOuterJoin",
    JoinType.SEMI: "LeftSemiJoin",
    JoinType.ANTI: "LeftAntiJoin",
}
_BOUND_TEXTS = ("start('w$) AS window_start", "end('w$) AS window_end", "rowtime('w$) AS window_time")


class PhysicalPlan:
    """Makes the operators of relations; a relation that is read at several places has one.

    Args:
        roots: The relations that are read at the end, by which those are known that are read at several places.
        notation: How expressions are written.
        in_batch: Whether the job runs in batch mode.
        changes: Of which relations ``-U`` is needed.
    """

    def __init__(self, roots: Sequence[Relation], notation: Notation, *, in_batch: bool, changes: ChangelogPlan) -> None:
        self.notation = notation
        self.in_batch = in_batch
        self._changes = changes
        self._made: dict[int, tuple[Relation, PlanNode]] = {}
        self._readers: Counter[int] = Counter()
        for root in roots:
            self._count(root)

    def _count(self, relation: Relation) -> None:
        self._readers[id(relation)] += 1
        if self._readers[id(relation)] == 1:
            for below in relation.inputs:
                self._count(below)

    def is_shared(self, relation: Relation | None) -> bool:
        """Return whether a relation is read at several places."""
        return relation is not None and self._readers[id(relation)] > 1

    def insert(self, insertion: Insertion, *, materialized: bool, key: Sequence[int]) -> PlanNode:
        """Return the operator that writes a table.

        Args:
            insertion: What is written.
            materialized: Whether the rows of each primary key are kept in front of the table.
            key: The columns of the primary key.
        """
        below = self.node(insertion.relation)
        names = below.names
        if materialized:
            below = self.exchange(below, key)
        attributes = [("table", str(insertion.identifier)), ("fields", ", ".join(names))]
        attributes += [("upsertMaterialize", "true")] if materialized else []
        attributes += [("conflictStrategy", insertion.conflict)] if insertion.conflict else []
        return PlanNode("Sink", tuple(attributes), names, (below,), is_sink=True)

    def node(self, relation: Relation, names: tuple[str, ...] | None = None, read: frozenset[int] | None = None) -> PlanNode:
        """Return the operator of a relation.

        Args:
            relation: The relation.
            names: Names of the results of aggregates, which a projection above gives them.
            read: The columns that are read of it; None for all.
        """
        if id(relation) in self._made:
            return self._made[id(relation)][1]
        made = _NODES.get(type(relation).__name__, PhysicalPlan.other)(self, relation, names, read)
        if made.relation is None:
            made.relation = relation
            made.needs_before = needs_before_of(relation)
        self._made[id(relation)] = (relation, made)
        return made

    def description(self, relation: Relation) -> str:
        """Return a line that says what the operator of a relation does."""
        node = self.node(relation)
        if node.relation is relation:
            return node.text()
        return f"Calc(select=[{', '.join(node.names)}])"  # it only names columns

    def part(self, relation: Relation, kind: str) -> str:
        """Return a line that says what an operator does that is a part of a relation, such as ``Local``; empty if it has none."""
        return next((node.text() for node in self.node(relation).walk() if node.name.startswith(kind)), "")

    def over(self, names: Sequence[str]) -> Expressions:
        """Return what writes expressions over columns with names."""
        return Expressions(self.notation, names)

    def exchange(self, below: PlanNode, columns: Sequence[int]) -> PlanNode:
        """Return rows partitioned by columns; all in one task without any."""
        keys = f"hash[{', '.join(below.names[index] for index in columns)}]" if columns else "single"
        return PlanNode("Exchange", (("distribution", keys),), below.names, (below,), changes=below.changes, passes=True)

    # Rows one by one

    def scan(self, relation: Any, names: Any, read: Any) -> PlanNode:
        """Return the scan of a table."""
        own = _names(relation)
        path = [relation.identifier.catalog_name, relation.identifier.database_name, relation.identifier.object_name]
        if relation.filters:
            path.append(f"filter=[{Expressions(Notation.PHYSICAL, own).condition(relation.filters)}]")
        if relation.columns is not None:
            path += [f"project=[{', '.join(own)}]", "metadata=[]"]
        if relation.limit is not None:
            path.append(f"limit=[{relation.limit}]")
        attributes = (("table", f"[{', '.join(path)}]"), ("fields", ", ".join(own)))
        rows = PlanNode("TableSourceScan", attributes, own, changes=changes_of(relation))
        if RowKind.UPDATE_BEFORE not in source_kinds(relation.identifier, relation.table) or self._changes.sends_before(relation):
            return rows
        rows.relation, rows.sends_before = relation, True
        return PlanNode("DropUpdateBefore", (), own, (rows,), changes=rows.changes)

    def stream(self, relation: Any, names: Any, read: Any) -> PlanNode:
        """Return the scan of a stream or of rows of the program."""
        own = _names(relation)
        return PlanNode("DataStreamScan", (("fields", ", ".join(own)),), own, changes=changes_of(relation))

    def values(self, relation: Any, names: Any, read: Any) -> PlanNode:
        """Return rows of the query, whose columns have the names by which they are read."""
        own = names or _names(relation)
        literal = Expressions(Notation.PHYSICAL, own)
        tuples = ", ".join(f"{{ {', '.join(map(literal.operand, row)) or '0'} }}" for row in relation.rows)
        attributes = [("tuples", f"[{tuples}]")]
        if self.notation is Notation.PHYSICAL:
            columns = tuple(_renamed(field, name) for field, name in zip(relation.fields, own, strict=True))
            attributes.insert(0, ("type", record_type(columns)))
        return PlanNode("Values", tuple(attributes), own)

    def calc(self, relation: Any, names: Any, read: Any) -> PlanNode:
        """Return a projection or a filter, or both of them in one operator."""
        if not isinstance(relation, Project):
            return self._calc(relation, None, names, read)
        below = relation.input
        groups = below
        while isinstance(groups, Filter) and not self.is_shared(groups):
            groups = groups.input
        given = _given_names(relation, groups)
        refs = frozenset(index for each in relation.expressions for index in input_refs(each))
        if _is_identity(relation) and not self.is_shared(below):
            return self.node(below, given, refs)
        return self._calc(below if isinstance(below, Filter) else None, relation, given, refs)

    def _calc(self, condition: Any, projection: Any, names: Any, read: Any) -> PlanNode:
        """Return the operator of a projection over a filter, of which one may be None."""
        conditions: list[Expression] = []
        below = projection.input if condition is None else condition
        while isinstance(below, Filter) and (below is condition or not self.is_shared(below)):
            conditions.insert(0, below.condition)
            below = below.input
        if read is not None:
            read = read | {index for each in conditions for index in input_refs(each)}
        if type(below).__name__ == "Values":
            names = _read_names(below, [*conditions, *(projection.expressions if projection is not None else ())])
        under = self.node(below, names, read)
        writer = self.over(under.names)
        if projection is None:
            own, selected = under.names, list(under.names)
        else:
            own = _names(projection)
            selected = [_as(writer.text(each), name) for each, name in zip(projection.expressions, own, strict=True)]
        attributes = [("select", ", ".join(selected))]
        attributes += [("where", writer.condition(conditions))] if conditions else []
        made = PlanNode("Calc", tuple(attributes), own, (under,), projection or condition, under.changes, passes=True)
        made.needs_before = lambda index, wanted: wanted or bool(conditions)
        return made

    def watermark(self, relation: Any, names: Any, read: Any) -> PlanNode:
        """Return what assigns watermarks."""
        below = self.node(relation.input)
        watermark = "SOURCE_WATERMARK()" if relation.watermark is None else self.over(below.names).text(relation.watermark)
        attributes = (("rowtime", below.names[relation.column]), ("watermark", watermark))
        return PlanNode("WatermarkAssigner", attributes, below.names, (below,), changes=below.changes, passes=True)

    def union(self, relation: Any, names: Any, read: Any) -> PlanNode:
        """Return the rows of several relations."""
        inputs: list[PlanNode] = []
        for each in relation.relations:
            node = self.node(each)
            inputs += node.inputs if node.name == "Union" and not self.is_shared(each) else [node]
        own = inputs[0].names
        changes = _all(inputs)
        return PlanNode("Union", (("all", "true"), ("union", ", ".join(own))), own, tuple(inputs), changes=changes, passes=True)

    def expand(self, relation: Any, names: Any, read: Any) -> PlanNode:
        """Return each row once per projection."""
        below = self.node(relation.input)
        own, writer = _names(relation), self.over(below.names)
        projects = ", ".join(
            f"{{{', '.join(_expanded(writer, each, name) for each, name in zip(row, own, strict=True))}}}" for row in relation.projections
        )
        return PlanNode("Expand", (("projects", projects),), own, (below,), changes=below.changes, passes=True)

    def unnest(self, relation: Any, names: Any, read: Any) -> PlanNode:
        """Return rows beside the elements of a collection."""
        below = self.node(relation.input)
        added = _names(relation)[len(below.names) :]
        own = tuple(unique_names([*below.names, *added]))
        invocation = f"$UNNEST_ROWS$1({self.over(below.names).text(relation.collection)})"
        kinds = zip([*(field.data_type for field in relation.fields)], own, strict=True)
        attributes = (
            ("invocation", invocation),
            ("correlate", f"table({invocation})"),
            ("select", ",".join(own)),
            ("rowType", f"RecordType({', '.join(f'{type_name(of)} {name}' for of, name in kinds)})"),
            ("joinType", "LEFT" if relation.outer else "INNER"),
        )
        return PlanNode("Correlate", attributes, own, (below,), changes=below.changes, passes=True)

    # Groups

    def aggregate(self, relation: Any, names: tuple[str, ...] | None, read: Any) -> PlanNode:
        """Return groups, in one phase or in two."""
        under = self._named_keys(relation, names)
        retracts = not under.changes.append_only
        keys = tuple(under.names[key] for key in relation.keys)
        count = len(relation.fields) - len(relation.calls)
        own = (*keys, *_result_names(relation, names, count))
        group = (("groupBy", ", ".join(keys)),) if keys else ()
        changes = UPSERTS if under.changes.append_only else ALL_CHANGES
        if self.in_batch:
            return self._batch_aggregate(relation, under, own, group)
        if not relation.phases.local:
            calls = [_as(call_text(call, under.names, retracts=retracts), name) for call, name in _with(relation.calls, own)]
            attributes = (*group, ("select", ", ".join([*keys, *calls])))
            return PlanNode("GroupAggregate", attributes, own, (self.exchange(under, relation.keys),), changes=changes)
        phases = phase_calls(relation.calls, under.names, retracts=retracts)
        local_names = (*keys, *(f"${place}" for place in range(len(phases.local))))
        local = PlanNode("LocalGroupAggregate", (*group, ("select", ", ".join([*keys, *phases.local]))), local_names, (under,))
        local.needs_before = lambda index, wanted: True
        below = self._by_buckets(relation, self.exchange(local, range(len(keys))), keys)
        calls = [_as(text, name) for text, name in _with(phases.merged, own)]
        return PlanNode("GlobalGroupAggregate", (*group, ("select", ", ".join([*keys, *calls]))), own, (below,), changes=changes)

    def _by_buckets(self, relation: Any, below: PlanNode, keys: Sequence[str]) -> PlanNode:
        """Return the partial results of groups behind the operator that looks for new values of DISTINCT by bucket, where there is one."""
        if not relation.phases.buckets:
            return below
        partial, final = ", ".join([*keys, "$bucket"]), ", ".join(keys)
        grouping = (("partialAggGrouping", partial), ("finalAggGrouping", final), ("buckets", str(relation.phases.buckets)))
        return self.exchange(PlanNode("IncrementalGroupAggregate", grouping, below.names, (below,)), range(len(keys)))

    def _batch_aggregate(self, relation: Any, under: PlanNode, own: Sequence[str], group: Sequence[tuple[str, str]]) -> PlanNode:
        keys = own[: len(own) - len(relation.calls)]
        if not relation.phases.local:
            calls = [_as(call_text(call, under.names, retracts=False), name) for call, name in _with(relation.calls, own)]
            attributes = (("isMerge", "false"), *group, ("select", ", ".join([*keys, *calls])))
            return PlanNode("HashAggregate", attributes, tuple(own), (self.exchange(under, relation.keys),))
        phases = phase_calls(relation.calls, under.names, retracts=False)
        partial = [f"Partial_{text}" for text in phases.local]
        names = (*keys, *(f"${place}" for place in range(len(partial))))
        local = PlanNode("LocalHashAggregate", (*group, ("select", ", ".join([*keys, *partial]))), names, (under,))
        calls = [_as(f"Final_{text}", name) for text, name in _with(phases.merged, own)]
        attributes = (("isMerge", "true"), *group, ("select", ", ".join([*keys, *calls])))
        below = self._by_buckets(relation, self.exchange(local, range(len(keys))), keys)
        return PlanNode("HashAggregate", attributes, tuple(own), (below,))

    def _named_keys(self, relation: Any, names: tuple[str, ...] | None) -> PlanNode:
        """Return the input of groups, whose computed keys have the names that the groups give them."""
        rows = relation.input
        if isinstance(rows, Project) and names is not None and not self.is_shared(rows):
            given = {key: name for key, name in zip(relation.keys, names, strict=False) if rows.columns[key].name.startswith("$")}
            if given:
                columns = tuple(field if place not in given else _renamed(field, given[place]) for place, field in enumerate(rows.columns))
                return self.node(Project(rows.input, rows.expressions, columns))
        return self.node(rows)

    def windows(self, relation: Any, names: tuple[str, ...] | None, read: frozenset[int] | None) -> PlanNode:
        """Return groups of windows, in one phase or in two."""
        under = self.node(relation.input)
        keys = tuple(under.names[key] for key in relation.keys)
        first = len(relation.fields) - len(WINDOW_COLUMNS)
        own = (*keys, *_result_names(relation, names, len(keys)), *WINDOW_COLUMNS)
        group = (("groupBy", ", ".join(keys)),) if keys else ()
        shown = [text for place, text in enumerate(_BOUND_TEXTS) if place < 2 or read is None or first + place in read]
        retracts = not under.changes.append_only
        column = f"time_col=[{under.names[relation.time]}]" if relation.time is not None else f"win_end=[{under.names[relation.end]}]"
        partition = f", partition keys=[{', '.join(keys)}]" if relation.window.kind == "SESSION" and keys else ""
        if not relation.phases.local:
            calls = [_as(call_text(call, under.names, retracts=retracts), name) for call, name in _with(relation.calls, own[:first])]
            window = ("window", f"{_window(relation.window, column)[:-1]}{partition})")
            attributes = (*group, window, ("select", ", ".join([*keys, *calls, *shown])))
            return PlanNode("WindowAggregate", attributes, own, (self.exchange(under, relation.keys),))
        phases = phase_calls(relation.calls, under.names, retracts=retracts)
        slices = "slice_end('w$) AS $slice_end"
        window = ("window", f"{_window(relation.window, column)[:-1]}{partition})")
        attributes = (*group, window, ("select", ", ".join([*keys, *phases.local, slices])))
        local_names = (*keys, *(f"${place}" for place in range(len(phases.local))), "$slice_end")
        local = PlanNode("LocalWindowAggregate", attributes, local_names, (under,))
        local.needs_before = lambda index, wanted: True
        calls = [_as(text, name) for text, name in _with(phases.merged, own[:first])]
        window = ("window", f"{_window(relation.window, 'slice_end=[$slice_end]')[:-1]}{partition})")
        attributes = (*group, window, ("select", ", ".join([*keys, *calls, *shown])))
        return PlanNode("GlobalWindowAggregate", attributes, own, (self.exchange(local, range(len(keys))),))

    def window_table(self, relation: Any, names: Any, read: Any) -> PlanNode:
        """Return rows with the windows that they are in."""
        below = self.node(relation.input)
        partition = [below.names[index] for index in relation.partition or ()]
        window = _window(relation.window, f"time_col=[{below.names[relation.time]}]")
        if relation.window.kind == "SESSION" and partition:
            window = f"{window[:-1]}, partition keys=[{', '.join(partition)}])"
            below = self.exchange(below, relation.partition)
        return PlanNode(
            "WindowTableFunction", (("window", window),), (*below.names, *WINDOW_COLUMNS), (below,), changes=below.changes, passes=True
        )

    def over_aggregate(self, relation: Any, names: Any, read: Any) -> PlanNode:
        """Return rows with the results of functions over the rows around them."""
        below = self.node(relation.input)
        own = (*below.names, *(f"w0$o{place}" for place in range(len(relation.calls))))
        calls = [f"{call_text(call, below.names, retracts=False)} AS {name}" for call, name in _with(relation.calls, own)]
        attributes = [("partitionBy", ", ".join(below.names[index] for index in relation.partition))] if relation.partition else []
        attributes += [("orderBy", _order(relation.keys, below.names))] if relation.keys else []
        attributes += [("window", _frame(relation.frame)), ("select", ", ".join([*below.names, *calls]))]
        changes = ALL_CHANGES if not below.changes.append_only else UPSERTS if relation.time is None and not self.in_batch else APPEND
        return PlanNode("OverAggregate", tuple(attributes), own, (self.exchange(below, relation.partition),), changes=changes)

    # The first rows

    def top(self, relation: Any, names: Any, read: Any) -> PlanNode:
        """Return the first rows in an order: of all, or of partitions."""
        below = self.node(relation.input)
        appends = below.changes.append_only
        strategy = "AppendFastStrategy" if appends else "RetractStrategy"
        if relation.row_key is not None:
            strategy = f"UpdateFastStrategy[{','.join(map(str, relation.row_key))}]"
        if not relation.partition and not relation.numbered:
            return self._sorted(relation, below, strategy)
        own = (*below.names, "w0$o0") if relation.numbered else below.names
        source = below
        if self.in_batch or not lies_by(relation.input, relation.partition):
            source = self.exchange(below, relation.partition)
        place = f"rankStart={relation.first}" + (f", rankEnd={relation.last}" if relation.last is not None else "")
        partition = [("partitionBy", ", ".join(below.names[index] for index in relation.partition))] if relation.partition else []
        ranked = [("rankType", "ROW_NUMBER"), ("rankRange", place), *partition]
        fields = relation.input.fields
        ordered = _order(relation.keys, below.names, fields if relation.deduplicates else None)
        ranked += [("orderBy", ordered), ("select", ", ".join(own))]
        window = window_of_top(relation)
        if window is not None and not self.in_batch:
            return PlanNode("WindowRank", (("window", self._windowed(relation.input, below)), *ranked), own, (source,))
        if relation.deduplicates and appends and not self.in_batch and self.notation is Notation.EXECUTION:
            return self._deduplicate(relation, own, source)
        in_time = relation.is_first_in_time and appends
        attributes = (("strategy", strategy), *ranked)
        return PlanNode("Rank", attributes, own, (source,), changes=APPEND if in_time or self.in_batch else ALL_CHANGES)

    def _deduplicate(self, relation: Any, own: tuple[str, ...], source: PlanNode) -> PlanNode:
        time = relation.input.fields[relation.keys[0].index].time
        first = relation.keys[0].ascending
        attributes = (
            ("keep", "FirstRow" if first else "LastRow"),
            ("key", ", ".join(source.names[index] for index in relation.partition)),
            ("order", time.value),
            ("outputInsertOnly", str(relation.is_first_in_time).lower()),
        )
        return PlanNode("Deduplicate", attributes, own, (source,), changes=APPEND if relation.is_first_in_time else ALL_CHANGES)

    def _sorted(self, relation: Any, below: PlanNode, strategy: str) -> PlanNode:
        """Return all rows in an order, or the first ones."""
        source, appends = self.exchange(below, ()), below.changes.append_only
        bounds = (("offset", str(relation.first - 1)), ("fetch", str(_fetched(relation))))
        if not relation.keys:
            return PlanNode("Limit", bounds, below.names, (source,), changes=APPEND if appends else ALL_CHANGES)
        order = ("orderBy", _order(relation.keys, below.names))
        if relation.last is None and relation.first == 1:
            in_time = relation.input.fields[relation.keys[0].index].time is not None and not self.in_batch
            return PlanNode("TemporalSort" if in_time else "Sort", (order,), below.names, (source,))
        how = () if self.in_batch else (("strategy", strategy),)
        changes = APPEND if self.in_batch else ALL_CHANGES
        return PlanNode("SortLimit", (order, *bounds, *how), below.names, (source,), changes=changes)

    # Joins

    def join(self, relation: Any, names: Any, read: Any) -> PlanNode:
        """Return the pairs of rows, and those that come out without a partner."""
        left, right = self.node(relation.left), self.node(relation.right)
        both = tuple(unique_names([*left.names, *right.names]))
        own = left.names if relation.type in (JoinType.SEMI, JoinType.ANTI) else both
        where = self.over(both).condition([] if relation.condition is None else [relation.condition])
        joined = [("joinType", _JOINS[relation.type])]
        selected = [("where", where), ("select", ", ".join(own))]
        if relation.strategy is not None:
            return self._build_probe(relation, (left, right), own, [*joined, *selected])
        keys = equi_keys(relation.condition, len(left.names))
        inputs = (self._by_key(left, relation.left, keys.left), self._by_key(right, relation.right, keys.right))
        if self.in_batch:
            name = "HashJoin" if keys.left else "NestedLoopJoin"
            return PlanNode(name, (*joined, *selected), own, inputs)
        if windows_of_join(relation) is not None:
            windows = [
                ("leftWindow", self._windowed(relation.left, left)),
                ("rightWindow", self._windowed(relation.right, right)),
            ]
            return PlanNode("WindowJoin", (*windows, *joined, *selected), own, inputs)
        interval = interval_of(relation)
        if interval is not None and left.changes.append_only and right.changes.append_only:
            bounds = (
                f"isRowTime=true, leftLowerBound={interval.lower}, leftUpperBound={interval.upper}, "
                f"leftTimeIndex={interval.times[0]}, rightTimeIndex={interval.times[1]}"
            )
            return PlanNode("IntervalJoin", (*joined, ("windowBounds", bounds), *selected), own, inputs)
        specs = [
            (f"{side}InputSpec", _input_spec(below, parts))
            for side, below, parts in (("left", relation.left, keys.left), ("right", relation.right, keys.right))
        ]
        united = _all([left, right])
        changes = united if relation.type in (JoinType.INNER, JoinType.SEMI) else ALL_CHANGES
        return PlanNode("Join", (*joined, *selected, *specs), own, inputs, changes=changes)

    def _by_key(self, node: PlanNode, relation: Relation, keys: Sequence[Expression]) -> PlanNode:
        """Return a side of a join partitioned by its keys; a key that is no column is computed first."""
        if all(isinstance(each, InputRef) for each in keys):
            return self.exchange(node, [each.index for each in keys])  # type: ignore[attr-defined]
        writer, places = self.over(node.names), []
        selected, names = list(node.names), list(node.names)
        for each in keys:
            if isinstance(each, InputRef):
                places.append(each.index)
                continue
            places.append(len(names))
            names.append(f"$f{len(names)}")
            selected.append(_as(writer.text(each), names[-1]))
        made = PlanNode("Calc", (("select", ", ".join(selected)),), tuple(names), (node,), changes=node.changes, passes=True)
        return self.exchange(made, places)

    def _build_probe(
        self, relation: Any, sides: tuple[PlanNode, PlanNode], own: tuple[str, ...], joined: Sequence[tuple[str, str]]
    ) -> PlanNode:
        build = ("build", ("left", "right")[relation.strategy.side])
        inputs = list(sides)
        if relation.strategy.strategy == "SHUFFLE_HASH":
            keys = equi_keys(relation.condition, len(sides[0].names))
            inputs = [self._by_key(sides[0], relation.left, keys.left), self._by_key(sides[1], relation.right, keys.right)]
            return PlanNode("HashJoin", (*joined, build), own, tuple(inputs))
        kept = inputs[relation.strategy.side]
        inputs[relation.strategy.side] = PlanNode("Exchange", (("distribution", "broadcast"),), kept.names, (kept,))
        if relation.strategy.strategy == "NEST_LOOP":
            return PlanNode("NestedLoopJoin", (*joined, build), own, tuple(inputs))
        return PlanNode("HashJoin", (*joined, ("isBroadcast", "true"), build), own, tuple(inputs))

    def _windowed(self, relation: Relation, node: PlanNode) -> str:
        """Return the window whose bounds are columns of a relation."""
        bounds = window_bounds_of(relation)
        if bounds is None:
            return ""
        columns = [f"{word}=[{node.names[min(part)]}]" for word, part in (("win_start", bounds.start), ("win_end", bounds.end)) if part]
        return _window(bounds.window, ", ".join(columns))

    def temporal_join(self, relation: Any, names: Any, read: Any) -> PlanNode:
        """Return rows beside the version of a row that was there at their time."""
        left, right = self.node(relation.left), self.node(relation.right)
        both = tuple(unique_names([*left.names, *right.names]))
        width = len(left.names)
        versioned = f"__TEMPORAL_JOIN_CONDITION({left.names[relation.left_time]}, {both[width + relation.right_time]}, "
        key = ", ".join(both[width + index] for index in relation.key)
        keys = equi_keys(relation.condition, width)
        lefts = ", ".join(self.over(left.names).text(each) for each in keys.left)
        rights = ", ".join(self.over(both[width:]).text(each) for each in keys.right)
        versioned += (
            f"__TEMPORAL_JOIN_CONDITION_PRIMARY_KEY({key}), __TEMPORAL_JOIN_LEFT_KEY({lefts}), __TEMPORAL_JOIN_RIGHT_KEY({rights}))"
        )
        parts = [self.over(both).condition([relation.condition]), versioned]
        where = f"AND({', '.join(parts)})" if self.notation is Notation.PHYSICAL else f"({' AND '.join(parts)})"
        inputs = (self._by_key(left, relation.left, keys.left), self._by_key(right, relation.right, keys.right))
        attributes = (("joinType", _JOINS[relation.type]), ("where", where), ("select", ", ".join(both)))
        return PlanNode("TemporalJoin", attributes, both, inputs, changes=left.changes, passes=True)

    def lookup_join(self, relation: Any, names: Any, read: Any) -> PlanNode:
        """Return rows beside those that a table has when they come."""
        left = self.node(relation.left)
        both = tuple(unique_names([*left.names, *(field.name for field in relation.fields[len(left.names) :])]))
        writer = self.over(left.names)
        asked = ", ".join(f"{relation.scan.fields[column].name}={writer.text(value)}" for column, value in relation.asked)
        attributes = [("table", str(relation.scan.identifier)), ("joinType", _JOINS[relation.type]), ("lookup", asked)]
        if relation.condition is not None:
            attributes.append(("joinCondition", self.over(both).condition([relation.condition])))
        attributes.append(("select", ", ".join(both)))
        return PlanNode("LookupJoin", tuple(attributes), both, (left,), changes=left.changes, passes=True)

    # Others

    def match(self, relation: Any, names: Any, read: Any) -> PlanNode:
        """Return the matches of a pattern."""
        below = self.node(relation.input)
        own = _names(relation)
        pattern = " ".join(f"{each.name}{_quantifier(each)}" for each in relation.variables)
        attributes = [("partitionBy", ", ".join(below.names[index] for index in relation.partition))] if relation.partition else []
        attributes += [("orderBy", f"{below.names[relation.time]} ASC"), ("measures", ", ".join(own[len(relation.partition) :]))]
        attributes += [("rowsPerMatch", "ONE ROW PER MATCH"), ("after", f"SKIP {relation.skip.upper().replace('_', ' ')}")]
        attributes += [("pattern", pattern)]
        return PlanNode("Match", tuple(attributes), own, (self.exchange(below, relation.partition),))

    def process(self, relation: Any, names: Any, read: Any) -> PlanNode:
        """Return the rows of a process table function."""
        below = [self.node(each) for each in relation.relations]
        tables = [argument for argument in relation.tables if argument.argument is not None]
        keys = [argument.keys for argument in tables] if len(tables) == len(below) else [()] * len(below)
        inputs = [self.exchange(node, columns) if columns else node for node, columns in zip(below, keys, strict=True)]
        own = _names(relation)
        arguments = ", ".join(f"TABLE(#{place})" for place in range(len(inputs)))
        attributes = (
            ("invocation", f"{relation.function.name}({arguments})"),
            ("uid", relation.uid),
            ("select", ",".join(own)),
            ("rowType", record_type(relation.fields)),
        )
        return PlanNode("ProcessTableFunction", attributes, own, tuple(inputs), changes=changes_of(relation))

    def other(self, relation: Any, names: Any, read: Any) -> PlanNode:
        """Return an operator that Flink does not have."""
        own = _names(relation)
        inputs = tuple(self.node(each) for each in relation.inputs)
        return PlanNode(relation.name, (("fields", ", ".join(own)),), own, inputs, changes=changes_of(relation))


def _names(relation: Relation) -> tuple[str, ...]:
    return tuple(field.name for field in relation.fields)


def _as(text: str, name: str) -> str:
    return text if text == name else f"{text} AS {name}"


def _renamed(field: Any, name: str) -> Any:
    return replace(field, name=name)


def _with(calls: Sequence[Any], names: Sequence[str]) -> list[tuple[Any, str]]:
    """Return calls with their names, which are the last ones."""
    return list(zip(calls, names[len(names) - len(calls) :], strict=True))


def _all(nodes: Sequence[PlanNode]) -> Changes:
    found = APPEND
    for each in nodes:
        found |= each.changes
    return found


def _is_identity(relation: Project) -> bool:
    places = [each.index if isinstance(each, InputRef) else None for each in relation.expressions]
    return places == list(range(len(relation.input.fields)))


def _given_names(relation: Project, groups: Relation) -> tuple[str, ...] | None:
    """Return names for the columns of groups that a projection reads; None if it reads no groups."""
    if type(groups).__name__ not in ("Aggregate", "WindowAggregate"):
        return None
    found: dict[int, str] = {}
    for expression, column in zip(relation.expressions, relation.columns, strict=True):
        if isinstance(expression, InputRef):
            found.setdefault(expression.index, column.name)
    return tuple(found.get(place, f"$f{place}") for place in range(len(groups.fields)))


def _read_names(relation: Relation, expressions: Sequence[Expression]) -> tuple[str, ...]:
    """Return the names of the columns of a relation, where expressions read them by others, those."""
    found = {part.index: part.name for each in expressions for part in walk(each) if isinstance(part, InputRef) and part.name}
    return tuple(found.get(place, field.name) for place, field in enumerate(relation.fields))


def _result_names(relation: Any, names: tuple[str, ...] | None, count: int) -> tuple[str, ...]:
    """Return the names of the results of calls, which come behind so many columns."""
    found = names if names is not None else tuple(field.name or f"$f{place}" for place, field in enumerate(relation.fields))
    return found[count : count + len(relation.calls)]


def _expanded(writer: Expressions, expression: Expression, name: str) -> str:
    if isinstance(expression, Literal):
        return f"{'null' if expression.value is None else expression.value} AS {name}"
    if isinstance(expression, Call) and expression.function == "CAST" and isinstance(expression.operands[0], Literal):
        return _expanded(writer, expression.operands[0], name)
    return _as(writer.text(expression), name)


def _window(window: Any, column: str) -> str:
    if window.kind == "SESSION":
        return f"SESSION({column}, gap=[{shown_time(window.size)}])"
    lengths = {"TUMBLE": f"size=[{shown_time(window.size)}]"}
    lengths["HOP"] = f"size=[{shown_time(window.size)}], slide=[{shown_time(window.step)}]"
    lengths["CUMULATE"] = f"max_size=[{shown_time(window.size)}], step=[{shown_time(window.step)}]"
    offset = f", offset=[{shown_time(window.offset)}]" if window.offset else ""
    return f"{window.kind}({column}, {lengths[window.kind]}{offset})"


def _order(keys: Sequence[SortKey], names: Sequence[str], fields: Any = None) -> str:
    """Return sort keys; of rows that are deduplicated the kind of time that the key is."""
    written = []
    for key in keys:
        time = fields[key.index].time if fields is not None else None
        kind = f"{time.value} " if isinstance(time, TimeAttribute) else ""
        # Flink writes where NULLs come only where it is not the default of the direction.
        nulls = "" if key.nulls_first == key.ascending else f" NULLS {'FIRST' if key.nulls_first else 'LAST'}"
        written.append(f"{kind}{names[key.index]} {'ASC' if key.ascending else 'DESC'}{nulls}")
    return ", ".join(written)


def _frame(frame: Any) -> str:
    def end(distance: Any, word: str) -> str:
        return f"UNBOUNDED {word}" if distance is None else f"{distance} {word}"

    following = "CURRENT ROW" if frame.following == 0 else end(frame.following, "FOLLOWING")
    return f" {'ROWS' if frame.by_rows else 'RANGE'} BETWEEN {end(frame.preceding, 'PRECEDING')} AND {following}"


def _fetched(relation: Any) -> int | str:
    return "unlimited" if relation.last is None else max(relation.last - relation.first + 1, 0)


def _input_spec(relation: Relation, keys: Sequence[Expression]) -> str:
    """Return what is known of the rows of a side of a join: whether they have a key, and whether the join goes by it."""
    unique = upsert_keys(relation)
    columns = {each.index for each in keys if isinstance(each, InputRef)}
    if any(key <= columns for key in unique):
        return "JoinKeyContainsUniqueKey"
    return "HasUniqueKey" if unique else "NoUniqueKey"


def _quantifier(variable: Any) -> str:
    if (variable.least, variable.most) == (1, 1):
        return ""
    most = "" if variable.most is None else variable.most
    return f"{{{variable.least}, {most}}}" + ("" if variable.greedy else "?")


_Handler = Callable[[PhysicalPlan, Any, Any, Any], PlanNode]
_NODES: dict[str, _Handler] = {
    "TableScan": PhysicalPlan.scan,
    "StreamScan": PhysicalPlan.stream,
    "ArrowScan": PhysicalPlan.stream,
    "Values": PhysicalPlan.values,
    "Project": PhysicalPlan.calc,
    "Filter": lambda plan, relation, names, read: plan._calc(relation, None, names, read),
    "WatermarkAssigner": PhysicalPlan.watermark,
    "Union": PhysicalPlan.union,
    "Expand": PhysicalPlan.expand,
    "Unnest": PhysicalPlan.unnest,
    "Aggregate": PhysicalPlan.aggregate,
    "WindowAggregate": PhysicalPlan.windows,
    "WindowTable": PhysicalPlan.window_table,
    "OverAggregate": PhysicalPlan.over_aggregate,
    "TopN": PhysicalPlan.top,
    "Join": PhysicalPlan.join,
    "TemporalJoin": PhysicalPlan.temporal_join,
    "LookupJoin": PhysicalPlan.lookup_join,
    "Match": PhysicalPlan.match,
    "ProcessTable": PhysicalPlan.process,
}
