"""Internal. Entries of catalogs, in the classes of ``wiesel.table.catalog``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from wiesel.core.argument_checks import require_instance
from wiesel.core.user_location import program_error, user_location
from wiesel.spi.table import catalog as spi
from wiesel.spi.table import schema as schemas
from wiesel.spi.table.statistics import ColumnStatistics, TableStatistics
from wiesel.sql.catalog.catalogs import CatalogEntry, Database, FunctionDefinition
from wiesel.sql.ddl.definitions import check_partition_keys, checked_schema
from wiesel.table.statements.models import checked_model
from wiesel.table.table_schema import TableSchema

__all__ = [
    "CatalogBaseTable",
    "CatalogColumnStatistics",
    "CatalogDatabase",
    "CatalogFunction",
    "CatalogModel",
    "CatalogPartition",
    "CatalogTableStatistics",
    "Procedure",
]

AnySchema: TypeAlias = "schemas.Schema | schemas.ResolvedSchema | TableSchema"

_LANGUAGES = ("PYTHON", "JAVA", "SCALA")
_NOT_KNOWN = -1


class CatalogDatabase:
    """Metadata of a database. Created by :meth:`create_instance`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @staticmethod
    def create_instance(properties: Mapping[str, str], comment: str | None = None) -> CatalogDatabase:
        """Return a database with properties."""
        require_instance(properties, Mapping, "the properties of a database", "give a dict")
        return CatalogDatabase(Database(comment, dict(properties)))

    def get_properties(self) -> dict[str, str]:
        """Return its properties."""
        return dict(self._database.options)

    def get_comment(self) -> str | None:
        """Return what it is about."""
        return self._database.comment

    def get_description(self) -> str | None:
        """Return what it is about."""
        return self._database.comment

    def get_detailed_description(self) -> str | None:
        """Return what it is about."""
        return self._database.comment

    def copy(self) -> CatalogDatabase:
        """Return the same database."""
        return CatalogDatabase(self._database)


class CatalogBaseTable:
    """Metadata of a table or view. Created by :meth:`create_table` and :meth:`create_view`."""

    def __init__(self, entry: CatalogEntry) -> None:
        self._entry = entry

    @staticmethod
    def create_table(
        schema: AnySchema,
        partition_keys: Sequence[str] = [],
        properties: Mapping[str, str] = {},
        comment: str | None = None,
    ) -> CatalogBaseTable:
        """Return a table.

        Args:
            schema: Its columns: a ``TableSchema`` as in PyFlink, or a ``Schema`` or ``ResolvedSchema``.
            partition_keys: Columns by whose values its rows are kept apart.
            properties: Its options, ``connector`` among them.
            comment: What it is about.

        Raises:
            ProgramError: If the schema contradicts itself, or a partition key is not a stored column.
        """
        require_instance(partition_keys, Sequence, "the partition keys of a table", "give a list of names")
        require_instance(properties, Mapping, "the options of a table", "give a dict")
        table = spi.CatalogTable(_resolved(schema), dict(properties), tuple(partition_keys), comment or "", user_location())
        check_partition_keys(table)
        return CatalogBaseTable(table)

    @staticmethod
    def create_view(
        original_query: str, expanded_query: str, schema: AnySchema, properties: Mapping[str, str], comment: str | None = None
    ) -> CatalogBaseTable:
        """Return a view.

        Args:
            original_query: Its query as it was written. It is not kept.
            expanded_query: The query with full names, which is run. Other names are those of the database that the view is put into.
            schema: Its columns, as :meth:`create_table` takes them.
            properties: What is to be kept with it.
            comment: What it is about.
        """
        for query in (original_query, expanded_query):
            require_instance(query, str, "the query of a view", "give a text")
        require_instance(properties, Mapping, "the properties of a view", "give a dict")
        resolved = _resolved(schema)
        return CatalogBaseTable(spi.CatalogView(expanded_query, ("", ""), resolved, comment or "", user_location(), dict(properties)))

    def get_options(self) -> dict[str, str]:
        """Return the options of a table, or what is kept with a view."""
        return dict(getattr(self._entry, "options", {}))

    def get_unresolved_schema(self) -> schemas.Schema:
        """Return its columns, its watermark and its primary key."""
        known = self._entry.schema
        columns = [replace(each, data_type=None) if isinstance(each, schemas.ComputedColumn) else each for each in known.columns]
        return schemas.Schema(columns, known.primary_key, known.watermark)

    def get_partition_keys(self) -> list[str]:
        """Return the columns by whose values its rows are kept apart; PyFlink has no such method."""
        return list(getattr(self._entry, "partition_keys", ()))

    def is_view(self) -> bool:
        """Return whether it is a view; PyFlink has no such method."""
        return not isinstance(self._entry, spi.CatalogTable)

    def get_comment(self) -> str:
        """Return what it is about."""
        return getattr(self._entry, "comment", None) or ""

    def get_description(self) -> str | None:
        """Return what it is about."""
        return self.get_comment()

    def get_detailed_description(self) -> str | None:
        """Return what kind of view it is; None for tables."""
        return "This is a catalog view implementation" if self.is_view() else None

    def copy(self) -> CatalogBaseTable:
        """Return the same table or view."""
        return CatalogBaseTable(self._entry)


