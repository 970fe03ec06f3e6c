"""Stripes of an ORC file, written as records come."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, BinaryIO

import pyarrow as pa

from wiesel.core.errors import TypeMismatchError
from wiesel.spi.file_formats import BulkWriter

__all__ = ["COMPRESSIONS", "StripeWriter"]

_STRIPE_ROWS = 1 << 16
COMPRESSIONS = {"NONE": "uncompressed", "ZLIB": "zlib", "SNAPPY": "snappy", "LZ4": "lz4", "ZSTD": "zstd"}
"""Values of ``orc.compress`` -> names of pyarrow."""


class StripeWriter(BulkWriter):
    """Collects records and writes them as tables; ORC makes stripes of them.

    Args:
        stream: The file.
        schema: Its columns.
        options: Of ``pyarrow.orc.ORCWriter``.
        to_batch: Makes a record batch of records.
    """

    def __init__(
        self,
        stream: BinaryIO,
        schema: pa.Schema,
        options: Mapping[str, Any],
        to_batch: Callable[[Sequence[Any], pa.Schema], pa.RecordBatch],
    ) -> None:
        from pyarrow.orc import ORCWriter

        self._schema = schema
        self._to_batch = to_batch
        self._writer = ORCWriter(pa.PythonFile(stream, "w"), **options)
        self._batches: list[pa.RecordBatch] = []
        self._rows = 0
        self._empty = True

    def add_batch(self, values: Sequence[Any]) -> None:
        batch = self._to_batch(values, self._schema)
        self._batches.append(batch)
        self._rows += batch.num_rows
        if self._rows >= _STRIPE_ROWS:
            self._write()

    def _write(self) -> None:
        # The first table gives the file its schema, so a file without rows needs one, too.
        if self._batches or self._empty:
            try:
                self._writer.write(pa.Table.from_batches(self._batches, self._schema))
            except pa.ArrowException as error:
                raise TypeMismatchError(f"cannot write rows as ORC: {error}", hint="check the type and the records") from error
            self._empty = False
        self._batches, self._rows = [], 0

    def finish(self) -> None:
        self._write()
        self._writer.close()

    def abandon(self) -> None:
        # Closing wants a schema, and it would close itself later, when the stream is gone.
        self._write()
        self._writer.close()
