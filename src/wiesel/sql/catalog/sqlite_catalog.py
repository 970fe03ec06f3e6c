"""Internal. A catalog in a file of SQLite: what is made in one process is there in the next, and in those that run beside it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from wiesel.core.errors import ProgramError
from wiesel.spi.table.catalog import CatalogModel
from wiesel.sql.catalog.catalogs import Catalog, CatalogEntry, Database, FunctionDefinition
from wiesel.sql.catalog.documents import entry_of, model_of, text_of, text_of_model
from wiesel.sql.catalog.factories import unknown_options
from wiesel.types.logical import quoted

__all__ = ["SqliteCatalog"]

T = TypeVar("T")

_WAIT_S = 30.0
_VERSION = 1
_TABLES = """
CREATE TABLE IF NOT EXISTS databases (name TEXT PRIMARY KEY, comment TEXT, options TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS entries (
  database TEXT NOT NULL REFERENCES databases ON DELETE CASCADE, name TEXT NOT NULL, content TEXT NOT NULL, PRIMARY KEY (database, name)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS functions (
  database TEXT NOT NULL REFERENCES databases ON DELETE CASCADE, name TEXT NOT NULL, identifier TEXT NOT NULL, language TEXT NOT NULL,
  PRIMARY KEY (database, name)
) WITHOUT ROWID;
"""
_MODELS = """
CREATE TABLE IF NOT EXISTS models (
  database TEXT NOT NULL REFERENCES databases ON DELETE CASCADE, name TEXT NOT NULL, content TEXT NOT NULL, PRIMARY KEY (database, name)
) WITHOUT ROWID
"""


class SqliteCatalog(Catalog):
    """A catalog in a file. Each access is a transaction of its own, so that processes may share the file.

    Args:
        options: ``path`` of the file, which is made if it is not there, and ``default-database``.
        comment: What it is about.

    Raises:
        ProgramError: If there is no path, or the file is no catalog.
    """

    keeps_functions = True

    def __init__(self, options: Mapping[str, str], comment: str | None = None) -> None:
        unknown_options(options, {"path", "default-database"})
        if not options.get("path"):
            raise ProgramError("the option 'path' is missing", hint="write 'path' = '/where/the/file/is.db'")
        self.options = dict(options)
        self.comment = comment
        self.default_database = options.get("default-database", "default")
        self._path = Path(options["path"]).absolute()
        with self._transaction("DEFERRED") as file:
            version = file.execute("PRAGMA user_version").fetchone()[0]
            known = version == _VERSION and file.execute("SELECT 1 FROM databases WHERE name = ?", (self.default_database,)).fetchone()
        if version > _VERSION:
            raise ProgramError(f"{self._path} was written by a later version of Wiesel", hint="use that version")
        if not known:
            self._make()

    def _make(self) -> None:
        """Create the tables and the default database; others may do so at the same time."""
        with self._transaction() as file:
            for statement in _TABLES.split(";"):
                file.execute(statement)
            file.execute(f"PRAGMA user_version = {_VERSION}")
            file.execute("INSERT OR IGNORE INTO databases VALUES (?, NULL, '{}')", (self.default_database,))

    @contextmanager
    def _transaction(self, how: str = "IMMEDIATE") -> Iterator[sqlite3.Connection]:
        """Begin a transaction that other writers wait for (one that reads: DEFERRED), and end it with the block."""
        try:
            file = sqlite3.connect(self._path, timeout=_WAIT_S, isolation_level=None)
        except sqlite3.Error as error:
            raise ProgramError(f"{self._path} cannot be opened: {error}", hint="check the option 'path' and its folder") from error
        try:
            file.execute("PRAGMA foreign_keys = ON")
            file.execute(f"BEGIN {how}")
            try:
                yield file
            except BaseException:
                file.execute("ROLLBACK")
                raise
            file.execute("COMMIT")
        except sqlite3.Error as error:
            raise ProgramError(f"{self._path}: {error}", hint="check that the file is a catalog and can be written") from error
        finally:
            file.close()

    @property
    def databases(self) -> Mapping[str, Database]:
        """The databases as they are now."""
        with self._transaction("DEFERRED") as file:
            entries = file.execute("SELECT database, name, content FROM entries").fetchall()
            functions = file.execute("SELECT database, name, identifier, language FROM functions").fetchall()
            models = self._models(file)
            return {
                name: Database(
                    comment,
                    json.loads(options),
                    _Read({entry: content for database, entry, content in entries if database == name}, entry_of),
                    {each: FunctionDefinition(*where) for database, each, *where in functions if database == name},
                    _Read({model: content for database, model, content in models if database == name}, model_of),
                )
                for name, comment, options in file.execute("SELECT name, comment, options FROM databases ORDER BY name")
            }

    @staticmethod
    def _models(file: sqlite3.Connection) -> list[Any]:
        # Files of before have no such table, and who only reads makes none.
        there = file.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'models'").fetchone()
        return file.execute("SELECT database, name, content FROM models").fetchall() if there else []

    def create_database(self, name: str, database: Database, *, ignore_if_exists: bool) -> None:
        """Add a database."""
        with self._transaction() as file:
            row = (name, database.comment, json.dumps(dict(database.options)))
            added = file.execute("INSERT OR IGNORE INTO databases VALUES (?, ?, ?)", row).rowcount
        if not added and not ignore_if_exists:
            raise ProgramError(f"database {quoted(name)} already exists", hint="choose another name, or write IF NOT EXISTS")

    def drop_database(self, name: str, *, if_exists: bool, cascade: bool) -> None:
        """Remove a database."""
        with self._transaction() as file:
            models = any(database == name for database, *_ in self._models(file))
            others = (file.execute(f"SELECT 1 FROM {table} WHERE database = ?", (name,)).fetchone() for table in ("entries", "functions"))
            if not cascade and (models or any(others)):
                raise ProgramError(f"database {quoted(name)} is not empty", hint="drop its tables first, or write CASCADE")
            removed = file.execute("DELETE FROM databases WHERE name = ?", (name,)).rowcount
        if not removed and not if_exists:
            raise ProgramError(f"database {quoted(name)} was not found", hint="check the name, or write IF EXISTS")

    def alter_database(self, name: str, comment: str | None, options: Mapping[str, str]) -> None:
        """Set comment and options of a database."""
        with self._transaction() as file:
            file.execute("UPDATE databases SET comment = ?, options = ? WHERE name = ?", (comment, json.dumps(dict(options)), name))

    def put(self, database: str, name: str, entry: CatalogEntry, *, new: bool = False) -> None:
        """Set what a name means in a database."""
        content = text_of(entry)
        with self._transaction() as file:
            if new and file.execute("SELECT 1 FROM entries WHERE database = ? AND name = ?", (database, name)).fetchone():
                raise ProgramError(f"{quoted(name)} already exists: another session has made it", hint="give the new one another name")
            file.execute("INSERT OR REPLACE INTO entries VALUES (?, ?, ?)", (database, name, content))

    def remove(self, database: str, name: str) -> None:
        """Forget a table or view."""
        with self._transaction() as file:
            file.execute("DELETE FROM entries WHERE database = ? AND name = ?", (database, name))

    def put_function(self, database: str, name: str, definition: FunctionDefinition | None) -> None:
        """Keep the definition of a function, or forget it."""
        with self._transaction() as file:
            if definition is None:
                file.execute("DELETE FROM functions WHERE database = ? AND name = ?", (database, name.upper()))
            else:
                row = (database, name.upper(), definition.identifier, definition.language)
                file.execute("INSERT OR REPLACE INTO functions VALUES (?, ?, ?, ?)", row)

    def put_model(self, database: str, name: str, model: CatalogModel | None) -> None:
        """Keep a model under a name, or forget it."""
        content = None if model is None else text_of_model(model)
        with self._transaction() as file:
            file.execute(_MODELS)
            if content is None:
                file.execute("DELETE FROM models WHERE database = ? AND name = ?", (database, name))
            else:
                file.execute("INSERT OR REPLACE INTO models VALUES (?, ?, ?)", (database, name, content))


class _Read(Mapping[str, T]):
    """Things by name, each read from its text when it is asked for."""

    def __init__(self, strings: Mapping[str, str], read: Callable[[str], T]) -> None:
        self._strings = strings
        self._read = read

    def __getitem__(self, name: str) -> T:
        return self._read(self._strings[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._strings)

    def __len__(self) -> int:
        return len(self._strings)
