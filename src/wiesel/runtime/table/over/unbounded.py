"""Internal. OVER with frames from the first row of the key on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.columnar.aggregates.calls import Input, reduced
from wiesel.columnar.aggregates.slots import Column, Slot
from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.grouping import Groups, Places, group_by
from wiesel.columnar.keys import key_values
from wiesel.columnar.windows import Times
from wiesel.runtime.table.aggregate.aggregation import python_values
from wiesel.runtime.table.over.aggregate import OverOperator, OverSpec, last_peers, sorted_rows
from wiesel.runtime.table.over.bounded import BoundedOverOperator
from wiesel.runtime.table.over.slots import accumulates, last_of_groups, running_slot, starts_of_groups

__all__ = ["UnboundedOverOperator", "over_operator"]


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
        heads = starts_of_groups(group_by([pa.array(ids), pa.array(sorted_times)], len(rows)).ids) if not self._spec.by_clock else each.ids
        prepared = self._prepared(source, heads)
        empty = tuple(slot.empty for slot in self._slots)
        before = [self._states.get(key, empty) for key in tuples]
        running = [
            running_slot(slot, column, ids, [state[place] for state in before])
            for place, (slot, column) in enumerate(zip(self._slots, prepared, strict=True))
        ]
        ends = pa.array(lasts)
        self._states.update(zip(tuples, zip(*(python_values(column.take(ends)) for column in running), strict=True), strict=True))
        if not self._spec.by_rows and not self._spec.by_clock:
            running = [column.take(pa.array(places)) for column, places in zip(running, self._peers(ids, sorted_times, heads), strict=True)]
        self._emit(taken, sorted_times, self._finished(running), order)

    def _prepared(self, rows: Input, heads: Places) -> list[Column]:
        """Return the slots of each row; ``heads`` are the first rows of the same key and time."""
        found: list[Column] = []
        for place, (call, accumulator) in enumerate(zip(self._spec.calls, self._accumulators, strict=True)):
            slots = reduced(accumulator, rows.of(call))
            if self._spec.ranks.get(place) == "DENSE_RANK":
                slots = [pa.array((heads == np.arange(len(heads))).astype(np.int64))]
            found += slots
        return found

    def _peers(self, ids: Places, times: Times, heads: Places) -> list[Places]:
        """Return for each slot the row whose value is used for peers: the last one, except for numbers and ranks."""
        own = {"ROW_NUMBER": np.arange(len(heads)), "RANK": heads, "DENSE_RANK": heads}
        last = last_peers(ids, times)
        places = [own.get(self._spec.ranks.get(place, ""), last) for place in range(len(self._spec.calls))]
        return [each for each, accumulator in zip(places, self._accumulators, strict=True) for _ in accumulator.slots]

    def _key_tuples(self, rows: pa.RecordBatch, places: Places) -> list[tuple[Any, ...]]:
        if not self._spec.partition:
            return [()] * len(places)
        taken = pa.array(places)
        return list(zip(*(key_values(key.take(taken)) for key in self._keys(rows)), strict=True))

    def _finished(self, slots: Sequence[Column]) -> list[Column]:
        found = []
        for call, accumulator in zip(self._spec.calls, self._accumulators, strict=True):
            mine, slots = slots[: len(accumulator.slots)], slots[len(accumulator.slots) :]
            found.append(accumulator.finish(mine).cast(arrow_type(call.spec.result)))
        return found

    # State

    def _kept(self, keys: set[tuple[Any, ...]]) -> dict[tuple[Any, ...], Any]:
        return {key: self._states[key] for key in keys if key in self._states}

    def _restore(self, kept: dict[tuple[Any, ...], Any]) -> None:
        self._states = {key: state for key, state in kept.items() if state is not None}


def over_operator(params: dict[str, Any], payload: dict[str, Any]) -> OverOperator:
    """Return the operator of a spec."""
    spec: OverSpec = payload["spec"]
    steps = all(not call.distinct and accumulates(call) for call in spec.calls)
    return UnboundedOverOperator(spec) if spec.preceding is None and steps else BoundedOverOperator(spec)
