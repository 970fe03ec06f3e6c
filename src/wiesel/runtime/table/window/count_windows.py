"""Internal. Count windows: a number of rows of each key, in order of arrival.

Window ``n`` of a key starts at row ``n * slide``, and is emitted with the last of its ``size`` rows; incomplete ones are not emitted at the
end of the input.

Retry semantics: state is, per key, the number of rows to skip and the rows of incomplete windows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.columnar.aggregates.calls import BoundCall, accumulators
from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.grouping import group_by
from wiesel.columnar.keys import key_tuples
from wiesel.columnar.row_batch import RowBatch
from wiesel.columnar.stored import StoredRow, columns_of, stored_rows
from wiesel.runtime.table.base import TableOperator, state_ttl
from wiesel.runtime.table.join.join_state import Key
from wiesel.runtime.table.over.slots import frame_slots

__all__ = ["CountWindowSpec", "count_window_operator"]


@dataclass(frozen=True)
class CountWindowSpec:
    """Attributes: the key columns, the aggregates, the size and slide of windows, both schemas."""

    keys: tuple[int, ...]
    calls: tuple[BoundCall, ...]
    size: int
    slide: int
    schema: pa.Schema
    results: pa.Schema


class CountWindowOperator(TableOperator):
    """Stores the rows of incomplete windows."""

    def __init__(self, spec: CountWindowSpec) -> None:
        self._spec = spec
        self._accumulators = accumulators(spec.calls)

    def open(self) -> None:
        """Initialise the state."""
        super().open()
        self._table = self.context.backend.table("rows", ttl=state_ttl(self.context))

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Add rows to their windows, and emit the complete ones."""
        spec = self._spec
        groups = group_by([rows.rows.column(index) for index in spec.keys], len(rows))
        keys: list[Key] = [()]
        if spec.keys:
            keys = key_tuples(rows.rows.select(spec.keys).take(pa.array(groups.first)), range(len(spec.keys)))
        known: list[tuple[int, list[StoredRow]]] = [self._table.get(key) or (0, []) for key in keys]
        parts = [list(kept) for _, kept in known]
        for group, row in zip(groups.ids.tolist(), stored_rows(rows.rows), strict=True):
            parts[group].append(row)
        firsts: list[int] = []
        begin = 0
        for key, (skipped, _), mine in zip(keys, known, parts, strict=True):
            starts = range(skipped, len(mine) - spec.size + 1, spec.slide)
            firsts += [begin + start for start in starts]
            begin += len(mine)
            following = skipped + len(starts) * spec.slide
            left = mine[following:]
            self._table.put(key, (following - len(mine) + len(left), left))
        if firsts:
            self._emit([row for mine in parts for row in mine], np.repeat(np.arange(len(parts)), list(map(len, parts))), np.array(firsts))

    def _emit(self, rows: list[StoredRow], ids: Any, firsts: Any) -> None:
        spec = self._spec
        columns = columns_of(rows, spec.schema)
        taken = pa.array(firsts)
        found = [columns[index].take(taken) for index in spec.keys]
        for call, accumulator in zip(spec.calls, self._accumulators, strict=True):
            slots = frame_slots(columns, call, accumulator, ids, (firsts, firsts + spec.size - 1))
            found.append(accumulator.finish(slots).cast(arrow_type(call.spec.result)))
        self.emit_rows(RowBatch(pa.RecordBatch.from_arrays(found, schema=spec.results)))


def count_window_operator(params: dict[str, Any], payload: CountWindowSpec) -> CountWindowOperator:
    """Return the operator of a spec."""
    return CountWindowOperator(payload)
