"""Internal. Results of functions with OVER for whole partitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wiesel.columnar.aggregates.calls import BoundCall
from wiesel.columnar.aggregates.registry import make_accumulator
from wiesel.columnar.aggregates.slots import Column, numbers
from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.grouping import Places, group_by
from wiesel.columnar.windows import milliseconds
from wiesel.runtime.table.over.positions import Partitions, position_function
from wiesel.runtime.table.over.slots import frame_slots
from wiesel.runtime.table.rank.row_order import Keys, ordered_places

__all__ = ["PartitionsSpec", "sorted_with_results"]

_DAY_MS = 86_400_000


@dataclass(frozen=True)
class PartitionsSpec:
    """Specification of OVER over partitions.

    Attributes:
        partition: The columns of the partitions.
        keys: The sort keys.
        by_rows: Whether frames count rows, not differences of the only key.
        preceding: Start of frames before the row; None for unbounded; negative after the row.
        following: End of frames after the row, likewise; 0 for the row itself or, with ranges, its last peer.
        calls: The functions.
        schema: That of the results: columns of the input, then one per call.
    """

    partition: tuple[int, ...]
    keys: Keys
    by_rows: bool
    preceding: Any
    following: Any
    calls: tuple[BoundCall, ...]
    schema: pa.Schema


def sorted_with_results(spec: PartitionsSpec, rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return the rows in the order of partition and keys, with the results of the calls."""
    if not len(rows):
        return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in spec.schema], schema=spec.schema)
    ids = group_by([rows.column(index) for index in spec.partition], len(rows)).ids
    order = ordered_places(ids, rows.columns, spec.keys)
    rows, ids = rows.take(pa.array(order)), ids[order]
    peers = group_by([pa.array(ids), *(rows.column(index) for index, _, _ in spec.keys)], len(rows)).ids
    partitions = Partitions(ids, peers)
    frames: tuple[Places, Places] | None = None
    found: list[Column] = []
    for call in spec.calls:
        at_place = position_function(call)
        if at_place is not None:
            found.append(at_place(partitions, rows.columns))
            continue
        frames = frames or (_end_of_frames(spec, rows, partitions, last=False), _end_of_frames(spec, rows, partitions, last=True))
        accumulator = make_accumulator(call.function, call.spec)
        slots = frame_slots(rows.columns, call, accumulator, ids, frames)
        found.append(accumulator.finish(slots).cast(arrow_type(call.spec.result)))
    return pa.RecordBatch.from_arrays([*rows.columns, *found], schema=spec.schema)


def _end_of_frames(spec: PartitionsSpec, rows: pa.RecordBatch, partitions: Partitions, *, last: bool) -> Places:
    """Return the first or the last row of each row's frame; for an empty frame the last one is before the first."""
    reach = spec.following if last else None if spec.preceding is None else -spec.preceding
    if reach is None:
        return partitions.ends if last else partitions.starts
    if spec.by_rows:
        lowest, highest = (partitions.starts - 1, partitions.ends) if last else (partitions.starts, partitions.ends + 1)
        return np.clip(partitions.places + int(reach), lowest, highest)
    if not reach:
        return partitions.last_peers if last else partitions.first_peers
    return _within(spec, rows, partitions, reach, last=last)


def _within(spec: PartitionsSpec, rows: pa.RecordBatch, partitions: Partitions, reach: Any, *, last: bool) -> Places:
    """Return the first row at or after an offset of each row's sort key, or the last one at or before it.

    NULLs are peers of each other only.
    """
    index, ascending, _ = spec.keys[0]
    column = rows.column(index)
    is_null = numbers(column.is_null())
    values, distance = _on_line(column.take(pa.array(np.flatnonzero(~is_null))), reach)
    all_values = np.zeros(len(rows), values.dtype)
    all_values[~is_null] = values if ascending else -values
    targets = np.where(is_null, all_values, all_values + distance)
    # Rows and targets on one axis: a row's frame ends before the rows after its target.
    line = np.concatenate([all_values, targets])
    if line.dtype == object:
        line = np.unique(line, return_inverse=True)[1]
    groups = np.tile(_parts(partitions.ids, is_null), 2)
    is_target = np.repeat([False, True], len(rows))
    order = np.lexsort((is_target if last else ~is_target, line, groups))
    rows_before = np.cumsum(~is_target[order])
    found = np.empty(2 * len(rows), np.int64)
    found[order] = rows_before
    return found[len(rows) :] - 1 if last else found[len(rows) :]


def _parts(ids: Places, is_null: npt.NDArray[np.bool_]) -> Places:
    """Return ascending numbers, equal for rows of a partition with the same nullness of the key."""
    changes = (ids[1:] != ids[:-1]) | (is_null[1:] != is_null[:-1])
    return np.cumsum(np.append(0, changes))


def _on_line(column: Column, reach: Any) -> tuple[npt.NDArray[Any], Any]:
    """Return keys as numbers, and the distance in the same unit."""
    if pa.types.is_timestamp(column.type):
        return milliseconds(column), reach
    if pa.types.is_date32(column.type):
        return numbers(column.view(pa.int32())).astype(np.int64) * _DAY_MS, reach
    if pa.types.is_time32(column.type):
        return numbers(column.cast(pa.time32("ms")).view(pa.int32())).astype(np.int64), reach
    if pa.types.is_decimal(column.type):
        unscaled = [int(value.scaleb(column.type.scale)) for value in column.to_pylist()]
        return np.array(unscaled, object), int(reach * 10**column.type.scale)
    exact = numbers(column)
    return exact.astype(np.int64 if exact.dtype.kind == "i" else np.float64), reach
