"""Internal. The operator of process table functions: calls them for rows and timers.

Retry semantics: state entries, names of timers and timers are keyed state; nothing else outlives a batch.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.columnar.evaluation import Frame, as_array, evaluate
from wiesel.columnar.functions.user_functions import call_failure, python_columns, result_failure
from wiesel.columnar.keys import key_tuples
from wiesel.columnar.row_batch import RowBatch
from wiesel.columnar.rows import DECIMALS_OF_FUNCTIONS, column_array
from wiesel.core.errors import UserFunctionError
from wiesel.core.ids import MIN_TIMESTAMP
from wiesel.runtime.table.base import TableOperator
from wiesel.runtime.table.process.order import OrderedRows
from wiesel.runtime.table.process.spec import ProcessSpec, SortDirection, TableInput
from wiesel.runtime.table.process.state import ProcessStates
from wiesel.spi.table.changelog_mode import ChangelogMode
from wiesel.types.logical import DataType
from wiesel.types.row import Row, RowKind, make_row

__all__ = ["Context", "TableSemantics", "TimeContext", "process_function_operator"]

_KINDS = list(RowKind)
_EPOCH = dt.datetime(1970, 1, 1)
_UNNAMED = ""


class TableSemantics:
    """Semantics of a table argument of a process table function."""

    def __init__(self, table: TableInput) -> None:
        self._table = table

    def data_type(self) -> DataType:
        """Return the type of its rows."""
        return self._table.row_type

    def partition_by_columns(self) -> list[int]:
        """Return the indexes of the columns of PARTITION BY."""
        return list(self._table.keys)

    def time_column(self) -> int:
        """Return the index of the column of ``on_time``, -1 if there is none."""
        return -1 if self._table.time is None else self._table.time

    def order_by_columns(self) -> list[int]:
        """Return the indexes of the columns of ORDER BY."""
        return [index for index, _ in self._table.order]

    def order_by_directions(self) -> list[SortDirection]:
        """Return the directions of the columns of ORDER BY."""
        return [direction for _, direction in self._table.order]

    def changelog_mode(self) -> ChangelogMode:
        """Return the changes of its rows."""
        return self._table.changelog_mode


class TimeContext:
    """Time and timers of the present row or timer. Times are ``datetime`` without zone, in UTC, or milliseconds."""

    def __init__(self, context: Context, kind: type) -> None:
        self._context = context
        self._kind = kind

    def _shown(self, millis: int | None) -> Any:
        if millis is None or millis == MIN_TIMESTAMP:
            return None
        return millis if self._kind is int else _EPOCH + dt.timedelta(milliseconds=millis)

    def time(self) -> Any:
        """Return the time of the row by ``on_time`` or ORDER BY, or of the timer; None if the row's table has neither."""
        return self._shown(self._context._time)

    def current_watermark(self) -> Any:
        """Return the watermark; None if there was none."""
        return self._shown(self._context._watermark())

    table_watermark = current_watermark

    def register_on_time(self, *name_and_time: Any) -> None:
        """Register a timer: ``register_on_time(time)``, or with a name in front, which replaces the timer of this name."""
        *name, time = name_and_time
        self._context._timers.register(self._context._key, str(name[0]) if name else _UNNAMED, _millis(time))

    def clear_timer(self, name_or_time: Any) -> None:
        """Delete the timer of a name, or the one without a name at a time."""
        self._context._timers.clear(self._context._key, name_or_time if isinstance(name_or_time, str) else _millis(name_or_time))

    def clear_all_timers(self) -> None:
        """Remove all timers of the key."""
        self._context._timers.clear_all(self._context._key)


def _millis(time: Any) -> int:
    if isinstance(time, dt.datetime):
        plain = time if time.tzinfo is None else time.astimezone(dt.timezone.utc).replace(tzinfo=None)
        return int((plain - _EPOCH) / dt.timedelta(milliseconds=1))
    if isinstance(time, int) and not isinstance(time, bool):
        return time
    raise TypeError(f"the time of a timer is a datetime or a number of milliseconds, not {time!r}")


