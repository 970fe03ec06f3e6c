"""Internal. OVER: aggregates of the rows around each row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlglot import exp

from wiesel.columnar.expressions import Expression, InputRef, Literal
from wiesel.columnar.functions.registry import cast
from wiesel.sql.binding.aggregates import Columns, bind_call, call_parts
from wiesel.sql.binding.problems import meant
from wiesel.sql.binding.selection import Selection
from wiesel.sql.binding.windows import interval_ms
from wiesel.sql.over_plan import Frame, OverAggregate
from wiesel.sql.plan import AggregateCall, Field, TimeAttribute
from wiesel.types import logical as t

__all__ = ["over_windows"]

_WITHOUT_END = frozenset({"LISTAGG", "COLLECT", "ARRAY_AGG"})


@dataclass
class _Windowed:
    """The calls over the same rows."""

    partition: tuple[Expression, ...]
    time: InputRef
    frame: Frame
    nodes: list[exp.Window] = field(default_factory=list)


def over_windows(selection: Selection) -> None:
    """Add the columns of calls with OVER."""
    if selection.node.args.get("qualify"):
        raise selection.refuse(selection.node, "QUALIFY is not supported in this version")
    named = {str(window.this.name): window for window in selection.node.args.get("windows") or ()}
    found: dict[tuple[tuple[Expression, ...], InputRef, Frame], _Windowed] = {}
    for item in selection.node.expressions:
        for node in _calls(item):
            if id(node) not in selection.binder.known:
                windowed = _windowed(selection, node, named)
                found.setdefault((windowed.partition, windowed.time, windowed.frame), windowed).nodes.append(node)
    for windowed in found.values():
        _add(selection, windowed)


def _calls(node: exp.Expr) -> Iterator[exp.Window]:
    if isinstance(node, exp.Query):
        return
    if isinstance(node, exp.Window):
        yield node
        return
    for part in node.iter_expressions():
        yield from _calls(part)


def _windowed(selection: Selection, node: exp.Window, named: dict[str, exp.Window]) -> _Windowed:
    window = node
    alias = node.args.get("alias")
    if alias is not None:
        if alias.name not in named:
            raise selection.refuse(alias, f"there is no WINDOW {t.quoted(alias.name)}", meant(t.quoted(alias.name), map(t.quoted, named)))
        window = named[alias.name]
    binder = selection.binder
    partition = tuple(binder.bind(part) for part in window.args.get("partition_by") or ())
    order = window.args.get("order")
    if order is None or len(order.expressions) != 1:
        raise selection.refuse(node, "OVER needs an ORDER BY with one column, the time of the rows")
    ordered = order.expressions[0]
    time = binder.bind(ordered.this)
    if not isinstance(time, InputRef) or selection.relation.fields[time.index].time is None:
        raise selection.refuse(ordered, "OVER is supported in the order of the time of the rows only in this version")
    if ordered.args.get("desc"):
        raise selection.refuse(ordered, "OVER is supported in ascending order only")
    if str(node.this.name).upper() == "LAG":
        if window.args.get("spec") is not None:
            raise selection.refuse(node, "LAG takes no ROWS or RANGE", "leave the frame out")
        return _Windowed(partition, time, Frame(by_rows=True, preceding=_lag_of(selection, node.this)))
    return _Windowed(partition, time, _frame(selection, window))


def _lag_of(selection: Selection, call: exp.Expr) -> int:
    """Return how many rows LAG looks back."""
    given = call.expressions
    if not 1 <= len(given) <= 3:
        raise selection.refuse(call, "LAG takes an expression, and maybe a number of rows and a value where there is none")
    if len(given) == 1:
        return 1
    if not isinstance(given[1], exp.Literal) or given[1].is_string or not given[1].this.isdigit():
        raise selection.refuse(given[1], "the number of rows of LAG must be a whole number that is written out")
    return int(given[1].this)


def _lag(selection: Selection, call: exp.Expr, columns: Columns) -> AggregateCall:
    """Return LAG as an aggregate of the rows from the one it reads to the current one."""
    value = selection.binder.bind(call.expressions[0])
    otherwise: Expression = Literal(value.data_type.nullable(), None)
    if len(call.expressions) == 3:
        otherwise = cast(selection.binder.bind(call.expressions[2]), value.data_type.nullable())
    # As in Flink; there NULL is then shown as some value of the type, here the default stands for it.
    result = value.data_type.nullable() if otherwise.data_type.is_nullable else value.data_type.not_null()
    return AggregateCall("LAG", (columns.add(value), columns.add(otherwise)), result, options=(_lag_of(selection, call),))


def _frame(selection: Selection, window: exp.Window) -> Frame:
    spec = window.args.get("spec")
    if spec is None:
        return Frame(by_rows=False, preceding=None)
    by_rows = spec.args.get("kind") == "ROWS"
    start, end = spec.args.get("start"), spec.args.get("end")
    if end not in (None, "CURRENT ROW") or (start != "CURRENT ROW" and spec.args.get("start_side") != "PRECEDING"):
        raise selection.refuse(window, "OVER is supported over rows up to the current one only")
    if spec.args.get("exclude"):
        raise selection.refuse(window, "EXCLUDE is not supported")
    if start == "CURRENT ROW":
        return Frame(by_rows, 0)
    if start == "UNBOUNDED":
        return Frame(by_rows, None)
    if not by_rows:
        return Frame(by_rows, interval_ms(selection.queries.sql, selection.binder, start))
    if not isinstance(start, exp.Literal) or start.is_string or not start.this.isdigit():
        raise selection.refuse(start, "the number of rows before PRECEDING must be a whole number")
    return Frame(by_rows, int(start.this))


def _add(selection: Selection, windowed: _Windowed) -> None:
    relation = selection.relation
    own = [InputRef(column.data_type, index, column.name) for index, column in enumerate(relation.fields)]
    columns = Columns(own)
    calls = []
    for node in windowed.nodes:
        parts = call_parts(node.this)
        name = parts[1] if parts else str(node.this.name).upper()
        if parts is None:
            raise selection.refuse(node, f"{name or 'this'} with OVER is not supported in this version")
        if name == "LAG":
            calls.append(_lag(selection, node.this, columns))
            continue
        call = bind_call(selection.queries.sql, selection.binder, node.this, columns, may_be_empty=False)
        if windowed.frame.preceding is None and (call.distinct or call.function in _WITHOUT_END):
            what = "DISTINCT" if call.distinct else name
            raise selection.refuse(node, f"{what} with OVER and UNBOUNDED PRECEDING is not supported in this version")
        calls.append(call)
    partition = tuple(columns.add(part) for part in windowed.partition)
    below = columns.over(relation)
    by_clock = relation.fields[windowed.time.index].time is TimeAttribute.PROCTIME
    fields = (*below.fields, *(Field(f"w{index}$o", call.data_type) for index, call in enumerate(calls)))
    selection.relation = OverAggregate(below, partition, windowed.time.index, by_clock, windowed.frame, tuple(calls), fields)
    for index, (node, call) in enumerate(zip(windowed.nodes, calls, strict=True)):
        selection.binder.known[id(node)] = InputRef(call.data_type, len(below.fields) + index)
