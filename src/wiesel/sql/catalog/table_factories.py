"""Internal. Finds the connector of a table, and makes its source or sink, or what looks rows up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType

from wiesel.columnar.expressions import Expression
from wiesel.core.errors import ConfigurationError, ProgramError, WieselError
from wiesel.core.plugins import load_plugin
from wiesel.spi.table.catalog import CatalogTable, ObjectIdentifier
from wiesel.spi.table.factory import CONNECTOR, ScanTableSource, TableContext, TableSink, TableSinkFactory, TableSourceFactory
from wiesel.spi.table.lookup import LookupTableFactory, LookupTableSource
from wiesel.spi.table.schema import MetadataColumn, PhysicalColumn
from wiesel.spi.table.statistics import Facts
from wiesel.sql.ddl.watermark_options import without_watermark_options
from wiesel.sql.session.stream_rows import table_row_info
from wiesel.types.logical import DataType, quoted
from wiesel.types.row import RowKind
from wiesel.types.typeinfo import RowTypeInfo

__all__ = [
    "create_table_lookup",
    "create_table_sink",
    "create_table_source",
    "forwarded_options",
    "reads_parts_of_rows",
    "reads_some_columns",
    "skips_rows",
    "source_kinds",
    "stops_early",
    "table_facts",
    "with_metadata",
]

_BUILT_IN = {
    "blackhole": "wiesel.connectors.blackhole_table:BlackHoleTableFactory",
    "datagen": "wiesel.connectors.datagen.table:DataGenTableFactory",
    "filesystem": "wiesel.connectors.filesystem.table:FileSystemTableFactory",
    "print": "wiesel.connectors.print.table:PrintTableFactory",
}

_Factory = TableSourceFactory | TableSinkFactory | LookupTableFactory

_GROUP = "wiesel.table_factories"
"""The group of entry points by which other packages announce their connectors; the entry's name is the identifier."""


def create_table_source(
    identifier: ObjectIdentifier,
    table: CatalogTable,
    row_type: RowTypeInfo,
    filters: tuple[Expression, ...] = (),
    limit: int | None = None,
    parts: Mapping[str, DataType] = MappingProxyType({}),
) -> ScanTableSource:
    """Return the source of a table, or of some of its columns.

    Args:
        identifier: Its name.
        table: The table.
        row_type: The columns that are read.
        filters: Conditions over these; rows for which one is not true may be left out.
        limit: How many rows are wanted.
        parts: Columns that are rows of which some fields are read, with their types.

    Raises:
        ConfigurationError: If there is no such connector, or it refuses the options; names the table and where it was made.
        ProgramError: If the connector cannot read a table of this schema.
    """
    with _blaming("source for reading", identifier, table):
        factory = _find_factory(table.options.get(CONNECTOR.key, ""))
        if not isinstance(factory, TableSourceFactory):
            raise _wrong_way(factory, "read", "written")
        plain = without_watermark_options(table)
        return factory.create_source(TableContext(identifier, plain, row_type, filters=filters, limit=limit, parts=parts))


def table_facts(
    identifier: ObjectIdentifier, table: CatalogTable, row_type: RowTypeInfo, filters: tuple[Expression, ...] = ()
) -> Facts | None:
    """Return what is certain of a table's rows for which conditions are true, without reading them; None if nothing is.

    Raises:
        ConfigurationError: If there is no such connector, or it refuses the options.
    """
    with _blaming("source for reading", identifier, table):
        factory = _find_factory(table.options.get(CONNECTOR.key, ""))
        if not isinstance(factory, TableSourceFactory):
            return None
        return factory.facts(TableContext(identifier, without_watermark_options(table), row_type, filters=filters))


def stops_early(table: CatalogTable) -> bool:
    """Return whether the connector of a table may stop reading when there are rows enough."""
    factory = _find_factory(table.options.get(CONNECTOR.key, ""))
    return isinstance(factory, TableSourceFactory) and factory.supports_limit


def reads_some_columns(table: CatalogTable) -> bool:
    """Return whether the connector of a table reads those columns only that are needed."""
    factory = _find_factory(table.options.get(CONNECTOR.key, ""))
    return isinstance(factory, TableSourceFactory) and factory.supports_projection


def reads_parts_of_rows(table: CatalogTable) -> bool:
    """Return whether the connector of a table reads those fields only of columns that are rows that are needed."""
    factory = _find_factory(table.options.get(CONNECTOR.key, ""))
    return isinstance(factory, TableSourceFactory) and factory.supports_nested_projection


def skips_rows(table: CatalogTable) -> bool:
    """Return whether the connector of a table may leave out rows for which a condition is not true."""
    factory = _find_factory(table.options.get(CONNECTOR.key, ""))
    return isinstance(factory, TableSourceFactory) and factory.supports_filters


