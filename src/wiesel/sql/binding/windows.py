"""Internal. Windows: the tables TUMBLE, HOP, CUMULATE and SESSION, and groups by their bounds."""

from __future__ import annotations

import decimal
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from wiesel.columnar.expressions import Expression, InputRef, Literal
from wiesel.columnar.windows import Window
from wiesel.sql.binding.expressions import ExpressionBinder
from wiesel.sql.binding.keys import keyed
from wiesel.sql.binding.problems import at, problem
from wiesel.sql.binding.scope import Scope, Source
from wiesel.sql.binding.table_arguments import named_arguments, table_argument
from wiesel.sql.language import nodes
from wiesel.sql.plan.changelog import changes_of
from wiesel.sql.plan.relations import AggregateCall, Field, Fields, Project, Relation, TimeAttribute
from wiesel.sql.plan.window_relations import Unwindowed, WindowAggregate, WindowBounds, WindowTable, window_bounds_of, without_window
from wiesel.types import logical as t
from wiesel.types.logical_intervals import DayTimeIntervalType

if TYPE_CHECKING:
    from wiesel.sql.binding.queries import QueryBinder

__all__ = ["WINDOW_FUNCTIONS", "interval_ms", "make_window", "window_group", "window_table"]

# The names of the arguments, in order; those in brackets may be left out.
WINDOW_FUNCTIONS: dict[str, tuple[str, ...]] = {
    "TUMBLE": ("DATA", "TIMECOL", "SIZE", "[OFFSET]"),
    "HOP": ("DATA", "TIMECOL", "SLIDE", "SIZE", "[OFFSET]"),
    "CUMULATE": ("DATA", "TIMECOL", "STEP", "SIZE", "[OFFSET]"),
    "SESSION": ("DATA", "TIMECOL", "GAP"),
}
_UNITS = {"DAY": 86_400_000, "HOUR": 3_600_000, "MINUTE": 60_000, "SECOND": 1_000}


def window_table(queries: QueryBinder, node: exp.Expr) -> WindowTable:
    """Return the plan of a call such as ``TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)``.

    Raises:
        SqlParseError: If it cannot be called like that.
    """
    name = str(node.name).upper()
    given = named_arguments(queries.sql, node, name, WINDOW_FUNCTIONS[name])
    data, descriptor = given["DATA"], given["TIMECOL"]
    if not isinstance(data, nodes.TableArgument) or not isinstance(descriptor, nodes.Descriptor):
        raise problem(queries.sql, node, f"{name} takes a table and a descriptor: {name}(TABLE t, DESCRIPTOR(ts), ...)")
    relation = table_argument(queries, data)
    binder = queries.expressions(Scope([Source(None, relation.fields, 0)]))
    partition = tuple(_column(queries.sql, binder, column) for column in data.args.get("partition_by") or ())
    if partition and name != "SESSION":
        raise problem(queries.sql, data, f"{name} takes no PARTITION BY", "group by the columns")
    relation = keyed(queries, data, relation, "PARTITION BY", partition)
    if len(descriptor.expressions) != 1:
        raise problem(queries.sql, descriptor, "DESCRIPTOR takes one column here")
    time = _column(queries.sql, binder, descriptor.expressions[0])
    field = relation.fields[time]
    if field.time is None:
        kind = field.data_type.as_summary_string()
        raise problem(
            queries.sql,
            descriptor,
            f"{name} needs a column with the time of the rows, but {t.quoted(field.name)} is a {kind} without watermark",
            "declare WATERMARK FOR it in the table, or use a column AS PROCTIME()",
        )
    lengths = {key: interval_ms(queries.sql, binder, value) for key, value in given.items() if key not in ("DATA", "TIMECOL")}
    window = make_window(queries.sql, node, name, lengths)
    return WindowTable(relation, time, window, partition)


def _column(sql: str, binder: ExpressionBinder, node: Any) -> int:
    with at(sql, node):
        column = binder.scope.resolve(node.name)
    if not isinstance(column, InputRef):
        raise problem(sql, node, f"{t.quoted(node.name)} is not a column of the table")
    return column.index


def interval_ms(sql: str, binder: ExpressionBinder, node: exp.Expr) -> int:
    """Return the length of an interval of days to milliseconds.

    Raises:
        SqlParseError: If it is none.
    """
    unit = node.args.get("unit") if isinstance(node, exp.Interval) else None
    name = str(unit.name).upper().removesuffix("S") if isinstance(unit, exp.Var) else ""
    if name in _UNITS and isinstance(node.this, exp.Literal):
        try:
            return int(decimal.Decimal(node.this.this) * _UNITS[name])
        except decimal.InvalidOperation:
            raise problem(sql, node, f"{node.this.this!r} is not a number of {name.lower()}s") from None
    bound = binder.bind(node)
    if not isinstance(bound, Literal) or not isinstance(bound.data_type, DayTimeIntervalType) or bound.value is None:
        raise problem(sql, node, "an interval of days, hours, minutes or seconds is needed here, such as INTERVAL '10' MINUTE")
    return int(bound.value)


