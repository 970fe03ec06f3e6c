"""Internal. The row groups of one piece of a Parquet file, read one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from wiesel.core.errors import ConnectorError
from wiesel.spi.file_formats import FilePiece

__all__ = ["RowGroups"]


class RowGroups:
    """Batches of a piece. A row group belongs to the piece in which its middle is.

    Args:
        stream: The file.
        piece: The piece.
        wanted: Tells by the metadata of a row group and the types of the file's columns whether the group is read.

    Raises:
        ConnectorError: If the file is no Parquet file.
    """

    def __init__(self, stream: BinaryIO, piece: FilePiece, wanted: Callable[[Any, pa.Schema], bool] | None = None) -> None:
        self.path = piece.path
        try:
            self._file = pq.ParquetFile(pa.PythonFile(stream, "r"), pre_buffer=False)
        except pa.ArrowException as error:
            raise ConnectorError(f"{piece.path} is no Parquet file: {error}", hint="check path and format", path=piece.path) from error
        self._groups = [g for g in range(self._file.num_row_groups) if piece.is_whole_file or piece.start <= self._middle(g) < piece.end]
        if piece.position is not None:
            self._groups = [g for g in self._groups if g >= piece.position]
        if wanted is not None:
            metadata, schema = self._file.metadata, self._file.schema_arrow
            self._groups = [g for g in self._groups if wanted(metadata.row_group(g), schema)]
        self._batches: Iterator[pa.RecordBatch] = iter(())
        self._group = 0
        self._left = 0

    @property
    def names(self) -> list[str]:
        """The columns of the file."""
        return list(self._file.schema_arrow.names)

    @property
    def position(self) -> int:
        """The row group of the next rows; it stays while rows of the group are left."""
        if self._left:
            return self._group
        return self._groups[0] if self._groups else self._file.num_row_groups

    def _middle(self, group: int) -> int:
        metadata = self._file.metadata.row_group(group)
        columns = [metadata.column(index) for index in range(metadata.num_columns)]
        start = min((column.dictionary_page_offset or column.data_page_offset for column in columns), default=0)
        return int(start + sum(column.total_compressed_size for column in columns) // 2)

    def read(self, columns: Sequence[str], rows: int, hint: str) -> pa.RecordBatch | None:
        """Return the next rows of these columns, None at the end.

        Args:
            columns: The columns, by their names in the file.
            rows: How many rows at most.
            hint: What to do if they cannot be read.

        Raises:
            ConnectorError: If they cannot be read.
        """
        while True:
            try:
                batch = next(self._batches, None)
            except pa.ArrowException as error:
                raise ConnectorError(f"cannot read {self.path}: {error}", hint=hint, path=self.path) from error
            if batch is not None:
                self._left -= batch.num_rows
                return batch
            if not self._groups:
                return None
            self._group = self._groups.pop(0)
            self._left = self._file.metadata.row_group(self._group).num_rows
            self._batches = self._file.iter_batches(rows, row_groups=[self._group], columns=list(columns), use_threads=False)
