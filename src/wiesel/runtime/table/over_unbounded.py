"""Internal. OVER with frames from the first row of the key on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.columnar.aggregates.calls import Input, reduced
from wiesel.columnar.aggregates.slots import Column, Slot, numbers
from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.grouping import Groups, Places, group_by
from wiesel.columnar.windows import Times
from wiesel.runtime.table.aggregation import python_values, slot_column
from wiesel.runtime.table.over_aggregate import OverOperator, OverSpec, last_of_groups, last_peers, sorted_rows, starts_of_groups
from wiesel.runtime.table.over_bounded import BoundedOverOperator

__all__ = ["UnboundedOverOperator", "over_operator"]


def _known(pick: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return a function of two values that leaves out None."""

    def picked(one: Any, other: Any) -> Any:
        return other if one is None else one if other is None else pick(one, other)

    return picked


_STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda one, other: one + other,
    "min": _known(min),
    "max": _known(max),
    "first": _known(lambda one, other: one),
    "last": _known(lambda one, other: other),
}


class UnboundedOverOperator(OverOperator):
    """Keeps the slots of each key."""

    def __init__(self, spec: OverSpec) -> None:
        super().__init__(spec)
        self._slots: list[Slot] = [slot for each in self._accumulators for slot in each.slots]
        self._states: dict[tuple[Any, ...], tuple[Any, ...]] = {}

    def _on_time(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        late = self._times(batch) <= self._watermark
        return batch.filter(self._dropped(late)) if late.any() else batch

    def _compute(self, rows: pa.RecordBatch, times: Times) -> None:
        keys = group_by(self._keys(rows), len(rows))
        order = sorted_rows(keys, times)
        taken, ids, sorted_times = rows.take(pa.array(order)), keys.ids[order], times[order]
        lasts = last_of_groups(ids)
        tuples = self._key_tuples(taken, lasts)
        each = Groups(np.arange(len(rows)), len(rows))
        source = Input(taken.columns, each)
        called = zip(self._spec.calls, self._accumulators, strict=True)
        prepared = [column for call, accumulator in called for column in reduced(accumulator, source.of(call))]
        empty = tuple(slot.empty for slot in self._slots)
        before = [self._states.get(key, empty) for key in tuples]
        running = [
            self._running(slot, column, ids, [state[place] for state in before])
            for place, (slot, column) in enumerate(zip(self._slots, prepared, strict=True))
        ]
        ends = pa.array(lasts)
        self._states.update(zip(tuples, zip(*(python_values(column.take(ends)) for column in running), strict=True), strict=True))
        if not self._spec.by_rows and not self._spec.by_clock:
            peers = pa.array(last_peers(ids, sorted_times))
            running = [column.take(peers) for column in running]
        self._emit(taken, sorted_times, self._finished(running))

    def _key_tuples(self, rows: pa.RecordBatch, places: Places) -> list[tuple[Any, ...]]:
        if not self._spec.partition:
            return [()] * len(places)
        taken = pa.array(places)
        return list(zip(*(key.take(taken).to_pylist() for key in self._keys(rows)), strict=True))

    def _finished(self, slots: Sequence[Column]) -> list[Column]:
        found = []
        for call, accumulator in zip(self._spec.calls, self._accumulators, strict=True):
            mine, slots = slots[: len(accumulator.slots)], slots[len(accumulator.slots) :]
            found.append(accumulator.finish(mine).cast(arrow_type(call.spec.result)))
        return found

    @staticmethod
    def _running(slot: Slot, column: Column, ids: Places, before: list[Any]) -> Column:
        """Return for each row what the values up to it make, of rows sorted by group; ``before`` is what each group had."""
        if slot.how == "sum" and pa.types.is_integer(slot.type):
            sums = np.cumsum(numbers(column))
            starts = starts_of_groups(ids)
            earlier = np.where(starts > 0, sums[starts - 1], 0)
            nth = np.cumsum(np.append(0, ids[1:] != ids[:-1]))
            return pa.array(sums - earlier + np.array(before, np.int64)[nth])
        step = _STEPS[slot.how]
        values = python_values(column)
        found: list[Any] = []
        start = 0
        for end, first in zip((last_of_groups(ids) + 1).tolist(), before, strict=True):
            mine = values[start:end]
            # To accumulate() None is no first value; it is that of a key of which no value was there.
            found += accumulate(mine, step) if first is None else list(accumulate(mine, step, initial=first))[1:]
            start = end
        return slot_column(slot, found)

    # State

    def _kept(self, keys: set[tuple[Any, ...]]) -> dict[tuple[Any, ...], Any]:
        return {key: self._states[key] for key in keys if key in self._states}

    def _restore(self, kept: dict[tuple[Any, ...], Any]) -> None:
        self._states = {key: state for key, state in kept.items() if state is not None}


def over_operator(params: dict[str, Any], payload: dict[str, Any]) -> OverOperator:
    """Return the operator of a spec."""
    spec: OverSpec = payload["spec"]
    return UnboundedOverOperator(spec) if spec.preceding is None else BoundedOverOperator(spec)