class Context:
    """Context of the row or timer that is processed."""

    def __init__(self, spec: ProcessSpec, states: ProcessStates, timers: Any, operator: Any) -> None:
        self._tables = {table.name: table for table in spec.tables}
        self._mode = spec.mode
        self._states = states
        self._timers = timers
        self._operator = operator
        self._key: Any = ()
        self._time: int | None = None
        self._timer: str | None = None

    def _watermark(self) -> int:
        return int(self._operator.watermark)

    def time_context(self, kind: type = dt.datetime) -> TimeContext:
        """Return time and timers, with times as ``datetime`` or ``int``."""
        if kind not in (int, dt.datetime):
            raise TypeError(f"time_context() takes datetime or int, not {kind!r}")
        return TimeContext(self, kind)

    def table_semantics_for(self, argument: str) -> TableSemantics:
        """Return the semantics of a table argument.

        Raises:
            ValueError: If there is no such argument.
        """
        if argument not in self._tables:
            raise ValueError(f"there is no table argument {argument!r}; the arguments are: {', '.join(self._tables)}")
        return TableSemantics(self._tables[argument])

    def clear_state(self, name: str) -> None:
        """Clear a state entry of the key.

        Raises:
            ValueError: If there is no such entry.
        """
        try:
            self._states.clear(self._key, name)
        except KeyError:
            raise ValueError(f"there is no state {name!r}") from None

    def clear_all_state(self) -> None:
        """Clear all state entries of the key."""
        self._states.clear_all(self._key)

    def clear_all_timers(self) -> None:
        """Remove all timers of the key."""
        self._timers.clear_all(self._key)

    def clear_all(self) -> None:
        """Clear all state and timers of the key."""
        self.clear_all_state()
        self.clear_all_timers()

    def get_changelog_mode(self) -> ChangelogMode:
        """Return the changelog mode that the function has declared."""
        return self._mode

    def current_timer(self) -> str | None:
        """Return the name of the timer that fires; None if it has none, or a row is processed."""
        return self._timer


class _Timers:
    """Timers of keys by time, and by name if they have one."""

    def __init__(self, backend: Any) -> None:
        self.queue = backend.timers("event")
        self._names = backend.table("timers", kind="map")

    def register(self, key: Any, name: str, time: int) -> None:
        if name:
            self.clear(key, name)
        self.queue.register(time, key, name)
        self._names.put_entry(key, name or time, time)

    def clear(self, key: Any, name_or_time: str | int) -> None:
        time = self._names.get_entry(key, name_or_time)
        if time is not None:
            self.queue.delete(time, key, name_or_time if isinstance(name_or_time, str) else _UNNAMED)
            self._names.remove_entry(key, name_or_time)

    def clear_all(self, key: Any) -> None:
        for name_or_time, _ in list(self._names.entries(key)):
            self.clear(key, name_or_time)

    def fire(self, watermark: int) -> Iterator[tuple[int, Any, str]]:
        for time, key, name in self.queue.pop_until(watermark):
            self._names.remove_entry(key, name or time)
            yield time, key, name


