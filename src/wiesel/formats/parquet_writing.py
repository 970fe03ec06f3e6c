"""Row groups of a Parquet file, written as records come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from wiesel.formats.arrow_types import rows_to_batch
from wiesel.spi.file_formats import BulkWriter

_ROW_GROUP_ROWS = 1 << 16


class RowGroupWriter(BulkWriter):
    """Collects records and writes them as row groups; ``to_batch`` makes a record batch of them."""

    def __init__(self, stream: BinaryIO, schema: Any, to_batch: Callable[[Sequence[Any], Any], Any] = rows_to_batch) -> None:
        self._schema = schema
        self._to_batch = to_batch
        self._writer = pq.ParquetWriter(pa.PythonFile(stream, "w"), schema)
        self._batches: list[Any] = []
        self._rows = 0

    def add_batch(self, values: Sequence[Any]) -> None:
        self._batches.append(self._to_batch(values, self._schema))
        self._rows += len(values)
        if self._rows >= _ROW_GROUP_ROWS:
            self._write()

    def _write(self) -> None:
        if self._batches:
            self._writer.write_table(pa.Table.from_batches(self._batches, self._schema))
        self._batches, self._rows = [], 0

    def finish(self) -> None:
        self._write()
        self._writer.close()

    def abandon(self) -> None:
        # It would close itself later, when the stream is gone.
        self._writer.close()
