"""Internal. EXPLAIN: Flink's sections, then Wiesel's with what each operator emits and keeps, and advice about state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from wiesel.columnar.expressions import InputRef
from wiesel.columnar.windows import Window
from wiesel.core.durations import to_millis
from wiesel.spi.table.factory import TableSink
from wiesel.sql.costs.advice import plan_advice
from wiesel.sql.costs.cost import cost_of, shown
from wiesel.sql.costs.estimator import Estimator
from wiesel.sql.dml.insert import Insertion
from wiesel.sql.dml.upsert_materialization import CONFLICTS, UPSERT_MATERIALIZE, key_columns, needs_before, why_materialized
from wiesel.sql.explain.advice import Advice, flink_advice
from wiesel.sql.explain.expressions import Notation
from wiesel.sql.explain.logical import logical_plan, uncast_text
from wiesel.sql.explain.nodes import PlanNode, tree
from wiesel.sql.explain.phases import phase_details, phase_names
from wiesel.sql.explain.physical import PhysicalPlan
from wiesel.sql.plan.changelog import ChangelogPlan, changes_of
from wiesel.sql.plan.interval_joins import interval_of
from wiesel.sql.plan.kept_state import advice, kept_by
from wiesel.sql.plan.kept_state import shown as shown_time
from wiesel.sql.plan.operator_parallelism import operator_parallelism, wanted_parallelism
from wiesel.sql.plan.operator_uids import OperatorUids
from wiesel.sql.plan.relations import Join, Project, Relation, TopN, walk
from wiesel.sql.plan.window_relations import window_of_top, windows_of_join
from wiesel.sql.rules.optimizer import Options, estimator_of, is_batch, optimized

__all__ = ["explained"]

_LETTERS = {"+I": "I", "-U": "UB", "+U": "UA", "-D": "D"}


def explained(
    roots: Sequence[Relation | Insertion],
    options: Options,
    *,
    state_ttl: str | None = "0 ms",
    sinks: Sequence[TableSink | None] = (),
    details: Collection[str] = (),
    planned: bool = False,
) -> str:
    """Return the plan of what is read or written at the end of a job, as text.

    Args:
        roots: Queries and inserts.
        options: Those of the optimiser.
        state_ttl: How long state is kept that is not used, as the option has it; None in BATCH mode, where there is none.
        sinks: For each root what it is written to, None for a query; there are only queries by default.
        details: What to tell besides: ``ESTIMATED_COST`` writes behind each operator how many rows it is estimated to return, and what
            it costs with all below it; ``PLAN_ADVICE`` what could make the plan a better one.
        planned: Whether the plans are those that are run, of which Flink shows the execution plan only.
    """
    syntax = [] if planned else [f"== Abstract Syntax Tree ==\n{_text([_lines(logical_plan(root)) for root in roots])}"]
    written, plans = roots, [_relation(root) for root in roots]
    if not planned:
        plans = optimized(plans, options)
    roots = [replace(root, relation=plan) if isinstance(root, Insertion) else plan for root, plan in zip(roots, plans, strict=True)]
    changes, materialized = _changes(roots, sinks or [None] * len(roots), options)
    named = [_with_names_of_query(root, plain) for root, plain in zip(roots, written, strict=True)]
    flinks = _Sections(named, sinks or [None] * len(roots), options, details)
    parts = [
        *syntax,
        *([] if planned else [flinks.physical()]),
        flinks.execution(),
        _operators(roots, plans, options, state_ttl, details, changes, materialized),
    ]
    advised = _advised(roots, plans, options, state_ttl, details, materialized)
    return "\n".join([*parts, *advised])


def _text(trees: Sequence[Sequence[str]]) -> str:
    """Return trees with an empty line behind each."""
    return "\n".join("".join(f"{line}\n" for line in lines) for lines in trees)


def _lines(root: PlanNode) -> list[str]:
    return tree(root, lambda node: node.text())


class _Sections:
    """The physical and the execution plan, as Flink writes them.

    Args:
        roots: What is run; what is inserted has the names that its query gives it.
        sinks: For each root what it is written to.
        options: Those of the job.
        details: What to tell besides.
    """

    def __init__(
        self, roots: Sequence[Relation | Insertion], sinks: Sequence[TableSink | None], options: Options, details: Collection[str]
    ) -> None:
        self._roots = roots
        self._wants = [
            isinstance(root, Insertion) and (sink is None or needs_before(root, sink, options))
            for root, sink in zip(roots, sinks, strict=True)
        ]
        self._materialized = [
            isinstance(root, Insertion) and sink is not None and why_materialized(root, sink, options) is not None
            for root, sink in zip(roots, sinks, strict=True)
        ]
        self._options = options
        self._details = details
        self._in_batch = is_batch(options)

    def _plans(self, notation: Notation) -> tuple[PhysicalPlan, list[PlanNode]]:
        changes, relations = ChangelogPlan(), [_relation(root) for root in self._roots]
        for relation, wanted in zip(relations, self._wants, strict=True):
            changes.add(relation, wanted or self._in_batch)
        made = PhysicalPlan(relations, notation, in_batch=self._in_batch, changes=changes)
        nodes = []
        for root, wanted, materialized in zip(self._roots, self._wants, self._materialized, strict=True):
            if isinstance(root, Insertion):
                node = made.insert(root, materialized=materialized, key=key_columns(root))
                node.inputs[0].want_before(wanted)
            else:
                node = made.node(root)
                node.want_before(False)
            nodes.append(node)
        return made, nodes

    def physical(self) -> str:
        """Return the section of the physical plan, with the advice if it is wanted."""
        _, nodes = self._plans(Notation.PHYSICAL)
        advises = "PLAN_ADVICE" in self._details
        advice = flink_advice(self._roots, nodes, self._options) if advises and not self._in_batch else Advice((), {})
        estimator = estimator_of(self._options)

        def line(node: PlanNode) -> str:
            first = (("advice", str(advice.of[id(node)])),) if id(node) in advice.of else ()
            modes = "CHANGELOG_MODE" in self._details and not self._in_batch
            written = node.text(*([("changelogMode", node.changelog_mode)] if modes else []), first=first)
            return written + (_cost(node, estimator) if "ESTIMATED_COST" in self._details else "")

        text = _text([tree(node, line) for node in nodes])
        if not advises:
            return f"== Optimized Physical Plan ==\n{text}"
        numbered = [f"advice[{place}]: {each}" for place, each in enumerate(advice.lines, 1)] or ["No available advice..."]
        return f"== Optimized Physical Plan With Advice ==\n{text}\n{''.join(f'{each}{chr(10)}' for each in numbered)}"

    def execution(self) -> str:
        """Return the section of the execution plan, in which what is read at several places is written once."""
        made, nodes = self._plans(Notation.EXECUTION)
        numbers: dict[int, int] = {}

        def line(node: PlanNode) -> str:
            if id(node) in numbers:
                return f"Reused(reference_id=[{numbers[id(node)]}])"
            if not made.is_shared(node.relation):
                return node.text()
            numbers[id(node)] = len(numbers) + 1
            return f"{node.text()}(reuse_id=[{numbers[id(node)]}])"

        return f"== Optimized Execution Plan ==\n{_text([tree(node, line, lambda each: id(each) in numbers) for node in nodes])}"


def _with_names_of_query(root: Relation | Insertion, written: Relation | Insertion) -> Relation | Insertion:
    """Return an INSERT whose columns have the names that they have in its query, where it only names them or lengthens strings."""
    if not isinstance(root, Insertion) or not isinstance(written, Insertion) or not isinstance(root.relation, Project):
        return root
    names = logical_plan(written).names
    columns = tuple(replace(field, name=name) for field, name in zip(root.relation.columns, names, strict=True))
    expressions = tuple(map(uncast_text, root.relation.expressions))
    return replace(root, relation=replace(root.relation, expressions=expressions, columns=columns))


def _cost(node: PlanNode, estimator: Estimator) -> str:
    """Return how many rows an operator is estimated to return, and what it costs with all below it."""
    of = node
    while of.relation is None and of.inputs:
        of = of.inputs[0]
    if of.relation is None:
        return ""
    return f": rowcount = {shown(estimator.of(of.relation).rows)}, cumulative cost = {cost_of(of.relation, estimator)}"


def _operators(
    roots: Sequence[Relation | Insertion],
    plans: Sequence[Relation],
    options: Options,
    state_ttl: str | None,
    details: Collection[str],
    changes: ChangelogPlan,
    materialized: Mapping[int, str],
) -> str:
    """Return the section of Wiesel's operators: with the changes that they emit, and what they keep for how long."""
    ttl_ms = to_millis(state_ttl or "0 ms")
    uids, parallelism = OperatorUids(), operator_parallelism(options)
    estimator = estimator_of(options)

    def cost(relation: Relation) -> str:
        if "ESTIMATED_COST" not in details:
            return ""
        return f": rowcount = {shown(estimator.of(relation).rows)}, cumulative cost = {cost_of(relation, estimator)}"

    def described(relation: Relation | Insertion) -> str:
        if isinstance(relation, Insertion):
            told = {"upsertMaterialize": "true" if id(relation) in materialized else None, "conflictStrategy": relation.conflict}
            return "".join(f", {name}=[{value}]" for name, value in told.items() if value)
        kinds = ",".join(_LETTERS[str(kind)] for kind in changes_of(relation).kinds(changes.sends_before(relation)))
        state = "; ".join(map(str, kept_by(relation, ttl_ms))) if state_ttl is not None else ""
        uid = uids.of(relation)
        wanted = wanted_parallelism(relation, uid, parallelism)
        known = {"changelogMode": kinds, "uid": uid, "parallelism": wanted, "state": state}
        return "".join(f", {name}=[{value}]" for name, value in known.items() if value)

    reused = _Reused(plans)
    lines = [line for root in roots for line in _tree(root, 0, described, reused, cost)]
    return "".join(f"{line}\n" for line in ["== Operators ==", *lines])


