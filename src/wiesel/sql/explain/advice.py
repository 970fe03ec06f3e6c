"""Internal. The advice of EXPLAIN PLAN_ADVICE, in Flink's words and for the cases in which Flink gives it, in streaming mode.

Two analyses are done: which groups could be aggregated in two phases by mini-batches, and which columns with non-deterministic values are
updated in a way that needs the same value again (``NonDeterministicUpdateAnalyzer``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from wiesel.columnar.expressions import Call, Expression, InputRef, Literal, input_refs, walk
from wiesel.columnar.functions.registry import is_deterministic
from wiesel.core.durations import to_millis
from wiesel.sql.dml.insert import Insertion
from wiesel.sql.dml.upsert_materialization import key_columns
from wiesel.sql.explain.expressions import Expressions, Notation
from wiesel.sql.explain.nodes import PlanNode, tree
from wiesel.sql.plan.equations import equi_keys
from wiesel.sql.plan.relations import Aggregate, Filter, Join, Project, Relation, TopN, Union, WatermarkAssigner
from wiesel.sql.plan.upsert_keys import upsert_keys
from wiesel.sql.rules.mini_batches import ALLOW_LATENCY, ENABLED, SIZE
from wiesel.sql.rules.options import Options, is_on
from wiesel.sql.rules.two_phases import PHASES

__all__ = ["Advice", "flink_advice"]

_STRATEGY = "table.optimizer.non-deterministic-update.strategy"
_WITHOUT_MERGE = frozenset("FIRST_VALUE LAST_VALUE JSON_ARRAYAGG JSON_OBJECTAGG SINGLE_VALUE".split())
_COLUMNS = (
    "can not satisfy the determinism requirement for correctly processing update message('UB'/'UA'/'D' in changelogMode, not 'I' only), "
    "this usually happens when input node has no upsertKey(upsertKeys=[{}]) or current node outputs non-deterministic update messages. "
    "Please consider removing these non-deterministic columns or making them deterministic by using deterministic functions."
)


@dataclass(frozen=True)
class Advice:
    """Advice about a plan.

    Attributes:
        lines: The advice, by its number from 1 on; one that concerns the whole plan has none of the operators.
        of: By the ``id`` of an operator the number of what is advised about it.
    """

    lines: tuple[str, ...]
    of: dict[int, int]


def flink_advice(roots: Sequence[Relation | Insertion], plans: Sequence[PlanNode], options: Options) -> Advice:
    """Return what Flink would advise about the plans of a streaming job.

    Args:
        roots: What is run.
        plans: The operators of each.
        options: Those of the job.
    """
    lines: list[str] = []
    of: dict[int, int] = {}
    settings = _missing_settings(options)
    groups = [node for plan in plans for node in plan.walk() if settings and _could_merge(node)]
    if groups:
        lines.append(f"[ADVICE] You might want to enable local-global two-phase optimization by configuring ({', '.join(settings)}).")
        of = dict.fromkeys(map(id, groups), 1)
    if options.get_string(_STRATEGY, "IGNORE").strip().upper() == "IGNORE":
        nodes = {id(node.relation): node for plan in reversed(plans) for node in plan.walk() if node.relation is not None}
        found = [warning for root in roots for warning in _Updates(nodes).of(root)]
        lines += [f"[WARNING] {warning}" for warning in dict.fromkeys(found)]
    return Advice(tuple(lines), of)


def _missing_settings(options: Options) -> list[str]:
    found = []
    if options.get_string(PHASES, "AUTO").strip().upper() == "ONE_PHASE":
        found.append(f"'{PHASES}' to 'AUTO'")
    if not is_on(options, ENABLED):
        found.append(f"'{ENABLED}' to 'true'")
    if to_millis(options.get_string(ALLOW_LATENCY, "0 ms")) <= 0:
        found.append(f"'{ALLOW_LATENCY}' to a positive long value")
    size = options.get_string(SIZE, "-1").strip()
    if not size.isdecimal() or int(size) <= 0:
        found.append(f"'{SIZE}' to a positive long value")
    return found


def _could_merge(node: PlanNode) -> bool:
    """Return whether an operator is the last one of groups whose functions can merge accumulators."""
    relation = node.relation
    if node.name not in ("GroupAggregate", "GlobalGroupAggregate") or not isinstance(relation, Aggregate):
        return False
    return all(call.function not in _WITHOUT_MERGE and not _is_of_user(call) for call in relation.calls)


def _is_of_user(call: Any) -> bool:
    return any(hasattr(option, "compute") or hasattr(option, "accumulate") for option in call.options)


class _Updates:
    """Looks for values that may be others when a row is updated or deleted than they were when it came.

    Args:
        nodes: The operators of a plan, by the ids of their relations.
    """

    def __init__(self, nodes: dict[int, PlanNode]) -> None:
        self._nodes = nodes

    def of(self, root: Relation | Insertion) -> Iterator[str]:
        """Yield a warning for each operator; a query without a table to write to needs no value again."""
        if not isinstance(root, Insertion):
            yield from self._below(root, frozenset())
        elif not self._appends(root.relation):
            yield from self._below(root.relation, frozenset(key_columns(root) or range(len(root.relation.fields))))

    def _appends(self, relation: Relation) -> bool:
        node = self._nodes.get(id(relation))
        return node is None or node.changes.append_only

    def _below(self, relation: Relation, needed: frozenset[int]) -> Iterator[str]:
        """Yield warnings for a relation of whose changes some columns need the same values again."""
        if isinstance(relation, Project | Filter):
            yield from self._of_calc(relation, needed)
        elif isinstance(relation, Aggregate):
            yield from self._of_input(relation.input, {*relation.keys, *_read_by(relation)})
        elif isinstance(relation, Join):
            yield from self._of_join(relation, needed)
        elif isinstance(relation, Union | WatermarkAssigner):
            for below in relation.inputs:
                yield from self._below(below, needed)
        elif isinstance(relation, TopN):
            yield from self._of_input(relation.input, range(len(relation.input.fields)))

    def _of_input(self, below: Relation, needed: Collection[int]) -> Iterator[str]:
        """Yield warnings for an input whose rows are found again by values of columns."""
        if not self._appends(below):
            yield from self._below(below, frozenset(needed))

    def _of_join(self, join: Join, needed: frozenset[int]) -> Iterator[str]:
        width = len(join.left.fields)
        keys = equi_keys(join.condition, width)
        read = set(needed) | (input_refs(join.condition) if join.condition is not None else set())
        sides = (
            (join.left, keys.left, {column for column in read if column < width}),
            (join.right, keys.right, {column - width for column in read if column >= width}),
        )
        for side, parts, columns in sides:
            by = {column for part in parts for column in input_refs(part)}
            found = any(key <= by for key in upsert_keys(side))
            yield from self._of_input(side, columns if found else range(len(side.fields)))

    def _of_calc(self, relation: Project | Filter, needed: frozenset[int]) -> Iterator[str]:
        conditions: list[Expression] = []
        below: Relation = relation.input if isinstance(relation, Project) else relation
        while isinstance(below, Filter):
            conditions.append(below.condition)
            below = below.input
        if self._appends(below):
            return
        if needed:
            for condition in conditions:
                for function in _non_deterministic(condition):
                    text = Expressions(Notation.LOGICAL).text(condition)
                    yield (
                        f"There exists non deterministic function: '{function}' in condition: '{text}' which may cause wrong result in "
                        f"update pipeline.\nrelated rel plan:\n{self._plan(relation, keys=False)}\n"
                    )
        if isinstance(relation, Project):
            made = {column: relation.expressions[column] for column in sorted(needed)}
            wrong = {column: list(_non_deterministic(expression)) for column, expression in made.items()}
            named = [
                f"{relation.columns[column].name}(generated by non-deterministic function: {each[0]} )"
                for column, each in wrong.items()
                if each
            ]
            if named:
                yield f"The column(s): {', '.join(named)} {_COLUMNS}\n\nrelated rel plan:\n{self._plan(relation, keys=True)}\n"
            needed = frozenset(ref for expression in made.values() for ref in input_refs(expression))
        yield from self._below(below, needed | frozenset(ref for each in conditions for ref in input_refs(each)) if needed else needed)

    def _plan(self, relation: Relation, *, keys: bool) -> str:
        """Return the operators below one, with their changes and, if wanted, their keys."""
        node = self._nodes.get(id(relation))
        return "" if node is None else "\n".join(tree(node, lambda each: _line(each, keys=keys)))


def _line(node: PlanNode, *, keys: bool) -> str:
    more = [("changelogMode", node.changelog_mode)]
    found = upsert_keys(node.relation) if keys and node.relation is not None and not node.changes.append_only else ()
    if found:
        listed = ", ".join(f"[{', '.join(node.names[index] for index in sorted(key))}]" for key in sorted(found, key=sorted))
        more.append(("upsertKeys", f"{listed}"))
    return node.text(*more)


def _read_by(relation: Aggregate) -> set[int]:
    return {index for call in relation.calls for index in (*call.arguments, *(() if call.filter is None else (call.filter,)))}


def _non_deterministic(expression: Expression) -> Iterator[str]:
    """Yield the names of functions that return another value each time."""
    if isinstance(expression, InputRef | Literal) or is_deterministic(expression):
        return
    for part in walk(expression):
        if isinstance(part, Call) and not is_deterministic(Call(part.data_type, part.function, (), part.options)):
            yield Expressions(Notation.LOGICAL).text(Call(part.data_type, part.function, (), part.options)).removesuffix("()")
