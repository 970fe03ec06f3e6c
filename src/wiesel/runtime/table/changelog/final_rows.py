"""Internal. Final rows of a changelog in batch mode."""

from __future__ import annotations

from typing import Any

import numpy as np

from wiesel.columnar.keys import key_tuples
from wiesel.columnar.row_batch import DELETE, UPDATE_BEFORE, RowBatch, concat
from wiesel.runtime.table.base import TableOperator

__all__ = ["final_rows_operator"]


class FinalRowsOperator(TableOperator):
    """Collects all changes, and emits the resulting rows at the end. The input is partitioned by all columns."""

    def __init__(self) -> None:
        self._changes: list[RowBatch] = []

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Collect changes."""
        self._changes.append(rows)

    def finish(self) -> None:
        """Emit the rows added more often than retracted."""
        if not self._changes:
            return
        changes = concat(self._changes)
        self._changes = []
        kinds = changes.kinds_or_inserts()
        taken_back = ((kinds == UPDATE_BEFORE) | (kinds == DELETE)).tolist()
        places: dict[Any, list[int]] = {}
        for place, key in enumerate(key_tuples(changes.rows, tuple(range(changes.rows.num_columns)))):
            found = places.setdefault(key, [])
            if not taken_back[place]:
                found.append(place)
            elif found:
                found.pop()
        left = sorted(place for found in places.values() for place in found)
        self.emit_rows(RowBatch(changes.rows.take(np.array(left, np.int64))))


def final_rows_operator(params: dict[str, Any], payload: Any) -> FinalRowsOperator:
    """Return the operator of a spec."""
    return FinalRowsOperator()
