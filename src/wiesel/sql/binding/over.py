"""Internal. OVER: aggregates of the rows around each row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from wiesel.columnar.expressions import Expression, InputRef, Literal
from wiesel.columnar.functions.registry import cast
from wiesel.sql.binding.aggregates import Columns, bind_call, call_parts
from wiesel.sql.binding.keys import partition_keys
from wiesel.sql.binding.problems import meant
from wiesel.sql.binding.selection import Selection
from wiesel.sql.binding.windows import interval_ms
from wiesel.sql.plan.over_relations import POSITIONS, Frame, OverAggregate
from wiesel.sql.plan.relations import AggregateCall, Field, SortKey
from wiesel.types import logical as t

__all__ = ["over_windows"]

_FRAMELESS = POSITIONS | {"LAG"}
_MOST_OF_LAG = 3


@dataclass
class _Windowed:
    """The calls over the same rows."""

    partition: tuple[Expression, ...]
    order: tuple[tuple[Expression, bool, bool], ...]
    frame: Frame
    nodes: list[exp.Window] = field(default_factory=list)


def over_windows(selection: Selection) -> None:
    """Add the columns of calls with OVER."""
    if selection.node.args.get("qualify"):
        raise selection.refuse(selection.node, "QUALIFY is not supported in this version")
    named = {str(window.this.name): window for window in selection.node.args.get("windows") or ()}
    found: dict[Any, _Windowed] = {}
    order = selection.node.args.get("order")
    for item in [*selection.node.expressions, *(order.expressions if order else ())]:
        for node in _calls(item):
            if id(node) not in selection.binder.known:
                windowed = _windowed(selection, node, named)
                found.setdefault((windowed.partition, windowed.order, windowed.frame), windowed).nodes.append(node)
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
    if isinstance(node.this, exp.IgnoreNulls | exp.RespectNulls):
        raise selection.refuse(node, "IGNORE NULLS and RESPECT NULLS with OVER are not supported", "leave them out, or filter the rows")
    alias = node.args.get("alias")
    if alias is not None:
        if alias.name not in named:
            raise selection.refuse(alias, f"there is no WINDOW {t.quoted(alias.name)}", meant(t.quoted(alias.name), map(t.quoted, named)))
        window = named[alias.name]
    partition = partition_keys(selection, window)
    order = window.args.get("order")
    keys = tuple(_key(selection, part) for part in (order.expressions if order else ()))
    name = str(node.this.name).upper()
    if name not in _FRAMELESS:
        return _Windowed(partition, keys, _frame(selection, window, keys))
    if window.args.get("spec") is not None:
        raise selection.refuse(node, f"{name} takes no ROWS or RANGE", "leave the frame out")
    if not keys:
        raise selection.refuse(node, f"{name} needs an ORDER BY", "write OVER (ORDER BY ...)")
    looks_back = name in ("LAG", "LEAD") and _direction(selection, node.this) == "LAG"
    return _Windowed(partition, keys, Frame(True, abs(_distance(selection, node.this))) if looks_back else Frame(False, None))


def _key(selection: Selection, part: exp.Expr) -> tuple[Expression, bool, bool]:
    return selection.binder.bind(part.this), not part.args.get("desc"), bool(part.args.get("nulls_first"))


def _distance(selection: Selection, call: exp.Expr) -> int:
    """Return how many rows LAG looks back, or LEAD ahead."""
    given, name = call.expressions, str(call.name).upper()
    if not 1 <= len(given) <= _MOST_OF_LAG:
        raise selection.refuse(call, f"{name} takes an expression, and maybe a number of rows and a value where there is none")
    found = 1 if len(given) == 1 else _whole(given[1])
    if found is None:
        raise selection.refuse(given[1], f"the number of rows of {name} must be a whole number that is written out")
    return found


def _whole(node: exp.Expr) -> int | None:
    """Return a whole number that is written out, None if it is none."""
    if isinstance(node, exp.Neg):
        opposite = _whole(node.this)
        return None if opposite is None else -opposite
    return int(node.this) if isinstance(node, exp.Literal) and not node.is_string and node.this.isdigit() else None


def _at_place(selection: Selection, call: exp.Expr, columns: Columns) -> AggregateCall:
    """Return a call of a function of the place of a row."""
    name = str(call.name).upper()
    if name in ("LAG", "LEAD"):
        return _shifted(selection, call, columns)
    if name == "NTILE":
        parts = _whole(call.expressions[0]) if len(call.expressions) == 1 else None
        if parts is None or parts <= 0:
            raise selection.refuse(call, "NTILE takes the number of parts, a whole number from 1 on that is written out")
        return AggregateCall(name, (), t.BigIntType(False), options=(parts,))
    if call.expressions:
        raise selection.refuse(call, f"{name} takes no arguments")
    share = name in ("PERCENT_RANK", "CUME_DIST")
    return AggregateCall(name, (), t.DoubleType(False) if share else t.BigIntType(False))


def _shifted(selection: Selection, call: exp.Expr, columns: Columns) -> AggregateCall:
    """Return LAG or LEAD; their second argument is the value where there is no such row."""
    value = selection.binder.bind(call.expressions[0])
    otherwise: Expression = Literal(value.data_type.nullable(), None)
    if len(call.expressions) == _MOST_OF_LAG:
        otherwise = cast(selection.binder.bind(call.expressions[2]), value.data_type.nullable())
    # As in Flink; there NULL is then shown as some value of the type, here the default stands for it.
    result = value.data_type.nullable() if otherwise.data_type.is_nullable else value.data_type.not_null()
    arguments = (columns.add(value), columns.add(otherwise))
    return AggregateCall(_direction(selection, call), arguments, result, options=(abs(_distance(selection, call)),))


def _direction(selection: Selection, call: exp.Expr) -> str:
    """Return whether a call is LAG or LEAD, which is the other one where it looks back or ahead by a number below 0."""
    looks_back = (str(call.name).upper() == "LAG") == (_distance(selection, call) >= 0)
    return "LAG" if looks_back else "LEAD"


# Frames


def _frame(selection: Selection, window: exp.Window, keys: Sequence[tuple[Expression, bool, bool]]) -> Frame:
    spec = window.args.get("spec")
    if spec is None:
        return Frame(by_rows=False, preceding=None, following=0 if keys else None)
    if spec.args.get("exclude"):
        raise selection.refuse(window, "EXCLUDE is not supported")
    by_rows = spec.args.get("kind") == "ROWS"
    start, end = spec.args.get("start"), spec.args.get("end") or "CURRENT ROW"
    before = _reach(selection, window, by_rows, keys, start, spec.args.get("start_side") == "FOLLOWING")
    behind = _reach(selection, window, by_rows, keys, end, spec.args.get("end_side") != "PRECEDING")
    if before is not None and behind is not None and before > behind:
        raise selection.refuse(window, "the frame ends before it begins", "write the earlier row first")
    return Frame(by_rows, None if before is None else -before, behind)


def _reach(selection: Selection, window: exp.Window, by_rows: bool, keys: Sequence[Any], end: Any, follows: bool) -> Any:
    """Return how far an end of a frame is behind the current row; None if it is the last or the first one."""
    if end == "UNBOUNDED":
        return None
    if end == "CURRENT ROW":
        return 0
    if end is None:
        raise selection.refuse(window, "the frame does not say where it begins", "for example, BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW")
    if not by_rows:
        distance = _difference(selection, window, keys, end)
    else:
        distance = _whole(end)
        if distance is None or distance < 0:
            raise selection.refuse(end, "the number of rows of a frame must be a whole number")
    return distance if follows else -distance


def _difference(selection: Selection, window: exp.Window, keys: Sequence[tuple[Expression, bool, bool]], end: exp.Expr) -> Any:
    """Return a distance by the key, in ms for times."""
    if len(keys) != 1:
        raise selection.refuse(window, "RANGE with a distance needs an ORDER BY of one column")
    of = keys[0][0].data_type
    if not isinstance(of, t.NumericType):
        return interval_ms(selection.queries.sql, selection.binder, end)
    bound = selection.binder.bind(end)
    if not isinstance(bound, Literal) or not isinstance(bound.data_type, t.NumericType) or bound.value is None:
        kind = of.as_summary_string()
        raise selection.refuse(end, f"a distance of values of type {kind} must be a number that is written out")
    return bound.value


def _add(selection: Selection, windowed: _Windowed) -> None:
    relation = selection.relation
    own = [InputRef(column.data_type, index, column.name) for index, column in enumerate(relation.fields)]
    columns = Columns(own)
    calls = []
    for node in windowed.nodes:
        parts = call_parts(node.this)
        name = parts[1] if parts else str(node.this.name).upper()
        if name in _FRAMELESS:
            calls.append(_at_place(selection, node.this, columns))
        elif parts is None:
            raise selection.refuse(node, f"{name or 'this'} with OVER is not supported in this version")
        else:
            frame = windowed.frame
            may_be_empty = (frame.preceding is not None and frame.preceding < 0) or (frame.following is not None and frame.following < 0)
            queries = selection.queries
            calls.append(
                bind_call(queries.sql, selection.binder, node.this, columns, may_be_empty=may_be_empty, in_batch=queries.in_batch)
            )
    partition = tuple(columns.add(part) for part in windowed.partition)
    keys = tuple(SortKey(columns.add(key), ascending, nulls_first) for key, ascending, nulls_first in windowed.order)
    below = columns.over(relation)
    fields = (*below.fields, *(Field(f"w{index}$o", call.data_type) for index, call in enumerate(calls)))
    selection.relation = OverAggregate(below, partition, keys, windowed.frame, tuple(calls), fields)
    for index, (node, call) in enumerate(zip(windowed.nodes, calls, strict=True)):
        selection.binder.known[id(node)] = InputRef(call.data_type, len(below.fields) + index)