def make_window(sql: str, node: exp.Expr, kind: str, lengths: dict[str, int], *, uneven: bool = False) -> Window:
    """Return the windows of a function's lengths; ``uneven`` ones, whose size is no multiple of the slide, are in GROUP BY only.

    Raises:
        SqlParseError: If they do not fit together.
    """
    size = lengths["GAP"] if kind == "SESSION" else lengths["SIZE"]
    step = lengths.get("SLIDE" if kind == "HOP" else "STEP", size)
    if size <= 0 or step <= 0:
        raise problem(sql, node, f"{kind} needs lengths of more than nothing")
    if size % step and not (uneven and step < size):
        raise problem(sql, node, f"{kind} needs a size that is a multiple of the {'slide' if kind == 'HOP' else 'step'}")
    offset = lengths.get("OFFSET", 0)
    if kind == "TUMBLE" and abs(offset) >= size:
        raise problem(sql, node, "TUMBLE needs an offset that is shorter than its windows")
    return Window(kind, size, step, offset, newest_first=kind == "HOP" and not uneven)


# Groups


def window_group(below: Relation, keys: int, calls: Sequence[AggregateCall], fields: Fields) -> Relation | None:
    """Return the groups of rows by windows, if the bounds of one are among the keys (the first columns); None if they are not."""
    bounds = window_bounds_of(below)
    if bounds is None or not any(key in bounds.start for key in range(keys)) or not any(key in bounds.end for key in range(keys)):
        return None
    plain = tuple(key for key in range(keys) if key not in bounds.all)
    fields = tuple(field if index in bounds.time else replace(field, time=None) for index, field in enumerate(fields))
    free = without_window(below)
    if bounds.window.kind == "SESSION":
        return _sessions(free, bounds, (keys, plain), calls, fields)
    if free is None or any(index not in free.places for call in calls for index in (*call.arguments, *_filters(call))):
        if bounds.by_clock:
            return None
        end = min(bounds.end)
        made = WindowAggregate(below, plain, tuple(calls), _columns(plain, fields, keys, bounds), bounds.window, None, end)
    else:
        moved = tuple(_moved(call, free.places) for call in calls)
        places = tuple(free.places[key] for key in plain)
        columns = _columns(plain, fields, keys, bounds)
        made = WindowAggregate(free.relation, places, moved, columns, bounds.window, free.time, None, bounds.by_clock)
    return _ordered(made, bounds, keys, len(plain), fields)


def _sessions(
    free: Unwindowed | None, bounds: WindowBounds, key: tuple[int, tuple[int, ...]], calls: Sequence[AggregateCall], fields: Fields
) -> Relation | None:
    """Return the groups of rows by sessions; None if they are not told apart by the other keys: then they are groups as all others."""
    keys, plain = key
    if free is None or not bounds.are_sessions_of(plain) or any(i not in free.places for c in calls for i in (*c.arguments, *_filters(c))):
        return None
    places = tuple(free.places[key] for key in plain)
    moved = tuple(_moved(call, free.places) for call in calls)
    if bounds.by_clock or (changes_of(free.relation).append_only and not any(call.distinct for call in calls)):
        columns = _columns(plain, fields, keys, bounds)
        made = WindowAggregate(free.relation, places, moved, columns, bounds.window, free.time, None, bounds.by_clock)
        return _ordered(made, bounds, keys, len(plain), fields)
    # Values of DISTINCT and retractable rows are stored until the session is over; then its rows are those of one window.
    table = WindowTable(free.relation, free.time, bounds.window, places)
    end = len(table.fields) - 2
    columns = (*(fields[key] for key in plain), table.fields[end - 1], *_columns((), fields, keys, bounds))
    made = WindowAggregate(table, (*places, end - 1), moved, columns, bounds.window, None, end, start=len(plain))
    return _ordered(made, bounds, keys, len(plain) + 1, fields)


def _filters(call: AggregateCall) -> tuple[int, ...]:
    return () if call.filter is None else (call.filter,)


def _moved(call: AggregateCall, places: dict[int, int]) -> AggregateCall:
    filtered = None if call.filter is None else places[call.filter]
    arguments = tuple(places[index] for index in call.arguments)
    return AggregateCall(call.function, arguments, call.data_type, call.distinct, filtered, call.options)


def _columns(plain: Sequence[int], fields: Fields, keys: int, bounds: WindowBounds) -> Fields:
    kind = t.TimestampType(3, False)
    time = TimeAttribute.PROCTIME if bounds.by_clock else TimeAttribute.ROWTIME
    own = (Field("window_start", kind), Field("window_end", kind), Field("window_time", bounds.of.data_type.not_null(), time))
    return (*(fields[key] for key in plain), *fields[keys:], *own)


def _ordered(made: WindowAggregate, bounds: WindowBounds, keys: int, plain: int, fields: Fields) -> Relation:
    """Return the groups with their columns as a plain group has them: all keys in order, then the results."""
    count = len(made.fields)
    expressions: list[Expression] = []
    passed = 0
    for key in range(keys):
        if key in bounds.all:
            place = count - 3 + [key in part for part in (bounds.start, bounds.end, bounds.time)].index(True)
        else:
            place, passed = passed, passed + 1
        expressions.append(InputRef(fields[key].data_type, place, fields[key].name))
    expressions += [InputRef(field.data_type, plain + index, field.name) for index, field in enumerate(fields[keys:])]
    return Project(made, tuple(expressions), fields)
