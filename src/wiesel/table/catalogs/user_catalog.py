"""Internal. Catalogs that users write, as statements need them: each name is looked up in the user's object when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from wiesel.core.argument_checks import require_instance
from wiesel.core.errors import WieselError
from wiesel.spi.table.catalog import CatalogModel as Model
from wiesel.spi.table.catalog import CatalogView
from wiesel.spi.table.catalog_errors import (
    CatalogException,
    FunctionNotExistException,
    ModelNotExistException,
    TableNotExistException,
)
from wiesel.sql.catalog.catalogs import Catalog as OwnCatalog
from wiesel.sql.catalog.catalogs import CatalogEntry, Database, FunctionDefinition
from wiesel.table.catalog import Catalog, CatalogBaseTable, CatalogDatabase, CatalogFunction, CatalogModel, ObjectPath

__all__ = ["UserCatalog", "opened_catalog"]

T = TypeVar("T")


class UserCatalog(OwnCatalog):
    """A catalog of the environment whose contents an object of the user knows.

    Args:
        name: Its name.
        catalog: The user's object.
    """

    keeps_functions = True
    is_described = False

    def __init__(self, name: str, catalog: Catalog) -> None:
        self.catalog = catalog
        self._name = name
        self.options = {}
        self.default_database = self._asked("get_default_database", catalog.get_default_database)

    def _asked(self, method: str, ask: Callable[[], T]) -> T:
        """Return what the user's object answers; errors that are none of a catalog tell where they come from."""
        try:
            return ask()
        except WieselError:
            raise
        except Exception as error:
            where = f"{type(self.catalog).__name__}.{method}()"
            problem = f"{where} of catalog {self._name} failed: {type(error).__name__}: {error}"
            raise CatalogException(problem, hint="see the error that this one comes from") from error

    def open(self) -> None:
        """Let the user's object get ready."""
        self._asked("open", self.catalog.open)

    def close(self) -> None:
        """Let the user's object let go of what it holds."""
        self._asked("close", self.catalog.close)

    @property
    def databases(self) -> Mapping[str, Database]:
        """The databases as they are now."""
        return _Asked(lambda: self._asked("list_databases", self.catalog.list_databases), self._database)

    def _database(self, name: str) -> Database | None:
        if not self._asked("database_exists", lambda: self.catalog.database_exists(name)):
            return None
        found = self._asked("get_database", lambda: self.catalog.get_database(name))
        require_instance(found, CatalogDatabase, f"what get_database() of catalog {self._name} returned", "return a CatalogDatabase")

        def names(method: str) -> Callable[[], list[str]]:
            return lambda: self._asked(method, lambda: getattr(self.catalog, method)(name))

        return Database(
            found.get_comment(),
            found.get_properties(),
            _Asked(names("list_tables"), lambda each: self._table(ObjectPath(name, each))),
            _Asked(
                lambda: [each.upper() for each in names("list_functions")()],
                lambda each: self._function(ObjectPath(name, each.lower())),
            ),
            _Asked(names("list_models"), lambda each: self._model(ObjectPath(name, each))),
        )

    def _table(self, path: ObjectPath) -> CatalogEntry | None:
        try:
            found = self._asked("get_table", lambda: self.catalog.get_table(path))
        except TableNotExistException:
            return None
        require_instance(found, CatalogBaseTable, f"what get_table() of catalog {self._name} returned", "return a CatalogBaseTable")
        entry = found._entry
        if isinstance(entry, CatalogView) and not any(entry.current):
            return replace(entry, current=(self._name, path.get_database_name()))
        return entry

    def _function(self, path: ObjectPath) -> FunctionDefinition | None:
        try:
            found = self._asked("get_function", lambda: self.catalog.get_function(path))
        except FunctionNotExistException:
            return None
        require_instance(found, CatalogFunction, f"what get_function() of catalog {self._name} returned", "return a CatalogFunction")
        return found._definition

    def _model(self, path: ObjectPath) -> Model | None:
        try:
            found = self._asked("get_model", lambda: self.catalog.get_model(path))
        except ModelNotExistException:
            return None
        require_instance(found, CatalogModel, f"what get_model() of catalog {self._name} returned", "return a CatalogModel")
        return found._model

    def create_database(self, name: str, database: Database, *, ignore_if_exists: bool) -> None:
        """Add a database."""
        self._asked("create_database", lambda: self.catalog.create_database(name, CatalogDatabase(database), ignore_if_exists))

    def drop_database(self, name: str, *, if_exists: bool, cascade: bool) -> None:
        """Remove a database; what is in it first, if it is to be dropped, too."""
        database = self._database(name)
        if database is None and if_exists:
            return
        if database is not None and cascade:
            for entry in list(database.entries):
                self.remove(name, entry)
            for function in list(database.functions):
                self.put_function(name, function, None)
            for model in list(database.models):
                self.put_model(name, model, None)
        self._asked("drop_database", lambda: self.catalog.drop_database(name, if_exists))

    def alter_database(self, name: str, comment: str | None, options: Mapping[str, str]) -> None:
        """Set comment and options of a database."""
        new = CatalogDatabase.create_instance(options, comment)
        self._asked("alter_database", lambda: self.catalog.alter_database(name, new, False))

    def put(self, database: str, name: str, entry: CatalogEntry, *, new: bool = False) -> None:
        """Set what a name means in a database."""
        path, table = ObjectPath(database, name), CatalogBaseTable(entry)
        if new:
            self._asked("create_table", lambda: self.catalog.create_table(path, table, False))
        else:
            self._asked("alter_table", lambda: self.catalog.alter_table(path, table, False))

    def remove(self, database: str, name: str) -> None:
        """Forget a table or view."""
        self._asked("drop_table", lambda: self.catalog.drop_table(ObjectPath(database, name), False))

    def rename(self, database: str, name: str, new_name: str) -> None:
        """Give a table or view another name."""
        self._asked("rename_table", lambda: self.catalog.rename_table(ObjectPath(database, name), new_name, False))

    def put_function(self, database: str, name: str, definition: FunctionDefinition | None) -> None:
        """Keep the definition of a function, or forget it."""
        path = ObjectPath(database, name.lower())
        if definition is None:
            self._asked("drop_function", lambda: self.catalog.drop_function(path, False))
        else:
            self._asked("create_function", lambda: self.catalog.create_function(path, CatalogFunction(definition), False))

    def put_model(self, database: str, name: str, model: Model | None) -> None:
        """Keep a model under a name, or forget it."""
        path = ObjectPath(database, name)
        if model is None:
            self._asked("drop_model", lambda: self.catalog.drop_model(path, False))
        elif self._model(path) is None:
            self._asked("create_model", lambda: self.catalog.create_model(path, CatalogModel(model), False))
        else:
            self._asked("alter_model", lambda: self.catalog.alter_model(path, CatalogModel(model), False))


def opened_catalog(name: str, made: Any) -> UserCatalog:
    """Return the catalog of a name that an object of the user knows, opened.

    Raises:
        ProgramError: If it is no ``Catalog``.
    """
    require_instance(made, Catalog, f"what was made for catalog {name}", "return an object of a subclass of wiesel.table.catalog.Catalog")
    catalog = UserCatalog(name, made)
    catalog.open()
    return catalog


class _Asked(Mapping[str, T]):
    """Things by name, looked up in the user's object when they are asked for."""

    def __init__(self, names: Callable[[], list[str]], find: Callable[[str], T | None]) -> None:
        self._names = names
        self._find = find

    def __getitem__(self, name: str) -> T:
        found = self._find(name)
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())
