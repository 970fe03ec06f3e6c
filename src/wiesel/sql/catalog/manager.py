"""Internal. The tables that an environment knows, by name."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from wiesel.core.errors import ProgramError
from wiesel.spi.table.catalog import CatalogModel, CatalogTable, ObjectIdentifier
from wiesel.spi.table.catalog_errors import CatalogException
from wiesel.spi.table.schema import ResolvedSchema
from wiesel.sql.catalog.catalogs import Catalog, CatalogEntry, Database, FunctionDefinition, MemoryCatalog, PlanView, kind_of
from wiesel.sql.catalog.factories import OfUsers, open_catalog
from wiesel.sql.catalog.modules import Modules
from wiesel.sql.catalog.paths import parse_path
from wiesel.sql.catalog.store import CatalogStore
from wiesel.sql.catalog.user_functions import AnyFunction, UserFunctions
from wiesel.sql.plan.relations import Relation
from wiesel.types.logical import quoted

__all__ = ["CatalogManager"]

_PARTS = 3


class CatalogManager:
    """The catalogs of one environment, and its temporary tables, which hide those of catalogs that have their names.

    Args:
        catalog: The name of the catalog that is there from the beginning.
        database: The name of its database.
    """

    def __init__(self, catalog: str = "default_catalog", database: str = "default_database") -> None:
        self.current = (catalog, database)
        self._catalogs: dict[str, Catalog] = {catalog: MemoryCatalog(database)}
        self.configuration: Mapping[str, str] = {}
        """The options of the environment, for catalogs."""
        self.store: CatalogStore | None = None
        self.load_function: Callable[[FunctionDefinition], AnyFunction] | None = None
        """Finds the code of functions that catalogs keep."""
        self.catalog_of_users: OfUsers | None = None
        """Makes catalogs of objects of users."""
        self.temporary: dict[ObjectIdentifier, CatalogEntry] = {}
        self.temporary_models: dict[ObjectIdentifier, CatalogModel] = {}
        self.functions = UserFunctions()
        self.modules = Modules()

    # Names

    def qualify(self, path: str | tuple[str, ...], current: tuple[str, str] | None = None) -> ObjectIdentifier:
        """Return the full name: of a text, or of parts; what is missing are the current catalog and database.

        Raises:
            ProgramError: If the path is not a name.
        """
        parts = parse_path(path) if isinstance(path, str) else path
        return ObjectIdentifier(*(current or self.current)[: _PARTS - len(parts)], *parts)

    def qualify_database(self, path: tuple[str, ...]) -> tuple[str, str]:
        """Return the catalog and name of a database.

        Raises:
            ProgramError: If there are more than two parts, or no such catalog.
        """
        if len(path) >= _PARTS:
            raise ProgramError(f"{'.'.join(map(quoted, path))} is no name of a database", hint="write database or catalog.database")
        catalog = path[0] if len(path) > 1 else self.current[0]
        self.catalog(catalog)
        return catalog, path[-1]

    # Catalogs and databases

    @property
    def catalogs(self) -> Mapping[str, Catalog]:
        """All catalogs; those of the store that are not used yet are opened."""
        for name in () if self.store is None else self.store.names():
            if name not in self._catalogs:
                self._catalogs[name] = self._opened(name)
        return self._catalogs

    def _opened(self, name: str) -> Catalog:
        assert self.store is not None  # noqa: S101 - the name is from there
        return self._open(name, self.store.options_of(name), None)

    def _open(self, name: str, options: Mapping[str, str], comment: str | None) -> Catalog:
        opened = open_catalog(name, options, comment, self.catalog_of_users)
        opened.configure(self.configuration)
        return opened

    def catalog(self, name: str) -> Catalog:
        """Return a catalog.

        Raises:
            ProgramError: If there is none of the name.
        """
        if name not in self._catalogs and self.store is not None and name in self.store.names():
            self._catalogs[name] = self._opened(name)
        if name not in self._catalogs:
            known = {*self._catalogs, *(self.store.names() if self.store is not None else ())}
            raise CatalogException(f"catalog {quoted(name)} was not found", hint=_near(name, known, "catalogs"))
        return self._catalogs[name]

    def database(self, catalog: str, name: str) -> Database:
        """Return a database.

        Raises:
            ProgramError: If there is none of the name.
        """
        databases = self.catalog(catalog).databases
        if name not in databases:
            shown = f"{quoted(catalog)}.{quoted(name)}"
            raise CatalogException(f"database {shown} was not found", hint=_near(name, databases, "databases"))
        return databases[name]

    def create_catalog(self, name: str, options: Mapping[str, str], comment: str | None, *, ignore_if_exists: bool) -> None:
        """Add a catalog.

        Raises:
            ProgramError: If there is one of the name, or the options name no type that there is.
        """
        if self.has_catalog(name):
            if ignore_if_exists:
                return
            raise CatalogException(f"catalog {quoted(name)} already exists", hint="choose another name, or write IF NOT EXISTS")
        self._catalogs[name] = self._open(name, options, comment)
        if self.store is not None:
            self.store.put(name, options)

    def add_catalog(self, name: str, catalog: Catalog) -> None:
        """Add a catalog that was opened already. No store keeps it.

        Raises:
            CatalogException: If there is one of the name.
        """
        if self.has_catalog(name):
            raise CatalogException(f"catalog {quoted(name)} already exists", hint="choose another name")
        self._catalogs[name] = catalog

    def has_catalog(self, name: str) -> bool:
        """Return whether there is a catalog of the name, in the environment or in the store."""
        return name in self._catalogs or (self.store is not None and name in self.store.names())

    def drop_catalog(self, name: str, *, if_exists: bool) -> None:
        """Remove a catalog.

        Raises:
            ProgramError: If it is not there, or is the current one.
        """
        if if_exists and not self.has_catalog(name):
            return
        dropped = self.catalog(name)
        if name == self.current[0]:
            raise ProgramError(f"catalog {quoted(name)} is the current one, so it cannot be dropped", hint="USE CATALOG another one first")
        del self._catalogs[name]
        if self.store is not None:
            self.store.remove(name)
        dropped.close()

    def use_catalog(self, name: str) -> None:
        """Create a catalog the current one, and its default database."""
        self.current = (name, self.catalog(name).default_database)

    def use_database(self, catalog: str, name: str) -> None:
        """Create a database the current one."""
        self.database(catalog, name)
        self.current = (catalog, name)

    # Functions

    def visible_functions(self, catalog: str, database: str) -> Mapping[str, AnyFunction]:
        """Return the functions of users that have a name of one part in a database, by their names in capitals."""
        own = self.functions.visible(catalog, database)
        known = self._database(catalog, database)
        if known is None or not known.functions or self.load_function is None:
            return own
        return _WithKept(own, known.functions, self.load_function)

    def keep_function(self, identifier: ObjectIdentifier, definition: FunctionDefinition, *, if_not_exists: bool) -> None:
        """Put a function into its catalog.

        Raises:
            ProgramError: If there is one of the name, or no such database.
        """
        known = self.database(identifier.catalog_name, identifier.database_name)
        if identifier.object_name.upper() not in known.functions:
            self.catalog(identifier.catalog_name).put_function(identifier.database_name, identifier.object_name, definition)
        elif not if_not_exists:
            raise ProgramError(f"there is a function {identifier.sql} already", hint="drop it first, or give the new one another name")

    def forget_function(self, identifier: ObjectIdentifier) -> bool:
        """Remove a function from its catalog; returns whether it was there."""
        known = self._database(identifier.catalog_name, identifier.database_name)
        if known is None or identifier.object_name.upper() not in known.functions:
            return False
        self.catalog(identifier.catalog_name).put_function(identifier.database_name, identifier.object_name, None)
        return True

    def function_names(self) -> list[str]:
        """Return the names of the users' functions that can be called by one name in the current database, in order."""
        return sorted(name.lower() for name in self.visible_functions(*self.current))

    # Tables and views

    def create(self, identifier: ObjectIdentifier, entry: CatalogEntry, *, temporary: bool, ignore_if_exists: bool) -> bool:
        """Add a table or view; returns whether it was added.

        Raises:
            ProgramError: If there is one of the name already, or no such database.
        """
        if temporary:
            known = self.temporary.get(identifier)
        else:
            known = self.database(identifier.catalog_name, identifier.database_name).entries.get(identifier.object_name)
        if known is None:
            if temporary:
                self.temporary[identifier] = entry
            else:
                catalog = self.catalog(identifier.catalog_name)
                catalog.put(identifier.database_name, identifier.object_name, entry, new=True)
            return True
        if ignore_if_exists:
            return False
        made = getattr(known, "made_at", "")
        prefix = "temporary " if temporary else ""
        raise ProgramError(
            f"{prefix}{kind_of(known).lower()} {identifier.sql} already exists{f' (made at {made})' if made else ''}",
            hint=f"give the new one another name, drop {'with drop_temporary_table() ' if temporary else ''}the old one, "
            "or write IF NOT EXISTS to keep it",
        )

    def replace(self, identifier: ObjectIdentifier, entry: CatalogEntry, *, temporary: bool) -> None:
        """Set what a name means."""
        if temporary:
            self.temporary[identifier] = entry
        else:
            self.database(identifier.catalog_name, identifier.database_name)
            self.catalog(identifier.catalog_name).put(identifier.database_name, identifier.object_name, entry)

    def drop(self, identifier: ObjectIdentifier, kind: str, *, temporary: bool, if_exists: bool) -> bool:
        """Remove a table or view (``kind``); returns whether it was there.

        Raises:
            ProgramError: If it is not there and ``if_exists`` is not set, or a temporary one hides it.
        """
        hiding = self.temporary.get(identifier)
        if hiding is not None and not temporary and kind_of(hiding) == kind:
            raise ProgramError(
                f"temporary {kind.lower()} {identifier.sql} exists", hint=f"drop it first: DROP TEMPORARY {kind} {identifier.sql}"
            )
        entries = self._entries(identifier)
        known = hiding if temporary else entries.get(identifier.object_name)
        if known is None or kind_of(known) != kind:
            if if_exists:
                return False
            prefix = "temporary " if temporary else ""
            names = [name for name in self.names(*identifier_database(identifier)) if name != identifier.object_name]
            raise ProgramError(
                f"{prefix}{kind.lower()} {identifier.sql} was not found",
                hint=f"{_near(identifier.object_name, names, 'tables and views')}; IF EXISTS drops what may not be there",
            )
        if temporary:
            del self.temporary[identifier]
        else:
            self.catalog(identifier.catalog_name).remove(identifier.database_name, identifier.object_name)
        return True

    def rename(self, identifier: ObjectIdentifier, path: str | tuple[str, ...]) -> None:
        """Give a table or view (that is there) another name in its database.

        Raises:
            ProgramError: If there is one of that name, or it is one of another database.
        """
        target = self.qualify(path, identifier_database(identifier))
        if identifier_database(target) != identifier_database(identifier):
            raise ProgramError(f"{target.sql} is in another database than {identifier.sql}", hint="RENAME TO a name without a database")
        if identifier in self.temporary:
            self.create(target, self.temporary[identifier], temporary=True, ignore_if_exists=False)
            del self.temporary[identifier]
            return
        if target.object_name in self._entries(target):
            raise ProgramError(f"{target.sql} already exists", hint="choose another name, or drop that one")
        self.catalog(identifier.catalog_name).rename(identifier.database_name, identifier.object_name, target.object_name)

    def _entries(self, identifier: ObjectIdentifier) -> Mapping[str, CatalogEntry]:
        database = self._database(*identifier_database(identifier))
        return {} if database is None else database.entries

    def _database(self, catalog: str, name: str) -> Database | None:
        try:
            return self.catalog(catalog).databases.get(name)
        except ProgramError:
            if catalog in self._catalogs:
                raise
            return None

    def get(self, identifier: ObjectIdentifier) -> tuple[CatalogEntry, bool] | None:
        """Return a table or view, and whether it is temporary; None if there is none."""
        if identifier in self.temporary:
            return self.temporary[identifier], True
        entry = self._entries(identifier).get(identifier.object_name)
        return None if entry is None else (entry, False)

    def find(self, path: str | tuple[str, ...], current: tuple[str, str] | None = None) -> tuple[ObjectIdentifier, CatalogEntry]:
        """Return the full name and the table or view.

        Raises:
            ProgramError: If there is none; tells those there are.
        """
        identifier = self.qualify(path, current)
        found = self.get(identifier)
        if found is None:
            parts = parse_path(path) if isinstance(path, str) else path
            hint = _near(identifier.object_name, self.names(*identifier_database(identifier)), "tables")
            raise ProgramError(f"table {'.'.join(map(quoted, parts))} was not found", hint=hint)
        return identifier, found[0]

    def spelled(self, path: tuple[str, ...], current: tuple[str, str] | None = None) -> tuple[str, ...]:
        """Return the path of a table with its capitals, where the one given has others; itself if there is no such table."""
        identifier = self.qualify(path, current)
        if self.get(identifier) is not None:
            return path
        lower = identifier.object_name.lower()
        found = next((name for name in self.names(*identifier_database(identifier)) if name.lower() == lower), path[-1])
        return (*path[:-1], found)

    def find_table(self, path: str | tuple[str, ...]) -> tuple[ObjectIdentifier, CatalogTable]:
        """Return the full name and the table.

        Raises:
            ProgramError: If there is none, or it is a view.
        """
        identifier, entry = self.find(path)
        if not isinstance(entry, CatalogTable):
            raise ProgramError(f"{identifier.sql} is a view, not a table", hint="name a table")
        return identifier, entry

    def names(self, catalog: str, database: str, *, views_only: bool = False, temporary_only: bool = False) -> list[str]:
        """Return the names of tables and views of a database, temporary ones among them, in order."""
        stored = None if temporary_only else self._database(catalog, database)
        entries = {} if stored is None else stored.entries
        hiding = {
            identifier.object_name: entry
            for identifier, entry in self.temporary.items()
            if identifier_database(identifier) == (catalog, database)
        }
        # Looked at only where it matters: what a catalog keeps may be of a kind that cannot be used.
        return sorted(
            name for name in {*entries, *hiding} if not views_only or kind_of(hiding[name] if name in hiding else entries[name]) == "VIEW"
        )

    def table_names(self) -> list[str]:
        """Return the names of the tables and views of the current database."""
        return self.names(*self.current)

    def create_temporary_view(self, identifier: ObjectIdentifier, plan: Relation, declared: ResolvedSchema | None = None) -> None:
        """Add a temporary view of a plan, and what is known of its columns besides.

        Raises:
            ProgramError: If there is a temporary table or view of the name already.
        """
        if identifier in self.temporary:
            raise ProgramError(f"temporary table or view {identifier.sql} already exists", hint="give the new one another name")
        self.temporary[identifier] = PlanView(plan, declared)


class _WithKept(Mapping[str, AnyFunction]):
    """Functions of the environment, and those that a catalog keeps, whose code is found when they are called."""

    def __init__(
        self,
        functions: Mapping[str, AnyFunction],
        kept: Mapping[str, FunctionDefinition],
        load: Callable[[FunctionDefinition], AnyFunction],
    ) -> None:
        self._functions = functions
        self._kept = kept
        self._load = load

    def __getitem__(self, name: str) -> AnyFunction:
        return self._functions[name] if name in self._functions else self._load(self._kept[name])

    def __iter__(self) -> Iterator[str]:
        return iter({**self._kept, **self._functions})

    def __len__(self) -> int:
        return len({**self._kept, **self._functions})


def identifier_database(identifier: ObjectIdentifier) -> tuple[str, str]:
    """Return the catalog and database of a name."""
    return identifier.catalog_name, identifier.database_name


def _near(name: str, known: Any, what: str) -> str:
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        return f"did you mean {quoted(near[0])}?"
    return f"the {what} are: {', '.join(map(quoted, names))}" if names else f"there are no {what} yet: create one first"
