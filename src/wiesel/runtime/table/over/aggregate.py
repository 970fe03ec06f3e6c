"""Internal. Aggregates of the rows around each row, in the order of their time.

Rows wait until the watermark has reached them; then those of all keys are sorted and computed at once. Of each key remain the last rows, as
many as later ones may look back at, or, where they look back at all, its aggregates.

Retry story: waiting rows, and what remains of a key, go into keyed state when a checkpoint is taken, for the keys that have changed.
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
    """What is computed.

    Attributes:
        partition: The columns of the key.
        time: The column with the time.
        by_clock: Whether rows have the time at which they come.
        by_rows: Whether rows are counted, not their times.
        preceding: How many rows or ms are looked back at; None for all.
        calls: What is aggregated.
        schema: That of the results: columns of the input, then one per call.
        ranks: Which calls, counts of rows from the first one on, are to be a ``ROW_NUMBER``, ``RANK`` or ``DENSE_RANK``, by their place.
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
    """What bounded and unbounded frames have in common."""

    def __init__(self, spec: OverSpec) -> None:
        self._spec = spec
        self._accumulators = accumulators(spec.calls)
        self._input_schema = pa.schema(list(spec.schema)[: len(spec.schema) - len(spec.calls)])
        self._waiting: list[pa.RecordBatch] = []
        self._changed: set[tuple[Any, ...]] = set()
        self._watermark = MIN_TIMESTAMP

    def open(self) -> None:
        """Take the state."""
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
        """Keep rows until the watermark has come to them; those of processing time are due at once."""
        batch = rows.rows.cast(self._input_schema)
        self._note(self._keys(batch), len(batch))
        if self._spec.by_clock:
            self._compute(batch, np.full(len(batch), self.context.clock.now_ms(), np.int64))
            return
        if batch.column(self._spec.time).null_count:
            raise UserFunctionError("the event time of a row under OVER is NULL", hint="leave such rows out")
        self._waiting.append(self._on_time(batch))

    def _on_time(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return batch

    def _note(self, keys: Sequence[Column], length: int) -> None:
        """Remember which keys have changed."""
        first = pa.array(group_by(keys, length).first)
        self._changed.update(zip(*(key_values(key.take(first)) for key in keys), strict=True) if keys else [()])

    def process_watermark(self, timestamp: int) -> None:
        """Compute the rows up to there, then hand it on."""
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
        """Drop what no later row looks back at."""

    def _dropped(self, late: Any) -> Any:
        """Count rows that are late; return which are not, as an Arrow mask."""
        self._late.inc(int(late.sum()))
        return pa.array(~late)

    def _emit(self, rows: pa.RecordBatch, times: Times, results: Sequence[Column], came: Places) -> None:
        """Hand on rows with their results, in the order of time; those of processing time in the order in which they came."""
        batch = pa.RecordBatch.from_arrays([*rows.columns, *results], schema=self._spec.schema)
        order = np.argsort(came if self._spec.by_clock else times, kind="stable")
        self.emit_rows(RowBatch(batch if (order[1:] > order[:-1]).all() else batch.take(pa.array(order))))

    # State

    def snapshot_state(self, checkpoint_id: int, timestamp_ms: int = 0) -> None:
        """Put the keys that have changed into state."""
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
        """Return what remains of some keys, for state."""

    @abstractmethod
    def _restore(self, kept: dict[tuple[Any, ...], Any]) -> None:
        """Take what remained of keys from state."""


def last_peers(sorted_ids: Places, times: Times) -> Places:
    """Return for each row the place of the last row of its group and time, of rows sorted by both."""
    ends = np.flatnonzero(np.append((sorted_ids[1:] != sorted_ids[:-1]) | (times[1:] != times[:-1]), True))
    return ends[np.searchsorted(ends, np.arange(len(sorted_ids)))]


def sorted_rows(keys: Groups, times: Times) -> Places:
    """Return the places of rows in the order of group, time and arrival."""
    return np.lexsort((np.arange(len(times)), times, keys.ids))
