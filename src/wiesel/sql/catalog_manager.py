"""Internal. The tables that an environment knows, by name."""

from __future__ import annotations

import difflib

from wiesel.core.errors import ProgramError
from wiesel.spi.table.catalog import CatalogTable, ObjectIdentifier
from wiesel.sql.paths import parse_path
from wiesel.sql.plan import Relation, TableScan
from wiesel.types.logical import quoted

__all__ = ["CatalogManager"]

_CATALOG, _DATABASE = "default_catalog", "default_database"


class CatalogManager:
    """Temporary tables of one environment. Names without catalog and database are those of the current ones."""

    def __init__(self) -> None:
        self._current = (_CATALOG, _DATABASE)
        self._temporary_tables: dict[ObjectIdentifier, CatalogTable] = {}
        self._temporary_views: dict[ObjectIdentifier, Relation] = {}

    def qualify(self, path: str) -> ObjectIdentifier:
        """Return the full name.

        Raises:
            ProgramError: If the path is not a name.
        """
        parts = parse_path(path)
        return ObjectIdentifier(*self._current[: 3 - len(parts)], *parts)

    def create_temporary_table(self, identifier: ObjectIdentifier, table: CatalogTable, *, ignore_if_exists: bool) -> None:
        """Add a table.

        Raises:
            ProgramError: If there is one of the name already.
        """
        known = self._temporary_tables.get(identifier)
        if known is None:
            self._temporary_tables[identifier] = table
        elif not ignore_if_exists:
            made = f" (made at {known.made_at})" if known.made_at else ""
            raise ProgramError(
                f"temporary table {identifier.sql} already exists{made}",
                hint="give the new one another name, or drop_temporary_table() the old one",
            )

    def create_temporary_view(self, identifier: ObjectIdentifier, plan: Relation) -> None:
        """Add a view.

        Raises:
            ProgramError: If there is a table or view of the name already.
        """
        if identifier in self._temporary_tables or identifier in self._temporary_views:
            raise ProgramError(f"temporary table or view {identifier.sql} already exists", hint="give the new one another name")
        self._temporary_views[identifier] = plan

    def relation(self, path: str) -> Relation:
        """Return what a table or view is read by.

        Raises:
            ProgramError: If there is none; tells those there are.
        """
        view = self._temporary_views.get(self.qualify(path))
        return TableScan(*self.find(path)) if view is None else view

    def drop_temporary_table(self, identifier: ObjectIdentifier) -> bool:
        """Remove a table; returns whether it was there."""
        return self._temporary_tables.pop(identifier, None) is not None

    def find(self, path: str) -> tuple[ObjectIdentifier, CatalogTable]:
        """Return the full name and the table.

        Raises:
            ProgramError: If there is no such table; tells those there are.
        """
        identifier = self.qualify(path)
        table = self._temporary_tables.get(identifier)
        if table is None:
            raise ProgramError(f"table {'.'.join(map(quoted, parse_path(path)))} was not found", hint=self._near(identifier))
        return identifier, table

    def _near(self, identifier: ObjectIdentifier) -> str:
        names = self.table_names()
        near = difflib.get_close_matches(identifier.object_name, names, n=1)
        if near:
            return f"did you mean {quoted(near[0])}?"
        return (
            f"the tables are: {', '.join(map(quoted, names))}" if names else "there are no tables yet: call create_temporary_table() first"
        )

    def table_names(self) -> list[str]:
        """Return the names of the tables of the current database."""
        known_ones = (*self._temporary_tables, *self._temporary_views)
        return sorted(known.object_name for known in known_ones if (known.catalog_name, known.database_name) == self._current)