class ProcessFunctionOperator(TableOperator):
    """Calls a function."""

    def __init__(self, spec: ProcessSpec) -> None:
        self._spec = spec
        self.watermark = MIN_TIMESTAMP

    def open(self) -> None:
        """Initialise the state."""
        super().open()
        spec = self._spec
        self._states = ProcessStates(spec.function.states, self.context)
        self._timers = _Timers(self.context.backend) if spec.function.timer_takes_context is not None else None
        self._context = Context(spec, self._states, self._timers or _NoTimers(spec.function.name), self)
        self._arguments: list[Any] | None = None
        inputs = enumerate(zip(spec.tables, spec.inputs, strict=True))
        self._ordered = {index: OrderedRows(table, schema, self.context) for index, (table, schema) in inputs if table.order}

    def _values(self) -> list[Any]:
        """Return the arguments, None for tables."""
        if self._arguments is None:
            row = Frame(pa.RecordBatch.from_arrays([pa.array([0])], names=["$0"]), self.session)
            columns = (None if each is None else as_array(evaluate(each, row), 1) for each in self._spec.values)
            self._arguments = [None if column is None else python_columns([column])[0][0] for column in columns]
        return self._arguments

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Call the function with rows; those of a table with ORDER BY wait for the watermark."""
        if input_index in self._ordered:
            self._ordered[input_index].add(rows, self.watermark)
        else:
            self._call(rows, input_index)

    def _call(self, rows: RowBatch, input_index: int) -> None:
        table, function = self._spec.tables[input_index], self._spec.function
        names = table.row_type.names
        keys = key_tuples(rows.rows, table.keys)
        time_column = table.order[0][0] if table.order else table.time
        times = [None] * len(rows) if time_column is None else _millis_of(rows.rows.column(time_column))
        kinds = rows.kinds_or_inserts().tolist()
        evaluate_row, context = function.prepared().eval, self._context
        arguments = list(self._values())
        found = _Found()
        values = zip(*python_columns(rows.rows.columns), strict=True)
        for place, (key, time, kind, row) in enumerate(zip(keys, times, kinds, values, strict=True)):
            context._key, context._time = key, time
            made = make_row(names, list(row), _KINDS[kind])
            if table.argument is not None:
                arguments[table.argument] = made
            states = self._states.of(key) if function.states else ()
            try:
                results = evaluate_row(*((context,) if function.takes_context else ()), *states, *arguments)
                found.add(place, time, results)
            except Exception as error:
                raise call_failure(function.name, error, repr(made)) from error
        self._states.write()
        if found.results:
            self._emit(found, [rows.rows.column(index) for index in table.prefix], len(self._spec.tables) if table.keys else 1)

    def process_watermark(self, timestamp: int) -> None:
        """Call the function with the rows that waited for it, fire timers, then hand it on."""
        for index, ordered in self._ordered.items():
            rows = ordered.due(timestamp)
            if rows is not None:
                self._call(rows, index)
        self.watermark = timestamp
        function, context = self._spec.function, self._context
        if self._timers is not None:
            found = _Found()
            owners: list[Any] = []
            for time, key, name in self._timers.fire(timestamp):
                context._key, context._time, context._timer = key, time, name or None
                states = self._states.of(key) if function.states else ()
                try:
                    on_timer = function.prepared().on_timer
                    found.add(len(owners), time, on_timer(*((context,) if function.timer_takes_context else ()), *states))
                except Exception as error:
                    raise call_failure(function.name, error, f"the timer {name or time}") from error
                owners.append(key)
            context._timer = None
            self._states.write()
            if found.results:
                of = self._spec.schema
                count = len(self._spec.tables[0].keys)
                columns = [pa.array([key[place] for key in owners], of.field(place).type) for place in range(count)]
                self._emit(found, columns, len(self._spec.tables))
        self.output.emit_watermark(timestamp)

    def snapshot_state(self, checkpoint_id: int, timestamp_ms: int = 0) -> None:
        """Write the waiting rows to state."""
        for ordered in self._ordered.values():
            ordered.snapshot()

    def _emit(self, found: _Found, prefix: list[Any], times: int) -> None:
        """Emit results prefixed by the columns of their rows; those of keys once for each table."""
        schema = self._spec.schema
        taken = [column.take(pa.array(found.owners, pa.int64())) for column in prefix] * times
        own = list(schema)[len(taken) : len(schema) - self._spec.timed]
        results = [value if isinstance(value, tuple) else (value,) for value in found.results]
        wrong = next((value for value in results if len(value) != len(own)), None)
        function = self._spec.function
        hint = "return Row(...) with a value for each column of its result type, or declare another type"
        if wrong is not None:
            message = f"returned a row of {len(wrong)} values, but its result has {len(own)} columns: {wrong!r}"
            raise result_failure(function.name, function.function.eval, message, hint)
        try:
            made = [
                column_array(values, field.type, DECIMALS_OF_FUNCTIONS)
                for values, field in zip(zip(*results, strict=True), own, strict=True)
            ]
        except (pa.ArrowException, TypeError, ValueError, OverflowError, AttributeError) as error:
            raise result_failure(
                function.name, function.function.eval, f"returned a value that does not fit its result type: {error}", hint
            ) from error
        if self._spec.timed:
            made.append(_times(found.times, schema.field(len(schema) - 1).type))
        columns = [
            column if column.type == field.type else column.cast(field.type) for column, field in zip([*taken, *made], schema, strict=True)
        ]
        self.emit_rows(self._with_kinds(pa.RecordBatch.from_arrays(columns, schema=schema), found.kinds))

    def _with_kinds(self, rows: pa.RecordBatch, kinds: list[RowKind]) -> RowBatch:
        """Return rows with their kinds, without ``-U`` rows where they are not needed.

        Raises:
            UserFunctionError: If the function has not declared the kind of a row.
        """
        mode, function = self._spec.mode, self._spec.function
        wrong = next((kind for kind in kinds if not mode.contains(kind)), None)
        if wrong is not None:
            message = f"returned a row of the kind {wrong.name}, but its changelog mode is {mode}"
            hint = "let get_changelog_mode() of a ChangelogFunction return a mode with this kind, or set another kind"
            raise result_failure(function.name, function.function.eval, message, hint)
        numbers = np.array([kind.value for kind in kinds], np.uint8)
        if not numbers.any():
            return RowBatch(rows)
        if self._spec.update_before:
            return RowBatch(rows, numbers)
        kept = numbers != RowKind.UPDATE_BEFORE.value
        return RowBatch(rows.filter(pa.array(kept)), numbers[kept])


def _millis_of(column: pa.Array) -> list[int | None]:
    return column.cast(pa.timestamp("ms", column.type.tz), safe=False).view(pa.int64()).to_pylist()  # type: ignore[no-any-return]


def _times(millis: Sequence[int | None], of: pa.DataType) -> pa.Array:
    return pa.array(millis, pa.int64()).view(pa.timestamp("ms")).cast(pa.timestamp(of.unit)).view(of)


class _NoTimers:
    """Timer service of a function without ``on_timer``: registering a timer raises."""

    def __init__(self, name: str) -> None:
        self._name = name

    def register(self, key: Any, name: str, time: int) -> None:
        raise UserFunctionError(
            f"the function {self._name!r} registers a timer, but has no on_timer()", hint="give it on_timer(self, ctx, ...)"
        )

    def clear(self, key: Any, name_or_time: str | int) -> None:
        """Do nothing: there are none."""

    def clear_all(self, key: Any) -> None:
        """Do nothing: there are none."""


class _Found:
    """Results, with the index of their row or timer, and its time."""

    def __init__(self) -> None:
        self.owners: list[int] = []
        self.times: list[int | None] = []
        self.results: list[Any] = []
        self.kinds: list[RowKind] = []

    def add(self, owner: int, time: int | None, results: Any) -> None:
        if results is None:
            return
        every: Iterable[Any] = results if isinstance(results, list | range | Iterator) else [results]
        for result in every:
            self.results.append(tuple(result._values) if isinstance(result, Row) else result)
            self.kinds.append(result._row_kind if isinstance(result, Row) else RowKind.INSERT)
            self.owners.append(owner)
            self.times.append(time)


def process_function_operator(params: dict[str, Any], payload: ProcessSpec) -> ProcessFunctionOperator:
    """Return the operator of a spec."""
    return ProcessFunctionOperator(payload)
