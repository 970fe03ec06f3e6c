"""Internal. The items of GROUP BY: keys, grouping sets, and windows in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations, product
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from wiesel.columnar.expressions import Expression, InputRef, Literal
from wiesel.sql.binding.problems import problem
from wiesel.sql.binding.windows import interval_ms, make_window
from wiesel.sql.language.built_nodes import BuiltIn
from wiesel.sql.plan.relations import Field, Relation, TimeAttribute
from wiesel.sql.plan.window_relations import Expand, WindowTable
from wiesel.types import logical as t

if TYPE_CHECKING:
    from wiesel.sql.binding.expressions import ExpressionBinder
    from wiesel.sql.binding.selection import Selection

__all__ = [
    "GroupItems",
    "GroupWindow",
    "expanded",
    "group_items",
    "group_window",
    "grouping_calls",
    "grouping_value",
    "one_window",
    "row_window",
]

_MOST_SETS = 64
_LENGTHS = {"TUMBLE": ("SIZE",), "HOP": ("SLIDE", "SIZE"), "SESSION": ("GAP",)}
_WINDOW_COLUMNS = ("START", "END", "ROWTIME")
_GROUPING = ("GROUPING", "GROUPING_ID", "GROUP_ID")


@dataclass
class GroupItems:
    """The items of GROUP BY.

    Attributes:
        nodes: All items, each once.
        sets: Which of them the rows are grouped by in turn; one of all where there are no grouping sets.
        windows: Calls such as ``TUMBLE(ts, INTERVAL '1' HOUR)``.
    """

    nodes: list[exp.Expr] = field(default_factory=list)
    sets: list[tuple[int, ...]] = field(default_factory=lambda: [()])
    windows: list[exp.Expr] = field(default_factory=list)


def group_items(selection: Selection, clause: exp.Expr | None) -> GroupItems:
    """Return what stands in GROUP BY.

    Raises:
        SqlParseError: If something there is not supported.
    """
    found = GroupItems()
    if clause is None:
        return found
    for name, part in clause.args.items():
        if part and name != "expressions":
            raise selection.refuse(clause, f"GROUP BY {name.upper()} is not supported in this version")
    for item in clause.expressions:
        if isinstance(item, exp.Anonymous) and item.name.upper() in _LENGTHS:
            found.windows.append(item)
            continue
        choices = _choices(item)
        if len(choices) * len(found.sets) > _MOST_SETS:
            raise selection.refuse(item, f"more than {_MOST_SETS} grouping sets are not supported")
        places = [tuple(_place(found, node) for node in choice) for choice in choices]
        found.sets = [tuple(dict.fromkeys((*one, *other))) for one, other in product(found.sets, places)]
    return found


def _place(found: GroupItems, node: exp.Expr) -> int:
    if node not in found.nodes:
        found.nodes.append(node)
    return found.nodes.index(node)


def _parts(node: exp.Expr) -> list[exp.Expr]:
    """Return the expressions between brackets."""
    if isinstance(node, exp.Tuple):
        return list(node.expressions)
    return [node.this if isinstance(node, exp.Paren) else node]


def _choices(item: exp.Expr) -> list[list[exp.Expr]]:
    """Return the sets that an item stands for."""
    if isinstance(item, exp.GroupingSets):
        return [choice for each in item.expressions for choice in _choices(each)]
    if isinstance(item, exp.Rollup):
        units = [_parts(each) for each in item.expressions]
        return [list(chain.from_iterable(units[:count])) for count in range(len(units), -1, -1)]
    if isinstance(item, exp.Cube):
        units = [_parts(each) for each in item.expressions]
        counts = range(len(units), -1, -1)
        return [list(chain.from_iterable(chosen)) for count in counts for chosen in combinations(units, count)]
    return [_parts(item)]


# Grouping sets


def grouping_calls(nodes: Sequence[Any]) -> list[exp.Expr]:
    """Return the calls of GROUPING and its like in expressions, each once."""
    found: list[exp.Expr] = []
    for node in nodes:
        for call in node.find_all(exp.Anonymous) if node is not None else ():
            if call.name.upper() in _GROUPING and call not in found:
                found.append(call)
    return found


def grouping_value(selection: Selection, call: exp.Expr, keys: Sequence[Expression], chosen: frozenset[int], before: int = 0) -> int:
    """Return which arguments of GROUPING are not in a set, the last one in the lowest bit; for GROUP_ID how many equal sets are before."""
    if call.name.upper() == "GROUP_ID":
        return before
    value = 0
    for argument in call.expressions:
        bound = selection.binder.bind(argument)
        if bound not in keys:
            raise selection.refuse(argument, f"the argument of {call.name.upper()} is not in GROUP BY")
        value = value * 2 + (list(keys).index(bound) not in chosen)
    return value


def expanded(selection: Selection, below: Relation, items: GroupItems, keys: Sequence[Expression], calls: Sequence[exp.Expr]) -> Relation:
    """Return rows once per grouping set: keys that are not in it are NULL, and behind the keys stand which set it is, and ``calls``."""
    count = len(keys)
    projections: list[tuple[Expression, ...]] = []
    seen: Counter[frozenset[int]] = Counter()
    for number, places in enumerate(items.sets):
        # Items that mean the same expression are one key.
        bound = {selection.binder.bind(items.nodes[place]) for place in places}
        every = {selection.binder.bind(node) for node in items.nodes}
        chosen = frozenset(index for index, key in enumerate(keys) if key in bound or key not in every)
        own: list[Expression] = []
        for index, column in enumerate(below.fields):
            kept = index >= count or index in chosen
            own.append(InputRef(column.data_type, index, column.name) if kept else Literal(column.data_type.nullable(), None))
        numbers = [number, *(grouping_value(selection, call, keys, chosen, seen[chosen]) for call in calls)]
        seen[chosen] += 1
        projections.append((*own[:count], *(Literal(t.BigIntType(False), value) for value in numbers), *own[count:]))
    nulled = {index for index in range(count) if any(isinstance(each[index], Literal) for each in projections)}
    fields = [
        replace(column, data_type=column.data_type.nullable()) if index in nulled else column for index, column in enumerate(below.fields)
    ]
    added = [Field(f"$g{index}", t.BigIntType(False)) for index in range(1 + len(calls))]
    return Expand(below, tuple(projections), (*fields[:count], *added, *fields[count:]))


# Windows


@dataclass(frozen=True)
class GroupWindow:
    """A window in GROUP BY.

    Attributes:
        relation: The rows with the window's bounds behind their columns.
        results: Which functions return which bound: their names, with the arguments of the window.
        arguments: Those arguments.
    """

    relation: WindowTable
    results: dict[str, InputRef]
    arguments: tuple[exp.Expr, ...]


def group_window(sql: str, binder: ExpressionBinder, relation: Relation, call: exp.Expr) -> GroupWindow:
    """Return what ``TUMBLE(ts, INTERVAL '1' HOUR)`` in GROUP BY means.

    Raises:
        SqlParseError: If it cannot be called like that.
    """
    name = str(call.name).upper()
    names = _LENGTHS[name]
    if len(call.expressions) != 1 + len(names):
        raise problem(sql, call, f"{name} takes a time and {' and '.join(names).lower()} in GROUP BY")
    time = binder.bind(call.expressions[0])
    known = relation.fields[time.index] if isinstance(time, InputRef) else None
    if known is None or known.time is None or not isinstance(time, InputRef):
        kind = time.data_type.as_summary_string()
        what = "this" if known is None else f"column {t.quoted(known.name)}"
        raise problem(
            sql,
            call.expressions[0],
            f"{name} needs a column with the time of the rows, {what} is a {kind} without watermark",
            "declare the watermark of an event time column, or use a column with PROCTIME()",
        )
    lengths = {key: interval_ms(sql, binder, node) for key, node in zip(names, call.expressions[1:], strict=True)}
    table = WindowTable(relation, time.index, make_window(sql, call, name, lengths, uneven=True), None)
    count = len(table.fields)
    kinds = [table.fields[-3].data_type, table.fields[-2].data_type, known.data_type]
    refs = [InputRef(kind, count - 3 + part) for part, kind in enumerate(kinds)]
    results = {f"{name}_{bound}": ref for bound, ref in zip(_WINDOW_COLUMNS, refs, strict=True)}
    return GroupWindow(table, results, tuple(call.expressions))


def row_window(sql: str, binder: ExpressionBinder, relation: Relation, call: exp.Expr) -> tuple[int, int] | None:
    """Return size and slide of a window of a number of rows, which the Table API has; None if it is one of a length of time.

    Raises:
        SqlParseError: If it cannot be like that.
    """
    time, *lengths = call.expressions
    counts = [each for each in lengths if isinstance(each, BuiltIn) and each.name == "ROW_INTERVAL"]
    if not counts:
        return None
    bound = binder.bind(time)
    if not isinstance(bound, InputRef) or relation.fields[bound.index].time is not TimeAttribute.PROCTIME:
        hint = "give on() a column with PROCTIME(), or over() a length of time: lit(5).minutes"
        raise problem(sql, call, "windows of a number of rows go by processing time, as in Flink", hint)
    if len(counts) < len(lengths) or str(call.name).upper() == "SESSION":
        raise problem(sql, call, "a window counts rows or goes by time, not both", "give row_interval(...) for size and slide")
    slide, size = (int(each.expressions[0].this) for each in (counts[0], counts[-1]))
    if slide < 1 or size < 1:
        raise problem(sql, call, f"a window of {size} rows, each {slide} behind another, is none", "give numbers from 1 on")
    return size, slide


def one_window(sql: str, windows: Sequence[exp.Expr]) -> exp.Expr | None:
    """Return the window in GROUP BY, if there is one.

    Raises:
        SqlParseError: If there are several.
    """
    if len(windows) > 1:
        raise problem(sql, windows[1], "GROUP BY takes one window")
    return windows[0] if windows else None
