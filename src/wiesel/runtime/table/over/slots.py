"""Internal. Slots of frames: for some rows those of the rows from one place to another, of rows that are sorted by group.

They are made in one of four ways, the first that can be used: sums of whole numbers are differences of running sums; frames from the first
row of a group on are accumulated row by row; where the order of additions shows (sums of fractions), and where values are kept, each row is
looked at with each in its frame; else frames are put together of blocks of 1, 2, 4, 8 ... rows, each of which is computed once.
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
"""How many pairs of a row and another one in its frame are looked at in one go."""


def last_of_groups(sorted_ids: Places) -> Places:
    """Return the place of the last row of each group, of rows sorted by group."""
    return np.flatnonzero(np.append(sorted_ids[1:] != sorted_ids[:-1], True)) if len(sorted_ids) else np.zeros(0, np.int64)


def starts_of_groups(sorted_ids: Places) -> Places:
    """Return for each row the place of the first row of its group, of rows sorted by group."""
    begins = np.flatnonzero(np.append(True, sorted_ids[1:] != sorted_ids[:-1])) if len(sorted_ids) else np.zeros(0, np.int64)
    lengths = np.diff(np.append(begins, len(sorted_ids)))
    return np.repeat(begins, lengths)


def frame_slots(
    columns: Sequence[Column], call: BoundCall, accumulator: Accumulator, ids: Places, frames: tuple[Places, Places]
) -> list[Column]:
    """Return the slots of frames.

    Args:
        columns: Those of all rows, in the order of group and place.
        call: What is aggregated.
        accumulator: That of the call.
        ids: The group of each row.
        frames: The places of the first and of the last row of each frame; a last one before the first means that there is none.
    """
    firsts, lasts = frames
    starts = starts_of_groups(ids)
    from_start = bool((firsts == starts[np.minimum(firsts, len(ids) - 1)])[lasts >= firsts].all())
    source = Input(columns, Groups(np.arange(len(ids)), len(ids))).of(call)
    if call.distinct:
        if not from_start:
            return _of_pairs(columns, call, accumulator, firsts, lasts)
        # What has come before in the group does not count again.
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


def accumulates(call: BoundCall) -> bool:
    """Return whether the slots of a call are enough to go on with from row to row."""
    return all(slot.how in _STEPS for slot in make_accumulator(call.function, call.spec).slots)


def running_slot(slot: Slot, column: Column, ids: Places, before: Sequence[Any] | None = None) -> Column:
    """Return for each row what the values up to it make, of rows sorted by group.

    Args:
        slot: What is made of values: sums, or extremes or values at an end.
        column: The value of each row.
        ids: The group of each row.
        before: What each group had before, if it had something.
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
        # To accumulate() None is no first value; it is that of a key of which no value was there.
        found += accumulate(mine, step) if first is None else list(accumulate(mine, step, initial=first))[1:]
        start = end
    return slot_column(slot, found)


def _at(slot: Slot, running: Column, firsts: Places, lasts: Places) -> Column:
    """Return what is there at the last places; of frames without rows what is there without rows."""
    empty = lasts < firsts
    if not empty.any():
        return running.take(pa.array(lasts))
    both = pa.concat_arrays([running, slot_column(slot, [slot.empty])])
    return both.take(pa.array(np.where(empty, len(running), lasts)))


# Block by block


def _of_blocks(slot: Slot, column: Column, firsts: Places, lasts: Places) -> Column:
    """Return what the values of each frame make.

    The length of a frame in binary digits says which blocks it is made of; they are taken from the smallest to the largest, one behind the
    other.
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
