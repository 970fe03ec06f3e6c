"""Internal. Catalogs: databases by name, in each of them tables, views and functions by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from wiesel.core.errors import ProgramError
from wiesel.spi.table.catalog import CatalogModel, CatalogTable, CatalogView
from wiesel.spi.table.schema import ResolvedSchema
from wiesel.sql.plan.relations import Relation
from wiesel.types.logical import quoted

__all__ = ["Catalog", "CatalogEntry", "Database", "FunctionDefinition", "MemoryCatalog", "PlanView", "kind_of"]


@dataclass(frozen=True)
class PlanView:
    """A view that a program made of a table of the Table API: there is no text of it, only its plan.

    Attributes:
        plan: Its plan.
        declared: What is known of its columns besides: how they are computed, the watermark and the key.
    """

    plan: Relation
    declared: ResolvedSchema | None = None

    @property
    def schema(self) -> ResolvedSchema:
        """Its columns."""
        return self.declared or self.plan.schema


CatalogEntry = CatalogTable | CatalogView | PlanView


def kind_of(entry: CatalogEntry) -> str:
    """Return TABLE or VIEW."""
    return "TABLE" if isinstance(entry, CatalogTable) else "VIEW"


@dataclass(frozen=True)
class FunctionDefinition:
    """Definition of a function: ``module.name`` and its language."""

    identifier: str
    language: str = "PYTHON"


@dataclass(frozen=True)
class Database:
    """A database: what is known of it, and its tables and views."""

    comment: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    entries: Mapping[str, CatalogEntry] = field(default_factory=dict)
    functions: Mapping[str, FunctionDefinition] = field(default_factory=dict)
    """By their names in capitals."""
    models: Mapping[str, CatalogModel] = field(default_factory=dict)


class Catalog(ABC):
    """Interface of a catalog. Callers have checked that the named objects exist.

    Attributes:
        default_database: The database that is used first.
        options: What CREATE CATALOG said.
        comment: What it is about.
        keeps_functions: Whether definitions of functions are kept in it.
        is_described: Whether its options make the same catalog.
    """

    default_database: str
    options: Mapping[str, str]
    comment: str | None = None
    keeps_functions = False
    is_described = True

    def configure(self, configuration: Mapping[str, str]) -> None:
        """Take the options of the environment in which the catalog is used."""
        return

    def close(self) -> None:
        """Let go of what the catalog holds; it was dropped."""
        return

    @property
    @abstractmethod
    def databases(self) -> Mapping[str, Database]:
        """The databases as they are now."""

    @abstractmethod
    def create_database(self, name: str, database: Database, *, ignore_if_exists: bool) -> None:
        """Add a database.

        Raises:
            ProgramError: If there is one of the name already.
        """

    @abstractmethod
    def drop_database(self, name: str, *, if_exists: bool, cascade: bool) -> None:
        """Remove a database.

        Raises:
            ProgramError: If it is not there, or has tables and ``cascade`` is not set.
        """

    @abstractmethod
    def alter_database(self, name: str, comment: str | None, options: Mapping[str, str]) -> None:
        """Set comment and options of a database (that is there), in place of those that it has."""

    @abstractmethod
    def put(self, database: str, name: str, entry: CatalogEntry, *, new: bool = False) -> None:
        """Set what a name means in a database (that is there).

        Raises:
            ProgramError: If the catalog cannot keep such an entry; if ``new`` is set and there is one meanwhile.
        """

    @abstractmethod
    def remove(self, database: str, name: str) -> None:
        """Forget a table or view (that is there)."""

    def rename(self, database: str, name: str, new_name: str) -> None:
        """Give a table or view (that is there) a name that nothing has in its database."""
        self.put(database, new_name, self.databases[database].entries[name], new=True)
        self.remove(database, name)

    def put_function(self, database: str, name: str, definition: FunctionDefinition | None) -> None:
        """Keep the definition of a function, or forget it.

        Raises:
            ProgramError: If the catalog keeps no functions.
        """
        raise ProgramError("the catalog keeps no functions", hint="write CREATE TEMPORARY FUNCTION")

    def put_model(self, database: str, name: str, model: CatalogModel | None) -> None:
        """Keep a model under a name, or forget it.

        Raises:
            ProgramError: If the catalog keeps no models.
        """
        raise ProgramError("the catalog keeps no models", hint="write CREATE TEMPORARY MODEL")


class MemoryCatalog(Catalog):
    """A catalog that is gone with its environment. It keeps views that programs make, too.

    Args:
        default_database: The database that is there from the beginning.
        options: What CREATE CATALOG said.
        comment: What it is about.
    """

    keeps_functions = True

    def __init__(self, default_database: str, options: Mapping[str, str] | None = None, comment: str | None = None) -> None:
        self.default_database = default_database
        self.options = dict(options or {})
        self.comment = comment
        self._databases: dict[str, Database] = {default_database: Database()}

    @property
    def databases(self) -> Mapping[str, Database]:
        """The databases as they are now."""
        return self._databases

    def create_database(self, name: str, database: Database, *, ignore_if_exists: bool) -> None:
        """Add a database.

        Raises:
            ProgramError: If there is one of the name already.
        """
        if name not in self._databases:
            self._databases[name] = replace(
                database, entries=dict(database.entries), functions=dict(database.functions), models=dict(database.models)
            )
        elif not ignore_if_exists:
            raise ProgramError(f"database {quoted(name)} already exists", hint="choose another name, or write IF NOT EXISTS")

    def drop_database(self, name: str, *, if_exists: bool, cascade: bool) -> None:
        """Remove a database.

        Raises:
            ProgramError: If it is not there, or has tables and ``cascade`` is not set.
        """
        database = self._databases.get(name)
        if database is None:
            if if_exists:
                return
            raise ProgramError(f"database {quoted(name)} was not found", hint="check the name, or write IF EXISTS")
        if (database.entries or database.functions or database.models) and not cascade:
            raise ProgramError(f"database {quoted(name)} is not empty", hint="drop its tables first, or write CASCADE")
        del self._databases[name]

    def alter_database(self, name: str, comment: str | None, options: Mapping[str, str]) -> None:
        """Set comment and options of a database (that is there)."""
        self._databases[name] = replace(self._databases[name], comment=comment, options=dict(options))

    def put(self, database: str, name: str, entry: CatalogEntry, *, new: bool = False) -> None:
        """Set what a name means in a database (that is there)."""
        entries = self._databases[database].entries
        assert isinstance(entries, dict)  # noqa: S101 - all databases are made here
        entries[name] = entry

    def remove(self, database: str, name: str) -> None:
        """Forget a table or view (that is there)."""
        entries = self._databases[database].entries
        assert isinstance(entries, dict)  # noqa: S101 - as above
        del entries[name]

    def put_function(self, database: str, name: str, definition: FunctionDefinition | None) -> None:
        """Keep the definition of a function, or forget it."""
        functions = self._databases[database].functions
        assert isinstance(functions, dict)  # noqa: S101 - as above
        if definition is None:
            del functions[name.upper()]
        else:
            functions[name.upper()] = definition

    def put_model(self, database: str, name: str, model: CatalogModel | None) -> None:
        """Keep a model under a name, or forget it."""
        models = self._databases[database].models
        assert isinstance(models, dict)  # noqa: S101 - as above
        if model is None:
            del models[name]
        else:
            models[name] = model
