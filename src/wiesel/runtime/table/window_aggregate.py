"""Internal. Aggregates by key and window, for windows of a fixed length: one row per key and window, when the window has ended.

Rows are aggregated by slice; a window is made of its slices when it fires. Rows of which all windows have fired are dropped and counted.

Retry story: a snapshot puts the slices that have changed into keyed state, and the watermark up to which windows have fired into operator
state, by key group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wiesel.columnar.aggregates.calls import BoundCall, Input, accumulators, reduced
from wiesel.columnar.aggregates.slots import Column, Slot, numbers
from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.grouping import Groups, Places, group_by
from wiesel.columnar.row_batch import RowBatch
from wiesel.columnar.window_zones import WindowZone
from wiesel.columnar.windows import Times, Window, milliseconds, timestamps
from wiesel.core.errors import UserFunctionError
from wiesel.runtime.operator import OperatorSnapshot
from wiesel.runtime.operators.function_operator import is_batch
from wiesel.runtime.table.aggregation import COUNT_ROWS
from wiesel.runtime.table.base import TableOperator
from wiesel.runtime.table.fired_windows import FiredWindows
from wiesel.runtime.table.group_aggregate import row_signs
from wiesel.runtime.table.slice_store import Part, SliceStore

__all__ = ["LATE_COUNTER", "WindowAggregateOperator", "WindowSpec", "window_aggregate_operator", "window_results"]

LATE_COUNTER = "numLateRecordsDropped"


@dataclass(frozen=True)
class WindowSpec:
    """What is aggregated.

    Attributes:
        keys: The columns of the key.
        calls: The calls.
        window: The windows.
        time: The column with the time of rows; None if ``end`` is given.
        end: The column with the end of a row's window.
        by_clock: Whether rows fall in the windows of the time at which they come.
        types: The types of the columns of the input.
        schema: The schema of the results.
        start: Which of the keys is the start of the window; None if it follows from the end.
        retracts: Whether rows may be taken back.
    """

    keys: tuple[int, ...]
    calls: tuple[BoundCall, ...]
    window: Window
    time: int | None
    end: int | None
    by_clock: bool
    types: tuple[pa.DataType, ...]
    schema: pa.Schema
    start: int | None = None
    retracts: bool = False

    @property
    def distinct(self) -> list[tuple[tuple[int, ...], int | None]]:
        """Arguments and filters of the calls with DISTINCT, each once."""
        return list(dict.fromkeys((call.arguments, call.filter) for call in self.calls if call.distinct))


def window_results(schema: pa.Schema, columns: Sequence[Column], starts: Times, ends: Times, zone: WindowZone) -> RowBatch:
    """Return keys and results with the borders of their windows."""
    times = (starts, ends, zone.points(ends - 1))
    borders = [timestamps(each, kind) for each, kind in zip(times, schema.types[-3:], strict=True)]
    return RowBatch(pa.RecordBatch.from_arrays([*columns, *borders], schema=schema))


class WindowAggregateOperator(TableOperator):
    """Aggregates by key and window."""

    def __init__(self, spec: WindowSpec) -> None:
        self._spec = spec
        # Rows that are in a window already are their own slice.
        self._window = spec.window if spec.end is None else Window("TUMBLE", spec.window.size, spec.window.size)
        self._accumulators = accumulators(spec.calls)
        key_types = [spec.types[index] for index in spec.keys]
        plain = [slot for call, each in zip(spec.calls, self._accumulators, strict=True) if not call.distinct for slot in each.slots]
        self._slots: list[Slot] = [COUNT_ROWS, *plain]
        self._store = SliceStore(len(spec.keys), 0, key_types, self._slots)
        self._distinct = [
            SliceStore(len(spec.keys), len(arguments), [*key_types, *(spec.types[index] for index in arguments)], [COUNT_ROWS])
            for arguments, _ in spec.distinct
        ]

    def open(self) -> None:
        """Take the state."""
        super().open()
        self._zone = WindowZone(self._spec.schema.types[-1], self.session.time_zone)
        backend = self.context.backend
        self._tables = [backend.table("slices"), *(backend.table(f"distinct-{i}", kind="map") for i in range(len(self._distinct)))]
        for store, table in zip(self._stores, self._tables, strict=True):
            store.restore(table)
        self._fired = FiredWindows(self.context)
        self._late = self.context.metrics.counter(LATE_COUNTER)
        if self._spec.by_clock and is_batch(self.context):
            raise UserFunctionError("windows of processing time do not run in BATCH mode", hint="use STREAMING, or event time")
        self._ask()

    @property
    def _stores(self) -> list[SliceStore]:
        return [self._store, *self._distinct]

    # Input

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Aggregate rows by slice."""
        slices = self._slices(rows)
        if not self._spec.by_clock:
            late = self._zone.over(self._last_ends(slices)) <= self._fired.time
            if late.any():
                self._late.inc(int(late.sum()))
                kept = np.flatnonzero(~late)
                if not len(kept):
                    return
                rows, slices = rows.take(kept), slices[kept]
        columns = rows.rows.columns
        keys = [columns[index] for index in self._spec.keys]
        groups = group_by([*keys, pa.array(slices)], len(rows))
        signs = row_signs(rows)
        source = Input(columns, groups, signs)
        parts = [pa.array(groups.sizes(signs))]
        for call, accumulator in zip(self._spec.calls, self._accumulators, strict=True):
            if not call.distinct:
                parts += reduced(accumulator, source.of(call))
        first = pa.array(groups.first)
        self._add(self._store, [*(key.take(first) for key in keys), *parts], slices[groups.first])
        for store, (arguments, condition) in zip(self._distinct, self._spec.distinct, strict=True):
            chosen = source.of(BoundCall("", self._spec.calls[0].spec, arguments, filter=condition))
            self._add_distinct(store, keys, slices, groups.first, chosen)
        self._ask()

    def _slices(self, rows: RowBatch) -> Times:
        spec = self._spec
        if spec.by_clock:
            return self._window.slice_ends(self._zone.local(np.full(len(rows), self.context.clock.now_ms(), np.int64)))
        column = rows.rows.column(spec.time if spec.end is None else spec.end)
        if column.null_count:
            raise UserFunctionError("the event time of a row in a window is NULL", hint="leave such rows out")
        times = milliseconds(column)
        return self._window.slice_ends(self._zone.local(times)) if spec.end is None else times

    def _last_ends(self, slices: Times) -> Times:
        return self._window.last_ends(slices) if self._spec.end is None else slices

    @staticmethod
    def _add(store: SliceStore, part: Part, slices: Times) -> None:
        ends = np.unique(slices)
        for end in ends.tolist():
            if len(ends) == 1:
                store.add(end, part)
            else:
                places = pa.array(np.flatnonzero(slices == end))
                store.add(end, [column.take(places) for column in part])

    def _add_distinct(self, store: SliceStore, keys: Sequence[Column], slices: Times, first_rows: Places, rows: Input) -> None:
        """Add how often each value of rows comes, in groups by key and slice; ``first_rows`` are rows with their keys and slices."""
        if not len(rows.groups):
            return
        values = group_by([pa.array(rows.groups.ids), *rows.columns], len(rows.groups))
        first = values.first
        places = first_rows[rows.groups.ids[first]]
        taken, firsts = pa.array(places), pa.array(first)
        counts = pa.array(values.sizes(rows.signs))
        part = [*(key.take(taken) for key in keys), *(column.take(firsts) for column in rows.columns), counts]
        self._add(store, part, slices[places])

    # Firing

    def process_watermark(self, timestamp: int) -> None:
        """Fire the windows that have ended, then hand the watermark on."""
        if not self._spec.by_clock and timestamp > self._fired.time:
            self._fire(timestamp)
        self.output.emit_watermark(timestamp)

    def on_processing_time(self, now_ms: int) -> None:
        """Fire the windows that have ended."""
        if self._spec.by_clock:
            self._fire(now_ms)
            self._ask()

    def _ask(self) -> None:
        """Have the clock wake the operator when the next window ends."""
        if self._spec.by_clock and self._store.ends():
            overs = (self._zone.over_at(end) for known in self._store.ends() for end in self._window.ends_of_slice(known))
            self.context.register_processing_timer(min(over for over in overs if over > self._fired.time))

    def _fire(self, time: int) -> None:
        known = list(self._store.ends())
        attached = self._spec.end is not None
        due = {end for known_end in known for end in ((known_end,) if attached else self._window.ends_of_slice(known_end))}
        for end in sorted(end for end in due if self._fired.time < self._zone.over_at(end) <= time):
            self._emit(end, (end,) if attached else self._window.slices_of(end))
        self._fired.advance(time)
        for end in known:
            if self._zone.over_at(end if attached else self._window.ends_of_slice(end)[-1]) <= time:
                for store, table in zip(self._stores, self._tables, strict=True):
                    store.drop(end, table)

    def _emit(self, end: int, slices: Sequence[int]) -> None:
        part = self._store.of(slices)
        part = None if part is None else self._that_wait(part, end)
        if part is not None and self._spec.retracts:
            part = _filtered(part, numbers(part[len(self._spec.keys)]) != 0)
        if part is None:
            return
        count = len(self._spec.keys)
        keys, slots = part[:count], part[count + 1 :]
        wanted = zip(self._spec.distinct, self._distinct, strict=True)
        distinct = {values: self._distinct_rows(keys, values[0], store.of(slices)) for values, store in wanted}
        results: list[Column] = []
        for call, accumulator in zip(self._spec.calls, self._accumulators, strict=True):
            if call.distinct:
                mine = reduced(accumulator, distinct[call.arguments, call.filter])
            else:
                mine, slots = slots[: len(accumulator.slots)], slots[len(accumulator.slots) :]
                mine = mine if accumulator.settle is None else accumulator.settle(mine)
            results.append(accumulator.finish(mine).cast(arrow_type(call.spec.result)))
        ends = np.full(len(part[count]), end, np.int64)
        starts = self._spec.window.starts(ends) if self._spec.start is None else milliseconds(keys[self._spec.start])
        self.emit_rows(window_results(self._spec.schema, [*keys, *results], starts, ends, self._zone))

    def _that_wait(self, part: Part, end: int) -> Part | None:
        """Leave out keys for which a window has fired before the operator was restored."""
        waiting = self._fired.waiting(self._zone.over_at(end), lambda: self._store.key_tuples(part))
        if waiting is None:
            return part
        return _filtered(part, waiting)

    def _distinct_rows(self, keys: Sequence[Column], arguments: Sequence[int], part: Part | None) -> Input:
        """Return the different values of a window, with the places of their keys as groups."""
        count = len(keys[0]) if keys else 1
        if part is not None and self._spec.retracts:
            part = _filtered(part, numbers(part[-1]) > 0)
        if part is None:
            return Input([pa.array([], self._spec.types[index]) for index in arguments], Groups(np.zeros(0, np.int64), count))
        both = [pa.concat_arrays([key, other]) for key, other in zip(keys, part, strict=False)]
        ids = group_by(both, count + len(part[-1])).ids[count:] if keys else np.zeros(len(part[-1]), np.int64)
        if self._spec.retracts and (ids >= count).any():  # of keys that are left out
            part, ids = [column.filter(pa.array(ids < count)) for column in part], ids[ids < count]
        return Input(part[len(keys) : -1], Groups(ids, count))

    # Snapshots

    def snapshot_state(self, checkpoint_id: int, timestamp_ms: int = 0) -> OperatorSnapshot | None:
        """Put what has changed into state."""
        for store, table in zip(self._stores, self._tables, strict=True):
            store.flush(table)
        self._fired.snapshot()
        return None


def _filtered(part: Part, mask: npt.NDArray[np.bool_]) -> Part | None:
    """Return the rows of a part for which a mask is true; None if there are none."""
    return [column.filter(pa.array(mask)) for column in part] if mask.any() else None


def window_aggregate_operator(params: dict[str, Any], payload: dict[str, Any]) -> WindowAggregateOperator:
    """Return the operator of a spec."""
    return WindowAggregateOperator(payload["spec"])
