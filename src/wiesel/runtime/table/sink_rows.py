"""Internal. What rows go through before they are written to a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow.compute as pc

from wiesel.columnar.row_batch import UPDATE_BEFORE, RowBatch
from wiesel.core.errors import UserFunctionError
from wiesel.runtime.table.base import TableOperator

__all__ = ["sink_rows_operator"]

_ENFORCER = "table.exec.sink.not-null-enforcer"


class SinkRowsOperator(TableOperator):
    """Sees to it that columns that are NOT NULL hold no NULL, and leaves out ``-U`` where the sink has no use for it."""

    def __init__(self, table: str, not_null: Sequence[int], keep_before: bool) -> None:
        self._table = table
        self._not_null = tuple(not_null)
        self._keep_before = keep_before

    def open(self) -> None:
        """Look at how NULL is dealt with."""
        super().open()
        self._drops = str(self.context.config.get(_ENFORCER, "ERROR")).upper() == "DROP"

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Check and hand on."""
        if not self._keep_before and rows.kinds is not None:
            rows = rows.take(np.flatnonzero(rows.kinds != UPDATE_BEFORE))
        for index in self._not_null:
            if rows.rows.column(index).null_count:
                rows = self._without_null(rows, index)
        self.emit_rows(rows)

    def _without_null(self, rows: RowBatch, index: int) -> RowBatch:
        if not self._drops:
            raise UserFunctionError(
                f"column `{rows.rows.schema.names[index]}` of table {self._table} is NOT NULL, but a null value is being written into it",
                hint=f"filter such rows out, or have them dropped: SET '{_ENFORCER}' = 'DROP'",
            )
        return rows.filter(pc.is_valid(rows.rows.column(index)))


def sink_rows_operator(params: dict[str, Any], payload: dict[str, Any]) -> SinkRowsOperator:
    """Return the operator of a spec."""
    return SinkRowsOperator(payload["table"], payload["not_null"], payload["keep_before"])
