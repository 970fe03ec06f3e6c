"""Internal. Conversion between records of streams and batches of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.columnar.rows import from_rows, to_rows
from wiesel.columnar.windows import milliseconds, timestamps
from wiesel.core.errors import UserFunctionError
from wiesel.runtime.operator import StreamOperator
from wiesel.wire.batch import Batch

__all__ = ["from_rows_operator", "to_rows_operator"]


class FromRowsOperator(StreamOperator):
    """Converts rows to batches of columns."""

    def __init__(self, schema: pa.Schema, with_time: bool) -> None:
        self._schema = schema
        self._stored = pa.schema(list(schema)[:-1]) if with_time else schema
        self._with_time = with_time

    def process_batch(self, batch: Batch, input_index: int = 0) -> None:
        """Convert all rows."""
        if not batch.values:
            return
        rows = from_rows(batch.values, self._stored)
        if self._with_time:
            columns = [*rows.rows.columns, self._times(batch)]
            rows = rows.with_rows(pa.RecordBatch.from_arrays(columns, schema=self._schema))
        self.output.emit(Batch([rows]))

    def _times(self, batch: Batch) -> pa.Array:
        if batch.timestamps is None or any(time is None for time in batch.timestamps):
            raise UserFunctionError(
                "a table uses the timestamps of a stream, but a record has none",
                hint="call assign_timestamps_and_watermarks() on the stream",
            )
        return timestamps(np.array(batch.timestamps, np.int64), self._schema[-1].type)


class ToRowsOperator(StreamOperator):
    """Converts batches of columns to rows.

    Args:
        time: The column with the timestamps of records; None if they have none.
        drop_time: Exclude that column from the rows.
    """

    def __init__(self, time: int | None = None, *, drop_time: bool = False) -> None:
        self._time = time
        self._drop_time = drop_time

    def process_batch(self, batch: Batch, input_index: int = 0) -> None:
        """Convert all batches."""
        for rows in batch.values:
            times = None if self._time is None else milliseconds(rows.rows.column(self._time)).tolist()
            if self._drop_time:
                assert self._time is not None  # noqa: S101 - the time of the records is dropped
                rows = rows.with_rows(rows.rows.remove_column(self._time))
            self.output.emit(Batch(to_rows(rows), times))


def from_rows_operator(params: dict[str, Any], payload: dict[str, Any]) -> StreamOperator:
    """Return the operator of a spec."""
    return FromRowsOperator(payload["schema"], payload["with_time"])


def to_rows_operator(params: dict[str, Any], payload: Any) -> StreamOperator:
    """Return the operator of a spec."""
    return ToRowsOperator(payload.get("time"), drop_time=payload.get("drop_time", False))
