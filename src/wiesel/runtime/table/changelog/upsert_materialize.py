"""Internal. Sink upsert materialiser: converts changes keyed by other columns to changes by the table's key.

Rows of one key may arrive from several subtasks before the exchange: a row may replace another one before that one is retracted. So all
rows of a key are stored in order of arrival, and the last of them is the row of the table, as in Flink's sink materialiser. The differences
at the end of a batch are emitted, while Flink emits a change for each row, as is done here in rounds if configured.

Retry semantics: state is, per key, the list of rows; nothing else outlives a batch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from wiesel.columnar.keys import key_tuples
from wiesel.columnar.row_batch import DELETE, INSERT, UPDATE_AFTER, RowBatch
from wiesel.columnar.stored import StoredRow, columns_of, stored_rows
from wiesel.runtime.table.base import TableOperator, state_ttl
from wiesel.runtime.table.join.join_state import RETRACTS, Key
from wiesel.runtime.table.rounds import rounds_of

__all__ = ["UpsertMaterializeSpec", "upsert_materialize_operator"]


@dataclass(frozen=True)
class UpsertMaterializeSpec:
    """Specification of the upsert.

    Attributes:
        key: The columns of the table's primary key.
        row_key: The columns that identify the row of a change; None for all.
        schema: The columns.
    """

    key: tuple[int, ...]
    row_key: tuple[int, ...] | None
    schema: pa.Schema


class UpsertMaterializeOperator(TableOperator):
    """Emits ``+I``, ``+U`` and ``-D`` of the last row of each key."""

    def __init__(self, spec: UpsertMaterializeSpec) -> None:
        self._spec = spec

    def open(self) -> None:
        """Initialise the state."""
        super().open()
        self._table = self.context.backend.table("rows", ttl=state_ttl(self.context))
        self._rounds = rounds_of(self.context, self._spec.key, self._process, self.emit_rows)

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Change the rows of keys."""
        if self._rounds is None:
            self._process(rows)
        else:
            self._rounds.process(rows)

    def _process(self, rows: RowBatch) -> None:
        before: dict[Key, StoredRow | None] = {}
        there: dict[Key, list[StoredRow]] = {}
        for key, row, kind in zip(
            key_tuples(rows.rows, self._spec.key), stored_rows(rows.rows), rows.kinds_or_inserts().tolist(), strict=True
        ):
            if key not in there:
                there[key] = list(self._table.get(key) or ())
                before[key] = there[key][-1] if there[key] else None
            self._change(there[key], row, kind in RETRACTS)
        found: list[StoredRow] = []
        kinds: list[int] = []
        owners: list[int] = []
        for owner, (key, kept) in enumerate(there.items()):
            last, after = before[key], kept[-1] if kept else None
            if after is not None:
                self._table.put(key, kept)
            elif last is not None:
                self._table.remove(key)
            changed_row = last if after is None else after
            if changed_row is not None and after != last:
                found.append(changed_row)
                kinds.append(DELETE if after is None else INSERT if last is None else UPDATE_AFTER)
                owners.append(owner)
        if found:
            columns = columns_of(found, self._spec.schema)
            changed = RowBatch(pa.RecordBatch.from_arrays(columns, schema=self._spec.schema), np.array(kinds, np.uint8))
            if self._rounds is None:
                self.emit_rows(changed)
            else:
                self._rounds.add(changed, np.array(owners, np.int64))

    def _change(self, kept: list[StoredRow], row: StoredRow, retracts: bool) -> None:
        place = self._place(kept, row)
        if retracts:
            # Rows that have expired (by their TTL) cannot be retracted.
            if place is not None:
                del kept[place]
        elif place is not None and self._spec.row_key is not None:
            kept[place] = row
        else:
            kept.append(row)

    def _place(self, kept: list[StoredRow], row: StoredRow) -> int | None:
        columns = self._spec.row_key
        if columns is None:
            return next((place for place in reversed(range(len(kept))) if kept[place] == row), None)
        name = [row[column] for column in columns]
        return next((place for place in reversed(range(len(kept))) if [kept[place][column] for column in columns] == name), None)


def upsert_materialize_operator(params: dict[str, object], payload: UpsertMaterializeSpec) -> UpsertMaterializeOperator:
    """Return the operator of a spec."""
    return UpsertMaterializeOperator(payload)
