"""Internal. Between records of streams and batches of rows."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from wiesel.columnar.rows import from_rows, to_rows
from wiesel.runtime.operator import StreamOperator
from wiesel.wire.batch import Batch

__all__ = ["from_rows_operator", "to_rows_operator"]


class FromRowsOperator(StreamOperator):
    """Makes batches of columns of rows."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema

    def process_batch(self, batch: Batch, input_index: int = 0) -> None:
        """Convert all rows."""
        if batch.values:
            self.output.emit(Batch([from_rows(batch.values, self._schema)]))


class ToRowsOperator(StreamOperator):
    """Makes rows of batches of columns."""

    def process_batch(self, batch: Batch, input_index: int = 0) -> None:
        """Convert all batches."""
        for rows in batch.values:
            self.output.emit(Batch(to_rows(rows)))


def from_rows_operator(params: dict[str, Any], payload: dict[str, Any]) -> StreamOperator:
    """Return the operator of a spec."""
    return FromRowsOperator(payload["schema"])


def to_rows_operator(params: dict[str, Any], payload: Any) -> StreamOperator:
    """Return the operator of a spec."""
    return ToRowsOperator()