def _resolved(schema: AnySchema) -> schemas.ResolvedSchema:
    if isinstance(schema, TableSchema):
        return schema._resolved()
    if isinstance(schema, schemas.Schema):
        known = schema.resolve()
        return checked_schema(known.columns, known.primary_key, known.watermark)
    require_instance(schema, schemas.ResolvedSchema, "the schema of a table", "give a TableSchema, a Schema or a ResolvedSchema")
    return schemas.ResolvedSchema(schema.columns, schema.primary_key, schema.watermark)


class CatalogPartition:
    """Metadata of a partition. Created by :meth:`create_instance`."""

    def __init__(self, partition: spi.CatalogPartition) -> None:
        self._partition = partition

    @staticmethod
    def create_instance(properties: Mapping[str, str], comment: str | None = None) -> CatalogPartition:
        """Return a partition with properties."""
        require_instance(properties, Mapping, "the properties of a partition", "give a dict")
        return CatalogPartition(spi.CatalogPartition(dict(properties), comment))

    def get_properties(self) -> dict[str, str]:
        """Return its properties."""
        return dict(self._partition.properties)

    def get_comment(self) -> str | None:
        """Return what it is about."""
        return self._partition.comment

    def get_description(self) -> str | None:
        """Return None: partitions have none."""
        return None

    def get_detailed_description(self) -> str | None:
        """Return None: partitions have none."""
        return None

    def copy(self) -> CatalogPartition:
        """Return the same partition."""
        return CatalogPartition(self._partition)


class CatalogFunction:
    """Definition of a function. Created by :meth:`create_instance`."""

    def __init__(self, definition: FunctionDefinition) -> None:
        self._definition = definition

    @staticmethod
    def create_instance(class_name: str, function_language: str = "Python") -> CatalogFunction:
        """Return a function.

        Args:
            class_name: Its name: ``module.name``.
            function_language: What it is written in. Functions that are not in Python can be kept, but not called.

        Raises:
            ValueError: If it is no language that Flink has.
        """
        require_instance(class_name, str, "the name of a function", "write module.name")
        if function_language.upper() not in _LANGUAGES:
            raise ValueError("function_language must be one of 'Python', 'Java' or 'Scala'")
        return CatalogFunction(FunctionDefinition(class_name, function_language.upper()))

    def get_class_name(self) -> str:
        """Return the name of its code."""
        return self._definition.identifier

    def get_function_language(self) -> str:
        """Return what it is written in: ``PYTHON``, ``JAVA`` or ``SCALA``."""
        return self._definition.language

    def get_options(self) -> dict[str, str]:
        """Return its options: none."""
        return {}

    def get_description(self) -> str | None:
        """Return what it is."""
        return "This is a user-defined function"

    def get_detailed_description(self) -> str | None:
        """Return what it is."""
        return "This is a user-defined function"

    def copy(self) -> CatalogFunction:
        """Return the same function."""
        return CatalogFunction(self._definition)


