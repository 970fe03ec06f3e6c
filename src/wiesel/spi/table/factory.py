"""Interfaces of table connectors, and the checks of their options."""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from wiesel.columnar.expressions import Expression
from wiesel.core.config import ConfigOption
from wiesel.core.errors import ConfigurationError
from wiesel.spi.sink import Sink
from wiesel.spi.source import Source
from wiesel.spi.table.catalog import CatalogTable, ObjectIdentifier
from wiesel.spi.table.statistics import Facts
from wiesel.types.logical import DataType
from wiesel.types.row import RowKind
from wiesel.types.typeinfo import RowTypeInfo

__all__ = [
    "ALL_KINDS",
    "CONNECTOR",
    "INSERT_ONLY",
    "UPSERTS",
    "ScanTableSource",
    "TableContext",
    "TableOptions",
    "TableSink",
    "TableSinkFactory",
    "TableSourceFactory",
]

T = TypeVar("T")

INSERT_ONLY = frozenset({RowKind.INSERT})
ALL_KINDS = frozenset(RowKind)
UPSERTS = ALL_KINDS - {RowKind.UPDATE_BEFORE}
"""Row kinds of upserts: the new row is sufficient for an update, as rows have a primary key."""

CONNECTOR = ConfigOption[str]("connector", description="The connector of a table.")


class TableOptions:
    """The options of a table. Tracks the options read, to reject unknown ones.

    Args:
        identifier: The identifier of the connector, for messages.
        options: Keys and values as given by the user.
    """

    def __init__(self, identifier: str, options: Mapping[str, str]) -> None:
        self._identifier = identifier
        self._options = options
        self._known = {CONNECTOR.key}

    def get(self, option: ConfigOption[T]) -> T:
        """Return the value of an option, else its default.

        Raises:
            ConfigurationError: If the value cannot be parsed.
        """
        self._known.add(option.key)
        return option.parse(self._options[option.key]) if option.key in self._options else option.default  # type: ignore[return-value]

    def require(self, option: ConfigOption[T]) -> T:
        """Return the value of a required option.

        Raises:
            ConfigurationError: If it is not set, or its value cannot be parsed.
        """
        if option.key not in self._options:
            near = difflib.get_close_matches(option.key, set(self._options) - self._known, n=1)
            meant = f"did you mean it by '{near[0]}'? " if near else ""
            raise ConfigurationError(
                f"{self._identifier!r} needs the option '{option.key}'",
                hint=f"{meant}'{option.key}' = '...' among the options of the table: {option.description}",
            )
        return self.get(option)

    def is_set(self, option: ConfigOption[Any]) -> bool:
        """Return whether the user set an option."""
        return option.key in self._options

    def refuse_unknown(self) -> None:
        """Reject options that were never read.

        Raises:
            ConfigurationError: If there are any; names them and all known ones.
        """
        unknown = sorted(set(self._options) - self._known)
        if not unknown:
            return
        near = [f"'{match}' for '{key}'" for key in unknown for match in difflib.get_close_matches(key, self._known, n=1)]
        meant = f"did you mean {', '.join(near)}? " if near else ""
        supported = sorted(self._known)
        raise ConfigurationError(
            f"unsupported options for {self._identifier!r}: {', '.join(unknown)}",
            hint="\n  ".join([f"{meant}the supported options are:", *supported]),
            unsupported=unknown,
            supported=supported,
        )


@dataclass(frozen=True)
class TableContext:
    """The table passed to a factory.

    Attributes:
        identifier: The full name of the table.
        table: Schema, options and other metadata.
        row_type: The type of the source's records: rows of the stored columns, with their names; only of the projected columns if the
            factory :attr:`~TableSourceFactory.supports_projection`.
        filters: Conditions over these columns. Rows that do not satisfy one may be omitted.
        limit: Number of rows needed at most; more may be read. None for all.
        parts: Row columns with nested projection, and their reduced types.
    """

    identifier: ObjectIdentifier
    table: CatalogTable
    row_type: RowTypeInfo
    filters: tuple[Expression, ...] = ()
    limit: int | None = None
    parts: Mapping[str, DataType] = field(default_factory=dict)
    overwrite: bool = False
    """True if rows replace those of the table, or of their partitions (INSERT OVERWRITE)."""


