"""Internal. The tables that an environment knows, by name."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from wiesel.core.errors import ProgramError
from wiesel.spi.table.catalog import CatalogTable, ObjectIdentifier
from wiesel.sql.catalogs import CatalogEntry, Database, MemoryCatalog, PlanView, kind_of
from wiesel.sql.paths import parse_path
from wiesel.sql.plan import Relation
from wiesel.sql.user_functions import UserFunctions
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
        self.catalogs: dict[str, MemoryCatalog] = {catalog: MemoryCatalog(database)}
        self.temporary: dict[ObjectIdentifier, CatalogEntry] = {}
        self.functions = UserFunctions()

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

    def catalog(self, name: str) -> MemoryCatalog:
        """Return a catalog.

        Raises:
            ProgramError: If there is none of the name.
        """
        if name not in self.catalogs:
            raise ProgramError(f"catalog {quoted(name)} was not found", hint=_near(name, self.catalogs, "catalogs"))
        return self.catalogs[name]

    def database(self, catalog: str, name: str) -> Database:
        """Return a database.

        Raises:
            ProgramError: If there is none of the name.
        """
        databases = self.catalog(catalog).databases
        if name not in databases:
            shown = f"{quoted(catalog)}.{quoted(name)}"
            raise ProgramError(f"database {shown} was not found", hint=_near(name, databases, "databases"))
        return databases[name]

    def create_catalog(self, name: str, options: Mapping[str, str], comment: str | None, *, ignore_if_exists: bool) -> None:
        """Add a catalog.

        Raises:
            ProgramError: If there is one of the name, or the options name no type that there is.
        """
        if name in self.catalogs:
            if ignore_if_exists:
                return
            raise ProgramError(f"catalog {quoted(name)} already exists", hint="choose another name, or write IF NOT EXISTS")
        kind = options.get("type")
        if kind != "generic_in_memory":
            problem = "the option 'type' is missing" if kind is None else f"there is no type of catalog {kind!r}"
            raise ProgramError(f"catalog {quoted(name)}: {problem}", hint="write 'type' = 'generic_in_memory'")
        unknown = sorted(set(options) - {"type", "default-database", "property-version"})
        if unknown:
            raise ProgramError(f"catalog {quoted(name)}: unknown options {unknown}", hint="it takes 'default-database'")
        self.catalogs[name] = MemoryCatalog(options.get("default-database", "default"), options, comment)

    def drop_catalog(self, name: str, *, if_exists: bool) -> None:
        """Remove a catalog.

        Raises:
            ProgramError: If it is not there, or is the current one.
        """
        if if_exists and name not in self.catalogs:
            return
        self.catalog(name)
        if name == self.current[0]:
            raise ProgramError(f"catalog {quoted(name)} is the current one, so it cannot be dropped", hint="USE CATALOG another one first")
        del self.catalogs[name]

    def use_catalog(self, name: str) -> None:
        """Make a catalog the current one, and its default database."""
        self.current = (name, self.catalog(name).default_database)

    def use_database(self, catalog: str, name: str) -> None:
        """Make a database the current one."""
        self.database(catalog, name)
        self.current = (catalog, name)

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
            self.replace(identifier, entry, temporary=temporary)
            return True
        if ignore_if_exists:
            return False
        made = getattr(known, "made_at", "")
        prefix = "temporary " if temporary else ""
        raise ProgramError(
            f"{prefix}{kind_of(known).lower()} {identifier.sql} already exists{f' (made at {made})' if made else ''}",
            hint=f"give the new one another name, or drop {'with drop_temporary_table() ' if temporary else ''}the old one",
        )

    def replace(self, identifier: ObjectIdentifier, entry: CatalogEntry, *, temporary: bool) -> None:
        """Set what a name means."""
        if temporary:
            self.temporary[identifier] = entry
        else:
            self.database(identifier.catalog_name, identifier.database_name).entries[identifier.object_name] = entry

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
                f"{prefix}{kind.lower()} {identifier.sql} was not found", hint=_near(identifier.object_name, names, "tables and views")
            )
        if temporary:
            del self.temporary[identifier]
        else:
            del entries[identifier.object_name]
        return True

    def _entries(self, identifier: ObjectIdentifier) -> dict[str, CatalogEntry]:
        catalog = self.catalogs.get(identifier.catalog_name)
        database = catalog.databases.get(identifier.database_name) if catalog else None
        return database.entries if database else {}

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
        known = self.catalogs.get(catalog)
        stored = known.databases.get(database) if known is not None and not temporary_only else None
        entries: dict[str, Any] = dict(stored.entries) if stored else {}
        entries |= {
            identifier.object_name: entry
            for identifier, entry in self.temporary.items()
            if identifier_database(identifier) == (catalog, database)
        }
        return sorted(name for name, entry in entries.items() if not views_only or kind_of(entry) == "VIEW")

    def table_names(self) -> list[str]:
        """Return the names of the tables and views of the current database."""
        return self.names(*self.current)

    def create_temporary_view(self, identifier: ObjectIdentifier, plan: Relation) -> None:
        """Add a temporary view of a plan.

        Raises:
            ProgramError: If there is a temporary table or view of the name already.
        """
        if identifier in self.temporary:
            raise ProgramError(f"temporary table or view {identifier.sql} already exists", hint="give the new one another name")
        self.temporary[identifier] = PlanView(plan)


def identifier_database(identifier: ObjectIdentifier) -> tuple[str, str]:
    """Return the catalog and database of a name."""
    return identifier.catalog_name, identifier.database_name


def _near(name: str, known: Any, what: str) -> str:
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        return f"did you mean {quoted(near[0])}?"
    return f"the {what} are: {', '.join(map(quoted, names))}" if names else f"there are no {what} yet: create one first"