def _advised(
    roots: Sequence[Relation | Insertion],
    plans: Sequence[Relation],
    options: Options,
    state_ttl: str | None,
    details: Collection[str],
    materialized: Mapping[int, str],
) -> list[str]:
    """Return the section of what there is to say of state and, if it is wanted, of estimates; none if there is nothing."""
    ttl_ms = to_millis(state_ttl or "0 ms")
    found = [] if state_ttl is None else [line for plan in plans for relation in walk(plan) for line in advice(relation, ttl_ms)]
    found += [_of_sink(root, materialized[id(root)]) for root in roots if isinstance(root, Insertion) and id(root) in materialized]
    if "PLAN_ADVICE" in details:
        found += plan_advice(plans, options, estimator_of(options))
    if not found and "PLAN_ADVICE" not in details:
        return []
    return ["".join(f"{line}\n" for line in ["== Advice ==", *(dict.fromkeys(found) or ["No available advice"])])]


def _changes(
    roots: Sequence[Relation | Insertion], sinks: Sequence[TableSink | None], options: Options
) -> tuple[ChangelogPlan, dict[int, str]]:
    """Return which changes the plans send, and by the ``id`` of an insert why its rows are kept in front of the sink, where they are."""
    changes, materialized = ChangelogPlan(), dict[int, str]()
    for root, sink in zip(roots, sinks, strict=True):
        if not isinstance(root, Insertion) or sink is None:
            changes.add(_relation(root))
            continue
        changes.add(root.relation, needs_before(root, sink, options))
        why = why_materialized(root, sink, options)
        if why is not None:
            materialized[id(root)] = why
    return changes, materialized


