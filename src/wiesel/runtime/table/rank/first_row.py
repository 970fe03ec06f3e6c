"""Internal. Keep-first-row deduplication by event time: emitted once the watermark excludes earlier rows.

For each key the earliest row waits for the watermark, and of several at one time the first to arrive. An emitted row is final; keys with
one are recorded.

Retry semantics: waiting rows are written to keyed state when a checkpoint is taken, if changed. They do not expire; the TTL applies to the
record of emitted keys.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.columnar.keys import BatchKeys
from wiesel.columnar.row_batch import RowBatch
from wiesel.columnar.stored import StoredRow, columns_of, stored_rows
from wiesel.columnar.windows import Times, milliseconds
from wiesel.core.errors import UserFunctionError
from wiesel.core.ids import MIN_TIMESTAMP
from wiesel.core.metrics import LATE_COUNTER
from wiesel.runtime.table.base import TableOperator, state_ttl
from wiesel.runtime.table.join.join_state import Key
from wiesel.runtime.table.rank.top_n import TopNSpec
from wiesel.runtime.table.row_lists import NewLists, replaced_lists

__all__ = ["first_row_operator"]

_FEWEST = 10_000


class FirstRowOperator(TableOperator):
    """Emits the first row of each key by its time, as inserts; late rows are dropped."""

    def __init__(self, spec: TopNSpec) -> None:
        self._spec = spec
        self._time = spec.keys[0][0]
        self._watermark = MIN_TIMESTAMP
        # Batches with their minimal times. A key may have several rows, and rows after it has emitted one.
        self._waiting: list[tuple[int, pa.RecordBatch]] = []
        self._size = 0
        self._limit = _FEWEST
        self._stored: dict[Key, StoredRow] = {}

    def open(self) -> None:
        """Initialise the state."""
        super().open()
        spec, ttl = self._spec, state_ttl(self.context)
        self._expires = ttl is not None
        self._late = self.context.metrics.counter(LATE_COUNTER)
        self._table = self.context.backend.table("waiting")
        known = pa.schema([spec.schema.field(index) for index in (*spec.partition, self._time)])
        self._known = replaced_lists(self.context, "emitted", known, range(len(spec.partition)), ttl)
        self._stored = {key: row for key, _, row in self._table.items()}
        if self._stored:
            self._wait(pa.RecordBatch.from_arrays(columns_of(self._stored.values(), spec.schema), schema=spec.schema))

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Buffer rows that may be the first ones of their keys."""
        batch = rows.rows.cast(self._spec.schema)
        if batch.column(self._time).null_count:
            hint = "filter rows without time out"
            raise UserFunctionError("the event time of a row is NULL, so its order is undefined", hint=hint)
        late = self._times(batch) < self._watermark
        if late.any():
            self._late.inc(int(late.sum()))
            batch = batch.filter(pa.array(~late))
        batch = self._firsts(batch)
        if len(batch):
            self._wait(batch)
            if self._size > self._limit:
                self._compact()

    def process_watermark(self, timestamp: int) -> None:
        """Emit the rows up to the watermark in the order of their times, then forward it."""
        if any(low <= timestamp for low, _ in self._waiting):
            waiting, self._waiting, self._size = self._waiting, [], 0
            due = [self._due(low, batch, timestamp) for low, batch in waiting]
            self._emit(self._firsts(pa.concat_batches([batch for batch in due if batch is not None])))
        self._watermark = timestamp
        self.output.emit_watermark(timestamp)

    def snapshot_state(self, checkpoint_id: int, timestamp_ms: int = 0) -> None:
        """Write changed waiting rows to state."""
        waiting: dict[Key, StoredRow] = {}
        if self._waiting:
            rows = self._compact()
            waiting = dict(zip(BatchKeys(rows, self._spec.partition).tuples, stored_rows(rows), strict=True))
        for key in self._stored.keys() - waiting.keys():
            self._table.remove(key)
        for key, row in waiting.items():
            if self._stored.get(key) != row:
                self._table.put(key, row)
        self._stored = waiting

    def _times(self, rows: pa.RecordBatch) -> Times:
        return milliseconds(rows.column(self._time))

    def _wait(self, rows: pa.RecordBatch) -> None:
        self._waiting.append((int(self._times(rows).min()), rows))
        self._size += len(rows)

    def _due(self, low: int, rows: pa.RecordBatch, timestamp: int) -> pa.RecordBatch | None:
        """Return the due rows of a batch, and buffer the others in its place: of equal times the first counts."""
        if low > timestamp:
            self._waiting.append((low, rows))
            self._size += len(rows)
            return None
        reached = self._times(rows) <= timestamp
        if not reached.all():
            self._wait(rows.filter(pa.array(~reached)))
        return rows.filter(pa.array(reached))

    def _compact(self) -> pa.RecordBatch:
        """Return the waiting rows, at least one: one per key, without those that will not be emitted."""
        rows = self._firsts(pa.concat_batches([batch for _, batch in self._waiting]))
        self._waiting, self._size = [], 0
        if len(rows):
            self._wait(rows)
        self._limit = max(_FEWEST, 2 * self._size)
        return rows

    def _firsts(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return the first row of each key that has emitted none."""
        keys = BatchKeys(rows, self._spec.partition)
        order = np.lexsort((self._times(rows), keys.ids))
        firsts = order[np.diff(keys.ids[order], prepend=-1) != 0]  # by key, in the order of the keys
        return rows.take(pa.array(firsts[self._known.read(keys).sizes == 0]))

    def _emit(self, rows: pa.RecordBatch) -> None:
        """Hand on rows in the order of their times, and remember that their keys have emitted one."""
        if not len(rows):
            return
        spec, count = self._spec, len(rows)
        known = rows.select([*spec.partition, self._time])
        of = BatchKeys(known, range(len(spec.partition)))
        lists = NewLists(np.arange(count), np.ones(count, np.int64), np.full(count, -1), known.columns)
        self._known.replace(of, self._known.read(of), lists)
        if self._expires and self._waiting:
            self._leave_out(rows)
        rows = rows.take(pa.array(np.argsort(self._times(rows), kind="stable")))
        columns = [*rows.columns, pa.array(np.ones(count, np.int64))] if spec.numbered else rows.columns
        self.emit_rows(RowBatch(pa.RecordBatch.from_arrays(columns, schema=spec.results)))

    def _leave_out(self, rows: pa.RecordBatch) -> None:
        """Drop the waiting rows of the keys of rows: they must not be emitted after the record of their key has expired."""
        every = pa.concat_batches([rows, *(batch for _, batch in self._waiting)])
        left = BatchKeys(every, self._spec.partition).ids >= len(rows)  # keys are numbered in order of occurrence
        self._waiting, self._size = [], 0
        if left.any():
            self._wait(every.filter(pa.array(left)))


def first_row_operator(params: dict[str, Any], payload: TopNSpec) -> FirstRowOperator:
    """Return the operator of a spec."""
    return FirstRowOperator(payload)
