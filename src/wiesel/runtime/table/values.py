"""Internal. Literal rows (VALUES)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from wiesel.columnar.evaluation import Frame, evaluate_all
from wiesel.columnar.expressions import Expression
from wiesel.columnar.row_batch import RowBatch, concat
from wiesel.runtime.operator import StreamOperator
from wiesel.runtime.table.base import session_of
from wiesel.wire.batch import Batch

__all__ = ["values_operator"]

_ONE_ROW = pa.RecordBatch.from_arrays([pa.nulls(1)], ["none"]).select([])


class ValuesOperator(StreamOperator):
    """Emits its rows once for each input record."""

    def __init__(self, rows: Sequence[Sequence[Expression]], schema: pa.Schema) -> None:
        self._rows = rows
        self._schema = schema

    def process_batch(self, batch: Batch, input_index: int = 0) -> None:
        """Evaluate the rows."""
        if not self._rows:
            return
        frame = Frame(_ONE_ROW, session_of(self.context))
        made = [RowBatch(evaluate_all(row, self._schema, frame)) for row in self._rows]
        for _ in batch.values:
            self.output.emit(Batch([concat(made)]))


def values_operator(params: dict[str, Any], payload: dict[str, Any]) -> ValuesOperator:
    """Return the operator of a spec."""
    return ValuesOperator(payload["rows"], payload["schema"])