def _of_sink(insertion: Insertion, why: str) -> str:
    what = "the row of each primary key, and waits for the watermark" if insertion.conflict in CONFLICTS else "the rows of each primary key"
    return (
        f"Sink({insertion.identifier}) keeps {what}, as {why}: group or number the rows by the columns of the key, "
        f"or set '{UPSERT_MATERIALIZE.key}' to 'NONE' if it does not matter which of several rows is left."
    )


def _relation(root: Relation | Insertion) -> Relation:
    return root.relation if isinstance(root, Insertion) else root


class _Reused:
    """Numbers of the relations that are read at several places; they are written out at the first one."""

    def __init__(self, plans: Sequence[Relation]) -> None:
        self._read: Counter[int] = Counter()
        self._numbers: dict[int, int] = {}
        for plan in plans:
            self._count(plan)

    def _count(self, relation: Relation) -> None:
        self._read[id(relation)] += 1
        if self._read[id(relation)] == 1:
            for below in relation.inputs:
                self._count(below)

    def written(self, relation: Relation) -> int | None:
        """Return the number of a relation that was written out before."""
        return self._numbers.get(id(relation))

    def mark(self, relation: Relation) -> str:
        """Return what stands behind a relation that is written out now."""
        if self._read[id(relation)] < 2:  # noqa: PLR2004 - it is read once
            return ""
        self._numbers[id(relation)] = len(self._numbers) + 1
        return f"(reuse_id=[{len(self._numbers)}])"


