"""Internal. Slots of frames over rows sorted by group.

They are computed in one of four ways, the first applicable one: sums of integers are differences of prefix sums; frames from the first row
of a group on are accumulated row by row; if the order of additions matters (sums of fractions), and for stored values, each pair of a row
and a row in its frame is processed; else frames are combined from blocks of 1, 2, 4, 8 ... rows, each of which is computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.columnar.aggregates.calls import BoundCall, Input, reduced
from wiesel.columnar.aggregates.registry import Accumulator, make_accumulator
from wiesel.columnar.aggregates.slots import Column, Slot, merged, numbers
from wiesel.columnar.grouping import Groups, Places, group_by
from wiesel.runtime.table.aggregate.aggregation import python_values, slot_column
from wiesel.runtime.table.aggregate.value_multisets import distinct_values

__all__ = ["accumulates", "frame_slots", "last_of_groups", "running_slot", "starts_of_groups"]

_PAIRS = 1_000_000
"""Number of pairs of a row and another one in its frame processed at once."""


def last_of_groups(sorted_ids: Places) -> Places:
    """Return the index of the last row of each group, for rows sorted by group."""
    return np.flatnonzero(np.append(sorted_ids[1:] != sorted_ids[:-1], True)) if len(sorted_ids) else np.zeros(0, np.int64)


def starts_of_groups(sorted_ids: Places) -> Places:
    """Return the index of the first row of each row's group, for rows sorted by group."""
    begins = np.flatnonzero(np.append(True, sorted_ids[1:] != sorted_ids[:-1])) if len(sorted_ids) else np.zeros(0, np.int64)
    lengths = np.diff(np.append(begins, len(sorted_ids)))
    return np.repeat(begins, lengths)


def frame_slots(
    columns: Sequence[Column], call: BoundCall, accumulator: Accumulator, ids: Places, frames: tuple[Places, Places]
) -> list[Column]:
    """Return the slots of frames.

    Args:
        columns: The columns of all rows, sorted by group and position.
        call: The aggregate call.
        accumulator: Its accumulator.
        ids: The group of each row.
        frames: The indexes of the first and of the last row of each frame; a last one before the first means an empty frame.
    """
    firsts, lasts = frames
    starts = starts_of_groups(ids)
    from_start = bool((firsts == starts[np.minimum(firsts, len(ids) - 1)])[lasts >= firsts].all())
    source = Input(columns, Groups(np.arange(len(ids)), len(ids))).of(call)
    if call.distinct:
        if not from_start:
            return _of_pairs(columns, call, accumulator, firsts, lasts)
        # Earlier values of the group are not counted twice.
        source = source.take(np.sort(group_by([pa.array(ids[source.groups.ids]), *source.columns], len(source.groups)).first))
    prepared = reduced(accumulator, source)
    slots = accumulator.slots
    if all(slot.how == "sum" and pa.types.is_integer(slot.type) for slot in slots):
        running = [np.append(0, np.cumsum(numbers(column))) for column in prepared]
        return [pa.array(sums[np.maximum(lasts + 1, firsts)] - sums[firsts]) for sums in running]
    if from_start and all(slot.how in _STEPS for slot in slots):
        return [_at(slot, running_slot(slot, column, ids), firsts, lasts) for slot, column in zip(slots, prepared, strict=True)]
    if not call.distinct and any(_needs_pairs(slot, ids, lasts) for slot in slots):
        return _of_pairs(columns, call, accumulator, firsts, lasts)
    return [_of_blocks(slot, column, firsts, lasts) for slot, column in zip(slots, prepared, strict=True)]


def _needs_pairs(slot: Slot, ids: Places, lasts: Places) -> bool:
    if slot.how == "list":
        return True
    # With frames up to the end of large groups there would be too many pairs.
    to_the_end = bool(np.isin(lasts, last_of_groups(ids)).all())
    return slot.how == "sum" and pa.types.is_floating(slot.type) and not to_the_end


# Row by row


def _known(pick: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return a function of two values that ignores None."""

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


def accumulates(call: BoundCall) -> bool:
    """Return whether the slots of a call can be accumulated from row to row."""
    return all(slot.how in _STEPS for slot in make_accumulator(call.function, call.spec).slots)


def running_slot(slot: Slot, column: Column, ids: Places, before: Sequence[Any] | None = None) -> Column:
    """Return the running aggregate of each row, for rows sorted by group.

    Args:
        slot: The reduction: sums, extremes, or first or last values.
        column: The value of each row.
        ids: The group of each row.
        before: The initial value of each group, if it has one.
    """
    ends = last_of_groups(ids)
    before = [slot.empty] * len(ends) if before is None else before
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
    for end, first in zip((ends + 1).tolist(), before, strict=True):
        mine = values[start:end]
        # To accumulate() None is no initial value; it is that of a key without values.
        found += accumulate(mine, step) if first is None else list(accumulate(mine, step, initial=first))[1:]
        start = end
    return slot_column(slot, found)


def _at(slot: Slot, running: Column, firsts: Places, lasts: Places) -> Column:
    """Return the running values at the last rows; those of empty frames are the slot's empty value."""
    empty = lasts < firsts
    if not empty.any():
        return running.take(pa.array(lasts))
    both = pa.concat_arrays([running, slot_column(slot, [slot.empty])])
    return both.take(pa.array(np.where(empty, len(running), lasts)))


# Block by block


def _of_blocks(slot: Slot, column: Column, firsts: Places, lasts: Places) -> Column:
    """Return the aggregate of each frame.

    The binary digits of the length of a frame select its blocks; they are combined from the smallest to the largest, in order.
    """
    at, left = firsts.copy(), np.maximum(lasts - firsts + 1, 0)
    found = slot_column(slot, [slot.empty] * len(firsts))
    size = 1
    while left.any():
        used = np.flatnonzero(left & size)
        if len(used):
            longer = merged(slot, found.take(pa.array(used)), column.take(pa.array(at[used])))
            places = np.arange(len(found))
            places[used] = len(found) + np.arange(len(used))
            found = pa.concat_arrays([found, longer]).take(pa.array(places))
            at[used] += size
            left[used] -= size
        if left.any():
            column = merged(slot, column.slice(0, len(column) - size), column.slice(size))
            size *= 2
    return found


# Pair by pair


def _of_pairs(columns: Sequence[Column], call: BoundCall, accumulator: Accumulator, firsts: Places, lasts: Places) -> list[Column]:
    parts: list[list[Column]] = []
    lengths = np.maximum(lasts - firsts + 1, 0)
    total = np.cumsum(lengths)
    start = 0
    while start < len(firsts) or not parts:
        done = int(total[start - 1]) if start else 0
        end = max(int(np.searchsorted(total, done + _PAIRS, side="right")), start + 1)
        parts.append(_some_pairs(columns, call, accumulator, firsts[start:end], lengths[start:end]))
        start = end
    return [pa.concat_arrays(list(each)) for each in zip(*parts, strict=True)]


def _some_pairs(columns: Sequence[Column], call: BoundCall, accumulator: Accumulator, firsts: Places, lengths: Places) -> list[Column]:
    ids = np.repeat(np.arange(len(firsts)), lengths)
    places = pa.array(np.arange(len(ids)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + firsts[ids])
    chosen = Input([column.take(places) for column in columns], Groups(ids, len(firsts))).of(call)
    return reduced(accumulator, distinct_values(chosen)[0] if call.distinct else chosen)
