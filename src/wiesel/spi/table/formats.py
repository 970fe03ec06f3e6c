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
    """Makes readers and writers of a format from the options of a table. Records are :class:`~wiesel.columnar.row_batch.RowBatch`."""

    identifier: ClassVar[str]
    """Identifier of the format in tables: ``'format' = 'json'``; prefix of its options, followed by a dot."""

    kinds: ClassVar[frozenset[RowKind]] = INSERT_ONLY
    """The kinds of rows that files of the format tell."""

    @abstractmethod
    def create_reader(self, options: TableOptions, rows: RowType) -> FileFormat:
        """Return what reads files as batches of these columns.

        Raises:
            ConfigurationError: If an option has a value that it must not have.
            ProgramError: If the format has no values of a column's type.
        """

    def create_projected_reader(
        self, options: TableOptions, rows: RowType, names: Sequence[str], filters: Sequence[Expression] = ()
    ) -> FileFormat | None:
        """Return what reads some columns of files that hold more; None if the format reads all columns in any case.

        Args:
            options: Those of the table.
            rows: The columns that files hold.
            names: Those that are read, in order.
            filters: Conditions over the columns that are read. Rows for which one is not true may be left out, but need not.

        Raises:
            ConfigurationError: As :meth:`create_reader`.
            ProgramError: As :meth:`create_reader`.
        """
        return None

    def create_describer(self, options: TableOptions, rows: RowType) -> Callable[[BinaryIO], Facts | None] | None:
        """Return what tells from a file's metadata what is certain of its rows; None if files have no such metadata.

        Args:
            options: Those of the table.
            rows: The columns that files hold.
        """
        return None

    @abstractmethod
    def create_writer(self, options: TableOptions, rows: RowType) -> Encoder | BulkWriterFactory:
        """Return what writes batches of these columns: an encoder if files can be gone on with, else writers of whole files.

        Raises:
            ConfigurationError: If an option has a value that it must not have.
            ProgramError: If the format has no values of a column's type, or cannot be written.
        """
