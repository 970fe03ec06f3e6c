"""Internal. Wiesel's own catalogs, in memory, in a file or in Spark, as objects of the program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from wiesel.core.errors import ProgramError
from wiesel.spi.table import catalog as spi
from wiesel.spi.table import catalog_errors as errors
from wiesel.spi.table.statistics import TableStatistics
from wiesel.sql.catalog.catalogs import Catalog as OwnCatalog
from wiesel.sql.catalog.catalogs import CatalogEntry, Database, kind_of
from wiesel.table.catalog import (
    Catalog,
    CatalogBaseTable,
    CatalogColumnStatistics,
    CatalogDatabase,
    CatalogFunction,
    CatalogModel,
    CatalogPartition,
    CatalogPartitionSpec,
    CatalogTableStatistics,
    ObjectPath,
)

__all__ = ["KeptCatalog"]


class KeptCatalog(Catalog):
    """A catalog of the environment. What its objects say is Flink's catalog in memory.

    Args:
        name: Its name.
        catalog: What keeps it.
    """

    def __init__(self, name: str, catalog: OwnCatalog) -> None:
        self._name = name
        self._catalog = catalog

    def _missing(self, error: type[ProgramError], what: str, name: object) -> ProgramError:
        return error(f"{what} {name} does not exist in catalog {self._name}", hint="check the name")

    def _existing(self, error: type[ProgramError], what: str, name: object) -> ProgramError:
        return error(f"{what} {name} already exists in catalog {self._name}", hint="choose another name, or set ignore_if_exists")

    # Databases

    def get_default_database(self) -> str:
        """Return the name of the database that is used first."""
        return self._catalog.default_database

    def list_databases(self) -> list[str]:
        """Return the names of all databases."""
        return list(self._catalog.databases)

    def _database(self, name: str) -> Database:
        found = self._catalog.databases.get(name)
        if found is None:
            raise self._missing(errors.DatabaseNotExistException, "database", name)
        return found

    def get_database(self, database_name: str) -> CatalogDatabase:
        """Return a database."""
        found = self._database(database_name)
        return CatalogDatabase(Database(found.comment, found.options))

    def create_database(self, name: str, database: CatalogDatabase, ignore_if_exists: bool) -> None:
        """Add a database."""
        if not self.database_exists(name):
            self._catalog.create_database(name, database._database, ignore_if_exists=ignore_if_exists)
        elif not ignore_if_exists:
            raise self._existing(errors.DatabaseAlreadyExistException, "database", name)

    def drop_database(self, name: str, ignore_if_exists: bool) -> None:
        """Remove a database."""
        if not self.database_exists(name) and ignore_if_exists:
            return
        found = self._database(name)
        if found.entries or found.functions or found.models:
            raise errors.DatabaseNotEmptyException(f"database {name} in catalog {self._name} is not empty", hint="drop what is in it first")
        self._catalog.drop_database(name, if_exists=ignore_if_exists, cascade=False)

    def alter_database(self, name: str, new_database: CatalogDatabase, ignore_if_not_exists: bool) -> None:
        """Set properties and comment of a database."""
        if ignore_if_not_exists and not self.database_exists(name):
            return
        self._database(name)
        self._catalog.alter_database(name, new_database.get_comment(), new_database.get_properties())

    # Tables and views

    def list_tables(self, database_name: str) -> list[str]:
        """Return the names of all tables and views of a database."""
        return list(self._database(database_name).entries)

    def list_views(self, database_name: str) -> list[str]:
        """Return the names of all views of a database."""
        return [name for name, entry in self._database(database_name).entries.items() if kind_of(entry) == "VIEW"]

    def list_materialized_tables(self, database_name: str) -> list[str]:
        """Return the names of all materialized tables of a database: there are none."""
        self._database(database_name)
        return []

    def _entry(self, path: ObjectPath) -> CatalogEntry | None:
        database = self._catalog.databases.get(path.get_database_name())
        return None if database is None else database.entries.get(path.get_object_name())

    def _known(self, path: ObjectPath) -> CatalogEntry:
        found = self._entry(path)
        if found is None:
            raise self._missing(errors.TableNotExistException, "table (or view)", path)
        return found

    def _put(self, path: ObjectPath, entry: CatalogEntry, *, new: bool) -> None:
        if isinstance(entry, spi.CatalogView) and not any(entry.current):
            entry = replace(entry, current=(self._name, path.get_database_name()))
        self._catalog.put(path.get_database_name(), path.get_object_name(), entry, new=new)

    def get_table(self, table_path: ObjectPath) -> CatalogBaseTable:
        """Return a table or view."""
        return CatalogBaseTable(self._known(table_path))

    def table_exists(self, table_path: ObjectPath) -> bool:
        """Return whether there is a table or view of the name."""
        return self._entry(table_path) is not None

    def create_table(self, table_path: ObjectPath, table: CatalogBaseTable, ignore_if_exists: bool) -> None:
        """Add a table or view."""
        self._database(table_path.get_database_name())
        if not self.table_exists(table_path):
            self._put(table_path, table._entry, new=True)
        elif not ignore_if_exists:
            raise self._existing(errors.TableAlreadyExistException, "table (or view)", table_path)

    def alter_table(self, table_path: ObjectPath, new_table: CatalogBaseTable, ignore_if_not_exists: bool) -> None:
        """Set what a table or view is; statistics and partitions of a table stay."""
        if ignore_if_not_exists and not self.table_exists(table_path):
            return
        known, entry = self._known(table_path), new_table._entry
        if kind_of(known) != kind_of(entry):
            problem = f"{table_path} is a {kind_of(known).lower()}, and cannot become a {kind_of(entry).lower()}"
            raise errors.CatalogException(problem, hint="drop it and create it")
        if isinstance(known, spi.CatalogTable) and isinstance(entry, spi.CatalogTable):
            entry = replace(entry, statistics=known.statistics, partitions=known.partitions)
        self._put(table_path, entry, new=False)

    def rename_table(self, table_path: ObjectPath, new_table_name: str, ignore_if_not_exists: bool) -> None:
        """Give a table or view another name."""
        if ignore_if_not_exists and not self.table_exists(table_path):
            return
        self._known(table_path)
        target = ObjectPath(table_path.get_database_name(), new_table_name)
        if self.table_exists(target):
            raise self._existing(errors.TableAlreadyExistException, "table (or view)", target)
        self._catalog.rename(table_path.get_database_name(), table_path.get_object_name(), new_table_name)

    def drop_table(self, table_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        """Remove a table or view."""
        if ignore_if_not_exists and not self.table_exists(table_path):
            return
        self._known(table_path)
        self._catalog.remove(table_path.get_database_name(), table_path.get_object_name())

    # Partitions

    def _partitioned(self, path: ObjectPath) -> spi.CatalogTable:
        table = self._known(path)
        if not isinstance(table, spi.CatalogTable) or not table.partition_keys:
            raise errors.TableNotPartitionedException(f"table {path} in catalog {self._name} has no partitions", hint="name one that has")
        return table

    def list_partitions(self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec | None = None) -> list[CatalogPartitionSpec]:
        """Return the partitions registered in the catalog."""
        table = self._partitioned(table_path)
        wanted = {} if partition_spec is None else partition_spec.get_partition_spec()
        found = (dict(zip(table.partition_keys, values, strict=True)) for values in table.partitions)
        return [CatalogPartitionSpec(each) for each in found if wanted.items() <= each.items()]

    def _values(self, path: ObjectPath, spec: CatalogPartitionSpec) -> tuple[spi.CatalogTable, tuple[str, ...]]:
        """Return the table and the values of a partition, in the order of its columns."""
        table, given = self._partitioned(path), spec.get_partition_spec()
        if set(given) != set(table.partition_keys):
            problem = f"table {path} is partitioned by {list(table.partition_keys)}, not by {list(given)}"
            raise errors.PartitionSpecInvalidException(problem, hint="give a value for each of these columns")
        return table, tuple(given[key] for key in table.partition_keys)

    def _partition(self, path: ObjectPath, spec: CatalogPartitionSpec) -> tuple[spi.CatalogTable, tuple[str, ...]]:
        """As :meth:`_values`, of a partition that is there."""
        try:
            table, values = self._values(path, spec)
            if values in table.partitions:
                return table, values
        except (errors.TableNotExistException, errors.TableNotPartitionedException, errors.PartitionSpecInvalidException) as error:
            raise self._missing(errors.PartitionNotExistException, "partition", f"{spec} of table {path}") from error
        raise self._missing(errors.PartitionNotExistException, "partition", f"{spec} of table {path}")

    def get_partition(self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec) -> CatalogPartition:
        """Return a partition."""
        table, values = self._partition(table_path, partition_spec)
        return CatalogPartition(table.partitions[values])

    def create_partition(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec, partition: CatalogPartition, ignore_if_exists: bool
    ) -> None:
        """Add a partition."""
        table, values = self._values(table_path, partition_spec)
        if values not in table.partitions:
            self._put(table_path, replace(table, partitions={**table.partitions, values: partition._partition}), new=False)
        elif not ignore_if_exists:
            raise self._existing(errors.PartitionAlreadyExistsException, "partition", f"{partition_spec} of table {table_path}")

    def drop_partition(self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec, ignore_if_not_exists: bool) -> None:
        """Forget a partition."""
        if ignore_if_not_exists and not self.partition_exists(table_path, partition_spec):
            return
        table, values = self._partition(table_path, partition_spec)
        partitions = {each: kept for each, kept in table.partitions.items() if each != values}
        statistics = {each: kept for each, kept in table.statistics.items() if each != values}
        self._put(table_path, replace(table, partitions=partitions, statistics=statistics), new=False)

    def alter_partition(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec, new_partition: CatalogPartition, ignore_if_not_exists: bool
    ) -> None:
        """Set what a partition is."""
        if ignore_if_not_exists and not self.partition_exists(table_path, partition_spec):
            return
        table, values = self._partition(table_path, partition_spec)
        self._put(table_path, replace(table, partitions={**table.partitions, values: new_partition._partition}), new=False)

    # Functions

    def list_functions(self, database_name: str) -> list[str]:
        """Return the names of all functions of a database, in small letters."""
        return [name.lower() for name in self._database(database_name).functions]

    def get_function(self, function_path: ObjectPath) -> CatalogFunction:
        """Return where the code of a function is found."""
        database = self._catalog.databases.get(function_path.get_database_name())
        found = None if database is None else database.functions.get(function_path.get_object_name().upper())
        if found is None:
            raise self._missing(errors.FunctionNotExistException, "function", function_path)
        return CatalogFunction(found)

    def create_function(self, function_path: ObjectPath, function: CatalogFunction, ignore_if_exists: bool) -> None:
        """Add a function."""
        self._database(function_path.get_database_name())
        if not self.function_exists(function_path):
            self._catalog.put_function(function_path.get_database_name(), function_path.get_object_name(), function._definition)
        elif not ignore_if_exists:
            raise self._existing(errors.FunctionAlreadyExistException, "function", function_path)

    def alter_function(self, function_path: ObjectPath, new_function: CatalogFunction, ignore_if_not_exists: bool) -> None:
        """Set where the code of a function is found."""
        if ignore_if_not_exists and not self.function_exists(function_path):
            return
        self.get_function(function_path)
        self._catalog.put_function(function_path.get_database_name(), function_path.get_object_name(), new_function._definition)

    def drop_function(self, function_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        """Remove a function."""
        if ignore_if_not_exists and not self.function_exists(function_path):
            return
        self.get_function(function_path)
        self._catalog.put_function(function_path.get_database_name(), function_path.get_object_name(), None)

    # Models

    def list_models(self, database_name: str) -> list[str]:
        """Return the names of all models of a database."""
        return list(self._database(database_name).models)

    def get_model(self, model_path: ObjectPath) -> CatalogModel:
        """Return a model."""
        database = self._catalog.databases.get(model_path.get_database_name())
        found = None if database is None else database.models.get(model_path.get_object_name())
        if found is None:
            raise self._missing(errors.ModelNotExistException, "model", model_path)
        return CatalogModel(found)

    def create_model(self, model_path: ObjectPath, model: CatalogModel, ignore_if_exists: bool) -> None:
        """Add a model."""
        self._database(model_path.get_database_name())
        if not self.model_exists(model_path):
            self._catalog.put_model(model_path.get_database_name(), model_path.get_object_name(), model._model)
        elif not ignore_if_exists:
            raise self._existing(errors.ModelAlreadyExistException, "model", model_path)

    def alter_model(self, model_path: ObjectPath, new_model: CatalogModel, ignore_if_not_exists: bool) -> None:
        """Set what a model is."""
        if ignore_if_not_exists and not self.model_exists(model_path):
            return
        self.get_model(model_path)
        self._catalog.put_model(model_path.get_database_name(), model_path.get_object_name(), new_model._model)

    def rename_model(self, model_path: ObjectPath, new_model_name: str, ignore_if_not_exists: bool) -> None:
        """Give a model another name."""
        if ignore_if_not_exists and not self.model_exists(model_path):
            return
        model = self.get_model(model_path)
        self.create_model(ObjectPath(model_path.get_database_name(), new_model_name), model, False)
        self.drop_model(model_path, False)

    def drop_model(self, model_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        """Remove a model."""
        if ignore_if_not_exists and not self.model_exists(model_path):
            return
        self.get_model(model_path)
        self._catalog.put_model(model_path.get_database_name(), model_path.get_object_name(), None)

    # Statistics

    def _statistics(self, path: ObjectPath) -> Mapping[tuple[str | None, ...], TableStatistics]:
        return getattr(self._known(path), "statistics", {})

    def get_table_statistics(self, table_path: ObjectPath) -> CatalogTableStatistics:
        """Return what is known of the rows of a table."""
        return CatalogTableStatistics._of(self._statistics(table_path).get(()))

    def get_table_column_statistics(self, table_path: ObjectPath) -> CatalogColumnStatistics:
        """Return what is known of the columns of a table."""
        found = self._statistics(table_path).get(())
        return CatalogColumnStatistics({} if found is None else found.columns)

    def get_partition_statistics(self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec) -> CatalogTableStatistics:
        """Return what is known of the rows of a partition."""
        table, values = self._partition(table_path, partition_spec)
        return CatalogTableStatistics._of(table.statistics.get(values))

    def get_partition_column_statistics(self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec) -> CatalogColumnStatistics:
        """Return what is known of the columns of a partition."""
        table, values = self._partition(table_path, partition_spec)
        found = table.statistics.get(values)
        return CatalogColumnStatistics({} if found is None else found.columns)

    def _keep(
        self, path: ObjectPath, values: tuple[str, ...], changed: Callable[[TableStatistics | None], TableStatistics]
    ) -> None:
        table = self._known(path)
        if not isinstance(table, spi.CatalogTable):
            raise errors.CatalogException(f"{path} is a view, which has no statistics", hint="name a table")
        statistics = {**table.statistics, values: changed(table.statistics.get(values))}
        self._put(path, replace(table, statistics=statistics), new=False)

    def alter_table_statistics(
        self, table_path: ObjectPath, table_statistics: CatalogTableStatistics, ignore_if_not_exists: bool
    ) -> None:
        """Set what is known of the rows of a table."""
        if not ignore_if_not_exists or self.table_exists(table_path):
            self._keep(table_path, (), table_statistics._over)

    def alter_table_column_statistics(
        self, table_path: ObjectPath, column_statistics: CatalogColumnStatistics, ignore_if_not_exists: bool
    ) -> None:
        """Set what is known of columns of a table."""
        if not ignore_if_not_exists or self.table_exists(table_path):
            self._keep(table_path, (), lambda known: _with_columns(known, column_statistics))

    def alter_partition_statistics(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        partition_statistics: CatalogTableStatistics,
        ignore_if_not_exists: bool,
    ) -> None:
        """Set what is known of the rows of a partition."""
        if not ignore_if_not_exists or self.partition_exists(table_path, partition_spec):
            self._keep(table_path, self._partition(table_path, partition_spec)[1], partition_statistics._over)

    def alter_partition_column_statistics(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        column_statistics: CatalogColumnStatistics,
        ignore_if_not_exists: bool,
    ) -> None:
        """Set what is known of columns of a partition."""
        if not ignore_if_not_exists or self.partition_exists(table_path, partition_spec):
            values = self._partition(table_path, partition_spec)[1]
            self._keep(table_path, values, lambda known: _with_columns(known, column_statistics))


def _with_columns(known: TableStatistics | None, columns: CatalogColumnStatistics) -> TableStatistics:
    base = CatalogTableStatistics()._over(None) if known is None else known
    return replace(base, columns=columns.get_column_statistics_data())
