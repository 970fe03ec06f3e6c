"""The environments of the Table API: tables by name, and the way between tables and streams."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from wiesel.core.errors import ProgramError, WieselError
from wiesel.datastream import DataStream, StreamExecutionEnvironment
from wiesel.datastream._checks import program_error, require_built, require_instance, user_location
from wiesel.spi.table.schema import ResolvedSchema
from wiesel.sql.binding.queries import QueryBinder
from wiesel.sql.catalog_manager import CatalogManager
from wiesel.sql.language import statements
from wiesel.sql.language.parser import parse_statement
from wiesel.sql.plan import Relation, StreamScan
from wiesel.sql.stream_rows import row_type
from wiesel.sql.translation import to_stream
from wiesel.table.table import Table
from wiesel.table.table_descriptor import TableDescriptor
from wiesel.types.logical import quoted

__all__ = ["StreamTableEnvironment", "TableEnvironment"]


class _AtUsersLine:
    """Adds the user's line to errors that do not name one."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        where = user_location()
        if where and isinstance(error, WieselError) and "location" not in error.details:
            raise type(error)(f"{error.message} (at {where})", hint=error.hint, **error.details, location=where) from error


class TableEnvironment:
    """Knows tables by name. :class:`StreamTableEnvironment` is the one to create.

    A path is ``name``, ``database.name`` or ``catalog.database.name``, where other names than of letters, digits, ``_`` and ``$`` stand
    between backquotes. What is left out is the current catalog and database, ``default_catalog`` and ``default_database``.
    """

    def __init__(self) -> None:
        self._catalogs = CatalogManager()

    def create_temporary_table(self, path: str, descriptor: TableDescriptor, ignoreIfExists: bool | None = False) -> None:
        """Make a table known under a path, as long as the environment lives.

        Connector and options are looked at when the table is read.

        Args:
            path: The path.
            descriptor: Describes the table.
            ignoreIfExists: Do nothing if there is a temporary table of this path, instead of raising an error.

        Raises:
            ProgramError: If the table exists, has no schema, or has a schema that contradicts itself.
        """
        require_built(descriptor, TableDescriptor, "create_temporary_table()")
        with _AtUsersLine():
            identifier = self._catalogs.qualify(path)
            table = descriptor._to_catalog_table(user_location())
            self._catalogs.create_temporary_table(identifier, table, ignore_if_exists=bool(ignoreIfExists))

    def create_temporary_view(self, view_path: str, table_or_data_stream: Any, *fields_or_schema: Any) -> None:
        """Make a table known under a path, as long as the environment lives.

        Args:
            view_path: The path.
            table_or_data_stream: A table of this environment.
            fields_or_schema: Not in this version.

        Raises:
            ProgramError: If there is a table or view of the path.
        """
        require_instance(table_or_data_stream, Table, "create_temporary_view() takes a table: it", "give what sql_query() returned")
        if fields_or_schema:
            raise program_error("create_temporary_view() with fields or a schema is not in this version", "name the columns in a query")
        with _AtUsersLine():
            self._catalogs.create_temporary_view(self._catalogs.qualify(view_path), table_or_data_stream._plan)

    def drop_temporary_table(self, table_path: str) -> bool:
        """Forget a temporary table; returns whether there was one."""
        with _AtUsersLine():
            return self._catalogs.drop_temporary_table(self._catalogs.qualify(table_path))

    def list_tables(self) -> list[str]:
        """Return the names of all tables of the current database, in order."""
        return self._catalogs.table_names()

    def list_temporary_tables(self) -> list[str]:
        """Return the names of the temporary tables of the current database, in order."""
        return self._catalogs.table_names()

    def from_path(self, path: str) -> Table:
        """Return the table of a path.

        Raises:
            ProgramError: If there is none.
        """
        with _AtUsersLine():
            return Table(self._catalogs.relation(path), self)

    def sql_query(self, query: str) -> Table:
        """Return what a query returns as a table. Nothing is read before the job runs.

        Raises:
            SqlParseError: If it is no query, a name is not known, or types do not fit; tells line and column.
        """
        with _AtUsersLine():
            statement = parse_statement(query)
            if not isinstance(statement, statements.Query):
                raise ProgramError("sql_query() takes a query", hint="give a SELECT, VALUES or WITH ... SELECT")
            return Table(QueryBinder(query, _Tables(self._catalogs)).bind(statement.tree), self)


class _Tables:
    """The tables of an environment, for queries."""

    def __init__(self, catalogs: CatalogManager) -> None:
        self._catalogs = catalogs

    def relation(self, path: tuple[str, ...]) -> Relation:
        return self._catalogs.relation(".".join(map(quoted, path)))


class StreamTableEnvironment(TableEnvironment):
    """A table environment on top of a stream environment: its jobs are run by the stream environment's ``execute()``.

    >>> t_env = StreamTableEnvironment.create(StreamExecutionEnvironment.get_execution_environment())
    >>> t_env.list_tables()
    []
    """

    def __init__(self, stream_execution_environment: StreamExecutionEnvironment) -> None:
        super().__init__()
        self._environment = stream_execution_environment

    @staticmethod
    def create(stream_execution_environment: StreamExecutionEnvironment) -> StreamTableEnvironment:
        """Return a table environment on top of a stream environment."""
        require_instance(
            stream_execution_environment,
            StreamExecutionEnvironment,
            "stream_execution_environment",
            "give StreamExecutionEnvironment.get_execution_environment()",
        )
        return StreamTableEnvironment(stream_execution_environment)

    def from_data_stream(self, data_stream: DataStream, *fields_or_schema: Any) -> Table:
        """Return a stream as a table: the fields of rows and tuples become columns, other records one column ``f0``.

        Args:
            data_stream: A stream of a declared type; its rows must be new ones (``RowKind.INSERT``).
            fields_or_schema: Not in this version: columns have the names and types of the fields.

        Raises:
            ProgramError: If the records' type cannot become columns, or fields or a schema are given.
        """
        require_instance(data_stream, DataStream, "from_data_stream() takes a stream: it", "give the stream that a method returned")
        if fields_or_schema:
            raise program_error(
                "from_data_stream() with fields or a schema is not in this version",
                "name the fields where the stream is made: output_type=Types.ROW_NAMED([...], [...])",
            )
        with _AtUsersLine():
            if data_stream.get_execution_environment() is not self._environment:
                raise ProgramError(
                    "the stream belongs to another environment", hint="create the table environment on the stream's environment"
                )
            return Table(StreamScan(data_stream, ResolvedSchema.physical(row_type(data_stream.get_type()))), self)

    def to_data_stream(self, table: Table) -> DataStream:
        """Return the rows of a table as a stream of :class:`~wiesel.common.Row` with the columns as fields.

        Raises:
            ConfigurationError: If the table's connector or its options are wrong.
            ProgramError: If a column's values cannot become records of a stream.
        """
        require_instance(table, Table, "to_data_stream() takes a table: it", "give what from_path() or from_data_stream() returned")
        with _AtUsersLine():
            if table._t_env is not self:
                raise ProgramError("the table belongs to another environment", hint="call to_data_stream() of the environment that made it")
            return to_stream(self._environment, table._plan)
