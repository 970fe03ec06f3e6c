"""Interfaces of table formats, which read and write batches of rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import BinaryIO, ClassVar

from wiesel.columnar.expressions import Expression
from wiesel.spi.file_formats import BulkWriterFactory, FileFormat
from wiesel.spi.serialization import Encoder
from wiesel.spi.table.factory import INSERT_ONLY, TableOptions
from wiesel.spi.table.statistics import Facts
from wiesel.types.logical import RowType
from wiesel.types.row import RowKind

__all__ = ["TableFormatFactory"]


class TableFormatFactory(ABC):
    """Creates readers and writers of a format from the options of a table. Records are :class:`~wiesel.columnar.row_batch.RowBatch`."""

    identifier: ClassVar[str]
    """Identifier of the format in tables: ``'format' = 'json'``; prefix of its options, followed by a dot."""

    kinds: ClassVar[frozenset[RowKind]] = INSERT_ONLY
    """The row kinds in files of the format."""

    @abstractmethod
    def create_reader(self, options: TableOptions, rows: RowType) -> FileFormat:
        """Return the file format that reads batches of these columns.

        Raises:
            ConfigurationError: If an option is invalid.
            ProgramError: If the format does not support a column's type.
        """

    def create_projected_reader(
        self, options: TableOptions, rows: RowType, names: Sequence[str], filters: Sequence[Expression] = ()
    ) -> FileFormat | None:
        """Return the file format that reads some of the columns; None if the format always reads all columns.

        Args:
            options: The options of the table.
            rows: The columns of the files.
            names: The projected columns, in order.
            filters: Conditions over the projected columns. Rows that do not satisfy one may be omitted.

        Raises:
            ConfigurationError: As :meth:`create_reader`.
            ProgramError: As :meth:`create_reader`.
        """
        return None

    def create_describer(self, options: TableOptions, rows: RowType) -> Callable[[BinaryIO], Facts | None] | None:
        """Return the function that reads exact statistics from a file's metadata; None if files have no such metadata.

        Args:
            options: The options of the table.
            rows: The columns of the files.
        """
        return None

    @abstractmethod
    def create_writer(self, options: TableOptions, rows: RowType) -> Encoder | BulkWriterFactory:
        """Return the writer of batches of these columns: an encoder if files can be appended to, else a bulk writer factory.

        Raises:
            ConfigurationError: If an option is invalid.
            ProgramError: If the format does not support a column's type, or writing.
        """
