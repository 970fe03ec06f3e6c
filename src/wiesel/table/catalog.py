"""Catalogs and what is in them: the names of ``pyflink.table.catalog``, and what catalogs of one's own are made of."""

from __future__ import annotations

from collections.abc import Sequence

from wiesel.core.argument_checks import require_instance
from wiesel.core.config import Configuration
from wiesel.core.user_location import program_error
from wiesel.spi.table.catalog_errors import (
    CatalogException,
    FunctionNotExistException,
    ModelNotExistException,
    PartitionNotExistException,
    TableNotExistException,
)
from wiesel.table.catalogs.entries import (
    CatalogBaseTable,
    CatalogColumnStatistics,
    CatalogDatabase,
    CatalogFunction,
    CatalogModel,
    CatalogPartition,
    CatalogTableStatistics,
    Procedure,
)
from wiesel.table.catalogs.object_names import CatalogPartitionSpec, ObjectIdentifier, ObjectPath
from wiesel.table.catalogs.resolved_schema import (
    Column,
    ComputedColumn,
    Constraint,
    MetadataColumn,
    PhysicalColumn,
    ResolvedSchema,
    UniqueConstraint,
    WatermarkSpec,
)

__all__ = [
    "Catalog",
    "CatalogBaseTable",
    "CatalogColumnStatistics",
    "CatalogDatabase",
    "CatalogDescriptor",
    "CatalogFunction",
    "CatalogModel",
    "CatalogPartition",
    "CatalogPartitionSpec",
    "CatalogTableStatistics",
    "Column",
    "ComputedColumn",
    "Constraint",
    "HiveCatalog",
    "MetadataColumn",
    "ObjectIdentifier",
    "ObjectPath",
    "PhysicalColumn",
    "Procedure",
    "ResolvedSchema",
    "UniqueConstraint",
    "WatermarkSpec",
]


class CatalogDescriptor:
    """Describes a catalog for ``TableEnvironment.create_catalog()``. Made by :meth:`of`."""

    def __init__(self, catalog_name: str, configuration: Configuration, comment: str | None) -> None:
        self._name = catalog_name
        self._options = {key: str(value) for key, value in configuration.to_dict().items()}
        self._comment = comment

    @staticmethod
    def of(catalog_name: str, configuration: Configuration, comment: str | None = None) -> CatalogDescriptor:
        """Return what describes a catalog.

        Args:
            catalog_name: Its name.
            configuration: Its options, ``type`` among them.
            comment: What it is about.
        """
        require_instance(catalog_name, str, "the name of a catalog", "give a text")
        require_instance(configuration, Configuration, "the options of a catalog", "give a Configuration")
        return CatalogDescriptor(catalog_name, configuration, comment)