@dataclass(frozen=True)
class ScanTableSource:
    """The source of a table.

    Attributes:
        source: Its records are rows of :attr:`TableContext.row_type`; if it is columnar they are batches
            (:class:`~wiesel.columnar.row_batch.RowBatch`) whose columns are those of the schema, in order.
        parallelism: Number of readers; None for the environment's parallelism.
        is_columnar: The records are batches.
        kinds: The row kinds of the records.
    """

    source: Source[Any]
    parallelism: int | None = None
    is_columnar: bool = False
    kinds: frozenset[RowKind] = INSERT_ONLY


@dataclass(frozen=True)
class TableSink:
    """The sink of a table.

    Attributes:
        sink: Its records are batches (:class:`~wiesel.columnar.row_batch.RowBatch`) with the stored columns, in order.
        kinds: The accepted row kinds. Without ``-U`` it needs a primary key, and all rows of a key are sent to one writer.
        parallelism: Number of writers; None for that of the input.
        shuffle_by: Columns to partition rows by before the writers; not useful for rows ordered by a key.
        finds_by_key: Rows are identified by the primary key, if there is one, even if ``-U`` is accepted.
    """

    sink: Sink
    kinds: frozenset[RowKind] = INSERT_ONLY
    parallelism: int | None = None
    shuffle_by: tuple[str, ...] = ()
    finds_by_key: bool = False


class TableSourceFactory(ABC):
    """Creates the source of a table from its options. One instance, created without arguments, serves all tables of the connector."""

    identifier: ClassVar[str]
    """Identifier of the connector in tables: ``'connector' = 'datagen'``."""

    forward_options: ClassVar[frozenset[str]] = frozenset()
    """Options that may change without invalidating a compiled plan, such as the location of files: a running plan uses the catalog's
    present values."""

    supports_projection: ClassVar[bool] = False
    """True if :attr:`TableContext.row_type` may have fewer columns than the table stores."""

    supports_nested_projection: ClassVar[bool] = False
    """True if :attr:`TableContext.parts` may be set."""

    supports_filters: ClassVar[bool] = False
    """True if :attr:`TableContext.filters` are supported."""

    supports_limit: ClassVar[bool] = False
    """True if :attr:`TableContext.limit` is supported."""

    metadata: ClassVar[Mapping[str, DataType]] = {}
    """Metadata columns of the connector: names and types. A table that reads some of it has columns of these types
    among those of :attr:`TableContext.row_type`; :attr:`CatalogTable.metadata <wiesel.spi.table.catalog.CatalogTable>` says which."""

    @abstractmethod
    def create_source(self, context: TableContext) -> ScanTableSource:
        """Return the source of a table; called in the program for each scan of the table.

        Raises:
            ConfigurationError: If an option is missing, unknown (:meth:`TableOptions.refuse_unknown`) or invalid.
            ProgramError: If the connector cannot read a table of this schema.
        """

    def facts(self, context: TableContext) -> Facts | None:
        """Return exact statistics of the rows of a bounded table that satisfy all of :attr:`TableContext.filters`.

        Returns:
            None if they are unknown without reading the rows, or cannot be determined for the filters.

        Raises:
            ConfigurationError: If an option is missing or invalid.
        """
        return None


class TableSinkFactory(ABC):
    """Creates the sink of a table from its options. A connector for both directions also implements :class:`TableSourceFactory`."""

    identifier: ClassVar[str]
    """Identifier of the connector in tables."""

    forward_options: ClassVar[frozenset[str]] = frozenset()
    """Options that may change without invalidating a compiled plan, such as the location of files: a running plan uses the catalog's
    present values."""

    supports_overwrite: ClassVar[bool] = False
    """True if :attr:`TableContext.overwrite` may be set."""

    @abstractmethod
    def create_sink(self, context: TableContext) -> TableSink:
        """Return the sink of a table; called in the program, once for each INSERT.

        Raises:
            ConfigurationError: If an option is missing, unknown (:meth:`TableOptions.refuse_unknown`) or invalid.
            ProgramError: If the connector cannot write a table of this schema.
        """
