"""Internal. Temporal joins: rows joined with the version of another table's row valid at their event time.

Rows of the left side wait for the watermark: then all versions up to their time are known. Versions of a key are dropped once the watermark
has passed a later one. A deletion is a version, too, which matches nothing.

Retry semantics: versions are keyed state; waiting rows are written to keyed state when a checkpoint is taken, for the changed keys.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.columnar.evaluation import Frame, as_array, evaluate
from wiesel.columnar.expressions import Expression
from wiesel.columnar.grouping import Places, group_by
from wiesel.columnar.keys import key_tuples
from wiesel.columnar.row_batch import DELETE, UPDATE_BEFORE, RowBatch, concat
from wiesel.columnar.stored import StoredRow, columns_of, stored_rows
from wiesel.columnar.windows import milliseconds
from wiesel.core.errors import UserFunctionError
from wiesel.core.ids import MIN_TIMESTAMP
from wiesel.runtime.table.base import TableOperator

__all__ = ["TemporalJoinSpec", "temporal_join_operator"]

Key = tuple[Any, ...]
Version = tuple[int, StoredRow | None]
"""Start of validity, and the row; None for a deletion."""


@dataclass(frozen=True)
class TemporalJoinSpec:
    """Specification of the join.

    Attributes:
        outer: Emit unmatched rows of the left side with NULLs.
        left_keys: The key columns of the left side.
        right_keys: The key of the versioned table.
        left_time: The column with the time of rows.
        right_time: The time column of versions.
        width: Number of columns of the left side in the results.
        condition: Remaining condition of pairs, over these columns followed by those of the right side.
        left: The columns of the left side.
        right: The columns of the right side.
        schema: The columns of the results.
    """

    outer: bool
    left_keys: tuple[int, ...]
    right_keys: tuple[int, ...]
    left_time: int
    right_time: int
    width: int
    condition: Expression | None
    left: pa.Schema
    right: pa.Schema
    schema: pa.Schema


class TemporalJoinOperator(TableOperator):
    """Joins rows with versions."""

    def __init__(self, spec: TemporalJoinSpec) -> None:
        self._spec = spec
        self._waiting: list[RowBatch] = []
        self._changed: set[Key] = set()
        self._followed: list[tuple[int, int, Key]] = []  # when a version is followed by another; a number, as keys have no order
        self._number = 0
        self._watermark = MIN_TIMESTAMP

    def open(self) -> None:
        """Initialise the state."""
        super().open()
        self._rows = self.context.backend.table("left")
        self._versions = self.context.backend.table("right")
        waiting = [row for _, _, rows in self._rows.items() for row in rows]
        if waiting:
            columns = columns_of([row for row, _ in waiting], self._spec.left)
            kinds = np.array([kind for _, kind in waiting], np.uint8)
            self._waiting = [RowBatch(pa.RecordBatch.from_arrays(columns, schema=self._spec.left), kinds)]
        for key, _, versions in self._versions.items():
            self._note_followers(key, versions)

    # Input

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Store rows and versions."""
        time = self._spec.right_time if input_index else self._spec.left_time
        if rows.rows.column(time).null_count:
            side = "versioned table" if input_index else "left side"
            raise UserFunctionError(
                f"the event time of a row of the {side} of a join with FOR SYSTEM_TIME AS OF is NULL", hint="filter such rows out"
            )
        if input_index:
            self._keep_versions(rows)
        else:
            self._changed.update(key_tuples(rows.rows, self._spec.left_keys))
            self._waiting.append(RowBatch(rows.rows.cast(self._spec.left), rows.kinds))

    def _keep_versions(self, rows: RowBatch) -> None:
        found: dict[Key, list[Version]] = {}
        times = milliseconds(rows.rows.column(self._spec.right_time)).tolist()
        kinds = rows.kinds_or_inserts().tolist()
        for key, time, kind, row in zip(key_tuples(rows.rows, self._spec.right_keys), times, kinds, stored_rows(rows.rows), strict=True):
            if kind != UPDATE_BEFORE:  # the new row has the time
                found.setdefault(key, []).append((time, None if kind == DELETE else row))
        for key, versions in found.items():
            by_time = dict(self._versions.get(key) or ())
            by_time.update(versions)
            kept = sorted(by_time.items(), key=lambda version: version[0])
            self._versions.put(key, kept)
            self._note_followers(key, kept)

    def _note_followers(self, key: Key, versions: Sequence[Version]) -> None:
        """Schedule the cleanup of versions that will be superseded, or of leading deletions."""
        if len(versions) > 1 or versions[0][1] is None:
            self._number += 1
            heapq.heappush(self._followed, (versions[min(1, len(versions) - 1)][0], self._number, key))

    def process_watermark(self, timestamp: int) -> None:
        """Join the rows up to the watermark, drop superseded versions, then forward it."""
        if self._waiting:
            rows = concat(self._waiting)
            due = milliseconds(rows.rows.column(self._spec.left_time)) <= timestamp
            self._waiting = [rows] if not due.any() else [rows.take(np.flatnonzero(~due))] if not due.all() else []
            if due.any():
                self._join(rows.take(np.flatnonzero(due)))
        self._watermark = timestamp
        self._clean_up()
        self.output.emit_watermark(timestamp)

    def _clean_up(self) -> None:
        while self._followed and self._followed[0][0] <= self._watermark:
            _, _, key = heapq.heappop(self._followed)
            versions = self._versions.get(key) or []
            last = bisect_right(versions, self._watermark, key=lambda version: version[0]) - 1
            if last < 0:
                continue
            kept = versions[last:] if versions[last][1] is not None else versions[last + 1 :]  # a missing version equals a deletion
            if not kept:
                self._versions.remove(key)
            elif len(kept) < len(versions):
                self._versions.put(key, kept)
                self._note_followers(key, kept)

    # Results

    def _join(self, rows: RowBatch) -> None:
        keys = key_tuples(rows.rows, self._spec.left_keys)
        self._changed.update(keys)
        found, theirs = self._versions_of(rows, keys)
        columns = columns_of(found, self._spec.right)
        if self._spec.condition is not None:
            theirs = self._fulfilled(rows, columns, theirs)
        chosen = np.arange(len(rows)) if self._spec.outer else np.flatnonzero(theirs >= 0)
        if not len(chosen):
            return
        places = pa.array(theirs[chosen], mask=theirs[chosen] < 0)
        own = rows.take(chosen)
        made = [*own.rows.columns[: self._spec.width], *(column.take(places) for column in columns)]
        self.emit_rows(own.with_rows(pa.RecordBatch.from_arrays(made, schema=self._spec.schema)))

    def _versions_of(self, rows: RowBatch, keys: list[Key]) -> tuple[list[StoredRow], Places]:
        """Return the rows of versions, and the index of each row's version among them; -1 if there is none."""
        groups = group_by([rows.rows.column(index) for index in self._spec.left_keys], len(rows))
        versions = [self._versions.get(keys[first]) or [] for first in groups.first.tolist()]  # NULL matches NULL, as in Flink
        times = milliseconds(rows.rows.column(self._spec.left_time)).tolist()
        starts = [[time for time, _ in each] for each in versions]
        found: list[StoredRow] = []
        known: dict[tuple[int, int], int] = {}
        theirs = np.full(len(rows), -1, np.int64)
        for place, (group, time) in enumerate(zip(groups.ids.tolist(), times, strict=True)):
            nth = bisect_right(starts[group], time) - 1
            row = versions[group][nth][1] if nth >= 0 else None
            if row is not None:
                if (group, nth) not in known:
                    known[group, nth] = len(found)
                    found.append(row)
                theirs[place] = known[group, nth]
        return found, theirs

    def _fulfilled(self, rows: RowBatch, columns: list[pa.Array], theirs: Places) -> Places:
        """Return the indexes of versions, -1 for pairs that do not satisfy the condition."""
        paired = np.flatnonzero(theirs >= 0)
        if not len(paired):
            return theirs
        own = rows.rows.take(pa.array(paired)).columns[: self._spec.width]
        taken = [column.take(pa.array(theirs[paired])) for column in columns]
        pairs = pa.RecordBatch.from_arrays([*own, *taken], schema=self._spec.schema)
        assert self._spec.condition is not None  # noqa: S101 - for the type checker
        holds = as_array(evaluate(self._spec.condition, Frame(pairs, self.session)), len(paired))
        left = np.full(len(theirs), -1, np.int64)
        kept = paired[holds.fill_null(False).to_numpy(zero_copy_only=False)]
        left[kept] = theirs[kept]
        return left

    # State

    def snapshot_state(self, checkpoint_id: int, timestamp_ms: int = 0) -> None:
        """Write the waiting rows of changed keys to state."""
        waiting: dict[Key, list[tuple[StoredRow, int]]] = {}
        for batch in self._waiting:
            kinds = batch.kinds_or_inserts().tolist()
            for key, row, kind in zip(key_tuples(batch.rows, self._spec.left_keys), stored_rows(batch.rows), kinds, strict=True):
                if key in self._changed:
                    waiting.setdefault(key, []).append((row, kind))
        for key in self._changed:
            if key in waiting:
                self._rows.put(key, waiting[key])
            else:
                self._rows.remove(key)
        self._changed = set()


def temporal_join_operator(params: dict[str, Any], payload: TemporalJoinSpec) -> TemporalJoinOperator:
    """Return the operator of a spec."""
    return TemporalJoinOperator(payload)