class Catalog:
    """Databases, and in them tables, views, functions and models by name. ``TableEnvironment.get_catalog()`` returns one.

    A catalog of one's own is a subclass, which ``TableEnvironment.register_catalog()`` takes. It has to have :meth:`list_databases`,
    :meth:`list_tables` and :meth:`get_table`; what else it leaves out is either told from these, or refused with a
    :class:`~wiesel.spi.table.catalog_errors.CatalogException`. All of it is called in the program, by the thread that runs the statement,
    as often as a name is looked up, and never by tasks. Errors are those of :mod:`wiesel.spi.table.catalog_errors`, as each method tells.
    """

    def open(self) -> None:
        """Get ready; called when the catalog is registered. PyFlink has no such method."""

    def close(self) -> None:
        """Let go of what the catalog holds; called when it is dropped. PyFlink has no such method."""

    def _refused(self, what: str) -> CatalogException:
        return CatalogException(f"catalogs of {type(self).__name__} cannot {what}", hint="do it where the catalog has this from")

    # Databases

    def get_default_database(self) -> str:
        """Return the name of the database that is used first: ``default``."""
        return "default"

    def list_databases(self) -> list[str]:
        """Return the names of all databases."""
        raise self._refused("list databases")

    def get_database(self, database_name: str) -> CatalogDatabase:
        """Return a database: one without properties.

        Raises:
            DatabaseNotExistException: If there is none of the name.
        """
        return CatalogDatabase.create_instance({})

    def database_exists(self, database_name: str) -> bool:
        """Return whether there is a database of the name."""
        return database_name in self.list_databases()

    def create_database(self, name: str, database: CatalogDatabase, ignore_if_exists: bool) -> None:
        """Add a database.

        Raises:
            DatabaseAlreadyExistException: If there is one of the name and ``ignore_if_exists`` is not set.
        """
        raise self._refused("create databases")

    def drop_database(self, name: str, ignore_if_exists: bool) -> None:
        """Remove a database.

        Args:
            name: Its name.
            ignore_if_exists: Do nothing if it is not there; the name is PyFlink's.

        Raises:
            DatabaseNotExistException: If it is not there.
            DatabaseNotEmptyException: If there is something in it.
        """
        raise self._refused("drop databases")

    def alter_database(self, name: str, new_database: CatalogDatabase, ignore_if_not_exists: bool) -> None:
        """Set properties and comment of a database, in place of those that it has.

        Raises:
            DatabaseNotExistException: If it is not there.
        """
        raise self._refused("alter databases")

    # Tables and views

    def list_tables(self, database_name: str) -> list[str]:
        """Return the names of all tables and views of a database.

        Raises:
            DatabaseNotExistException: If there is none of the name.
        """
        raise self._refused("list tables")

    def list_views(self, database_name: str) -> list[str]:
        """Return the names of all views of a database.

        Raises:
            DatabaseNotExistException: If there is none of the name.
        """
        return [name for name in self.list_tables(database_name) if self.get_table(ObjectPath(database_name, name)).is_view()]

    def list_materialized_tables(self, database_name: str) -> list[str]:
        """Return the names of all materialized tables of a database: there are none."""
        return []

    def get_table(self, table_path: ObjectPath) -> CatalogBaseTable:
        """Return a table or view.

        Raises:
            TableNotExistException: If there is none of the name.
        """
        raise self._refused("describe tables")

    def table_exists(self, table_path: ObjectPath) -> bool:
        """Return whether there is a table or view of the name."""
        try:
            self.get_table(table_path)
        except TableNotExistException:
            return False
        return True

    def create_table(self, table_path: ObjectPath, table: CatalogBaseTable, ignore_if_exists: bool) -> None:
        """Add a table or view.

        Raises:
            DatabaseNotExistException: If there is no such database.
            TableAlreadyExistException: If there is one of the name and ``ignore_if_exists`` is not set.
        """
        raise self._refused("create tables")

    def alter_table(self, table_path: ObjectPath, new_table: CatalogBaseTable, ignore_if_not_exists: bool) -> None:
        """Set what a table or view is.

        Raises:
            TableNotExistException: If there is none of the name.
            CatalogException: If one is a table and the other a view.
        """
        raise self._refused("alter tables")

    def rename_table(self, table_path: ObjectPath, new_table_name: str, ignore_if_not_exists: bool) -> None:
        """Give a table or view another name in its database.

        Raises:
            TableNotExistException: If there is none of the name.
            TableAlreadyExistException: If there is one of the new name.
        """
        raise self._refused("rename tables")

    def drop_table(self, table_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        """Remove a table or view.

        Raises:
            TableNotExistException: If there is none of the name.
        """
        raise self._refused("drop tables")

    # Partitions

    def list_partitions(self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec | None = None) -> list[CatalogPartitionSpec]:
        """Return the partitions registered in the catalog, or those among them with some values.

        Raises:
            TableNotExistException: If there is no such table.
            TableNotPartitionedException: If it has no partitions.
        """
        raise self._refused("list partitions")

    def get_partition(self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec) -> CatalogPartition:
        """Return a partition.

        Raises:
            PartitionNotExistException: If it is not there, or the table has no such partitions.
        """
        raise self._refused("describe partitions")

    def partition_exists(self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec) -> bool:
        """Return whether there is such a partition."""
        try:
            self.get_partition(table_path, partition_spec)
        except PartitionNotExistException:
            return False
        return True

    def create_partition(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec, partition: CatalogPartition, ignore_if_exists: bool
    ) -> None:
        """Add a partition.

        Raises:
            TableNotExistException: If there is no such table.
            TableNotPartitionedException: If it has no partitions.
            PartitionSpecInvalidException: If it is partitioned by other columns.
            PartitionAlreadyExistsException: If it is there and ``ignore_if_exists`` is not set.
        """
        raise self._refused("create partitions")

    def drop_partition(self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec, ignore_if_not_exists: bool) -> None:
        """Forget a partition.

        Raises:
            PartitionNotExistException: If it is not there, or the table has no such partitions.
        """
        raise self._refused("drop partitions")

    def alter_partition(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec, new_partition: CatalogPartition, ignore_if_not_exists: bool
    ) -> None:
        """Set what a partition is.

        Raises:
            PartitionNotExistException: If it is not there, or the table has no such partitions.
        """
        raise self._refused("alter partitions")

    # Functions and procedures

    def list_functions(self, database_name: str) -> list[str]:
        """Return the names of all functions of a database: none.

        Raises:
            DatabaseNotExistException: If there is none of the name.
        """
        return []

    def list_procedures(self, database_name: str) -> list[str]:
        """Return the names of all procedures of a database: there are none."""
        return []

    def get_procedure(self, procedure_path: ObjectPath) -> Procedure:
        """Refuse: there are no procedures."""
        raise CatalogException("procedures of catalogs are classes of Java", hint="write a function or a program in Python")

    def get_function(self, function_path: ObjectPath) -> CatalogFunction:
        """Return where the code of a function is found; capitals and small letters of its name are the same.

        Raises:
            FunctionNotExistException: If there is none of the name.
        """
        raise FunctionNotExistException(f"there is no function {function_path}", hint="list_functions() tells those that there are")

    def function_exists(self, function_path: ObjectPath) -> bool:
        """Return whether there is a function of the name."""
        try:
            self.get_function(function_path)
        except FunctionNotExistException:
            return False
        return True

    def create_function(self, function_path: ObjectPath, function: CatalogFunction, ignore_if_exists: bool) -> None:
        """Add a function.

        Raises:
            DatabaseNotExistException: If there is no such database.
            FunctionAlreadyExistException: If there is one of the name and ``ignore_if_exists`` is not set.
        """
        raise self._refused("create functions")

    def alter_function(self, function_path: ObjectPath, new_function: CatalogFunction, ignore_if_not_exists: bool) -> None:
        """Set where the code of a function is found.

        Raises:
            FunctionNotExistException: If there is none of the name.
        """
        raise self._refused("alter functions")

    def drop_function(self, function_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        """Remove a function.

        Raises:
            FunctionNotExistException: If there is none of the name.
        """
        raise self._refused("drop functions")

    # Models

    def list_models(self, database_name: str) -> list[str]:
        """Return the names of all models of a database: none.

        Raises:
            DatabaseNotExistException: If there is none of the name.
        """
        return []

    def get_model(self, model_path: ObjectPath) -> CatalogModel:
        """Return a model.

        Raises:
            ModelNotExistException: If there is none of the name.
        """
        raise ModelNotExistException(f"there is no model {model_path}", hint="list_models() tells those that there are")

    def model_exists(self, model_path: ObjectPath) -> bool:
        """Return whether there is a model of the name."""
        try:
            self.get_model(model_path)
        except ModelNotExistException:
            return False
        return True

    def create_model(self, model_path: ObjectPath, model: CatalogModel, ignore_if_exists: bool) -> None:
        """Add a model.

        Raises:
            DatabaseNotExistException: If there is no such database.
            ModelAlreadyExistException: If there is one of the name and ``ignore_if_exists`` is not set.
        """
        raise self._refused("create models")

    def alter_model(self, model_path: ObjectPath, new_model: CatalogModel, ignore_if_not_exists: bool) -> None:
        """Set what a model is.

        Raises:
            ModelNotExistException: If there is none of the name.
        """
        raise self._refused("alter models")

    def rename_model(self, model_path: ObjectPath, new_model_name: str, ignore_if_not_exists: bool) -> None:
        """Give a model another name in its database.

        Raises:
            ModelNotExistException: If there is none of the name.
            ModelAlreadyExistException: If there is one of the new name.
        """
        raise self._refused("rename models")

    def drop_model(self, model_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        """Remove a model.

        Raises:
            ModelNotExistException: If there is none of the name.
        """
        raise self._refused("drop models")

    # Statistics

    def get_table_statistics(self, table_path: ObjectPath) -> CatalogTableStatistics:
        """Return what is known of the rows of a table: nothing.

        Raises:
            TableNotExistException: If there is none of the name.
        """
        return CatalogTableStatistics()

    def get_table_column_statistics(self, table_path: ObjectPath) -> CatalogColumnStatistics:
        """Return what is known of the columns of a table: nothing.

        Raises:
            TableNotExistException: If there is none of the name.
        """
        return CatalogColumnStatistics()

    def get_partition_statistics(self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec) -> CatalogTableStatistics:
        """Return what is known of the rows of a partition: nothing.

        Raises:
            PartitionNotExistException: If it is not there.
        """
        return CatalogTableStatistics()

    def bulk_get_partition_statistics(
        self, table_path: ObjectPath, partition_specs: Sequence[CatalogPartitionSpec]
    ) -> list[CatalogTableStatistics]:
        """Return what is known of the rows of several partitions."""
        return [self.get_partition_statistics(table_path, spec) for spec in partition_specs]

    def get_partition_column_statistics(self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec) -> CatalogColumnStatistics:
        """Return what is known of the columns of a partition: nothing.

        Raises:
            PartitionNotExistException: If it is not there.
        """
        return CatalogColumnStatistics()

    def bulk_get_partition_column_statistics(
        self, table_path: ObjectPath, partition_specs: Sequence[CatalogPartitionSpec]
    ) -> list[CatalogColumnStatistics]:
        """Return what is known of the columns of several partitions."""
        return [self.get_partition_column_statistics(table_path, spec) for spec in partition_specs]

    def alter_table_statistics(self, table_path: ObjectPath, table_statistics: CatalogTableStatistics, ignore_if_not_exists: bool) -> None:
        """Set what is known of the rows of a table.

        Raises:
            TableNotExistException: If there is none of the name.
        """
        raise self._refused("keep statistics")

    def alter_table_column_statistics(
        self, table_path: ObjectPath, column_statistics: CatalogColumnStatistics, ignore_if_not_exists: bool
    ) -> None:
        """Set what is known of columns of a table.

        Raises:
            TableNotExistException: If there is none of the name.
        """
        raise self._refused("keep statistics")

    def alter_partition_statistics(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        partition_statistics: CatalogTableStatistics,
        ignore_if_not_exists: bool,
    ) -> None:
        """Set what is known of the rows of a partition.

        Raises:
            PartitionNotExistException: If it is not there.
        """
        raise self._refused("keep statistics")

    def alter_partition_column_statistics(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        column_statistics: CatalogColumnStatistics,
        ignore_if_not_exists: bool,
    ) -> None:
        """Set what is known of columns of a partition.

        Raises:
            PartitionNotExistException: If it is not there.
        """
        raise self._refused("keep statistics")


class HiveCatalog(Catalog):
    """Refused: Flink speaks to Hive's metastore by classes of Java, and there is no JVM in the program."""

    def __init__(
        self,
        catalog_name: str,
        default_database: str | None = None,
        hive_conf_dir: str | None = None,
        hadoop_conf_dir: str | None = None,
        hive_version: str | None = None,
    ) -> None:
        raise program_error(
            f"the metastore of Hive cannot be the catalog {catalog_name!r}: it is spoken to by classes of Java",
            "let Spark speak to it (spark.sql.catalogImplementation=hive), and write CREATE CATALOG ... WITH ('type' = 'spark')",
        )