class CatalogModel:
    """Metadata of a model. Created by :meth:`create_model`."""

    def __init__(self, model: spi.CatalogModel) -> None:
        self._model = model

    @staticmethod
    def create_model(
        input_schema: schemas.Schema,
        output_schema: schemas.Schema,
        options: dict[str, str] = {},  # noqa: B006 - as in PyFlink; it is not changed
        comment: str | None = None,
    ) -> CatalogModel:
        """Return a model with inputs, outputs and options.

        Raises:
            ProgramError: If there are no options, or a type cannot be read.
        """
        for schema in (input_schema, output_schema):
            require_instance(schema, schemas.Schema, "the schema of a model", "give Schema.new_builder()...build()")
        require_instance(options, Mapping, "the options of a model", "give a dict")
        return CatalogModel(checked_model(input_schema.resolve(), output_schema.resolve(), dict(options), comment))

    def copy(self) -> CatalogModel:
        """Return the same model."""
        return CatalogModel(self._model)

    def get_comment(self) -> str | None:
        """Return what it is about."""
        return self._model.comment

    def get_options(self) -> dict[str, str]:
        """Return its options."""
        return dict(self._model.options)


class Procedure:
    """A procedure of a catalog. No catalog has any: those of Flink are classes of Java."""

    def __init__(self) -> None:
        raise program_error("procedures of catalogs are classes of Java", "write a function or a program in Python")


class CatalogTableStatistics:
    """Statistics of the rows of a table or partition; -1 for unknown values.

    Args:
        row_count: How many rows there are.
        field_count: How many files they are in; the name is PyFlink's.
        total_size: How many bytes these have.
        raw_data_size: How many bytes the rows have in memory.
        properties: What else is to be kept.
    """

    def __init__(
        self,
        row_count: int | None = None,
        field_count: int | None = None,
        total_size: int | None = None,
        raw_data_size: int | None = None,
        properties: Mapping[str, str] | None = None,
    ) -> None:
        self._numbers = tuple(_NOT_KNOWN if each is None else each for each in (row_count, field_count, total_size, raw_data_size))
        self._properties = dict(properties or {})

    @staticmethod
    def _of(found: TableStatistics | None) -> CatalogTableStatistics:
        if found is None:
            return CatalogTableStatistics()
        return CatalogTableStatistics(found.rows, found.files, found.size, found.raw_size, found.properties)

    def _over(self, known: TableStatistics | None) -> TableStatistics:
        """Return the statistics with these numbers and what is known of columns."""
        rows, *others = self._numbers
        files, size, raw_size = (None if each == _NOT_KNOWN else each for each in others)
        return TableStatistics(rows, {} if known is None else known.columns, files, size, raw_size, self._properties)

    def get_row_count(self) -> int:
        """Return how many rows there are."""
        return self._numbers[0]

    def get_field_count(self) -> int:
        """Return how many files they are in."""
        return self._numbers[1]

    def get_total_size(self) -> int:
        """Return how many bytes these have."""
        return self._numbers[2]

    def get_raw_data_size(self) -> int:
        """Return how many bytes the rows have in memory."""
        return self._numbers[3]

    def get_properties(self) -> dict[str, str]:
        """Return what else is kept."""
        return dict(self._properties)

    def copy(self) -> CatalogTableStatistics:
        """Return the same statistics."""
        rows, files, size, raw_size = self._numbers
        return CatalogTableStatistics(rows, files, size, raw_size, self._properties)


class CatalogColumnStatistics:
    """Statistics of the values of columns.

    Args:
        column_statistics_data: A :class:`~wiesel.spi.table.statistics.ColumnStatistics` for each column, by its name; PyFlink has objects
            of Java there.
        properties: What else is to be kept with this object; catalogs do not keep it.
    """

    def __init__(
        self, column_statistics_data: Mapping[str, ColumnStatistics] | None = None, properties: Mapping[str, str] | None = None
    ) -> None:
        for name, found in (column_statistics_data or {}).items():
            require_instance(found, ColumnStatistics, f"what is known of column {name!r}", "give a ColumnStatistics")
        self._data = dict(column_statistics_data or {})
        self._properties = dict(properties or {})

    def get_column_statistics_data(self) -> dict[str, ColumnStatistics]:
        """Return what is known, by the names of the columns."""
        return dict(self._data)

    def get_properties(self) -> dict[str, str]:
        """Return what else is kept."""
        return dict(self._properties)

    def copy(self) -> CatalogColumnStatistics:
        """Return the same statistics."""
        return CatalogColumnStatistics(self._data, self._properties)
