"""Internal. What EXPLAIN writes: the plan as it was bound, then with what each operator emits and keeps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wiesel.columnar.expressions import InputRef
from wiesel.core.durations import to_millis
from wiesel.sql.changelog import ChangelogPlan, changes_of
from wiesel.sql.inserting import Insertion
from wiesel.sql.kept_state import advice, kept_by
from wiesel.sql.plan import Join, Relation, TopN, walk
from wiesel.sql.window_plan import window_of_top, windows_of_join

__all__ = ["explained"]

_LETTERS = {"+I": "I", "-U": "UB", "+U": "UA", "-D": "D"}


def explained(roots: Sequence[Relation | Insertion], *, state_ttl: str | None = "0 ms", needs_before: Sequence[bool] = ()) -> str:
    """Return the plan of what is read or written at the end of a job, as text.

    Args:
        roots: Queries and inserts.
        state_ttl: How long state is kept that is not used, as the option has it; None in BATCH mode, where there is none.
        needs_before: For each root whether its reader needs ``-U`` rows; all do by default.
    """
    changes = ChangelogPlan()
    for index, root in enumerate(roots):
        changes.add(_relation(root), needs_before[index] if needs_before else True)
    bound = [line for root in roots for line in _tree(root, 0, lambda relation: "")]
    ttl_ms = to_millis(state_ttl or "0 ms")

    def details(relation: Relation) -> str:
        kinds = ",".join(_LETTERS[str(kind)] for kind in changes_of(relation).kinds(changes.sends_before(relation)))
        state = "; ".join(map(str, kept_by(relation, ttl_ms))) if state_ttl is not None else ""
        return f", changelogMode=[{kinds}]" + (f", state=[{state}]" if state else "")

    lines = ["== Abstract Syntax Tree ==", *bound, "", "== Optimized Execution Plan =="]
    lines += [line for root in roots for line in _tree(root, 0, details)]
    advised = [line for root in roots for relation in walk(_relation(root)) for line in advice(relation, ttl_ms)]
    if advised and state_ttl is not None:
        lines += ["", "== Advice ==", *dict.fromkeys(advised)]
    return "\n".join(lines) + "\n"


def _relation(root: Relation | Insertion) -> Relation:
    return root.relation if isinstance(root, Insertion) else root


def _tree(root: Relation | Insertion, depth: int, details: Callable[[Relation], str]) -> list[str]:
    indent = f"{'   ' * (depth - 1)}+- " if depth else ""
    if isinstance(root, Insertion):
        fields = ", ".join(field.name for field in root.relation.fields)
        return [f"{indent}Sink(table=[{root.identifier}], fields=[{fields}])", *_tree(root.relation, depth + 1, details)]
    describe = _DESCRIBED.get(root.name, _fields)
    lines = [f"{indent}{_name(root)}({describe(root)}{details(root)})"]
    for below in root.inputs:
        lines += _tree(below, depth + 1, details)
    return lines


def _name(relation: Relation) -> str:
    if isinstance(relation, Join) and windows_of_join(relation) is not None:
        return "WindowJoin"
    if isinstance(relation, TopN) and window_of_top(relation) is not None:
        return "WindowTopN"
    return relation.name


def _names(relation: Relation, indexes: Sequence[int]) -> str:
    return ", ".join(relation.fields[index].name for index in indexes)


def _fields(relation: Any) -> str:
    return f"fields=[{', '.join(field.name for field in relation.fields)}]"


def _scan(relation: Any) -> str:
    return f"table=[{relation.identifier}], {_fields(relation)}"


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
    return f"{key}select=[{', '.join(calls)}]"


def _join(relation: Any) -> str:
    return f"joinType=[{relation.type.value}], where=[{'TRUE' if relation.condition is None else relation.condition}], {_fields(relation)}"


def _order(relation: Any) -> str:
    return ", ".join(f"{relation.input.fields[key.index].name} {'ASC' if key.ascending else 'DESC'}" for key in relation.keys)


def _top_n(relation: Any) -> str:
    places = f"{relation.first} to {'the end' if relation.last is None else relation.last}"
    return f"partitionBy=[{_names(relation.input, relation.partition)}], orderBy=[{_order(relation)}], places=[{places}]"


def _lookup(relation: Any) -> str:
    asked = ", ".join(f"{relation.scan.fields[column].name}={value}" for column, value in relation.asked)
    where = f", where=[{relation.condition}]" if relation.condition is not None else ""
    return f"joinType=[{relation.type.value}], table=[{relation.scan.identifier}], lookup=[{asked}]{where}, {_fields(relation)}"


_DESCRIBED: dict[str, Callable[[Any], str]] = {
    "TableScan": _scan,
    "Project": _project,
    "Filter": lambda relation: f"where=[{relation.condition}]",
    "Aggregate": _aggregate,
    "Join": _join,
    "LookupJoin": _lookup,
    "TopN": _top_n,
    "WatermarkAssigner": lambda relation: (
        f"rowtime=[{relation.fields[relation.column].name}], watermark=[{relation.watermark or 'SOURCE_WATERMARK()'}]"
    ),
}
