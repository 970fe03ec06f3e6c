"""Internal. OVER aggregates in the order of time.

Rows wait for the watermark; then those of all keys are sorted and computed at once. For each key, the rows within the reach of later frames
are retained, or its aggregates for unbounded frames.

Retry semantics: waiting rows and retained data of a key are written to keyed state when a checkpoint is taken, for the changed keys.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.columnar.aggregates.calls import BoundCall, accumulators
from wiesel.columnar.aggregates.slots import Column
from wiesel.columnar.grouping import Groups, Places, group_by
from wiesel.columnar.keys import key_tuples, key_values
from wiesel.columnar.row_batch import RowBatch
from wiesel.columnar.windows import Times, milliseconds
from wiesel.core.errors import UserFunctionError
from wiesel.core.ids import MIN_TIMESTAMP
from wiesel.core.metrics import LATE_COUNTER
from wiesel.runtime.table.base import TableOperator

__all__ = ["OverOperator", "OverSpec", "last_peers", "sorted_rows"]


@dataclass(frozen=True)
class OverSpec:
    """Specification of OVER.

    Attributes:
        partition: The columns of the key.
        time: The column with the time.
        by_clock: Rows are processed in processing time.
        by_rows: Frames count rows, not time.
        preceding: Number of preceding rows or ms; None for unbounded.
        calls: The aggregates.
        schema: That of the results: columns of the input, then one per call.
        ranks: Counts of rows from the first one on that represent ``ROW_NUMBER``, ``RANK`` or ``DENSE_RANK``, by their index.
    """

    partition: tuple[int, ...]
    time: int
    by_clock: bool
    by_rows: bool
    preceding: int | None
    calls: tuple[BoundCall, ...]
    schema: pa.Schema
    ranks: Mapping[int, str] = field(default_factory=dict)


class OverOperator(TableOperator):
    """Base of bounded and unbounded frames."""

    def __init__(self, spec: OverSpec) -> None:
        self._spec = spec
        self._accumulators = accumulators(spec.calls)
        self._input_schema = pa.schema(list(spec.schema)[: len(spec.schema) - len(spec.calls)])
        self._waiting: list[pa.RecordBatch] = []
        self._changed: set[tuple[Any, ...]] = set()
        self._watermark = MIN_TIMESTAMP

    def open(self) -> None:
        """Initialise the state."""
        super().open()
        self._late = self.context.metrics.counter(LATE_COUNTER)
        self._table = self.context.backend.table("rows")
        waiting: list[tuple[Any, ...]] = []
        kept: dict[tuple[Any, ...], Any] = {}
        for key, _, (mine, rest) in self._table.items():
            waiting += mine
            kept[key] = rest
        if waiting:
            self._waiting = [self._batch(waiting)]
        self._restore(kept)

    def _batch(self, rows: Sequence[tuple[Any, ...]]) -> pa.RecordBatch:
        columns = zip(*rows, strict=True) if rows else ([] for _ in self._input_schema)
        arrays = [pa.array(list(column), of.type) for column, of in zip(columns, self._input_schema, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=self._input_schema)

    def _keys(self, rows: pa.RecordBatch) -> list[Column]:
        return [rows.column(index) for index in self._spec.partition]

    def _times(self, rows: pa.RecordBatch) -> Times:
        return milliseconds(rows.column(self._spec.time))

    # Input

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Store rows until the watermark reaches them; those of processing time are computed immediately."""
        batch = rows.rows.cast(self._input_schema)
        self._note(self._keys(batch), len(batch))
        if self._spec.by_clock:
            self._compute(batch, np.full(len(batch), self.context.clock.now_ms(), np.int64))
            return
        if batch.column(self._spec.time).null_count:
            raise UserFunctionError("the event time of a row under OVER is NULL", hint="filter such rows out")
        self._waiting.append(self._on_time(batch))

    def _on_time(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return batch

    def _note(self, keys: Sequence[Column], length: int) -> None:
        """Remember which keys have changed."""
        first = pa.array(group_by(keys, length).first)
        self._changed.update(zip(*(key_values(key.take(first)) for key in keys), strict=True) if keys else [()])

    def process_watermark(self, timestamp: int) -> None:
        """Compute the rows up to the watermark, then forward it."""
        if self._waiting and not self._spec.by_clock:
            rows = pa.concat_batches(self._waiting)
            due = self._times(rows) <= timestamp
            self._waiting = [] if due.all() else [rows.filter(pa.array(~due))]
            if due.any():
                rows = rows.filter(pa.array(due))
                self._note(self._keys(rows), len(rows))
                self._compute(rows, self._times(rows))
        self._watermark = timestamp
        self._clean_up(timestamp)
        self.output.emit_watermark(timestamp)

    def _clean_up(self, watermark: int) -> None:
        """Drop rows beyond the reach of later frames."""

    def _dropped(self, late: Any) -> Any:
        """Count late rows; return a mask of the others."""
        self._late.inc(int(late.sum()))
        return pa.array(~late)

    def _emit(self, rows: pa.RecordBatch, times: Times, results: Sequence[Column], came: Places) -> None:
        """Emit rows with their results, in the order of time; those of processing time in order of arrival."""
        batch = pa.RecordBatch.from_arrays([*rows.columns, *results], schema=self._spec.schema)
        order = np.argsort(came if self._spec.by_clock else times, kind="stable")
        self.emit_rows(RowBatch(batch if (order[1:] > order[:-1]).all() else batch.take(pa.array(order))))

    # State

    def snapshot_state(self, checkpoint_id: int, timestamp_ms: int = 0) -> None:
        """Write the changed keys to state."""
        waiting = self._by_key(self._waiting, self._changed)
        kept = self._kept(self._changed)
        for key in self._changed:
            mine, rest = waiting.get(key, []), kept.get(key)
            if mine or rest:
                self._table.put(key, (mine, rest))
            else:
                self._table.remove(key)
        self._changed = set()

    def _by_key(self, batches: Sequence[pa.RecordBatch], wanted: set[tuple[Any, ...]]) -> dict[tuple[Any, ...], list[tuple[Any, ...]]]:
        found: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
        for batch in batches:
            rows = zip(*(column.to_pylist() for column in batch.columns), strict=True)
            for key, row in zip(key_tuples(batch, self._spec.partition), rows, strict=True):
                if key in wanted:
                    found.setdefault(key, []).append(row)
        return found

    @abstractmethod
    def _compute(self, rows: pa.RecordBatch, times: Times) -> None:
        """Emit rows that are due with their results."""

    @abstractmethod
    def _kept(self, keys: set[tuple[Any, ...]]) -> dict[tuple[Any, ...], Any]:
        """Return the retained data of some keys, for state."""

    @abstractmethod
    def _restore(self, kept: dict[tuple[Any, ...], Any]) -> None:
        """Restore the retained data of keys from state."""


def last_peers(sorted_ids: Places, times: Times) -> Places:
    """Return the index of the last row of each row's group and time, for rows sorted by both."""
    ends = np.flatnonzero(np.append((sorted_ids[1:] != sorted_ids[:-1]) | (times[1:] != times[:-1]), True))
    return ends[np.searchsorted(ends, np.arange(len(sorted_ids)))]


def sorted_rows(keys: Groups, times: Times) -> Places:
    """Return the indexes of rows sorted by group, time and arrival."""
    return np.lexsort((np.arange(len(times)), times, keys.ids))
