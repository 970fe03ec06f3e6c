"""Internal. OVER with bounded frames of rows or time, and unbounded ones for aggregates without incremental slots."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.columnar.aggregates.slots import Column
from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.grouping import Groups, Places, group_by
from wiesel.columnar.windows import Times
from wiesel.core.ids import MIN_TIMESTAMP
from wiesel.runtime.table.over.aggregate import OverOperator, OverSpec, last_peers, sorted_rows
from wiesel.runtime.table.over.slots import frame_slots, last_of_groups, starts_of_groups

__all__ = ["BoundedOverOperator"]


class BoundedOverOperator(OverOperator):
    """Stores the last rows of each key, with their times; all of them for unbounded frames."""

    def __init__(self, spec: OverSpec) -> None:
        super().__init__(spec)
        self._preceding = spec.preceding
        self._history = self._batch([])
        self._history_times: Times = np.zeros(0, np.int64)

    def _on_time(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        # LAG has a bounded frame, but is an unbounded aggregate in Flink: rows behind the watermark are late.
        if self._preceding is not None and not any(call.function == "LAG" for call in self._spec.calls):
            return batch
        return batch.filter(self._dropped(self._times(batch) <= self._watermark))

    def _compute(self, rows: pa.RecordBatch, times: Times) -> None:
        both = pa.concat_batches([self._history, rows])
        all_times = np.concatenate([self._history_times, times])
        old = len(self._history)
        keys = group_by(self._keys(both), len(both))
        if not self._spec.by_clock:
            both, all_times, keys = self._without_late(both, all_times, keys, old)
        order = sorted_rows(keys, all_times)
        ids, sorted_times = keys.ids[order], all_times[order]
        taken = both.take(pa.array(order))
        new = np.flatnonzero(order >= old)
        firsts, lasts = self._frames(ids, sorted_times)
        results = self._results(taken, ids, (firsts[new], lasts[new]))
        self._keep(taken, ids, sorted_times)
        if len(new):
            fresh = pa.array(new)
            self._emit(taken.take(fresh), sorted_times[new], results, order[new])

    def _without_late(self, rows: pa.RecordBatch, times: Times, keys: Groups, old: int) -> tuple[pa.RecordBatch, Times, Groups]:
        """Drop new rows that are not after the last row of their key."""
        last = np.full(keys.count, MIN_TIMESTAMP, np.int64)
        np.maximum.at(last, keys.ids[:old], times[:old])
        late = times <= last[keys.ids]
        late[:old] = False
        if not late.any():
            return rows, times, keys
        mask = self._dropped(late)
        return rows.filter(mask), times[~late], keys.take(np.flatnonzero(~late))

    def _frames(self, ids: Places, times: Times) -> tuple[Places, Places]:
        """Return the first and the last row of each row's frame."""
        places, starts = np.arange(len(ids)), starts_of_groups(ids)
        if self._preceding is None:
            in_order = self._spec.by_rows or self._spec.by_clock or not len(ids)
            return starts, places if in_order else last_peers(ids, times)
        if self._spec.by_rows:
            return np.maximum(starts, places - self._preceding), places
        if not len(ids):
            return places, places
        # All groups on one axis, with distances larger than a frame.
        span = int(times.max() - times.min()) + self._preceding + 1
        line = ids * span + (times - times.min())
        return np.maximum(starts, np.searchsorted(line, line - self._preceding)), last_peers(ids, times)

    def _results(self, rows: pa.RecordBatch, ids: Places, frames: tuple[Places, Places]) -> list[Column]:
        found = []
        for call, accumulator in zip(self._spec.calls, self._accumulators, strict=True):
            slots = frame_slots(rows.columns, call, accumulator, ids, frames)
            found.append(accumulator.finish(slots).cast(arrow_type(call.spec.result)))
        return found

    def _keep(self, rows: pa.RecordBatch, ids: Places, times: Times) -> None:
        """Retain the rows within the reach of later frames; the last row of a key also for its time."""
        if self._preceding is None:
            self._history, self._history_times = rows, times
            return
        lasts = last_of_groups(ids)
        last_of_row = lasts[np.searchsorted(lasts, np.arange(len(ids)))]
        if self._spec.by_rows:
            kept = last_of_row - np.arange(len(ids)) < max(self._preceding, 1)
        else:
            kept = times >= times[last_of_row] - self._preceding
        self._history, self._history_times = rows.filter(pa.array(kept)), times[kept]

    def _clean_up(self, watermark: int) -> None:
        """Drop the rows of keys without recent rows, periodically."""
        if self._preceding is None or self._spec.by_rows or self._spec.by_clock or not len(self._history_times):
            return
        limit = watermark - self._preceding
        if int(self._history_times.min()) >= limit - self._preceding:
            return
        kept = self._history_times >= limit
        dropped = self._history.filter(pa.array(~kept))
        self._note(self._keys(dropped), len(dropped))
        self._history, self._history_times = self._history.filter(pa.array(kept)), self._history_times[kept]

    # State

    def _kept(self, keys: set[tuple[Any, ...]]) -> dict[tuple[Any, ...], Any]:
        timed = self._history.append_column("$time", pa.array(self._history_times))
        return self._by_key([timed], keys)

    def _restore(self, kept: dict[tuple[Any, ...], Any]) -> None:
        rows = [row for mine in kept.values() for row in mine or ()]
        self._history = self._batch([row[:-1] for row in rows])
        self._history_times = np.array([row[-1] for row in rows], np.int64)