def with_metadata(identifier: ObjectIdentifier, table: CatalogTable) -> CatalogTable:
    """Return a table as its connector reads it: metadata are columns like the others, of the connector's types.

    Raises:
        ProgramError: If the connector does not have what a column asks for.
    """
    wanted = {column.name: column.key or column.name for column in table.schema.metadata_columns}
    if not wanted:
        return table
    with _blaming("source for reading", identifier, table):
        factory = _find_factory(table.options.get(CONNECTOR.key, ""))
        known = factory.metadata if isinstance(factory, TableSourceFactory) else {}
        for name, key in wanted.items():
            if key not in known:
                hint = f"it has: {', '.join(map(repr, known))}" if known else "leave the column out"
                raise ProgramError(f"connector {factory.identifier!r} has no metadata {key!r} for column {quoted(name)}", hint=hint)
    columns = [
        PhysicalColumn(column.name, known[wanted[column.name]]) if isinstance(column, MetadataColumn) else column
        for column in table.schema.columns
    ]
    return replace(table, schema=replace(table.schema, columns=tuple(columns)), metadata=wanted)


def forwarded_options(table: CatalogTable) -> frozenset[str]:
    """Return the options of a table that are those of its catalog also in a plan that was compiled before."""
    return _find_factory(table.options.get(CONNECTOR.key, "")).forward_options


def source_kinds(identifier: ObjectIdentifier, table: CatalogTable) -> frozenset[RowKind]:
    """Return the kinds of rows that reading a table gives.

    Raises:
        ProgramError: If the table cannot be read.
    """
    return create_table_source(identifier, table, table_row_info(table.schema.physical_row_type)).kinds


def create_table_sink(identifier: ObjectIdentifier, table: CatalogTable, row_type: RowTypeInfo, *, overwrite: bool = False) -> TableSink:
    """Return the sink of a table.

    Raises:
        ConfigurationError: If there is no such connector, or it refuses the options; names the table and where it was made.
        ProgramError: If the connector cannot write a table of this schema.
    """
    with _blaming("sink for writing", identifier, table):
        factory = _find_factory(table.options.get(CONNECTOR.key, ""))
        if not isinstance(factory, TableSinkFactory):
            raise _wrong_way(factory, "written", "read")
        stored = [column.name for column in table.schema.metadata_columns if not column.is_virtual]
        if stored:
            raise ProgramError(
                f"connector {factory.identifier!r} writes no metadata, but the schema has {', '.join(map(quoted, stored))}",
                hint="declare these columns METADATA ... VIRTUAL",
            )
        if overwrite and not factory.supports_overwrite:
            raise ProgramError(f"tables of connector {factory.identifier!r} cannot be overwritten", hint="write INSERT INTO")
        return factory.create_sink(TableContext(identifier, without_watermark_options(table), row_type, overwrite=overwrite))


def create_table_lookup(identifier: ObjectIdentifier, table: CatalogTable, row_type: RowTypeInfo, keys: Sequence[str]) -> LookupTableSource:
    """Return how rows of a table are looked up by columns.

    Raises:
        ConfigurationError: If there is no such connector, or it refuses the options; names the table and where it was made.
        ProgramError: If the connector cannot look up rows of a table of this schema by these columns.
    """
    with _blaming("lookup for joining", identifier, table):
        factory = _find_factory(table.options.get(CONNECTOR.key, ""))
        if not isinstance(factory, LookupTableFactory):
            raise ProgramError(
                f"connector {factory.identifier!r} cannot look rows up by key, as a join FOR SYSTEM_TIME AS OF a processing time needs it",
                hint="use a connector that can, join by event time, or join without FOR SYSTEM_TIME",
            )
        return factory.create_lookup(TableContext(identifier, without_watermark_options(table), row_type), keys)


def _wrong_way(factory: _Factory, way: str, only: str) -> ProgramError:
    only = "looked up" if isinstance(factory, LookupTableFactory) else only
    return ProgramError(f"tables of connector {factory.identifier!r} can be {only} only, not {way}", hint="use another connector")


@contextmanager
def _blaming(what: str, identifier: ObjectIdentifier, table: CatalogTable) -> Iterator[None]:
    try:
        yield
    except WieselError as error:
        made = f" (made at {table.made_at})" if table.made_at else ""
        text = f"unable to create a {what} table '{identifier}'{made}: {error.message}"
        raise type(error)(text, hint=error.hint, **error.details) from error


def _find_factory(connector: str) -> _Factory:
    if not connector:
        raise ConfigurationError("the table has no option 'connector'", hint="name one: WITH ('connector' = 'filesystem', ...)")
    factory = load_plugin("connector", _GROUP, _BUILT_IN, connector)()
    if not isinstance(factory, _Factory):
        raise ConfigurationError(
            f"connector {connector!r} is a {type(factory).__name__}, not a TableSourceFactory, TableSinkFactory or LookupTableFactory",
            hint="see wiesel.spi.table",
        )
    return factory