def _tree(
    root: Relation | Insertion,
    depth: int,
    details: Callable[[Relation | Insertion], str],
    reused: _Reused | None = None,
    cost: Callable[[Relation], str] = lambda relation: "",
) -> list[str]:
    indent = f"{'   ' * (depth - 1)}+- " if depth else ""
    if isinstance(root, Insertion):
        fields = ", ".join(field.name for field in root.relation.fields)
        line = f"{indent}Sink(table=[{root.identifier}], fields=[{fields}]{details(root)})"
        return [line, *_tree(root.relation, depth + 1, details, reused, cost)]
    number = None if reused is None else reused.written(root)
    if number is not None:
        return [f"{indent}Reused(reference_id=[{number}])"]
    phases = phase_names(root)
    name, mark = phases[0] if phases else _name(root), reused.mark(root) if reused else ""
    lines = [f"{indent}{name}({_details(root)}{details(root)}){mark}{cost(root)}"]
    for name in phases[1:]:
        depth += 1
        lines.append(f"{'   ' * (depth - 1)}+- {name}({_details(root)}{phase_details(root, name)})")
    for below in root.inputs:
        lines += _tree(below, depth + 1, details, reused, cost)
    return lines


def _details(relation: Relation) -> str:
    return _DESCRIBED.get(relation.name, _fields)(relation)


def _name(relation: Relation) -> str:
    if isinstance(relation, Join) and windows_of_join(relation) is not None:
        return "WindowJoin"
    if isinstance(relation, Join) and interval_of(relation) is not None and all(changes_of(side).append_only for side in relation.inputs):
        return "IntervalJoin"
    if isinstance(relation, TopN) and window_of_top(relation) is not None:
        return "WindowTopN"
    return relation.name


def _names(relation: Relation, indexes: Sequence[int]) -> str:
    return ", ".join(relation.fields[index].name for index in indexes)


def _fields(relation: Any) -> str:
    return f"fields=[{', '.join(field.name for field in relation.fields)}]"


def _scan(relation: Any) -> str:
    told = f", filters=[{' AND '.join(map(str, relation.filters))}]" if relation.filters else ""
    limit = "" if relation.limit is None else f", limit=[{relation.limit}]"
    names = [
        field.name if field == whole else f"{field.name} {field.data_type.as_summary_string()}"
        for field, whole in zip(relation.fields, relation.declared, strict=True)
    ]
    return f"table=[{relation.identifier}], fields=[{', '.join(names)}]{told}{limit}"


