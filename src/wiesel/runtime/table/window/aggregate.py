"""Internal. Window aggregates for windows of fixed length: one row per key and window, at the end of the window.

Rows are aggregated by slice; a window is computed from its slices when it fires. Rows whose windows have all fired are dropped and counted.

Retry semantics: a snapshot writes changed slices to keyed state, and the watermark up to which windows have fired to operator state, by key
group.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wiesel.columnar.aggregates.calls import Input, accumulators, reduced
from wiesel.columnar.aggregates.slots import Column, numbers
from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.grouping import Groups, group_by
from wiesel.columnar.row_batch import RowBatch
from wiesel.columnar.window_zones import WindowZone
from wiesel.columnar.windows import Times, milliseconds, timestamps
from wiesel.core.errors import UserFunctionError
from wiesel.core.ids import MIN_TIMESTAMP
from wiesel.core.metrics import LATE_COUNTER
from wiesel.runtime.operator import OperatorSnapshot
from wiesel.runtime.operators.function_operator import is_batch
from wiesel.runtime.table.aggregate.aggregation import COUNT_ROWS
from wiesel.runtime.table.base import TableOperator
from wiesel.runtime.table.window.fired_windows import FiredWindows
from wiesel.runtime.table.window.partials import Sliced, WindowPartials
from wiesel.runtime.table.window.slice_store import Part, SliceStore
from wiesel.runtime.table.window.spec import WindowSpec, slices_of

__all__ = ["WindowAggregateOperator", "window_aggregate_operator", "window_results"]

_NOT_JOINED = frozenset(["FIRST_VALUE", "LAST_VALUE", "JSON_ARRAYAGG"])
"""Functions that Flink does not compute over slices, and that depend on the order of rows."""


def window_results(schema: pa.Schema, columns: Sequence[Column], starts: Times, ends: Times, zone: WindowZone) -> RowBatch:
    """Return keys and results with the bounds of their windows."""
    times = (starts, ends, zone.points(ends - 1))
    bounds = [timestamps(each, kind) for each, kind in zip(times, schema.types[-3:], strict=True)]
    return RowBatch(pa.RecordBatch.from_arrays([*columns, *bounds], schema=schema))


class WindowAggregateOperator(TableOperator):
    """Aggregates by key and window."""

    def __init__(self, spec: WindowSpec) -> None:
        self._spec = spec
        self._window = spec.slicing
        self._newest_first = spec.window.newest_first and not any(call.function in _NOT_JOINED for call in spec.calls)
        self._accumulators = accumulators(spec.calls)
        self._partials = WindowPartials(spec)
        key_types = [spec.types[index] for index in spec.keys]
        self._store = SliceStore(len(spec.keys), 0, key_types, self._partials.slots)
        self._distinct = [
            SliceStore(len(spec.keys), len(arguments), [*key_types, *(spec.types[index] for index in arguments)], [COUNT_ROWS])
            for arguments, _ in spec.distinct
        ]

    def open(self) -> None:
        """Initialise the state."""
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
                self._late.inc(self._row_count(rows, late))
                kept = np.flatnonzero(~late)
                if not len(kept):
                    return
                rows, slices = rows.take(kept), slices[kept]
            if self._window.kind == "CUMULATE" and self._fired.time > MIN_TIMESTAMP:
                slices = np.maximum(slices, self._window.fired_slice(int(self._zone.local(np.array([self._fired.time + 1]))[0])))
        sliced = self._read(rows, slices) if self._spec.merges else self._sliced(rows, slices)
        for store, (part, of) in zip(self._stores, (sliced.plain, *sliced.values), strict=True):
            self._add(store, part, of)
        self._ask()

    def _sliced(self, rows: RowBatch, slices: Times) -> Sliced:
        """Return the aggregates of rows."""
        return self._partials.of(rows, slices, group_by(self._partials.grouped(rows, slices), len(rows)))

    def _slices(self, rows: RowBatch) -> Times:
        if self._spec.by_clock:
            return self._window.slice_ends(self._zone.local(np.full(len(rows), self.context.clock.now_ms(), np.int64)))
        return numbers(rows.rows.column(len(self._spec.keys))) if self._spec.merges else slices_of(self._spec, self._zone, rows)

    def _row_count(self, rows: RowBatch, chosen: npt.NDArray[np.bool_]) -> int:
        return int((numbers(rows.rows.column(len(self._spec.keys) + 1))[chosen] if self._spec.merges else chosen).sum())

    def _read(self, rows: RowBatch, slices: Times) -> Sliced:
        """Return partials as parts."""
        columns, width = rows.rows.columns, len(self._spec.keys)
        return self._partials.read([*columns[:width], pa.array(slices), *columns[width + 1 :]])

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
        """Register a processing timer for the end of the next window."""
        if self._spec.by_clock and self._store.ends():
            overs = (self._zone.over_at(end) for known in self._store.ends() for end in self._window.ends_of_slice(known))
            self.context.register_processing_timer(min(over for over in overs if over > self._fired.time))

    def _fire(self, time: int) -> None:
        known = list(self._store.ends())
        attached = self._spec.end is not None
        due = {end for known_end in known for end in ((known_end,) if attached else self._window.ends_of_slice(known_end))}
        for end in sorted(end for end in due if self._fired.time < self._zone.over_at(end) <= time):
            self._emit(end, (end,) if attached else self._joined(end))
        self._fired.advance(time)
        for end in known:
            if self._zone.over_at(end if attached else self._window.ends_of_slice(end)[-1]) <= time:
                for store, table in zip(self._stores, self._tables, strict=True):
                    store.drop(end, table)

    def _joined(self, end: int) -> Sequence[int]:
        """Return the slices of a window in the order in which they are merged."""
        slices = self._window.slices_of(end)
        return slices[::-1] if self._newest_first else slices

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
        """Filter out keys whose window fired before the operator was restored."""
        waiting = self._fired.waiting(self._zone.over_at(end), lambda: self._store.key_tuples(part))
        if waiting is None:
            return part
        return _filtered(part, waiting)

    def _distinct_rows(self, keys: Sequence[Column], arguments: Sequence[int], part: Part | None) -> Input:
        """Return the distinct values of a window, with the indexes of their keys as groups."""
        count = len(keys[0]) if keys else 1
        if part is not None and self._spec.retracts:
            part = _filtered(part, numbers(part[-1]) > 0)
        if part is None:
            return Input([pa.array([], self._spec.types[index]) for index in arguments], Groups(np.zeros(0, np.int64), count))
        both = [pa.concat_arrays([key, other]) for key, other in zip(keys, part, strict=False)]
        ids = group_by(both, count + len(part[-1])).ids[count:] if keys else np.zeros(len(part[-1]), np.int64)
        if self._spec.retracts and (ids >= count).any():  # of filtered keys
            part, ids = [column.filter(pa.array(ids < count)) for column in part], ids[ids < count]
        return Input(part[len(keys) : -1], Groups(ids, count))

    # Snapshots

    def snapshot_state(self, checkpoint_id: int, timestamp_ms: int = 0) -> OperatorSnapshot | None:
        """Write changes to state."""
        for store, table in zip(self._stores, self._tables, strict=True):
            store.flush(table)
        self._fired.snapshot()
        return None


def _filtered(part: Part, mask: npt.NDArray[np.bool_]) -> Part | None:
    """Return the rows of a part selected by a mask; None if there are none."""
    return [column.filter(pa.array(mask)) for column in part] if mask.any() else None


def window_aggregate_operator(params: dict[str, Any], payload: dict[str, Any]) -> WindowAggregateOperator:
    """Return the operator of a spec."""
    return WindowAggregateOperator(payload["spec"])
