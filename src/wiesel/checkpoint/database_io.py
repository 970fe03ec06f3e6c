"""Internal. Checkpoint files as rows of a database, using SQLAlchemy.

The address is a database URL followed by a path: ``postgresql://host/database/path`` or ``sqlite:////absolute/file.db/path``, where the
file of SQLite is recognised by its suffix. Each file is a few rows of one table; writing one is one transaction, so no partial file is
visible.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from wiesel.checkpoint.file_io import FileIO
from wiesel.core.errors import CheckpointStorageError
from wiesel.core.optional import require

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

DIALECTS = ("sqlite", "postgresql", "mysql", "mariadb", "oracle", "mssql")
_SQLITE = re.compile(r"(sqlite(?:\+\w+)?:////[^?]*?\.(?:db|sqlite3?))(?:/(.*))?")
_SERVER = re.compile(r"(\w+(?:\+\w+)?://[^/]*/[^/?]+(?:\?[^/]*)?)(?:/(.*))?")
_ROW_BYTES = 4 << 20
_LOCK_WAIT_S = 60


def is_database(uri: str) -> bool:
    """Return whether an address is that of a database."""
    scheme, separator, _ = uri.partition("://")
    return bool(separator) and scheme.partition("+")[0] in DIALECTS


def _split(uri: str) -> tuple[str, str]:
    lite = uri.startswith("sqlite")
    match = (_SQLITE if lite else _SERVER).fullmatch(uri.rstrip("/"))
    if match is None:
        example = "sqlite:////absolute/path/checkpoints.db" if lite else "postgresql://user@host/database"
        raise CheckpointStorageError(f"{uri!r} is not the address of a database", hint=f"an address looks like {example}")
    return match[1], match[2] or ""


class DatabaseFileIO(FileIO):
    """A path below a database."""

    def __init__(self, uri: str) -> None:
        url, self._root = _split(uri)
        sqlalchemy = require("sqlalchemy", f"a database of checkpoints ({uri!r})", "database", error_type=CheckpointStorageError)
        self._sql: Any = sqlalchemy
        blob = sqlalchemy.LargeBinary().with_variant(importlib.import_module("sqlalchemy.dialects.mysql").LONGBLOB(), "mysql", "mariadb")
        self._table = sqlalchemy.Table(
            "wiesel_checkpoint_files",
            sqlalchemy.MetaData(),
            sqlalchemy.Column("name", sqlalchemy.String(700), primary_key=True),
            sqlalchemy.Column("part", sqlalchemy.Integer, primary_key=True, autoincrement=False),
            sqlalchemy.Column("data", blob, nullable=False),
        )
        waits = {"timeout": _LOCK_WAIT_S} if url.startswith("sqlite") else {}
        try:
            # No pool: tasks fork, and a connection must not be shared with another process or thread.
            self._engine = sqlalchemy.create_engine(url, poolclass=sqlalchemy.NullPool, connect_args=waits)
        except (ImportError, sqlalchemy.exc.ArgumentError) as error:
            raise CheckpointStorageError(f"no driver for {url!r}: {error}", hint="install the database's Python driver") from error
        self._has_table = False

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        try:
            self._make_table()
            with self._engine.begin() as connection:
                yield connection
        except self._sql.exc.IntegrityError:
            raise
        except self._sql.exc.SQLAlchemyError as error:
            raise CheckpointStorageError(
                f"the database {self._engine.url!r} failed: {error}", hint="check the database and its credentials"
            ) from error

    def _make_table(self) -> None:
        if self._has_table:
            return
        try:
            self._table.metadata.create_all(self._engine)
        except self._sql.exc.DBAPIError:
            # Another process may have created it between the check and the statement.
            if not self._sql.inspect(self._engine).has_table(self._table.name):
                raise
        self._has_table = True

    def _full(self, path: str) -> str:
        return "/".join(part for part in (self._root, path) if part)

    def _below(self, full: str) -> ColumnElement[bool]:
        return self._table.c.name.startswith(f"{full}/" if full else "", autoescape=True)  # type: ignore[no-any-return]

    def _insert(self, connection: Connection, full: str, data: bytes) -> None:
        starts = range(0, max(1, len(data)), _ROW_BYTES)
        rows = [{"name": full, "part": part, "data": data[start : start + _ROW_BYTES]} for part, start in enumerate(starts)]
        for row in rows:
            connection.execute(self._table.insert(), row)

    def write(self, path: str, parts: Sequence[bytes | memoryview]) -> None:
        """See ``FileIO``."""
        full = self._full(path)
        with self._transaction() as connection:
            connection.execute(self._table.delete().where(self._table.c.name == full))
            self._insert(connection, full, b"".join(parts))

    def create(self, path: str, data: bytes) -> bool:
        """See ``FileIO``: the table's primary key rejects a second file of the name."""
        try:
            with self._transaction() as connection:
                self._insert(connection, self._full(path), data)
        except self._sql.exc.IntegrityError:
            return False
        return True

    def read(self, path: str) -> bytes:
        """See ``FileIO``."""
        columns, full = self._table.c, self._full(path)
        with self._transaction() as connection:
            rows = connection.execute(self._sql.select(columns.data).where(columns.name == full).order_by(columns.part)).scalars().all()
        if not rows:
            raise FileNotFoundError(full)
        return b"".join(rows)

    def exists(self, path: str) -> bool:
        """See ``FileIO``."""
        columns, full = self._table.c, self._full(path)
        query = self._sql.select(columns.name).where((columns.name == full) | self._below(full)).limit(1)
        with self._transaction() as connection:
            return connection.execute(query).first() is not None

    def size(self, path: str) -> int | None:
        """See ``FileIO``."""
        columns, full = self._table.c, self._full(path)
        bytes_of = self._sql.func.datalength if self._engine.dialect.name == "mssql" else self._sql.func.length
        with self._transaction() as connection:
            found = connection.execute(self._sql.select(self._sql.func.sum(bytes_of(columns.data))).where(columns.name == full)).scalar()
        return None if found is None else int(found)

    def names(self, directory: str) -> list[str]:
        """See ``FileIO``."""
        full = self._full(directory)
        query = self._sql.select(self._table.c.name).where(self._below(full), self._table.c.part == 0)
        with self._transaction() as connection:
            found = connection.execute(query).scalars().all()
        skip = len(full) + 1 if full else 0
        return sorted({name[skip:].partition("/")[0] for name in found})

    def delete(self, path: str) -> None:
        """See ``FileIO``."""
        full = self._full(path)
        with self._transaction() as connection:
            connection.execute(self._table.delete().where((self._table.c.name == full) | self._below(full)))