def _project(relation: Any) -> str:
    shown = [
        str(expression) if isinstance(expression, InputRef) and str(expression) == field.name else f"{expression} AS {field.name}"
        for expression, field in zip(relation.expressions, relation.columns, strict=True)
    ]
    return f"select=[{', '.join(shown)}]"


def _aggregate(relation: Any) -> str:
    calls = [
        f"{call.function}({'DISTINCT ' if call.distinct else ''}{_names(relation.input, call.arguments) or '*'})"
        + (f" FILTER {relation.input.fields[call.filter].name}" if call.filter is not None else "")
        for call in relation.calls
    ]
    key = f"groupBy=[{_names(relation.input, relation.keys)}], " if relation.keys else ""
    waits = f", miniBatch=[{relation.phases.mini_batch}]" if relation.phases.mini_batch is not None else ""
    return f"{key}select=[{', '.join(calls)}]{waits}"


def _window(window: Window) -> str:
    step = f", step=[{shown_time(window.step)}]" if window.kind in ("HOP", "CUMULATE") else ""
    return f"{window.kind}({'gap' if window.kind == 'SESSION' else 'size'}=[{shown_time(window.size)}]{step})"


def _join(relation: Any) -> str:
    hint = "" if relation.hint is None else f", hint=[{relation.hint}]"
    hint += "" if relation.strategy is None else f", strategy=[{relation.strategy}]"
    where = "TRUE" if relation.condition is None else relation.condition
    return f"joinType=[{relation.type.value}], where=[{where}], {_fields(relation)}{hint}"


def _order(relation: Any) -> str:
    return ", ".join(f"{relation.input.fields[key.index].name} {'ASC' if key.ascending else 'DESC'}" for key in relation.keys)


def _top_n(relation: Any) -> str:
    places = f"{relation.first} to {'the end' if relation.last is None else relation.last}"
    return f"partitionBy=[{_names(relation.input, relation.partition)}], orderBy=[{_order(relation)}], places=[{places}]"


def _codes(relation: Any) -> str:
    return f"codes=[{', '.join(f'{one}={other}' for one, other in relation.codes)}]"


def _lookup(relation: Any) -> str:
    asked = ", ".join(f"{relation.scan.fields[column].name}={value}" for column, value in relation.asked)
    where = f", where=[{relation.condition}]" if relation.condition is not None else ""
    return f"joinType=[{relation.type.value}], table=[{relation.scan.identifier}], lookup=[{asked}]{where}, {_fields(relation)}"


_DESCRIBED: dict[str, Callable[[Any], str]] = {
    "TableScan": _scan,
    "Recursion": lambda relation: f"name=[{relation.alias}], {_fields(relation)}, all=[{str(not relation.distinct).lower()}]",
    "RecursiveScan": lambda relation: f"name=[{relation.alias}], {_fields(relation)}",
    "StatisticsScan": lambda relation: f"table=[{relation.identifier}], aggregates=[{', '.join(relation.calls)}]",
    "Project": _project,
    "Filter": lambda relation: f"where=[{relation.condition}]",
    "Aggregate": _aggregate,
    "WindowAggregate": lambda relation: f"window=[{_window(relation.window)}], {_aggregate(relation)}",
    "Join": _join,
    "LookupJoin": _lookup,
    "TopN": _top_n,
    "ProcessTable": lambda relation: f"function=[{relation.function.name}], {_fields(relation)}",
    "ToChangelog": lambda relation: f"{_codes(relation)}, {_fields(relation)}",
    "FromChangelog": lambda relation: f"op=[{relation.input.fields[relation.op].name}], {_codes(relation)}, {_fields(relation)}",
    "WatermarkAssigner": lambda relation: (
        f"rowtime=[{relation.fields[relation.column].name}], watermark=[{relation.watermark or 'SOURCE_WATERMARK()'}]"
    ),
}
