"""Internal. Catalogs that live in memory: databases by name, in each of them tables and views by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from wiesel.core.errors import ProgramError
from wiesel.spi.table.catalog import CatalogTable, CatalogView
from wiesel.sql.plan import Relation
from wiesel.types.logical import quoted

__all__ = ["CatalogEntry", "Database", "MemoryCatalog", "PlanView", "kind_of"]


@dataclass(frozen=True)
class PlanView:
    """A view that a program made of a table of the Table API: there is no text of it, only its plan."""

    plan: Relation


CatalogEntry = CatalogTable | CatalogView | PlanView


def kind_of(entry: CatalogEntry) -> str:
    """Return TABLE or VIEW."""
    return "TABLE" if isinstance(entry, CatalogTable) else "VIEW"


@dataclass(frozen=True)
class Database:
    """A database: what is known of it, and its tables and views."""

    comment: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    entries: dict[str, CatalogEntry] = field(default_factory=dict)


class MemoryCatalog:
    """A catalog that is gone with its environment.

    Args:
        default_database: The database that is there from the beginning.
        options: What CREATE CATALOG said.
        comment: What it is about.
    """

    def __init__(self, default_database: str, options: Mapping[str, str] | None = None, comment: str | None = None) -> None:
        self.default_database = default_database
        self.options = dict(options or {})
        self.comment = comment
        self.databases: dict[str, Database] = {default_database: Database()}

    def create_database(self, name: str, database: Database, *, ignore_if_exists: bool) -> None:
        """Add a database.

        Raises:
            ProgramError: If there is one of the name already.
        """
        if name not in self.databases:
            self.databases[name] = database
        elif not ignore_if_exists:
            raise ProgramError(f"database {quoted(name)} already exists", hint="choose another name, or write IF NOT EXISTS")

    def drop_database(self, name: str, *, if_exists: bool, cascade: bool) -> None:
        """Remove a database.

        Raises:
            ProgramError: If it is not there, or has tables and ``cascade`` is not set.
        """
        database = self.databases.get(name)
        if database is None:
            if if_exists:
                return
            raise ProgramError(f"database {quoted(name)} was not found", hint="check the name, or write IF EXISTS")
        if database.entries and not cascade:
            raise ProgramError(f"database {quoted(name)} is not empty", hint="drop its tables first, or write CASCADE")
        del self.databases[name]

    def alter_database(self, name: str, options: Mapping[str, str]) -> None:
        """Set options of a database (that is there)."""
        known = self.databases[name]
        self.databases[name] = replace(known, options={**known.options, **options})
