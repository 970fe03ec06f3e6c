"""Internal. Upsert materialisation with conflict detection: ON CONFLICT DO ERROR and DO NOTHING.

The changes are keyed by other columns than the table's key, and several rows of a key are a conflict.

Rows of one key may arrive from several subtasks before the exchange, so a row may replace another one before that one is retracted. So each
change is stamped, before the exchange, with the producer's last watermark, and waits for the next one of all producers (Flink's
``WatermarkCompactingSinkMaterializer`` also includes later changes received by then). A single remaining row of a key is the row of the
table; several are a conflict.

Retry semantics: state is the row of each key, and, when a checkpoint is taken, the pending changes, in order without their stamps: after a
restore they are the oldest ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.columnar.keys import key_tuples
from wiesel.columnar.row_batch import DELETE, INSERT, UPDATE_AFTER, RowBatch
from wiesel.columnar.stored import StoredRow, columns_of, stored_rows
from wiesel.core.errors import UserFunctionError
from wiesel.core.ids import MIN_TIMESTAMP
from wiesel.runtime.table.base import TableOperator
from wiesel.runtime.table.join.join_state import RETRACTS, Key

__all__ = ["UpsertConflictsSpec", "upsert_conflicts_operator", "watermark_stamps_operator"]

Pending = tuple[int, int, StoredRow]
"""A pending change: its stamp, kind and row."""
_STAMP = itemgetter(0)


class WatermarkStampsOperator(TableOperator):
    """Appends the last watermark before a change to its columns."""

    _watermark = MIN_TIMESTAMP

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Stamp and emit rows."""
        stamps = pa.array(np.full(len(rows), self._watermark, np.int64))
        names = [*rows.rows.schema.names, "$watermark"]
        self.emit_rows(rows.with_rows(pa.RecordBatch.from_arrays([*rows.rows.columns, stamps], names=names)))

    def process_watermark(self, timestamp: int) -> None:
        """Remember it, and hand it on."""
        self._watermark = timestamp
        super().process_watermark(timestamp)


@dataclass(frozen=True)
class UpsertConflictsSpec:
    """Specification of the upsert.

    Attributes:
        table: The name of the table in messages.
        key: The columns of the table's primary key.
        row_key: The columns that identify the row of a change; None for all.
        fails: A conflict fails the job; else the first row is kept.
        schema: The columns, without the stamp.
    """

    table: str
    key: tuple[int, ...]
    row_key: tuple[int, ...] | None
    fails: bool
    schema: pa.Schema


class UpsertConflictsOperator(TableOperator):
    """Emits ``+I``, ``+U`` and ``-D`` of the row of each key when the watermark advances."""

    def __init__(self, spec: UpsertConflictsSpec) -> None:
        self._spec = spec

    def open(self) -> None:
        """Initialise the state."""
        super().open()
        self._rows: Any = self.context.backend.table("current")
        self._table: Any = self.context.backend.table("waiting")
        stored = {key: changes for key, _, changes in self._table.items()}
        self._stored = set(stored)
        self._waiting: dict[Key, list[Pending]] = {
            key: [(MIN_TIMESTAMP, kind, row) for kind, row in changes] for key, changes in stored.items()
        }

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Buffer changes."""
        stamps = rows.rows.column(len(self._spec.schema)).to_pylist()
        plain = pa.RecordBatch.from_arrays(rows.rows.columns[:-1], schema=self._spec.schema)
        changes = zip(stamps, rows.kinds_or_inserts().tolist(), stored_rows(plain), strict=True)
        for key, change in zip(key_tuples(plain, self._spec.key), changes, strict=True):
            self._waiting.setdefault(key, []).append(change)

    def process_watermark(self, timestamp: int) -> None:
        """Emit the changes up to the watermark, then forward it."""
        emitted = [change for key in list(self._waiting) for change in self._settled(key, timestamp)]
        if emitted:
            rows = pa.RecordBatch.from_arrays(columns_of([row for _, row in emitted], self._spec.schema), schema=self._spec.schema)
            self.emit_rows(RowBatch(rows, np.array([kind for kind, _ in emitted], np.uint8)))
        self.output.emit_watermark(timestamp)

    def snapshot_state(self, checkpoint_id: int, timestamp_ms: int = 0) -> None:
        """Write the pending changes to state."""
        for key in self._stored - self._waiting.keys():
            self._table.remove(key)
        for key, changes in self._waiting.items():
            self._table.put(key, [(kind, row) for _, kind, row in sorted(changes, key=_STAMP)])
        self._stored = set(self._waiting)

    def _settled(self, key: Key, watermark: int) -> Iterator[tuple[int, StoredRow]]:
        """Yield the changes of a key's row up to a watermark."""
        waiting = self._waiting.pop(key)
        left = [change for change in waiting if change[0] >= watermark]
        if left:
            self._waiting[key] = left
        due = sorted((change for change in waiting if change[0] < watermark), key=_STAMP)
        if not due:
            return
        before: StoredRow | None = self._rows.get(key)
        rows = self._applied([] if before is None else [before], due)
        if len(rows) > 1:
            if self._spec.fails:
                raise self._conflict(key)
            if before is not None:
                return
        if not rows:
            if before is not None:
                self._rows.remove(key)
                yield DELETE, before
        elif rows[0] != before:
            self._rows.put(key, rows[0])
            yield (INSERT if before is None else UPDATE_AFTER), rows[0]

    def _applied(self, rows: list[StoredRow], changes: Sequence[Pending]) -> list[StoredRow]:
        """Return the rows of a key after changes."""
        columns = range(len(self._spec.schema)) if self._spec.row_key is None else self._spec.row_key
        for _, kind, row in changes:
            name = [row[column] for column in columns]
            place = next((place for place, each in enumerate(rows) if [each[column] for column in columns] == name), None)
            if kind in RETRACTS:
                if place is not None:
                    del rows[place]
            elif place is not None and self._spec.row_key is not None:
                rows[place] = row
            else:
                rows.append(row)
        return rows

    def _conflict(self, key: Key) -> UserFunctionError:
        names = (self._spec.schema.field(index).name for index in self._spec.key)
        shown = ", ".join(f"{name}={value}" for name, value in zip(names, key, strict=True))
        return UserFunctionError(
            f"several rows with the same primary key [{shown}] are to be written into table {self._spec.table}",
            hint="write ON CONFLICT DO NOTHING to keep the first row, or ON CONFLICT DO DEDUPLICATE to keep the last one",
        )


def watermark_stamps_operator(params: dict[str, Any], payload: Any) -> WatermarkStampsOperator:
    """Return the operator."""
    return WatermarkStampsOperator()


def upsert_conflicts_operator(params: dict[str, Any], payload: UpsertConflictsSpec) -> UpsertConflictsOperator:
    """Return the operator of a spec."""
    return UpsertConflictsOperator(payload)
