"""The environments of the Table API: tables by name, and the way between tables and streams."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from wiesel.core.argument_checks import require_built, require_instance
from wiesel.core.config import Configuration
from wiesel.core.errors import ArgumentValueError, ProgramError
from wiesel.core.user_location import AtUsersLine, program_error, user_location
from wiesel.datastream import DataStream, StreamExecutionEnvironment
from wiesel.spi.table.catalog import CatalogView, ObjectIdentifier
from wiesel.spi.table.factory import INSERT_ONLY
from wiesel.spi.table.schema import ResolvedSchema, Schema
from wiesel.sql.binding.queries import QueryBinder
from wiesel.sql.catalog.catalogs import PlanView
from wiesel.sql.catalog.manager import CatalogManager
from wiesel.sql.catalog.paths import parse_path
from wiesel.sql.catalog.relations import CatalogTables, renamed, table_relation
from wiesel.sql.catalog.store import catalog_store
from wiesel.sql.dml.insert import Insertion, bind_insert, insertion_of
from wiesel.sql.explain.statement import explained
from wiesel.sql.language import statements
from wiesel.sql.language.parser import DEFAULT_DIALECT, DIALECT_OPTION, HIVE_DIALECT, parse_statement
from wiesel.sql.physical.sinks import sink_of
from wiesel.sql.plan.changelog import require_append
from wiesel.sql.plan.relations import Relation
from wiesel.sql.session.compiled_plans import PlanParts, changed_settings, plan_parts
from wiesel.sql.session.jobs import add_inserts, check_job, compiled, execution_plan, is_batch, start_inserts, start_query, to_arrow
from wiesel.sql.session.program_rows import arrow_scan_of, elements_scan
from wiesel.sql.session.stream_tables import stream_relation, with_fields
from wiesel.sql.session.translation import to_stream
from wiesel.sql.session.upserts import normalized
from wiesel.table.catalogs.environment_names import NamesOfEnvironment
from wiesel.table.catalogs.functions import function_in
from wiesel.table.catalogs.user_catalog import opened_catalog
from wiesel.table.changelog_mode import ChangelogMode
from wiesel.table.compiled_plan import CompiledPlan
from wiesel.table.environment_settings import EnvironmentSettings
from wiesel.table.explain_detail import ExplainDetail
from wiesel.table.expression import Expression
from wiesel.table.plan_reference import PlanReference
from wiesel.table.query.process_calls import process_call
from wiesel.table.query.stream_columns import ROWTIME_OF_FIELDS, expressions_of_rows, field_name, fitted_to, schema_of_fields
from wiesel.table.result_kind import ResultKind
from wiesel.table.statement_set import StatementSet
from wiesel.table.statements.runner import defined_table, insertion_into, run_statement
from wiesel.table.table import Table
from wiesel.table.table_config import TableConfig
from wiesel.table.table_descriptor import TableDescriptor
from wiesel.table.table_result import TableResult
from wiesel.types import Types
from wiesel.types.logical import BigIntType, DataType, RowField, RowType
from wiesel.types.row import Row, RowKind, make_row
from wiesel.types.typeinfo import RowTypeInfo, TupleTypeInfo, TypeInformation

__all__ = ["StreamTableEnvironment", "TableEnvironment"]


class TableEnvironment(NamesOfEnvironment):
    """Knows tables by name, and runs statements. Made by :meth:`create`.

    A path is ``name``, ``database.name`` or ``catalog.database.name``, where other names than of letters, digits, ``_`` and ``$`` stand
    between backquotes. What is left out is the current catalog and database, ``default_catalog`` and ``default_database`` at first.

    >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    >>> t_env.list_databases()
    ['default_database']
    """

    def __init__(self, environment: StreamExecutionEnvironment, settings: EnvironmentSettings | None = None) -> None:
        self._environment = environment
        catalog, database = "default_catalog", "default_database"
        if settings is not None:
            catalog, database = settings.get_built_in_catalog_name(), settings.get_built_in_database_name()
        self._catalogs = CatalogManager(catalog, database)
        self._catalogs.load_function = function_in
        self._catalogs.catalog_of_users = opened_catalog
        self._catalogs.configuration = {key: str(value) for key, value in environment._config.to_dict().items()}
        self._catalogs.store = catalog_store(self._catalogs.configuration)
        self._config = TableConfig(environment._config)
        self._before_set: dict[str, str | None] = {}
        self._anonymous = 0
        self._unnamed = 0

    @staticmethod
    def create(environment_settings: EnvironmentSettings | Configuration) -> TableEnvironment:
        """Return a new environment.

        Args:
            environment_settings: Settings, or a configuration with ``execution.runtime-mode``.
        """
        require_instance(
            environment_settings,
            (EnvironmentSettings, Configuration),
            "environment_settings",
            "give EnvironmentSettings.in_streaming_mode() or in_batch_mode()",
        )
        if isinstance(environment_settings, Configuration):
            environment_settings = EnvironmentSettings.new_instance().with_configuration(environment_settings).build()
        environment = StreamExecutionEnvironment.get_execution_environment(environment_settings.get_configuration())
        return TableEnvironment(environment, environment_settings)

    def get_config(self) -> TableConfig:
        """Return the options, which count for the statements that come after."""
        return self._config

    # Statements

    def execute_sql(self, stmt: str) -> TableResult:
        """Run one statement; a job that it starts goes on by itself, see ``TableResult.wait()``.

        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> t_env.execute_sql("CREATE TABLE t (a INT) WITH ('connector' = 'datagen')").print()
        OK

        Raises:
            SqlParseError: If it cannot be read, a name is not known, or types do not fit; tells line and column.
            ProgramError: If it cannot be run.
        """
        with AtUsersLine():
            return run_statement(self, stmt, self._parsed(stmt))

    def sql_query(self, query: str) -> Table:
        """Return what a query returns as a table. Nothing is read before the job runs.

        Raises:
            SqlParseError: If it is no query, a name is not known, or types do not fit; tells line and column.
        """
        with AtUsersLine():
            statement = self._parsed(query)
            if not isinstance(statement, statements.Query):
                raise ProgramError("sql_query() takes a query", hint="give a SELECT, VALUES or WITH ... SELECT")
            return Table(QueryBinder(query, self._tables()).bind(statement.tree), self)

    def from_call(self, function: Any, *arguments: Any) -> Table:
        """Return the rows of a process table function.

        Args:
            function: What ``udptf()`` returned, or the name of a function that is registered.
            arguments: ``table.partition_by(col("k")).as_argument("input")``, ``lit(5).as_argument("n")`` and so on.

        Raises:
            ProgramError: If the function cannot be called like that.
        """
        with AtUsersLine():
            return Table(process_call(self, function, arguments), self)

    def explain_sql(self, stmt: str, *extra_details: ExplainDetail) -> str:
        """Return the plan of a query or INSERT as text, without running it.

        Args:
            stmt: The statement.
            extra_details: What to tell besides.
        """
        with AtUsersLine():
            return self._explain_statement(stmt, self._parsed(stmt), [detail.name for detail in extra_details])

    def compile_plan_sql(self, stmt: str) -> CompiledPlan:
        """Return the plan of an INSERT, or of a statement set, which can be kept in a file.

        Raises:
            SqlParseError: If it is neither, or cannot be read; tells line and column.
            ProgramError: If a table cannot take its rows, or a part of the plan lives in the program alone.
        """
        with AtUsersLine():
            return self._compile(self._insertions_of(stmt, self._parsed(stmt)))

    def load_plan(self, plan_reference: PlanReference) -> CompiledPlan:
        """Return a plan that was compiled before.

        Args:
            plan_reference: Where it is: ``PlanReference.from_file(...)``.

        Raises:
            ProgramError: If it cannot be read; if a table or function of it is not there, or a table has other columns.
        """
        require_instance(plan_reference, PlanReference, "load_plan()", "give PlanReference.from_file(...)")
        with AtUsersLine():
            text = plan_reference._text()
            plan_parts(text, self._catalogs, self._config.get_configuration())
            return CompiledPlan(text, self)

    def execute_plan(self, plan_reference: PlanReference) -> TableResult:
        """Start the job of a plan: ``load_plan(plan_reference).execute()``."""
        return self.load_plan(plan_reference).execute()

    def create_statement_set(self) -> StatementSet:
        """Return a set of inserts that run as one job."""
        return StatementSet(self)

    # Tables

    def create_temporary_table(self, path: str, descriptor: TableDescriptor, ignoreIfExists: bool | None = False) -> None:
        """Create a table known under a path, as long as the environment lives.

        Connector and options are looked at when the table is read.

        Args:
            path: The path.
            descriptor: Describes the table.
            ignoreIfExists: Do nothing if there is a temporary table of this path, instead of raising an error.

        Raises:
            ProgramError: If the table exists, has no schema, or has a schema that contradicts itself.
        """
        self._create_table("create_temporary_table()", path, descriptor, temporary=True, ignore_if_exists=bool(ignoreIfExists))

    def create_table(self, path: str, descriptor: TableDescriptor, ignoreIfExists: bool | None = False) -> None:
        """Put a table into a catalog.

        Args:
            path: The path.
            descriptor: Describes the table.
            ignoreIfExists: Do nothing if there is a table of this path, instead of raising an error.

        Raises:
            ProgramError: If the table exists, has no schema, or has a schema that contradicts itself.
        """
        self._create_table("create_table()", path, descriptor, temporary=False, ignore_if_exists=bool(ignoreIfExists))

    def _create_table(self, method: str, path: str, descriptor: TableDescriptor, *, temporary: bool, ignore_if_exists: bool) -> None:
        require_built(descriptor, TableDescriptor, method)
        with AtUsersLine():
            identifier = self._catalogs.qualify(path)
            table = descriptor._to_catalog_table(user_location())
            self._catalogs.create(identifier, table, temporary=temporary, ignore_if_exists=ignore_if_exists)

    def create_temporary_view(self, view_path: str, table_or_data_stream: Any, *fields_or_schema: Any) -> None:
        """Create a table known under a path, as long as the environment lives.

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
        with AtUsersLine():
            table = table_or_data_stream
            self._catalogs.create_temporary_view(self._catalogs.qualify(view_path), table._plan, table._declared)

    def create_view(self, view_path: str, table: Table, ignore_if_exists: bool = False) -> bool:
        """Put a table into a catalog as a view; returns whether there was none of the path.

        Args:
            view_path: The path.
            table: A table of this environment.
            ignore_if_exists: Do nothing if there is a view of this path, instead of raising an error.
        """
        require_instance(table, Table, "create_view() takes a table: it", "give what sql_query() returned")
        with AtUsersLine():
            identifier = self._catalogs.qualify(view_path)
            return self._catalogs.create(
                identifier, PlanView(table._plan, table._declared), temporary=False, ignore_if_exists=ignore_if_exists
            )

    def drop_temporary_table(self, table_path: str) -> bool:
        """Forget a temporary table; returns whether there was one."""
        return self._drop(table_path, "TABLE", temporary=True, if_exists=True)

    def drop_table(self, table_path: str, ignore_if_not_exists: bool | None = True) -> bool:
        """Remove a table from its catalog; returns whether there was one."""
        return self._drop(table_path, "TABLE", temporary=False, if_exists=bool(ignore_if_not_exists))

    def drop_temporary_view(self, view_path: str) -> bool:
        """Forget a temporary view; returns whether there was one."""
        return self._drop(view_path, "VIEW", temporary=True, if_exists=True)

    def drop_view(self, view_path: str, ignore_if_not_exists: bool | None = True) -> bool:
        """Remove a view from its catalog; returns whether there was one."""
        return self._drop(view_path, "VIEW", temporary=False, if_exists=bool(ignore_if_not_exists))

    def _drop(self, path: str, kind: str, *, temporary: bool, if_exists: bool) -> bool:
        with AtUsersLine():
            return self._catalogs.drop(self._catalogs.qualify(path), kind, temporary=temporary, if_exists=if_exists)

    def from_descriptor(self, descriptor: TableDescriptor) -> Table:
        """Return the table that a descriptor describes, without a name.

        Raises:
            ProgramError: If it has no schema.
        """
        require_built(descriptor, TableDescriptor, "from_descriptor()")
        with AtUsersLine():
            identifier = self._without_name(descriptor)
            table = descriptor._to_catalog_table(user_location())
            return Table(table_relation(identifier, table, in_batch=is_batch(self._environment)), self, table.schema)

    def _without_name(self, descriptor: TableDescriptor) -> ObjectIdentifier:
        self._anonymous += 1
        connector = descriptor.get_options().get("connector", "table")
        return self._catalogs.qualify((f"*anonymous_{connector}${self._anonymous}*",))

    def from_path(self, path: str) -> Table:
        """Return the table of a path.

        Raises:
            ProgramError: If there is none.
        """
        with AtUsersLine():
            entry = self._catalogs.find(path)[1]
            return Table(self._tables().relation(parse_path(path)), self, None if isinstance(entry, CatalogView) else entry.schema)

    def from_elements(self, elements: Iterable[Any], schema: DataType | list[str] | None = None, verify_schema: bool = True) -> Table:
        """Return rows that the program has as a table.

        Args:
            elements: Rows, tuples, lists or dicts; anything else is the one column of a row. Or expressions, such as ``row(1, "a")``.
            schema: A row type, or the names of the columns (their types are derived from the first values).
            verify_schema: Values are always compared with the types here.

        Raises:
            ProgramError: If values do not fit the types, there is nothing to derive the types from, or only some elements are expressions.
        """
        with AtUsersLine():
            given = list(elements)
            if not any(isinstance(element, Expression) for element in given):
                return Table(elements_scan(given, schema), self)
            return Table(expressions_of_rows(self._tables(), given, schema), self)

    def from_pandas(self, pdf: Any, schema: Any = None, splits_num: int = 1) -> Table:
        """Return a ``pandas.DataFrame`` as a table.

        Args:
            pdf: The rows.
            schema: A row type, the names of the first columns, which are taken, or the types of all; those of the frame if it is None.
            splits_num: Not used: batches are distributed over the readers.

        Raises:
            TypeError: If the schema is none of these.
            ProgramError: If a column cannot be one of a table, or not of its type.
        """
        import pandas as pd
        import pyarrow as pa

        require_instance(pdf, pd.DataFrame, "the argument of from_pandas()", "give a pandas.DataFrame")
        rows = pa.Table.from_pandas(pdf, preserve_index=False)
        if schema is None or isinstance(schema, RowType):
            return self.from_arrow(rows, schema)
        if not isinstance(schema, list | tuple) or not all(isinstance(each, str | DataType) for each in schema):
            raise TypeError(f"from_pandas() takes a RowType, a list of names or a list of types as schema, not {schema!r}")
        names = [each for each in schema if isinstance(each, str)]
        if names and len(names) < len(schema):
            raise TypeError("from_pandas() takes a list of names or a list of types, but the schema has both: give a RowType")
        if names or not schema:
            return self.from_arrow(rows.select(range(min(len(names), rows.num_columns))), names)
        types = [each for each in schema if isinstance(each, DataType)]
        with AtUsersLine():
            if len(types) != rows.num_columns:
                raise ProgramError(f"there are {rows.num_columns} columns, but {len(types)} types", hint="give one for each column")
            fields = [RowField(name, of) for name, of in zip(rows.column_names, types, strict=True)]
            return Table(arrow_scan_of(rows, RowType(fields, False)), self)

    def from_arrow(self, rows: Any, schema: RowType | list[str] | None = None) -> Table:
        """Return a ``pyarrow.Table`` as a table; Wiesel's own.

        Args:
            rows: The rows.
            schema: A row type, or the names of the columns; those of the table if it is None.

        Raises:
            ProgramError: If a column cannot be one of a table.
        """
        with AtUsersLine():
            if isinstance(schema, list):
                if len(schema) != rows.num_columns:
                    raise ProgramError(f"there are {rows.num_columns} columns, but {len(schema)} names", hint="give one for each column")
                rows, schema = rows.rename_columns(schema), None
            return Table(arrow_scan_of(rows, schema), self)

    def from_spark(self, frame: Any) -> Table:
        """Return a DataFrame of Spark as a table; Wiesel's own. Its rows are brought to the program first.

        Args:
            frame: A ``pyspark.sql.DataFrame``.
        """
        return self.from_arrow(frame.toArrow())

    # Files for functions

    def add_python_file(self, file_path: str) -> None:
        """Let workers import a file, or the modules of a folder or zip file."""
        self._environment.add_python_file(file_path)

    def set_python_requirements(self, requirements_file_path: str, requirements_cache_dir: str | None = None) -> None:
        """Let workers install packages; see ``StreamExecutionEnvironment.set_python_requirements()``."""
        self._environment.set_python_requirements(requirements_file_path, requirements_cache_dir)

    def add_python_archive(self, archive_path: str, target_dir: str | None = None) -> None:
        """Let workers find the files of an archive; see ``StreamExecutionEnvironment.add_python_archive()``."""
        self._environment.add_python_archive(archive_path, target_dir)

    # What statements and tables are run by

    @staticmethod
    def _at_users_line() -> AtUsersLine:
        return AtUsersLine()

    def _name_of(self, plan: Relation) -> str:
        """Return the name of a view of a plan that has none."""
        name = f"UnnamedTable${self._unnamed}"
        self._unnamed += 1
        self._catalogs.create_temporary_view(self._catalogs.qualify((name,)), plan)
        return name

    def _script_options(self) -> dict[str, str]:
        """Return what statements are read by: the options that are set, the dialect among them, and the current database."""
        return {**{key: str(value) for key, value in self._config.to_map().items()}, "$database": self._catalogs.current[1]}

    def _parsed(self, sql: str) -> statements.Statement:
        return parse_statement(sql, self._script_options())

    def _tables(self) -> CatalogTables:
        return CatalogTables(self._catalogs, in_batch=is_batch(self._environment))

    def _start_query(self, plan: Relation) -> TableResult:
        with AtUsersLine():
            batches = start_query(self._environment, plan, self._config.get("pipeline.name", "collect"))
        options = {
            "most": self._config.get("table.display.max-column-width", "30"),
            "zone": self._config.get_local_timezone(),
        }
        style = "rows" if is_batch(self._environment) else "changes"
        return TableResult(
            ResultKind.SUCCESS_WITH_CONTENT,
            plan.schema,
            batches=batches,
            client=batches.get_job_client(),
            style=style,
            options=options,
        )

    def _insertion_of(self, sql: str, statement: statements.Insert) -> Insertion:
        return bind_insert(sql, statement, self._tables(), self._catalogs)

    def _bind_insert(self, sql: str) -> Insertion:
        with AtUsersLine():
            statement = self._parsed(sql)
            if not isinstance(statement, statements.Insert):
                raise ProgramError("add_insert_sql() takes an INSERT", hint="give INSERT INTO ... SELECT ...")
            return self._insertion_of(sql, statement)

    def _insertion(self, plan: Relation, target: Any, *, overwrite: bool) -> Insertion:
        with AtUsersLine():
            require_instance(target, (str, TableDescriptor), "a table is written to by its path or descriptor: it", "give one of these")
            if isinstance(target, str):
                return replace(insertion_into(self, plan, target), overwrite=overwrite)
            table = target._to_catalog_table(user_location(), ResolvedSchema.physical(plan.row_type))
            return replace(insertion_of(self._without_name(target), table, plan), overwrite=overwrite)

    def _insertions_of(self, sql: str, statement: statements.Statement) -> list[Insertion]:
        if isinstance(statement, statements.Insert):
            return [self._insertion_of(sql, statement)]
        if isinstance(statement, statements.StatementSet):
            return [self._insertion_of(sql, insert) for insert in statement.inserts]
        raise ProgramError("plans are compiled of inserts only", hint="give INSERT INTO ... SELECT ..., or a statement set")

    def _compile(self, insertions: Sequence[Insertion]) -> CompiledPlan:
        with AtUsersLine():
            if not insertions:
                raise ProgramError("there is nothing to insert", hint="add inserts first")
            return CompiledPlan(compiled(self._environment, insertions, self._catalogs), self)

    def _plan_parts(self, text: str) -> PlanParts:
        plan = plan_parts(text, self._catalogs, self._config.get_configuration())
        mode = "BATCH" if is_batch(self._environment) else "STREAMING"
        if plan.mode != mode:
            hint = f"SET 'execution.runtime-mode' = '{plan.mode.lower()}'"
            raise ProgramError(f"the plan was compiled in {plan.mode} mode, but this is {mode} mode", hint=hint)
        return plan

    def _start_plan(self, text: str) -> TableResult:
        with AtUsersLine():
            plan = self._plan_parts(text)
            with changed_settings(self._config.get_configuration(), plan.options):
                return self._start_insertions(plan.insertions, planned=True)

    def _explain_plan(self, text: str, details: Sequence[ExplainDetail]) -> str:
        with AtUsersLine():
            plan = self._plan_parts(text)
            with changed_settings(self._config.get_configuration(), plan.options):
                return self._plan_text(plan.insertions, [detail.name for detail in details], planned=True)

    def _start_insertions(self, insertions: Sequence[Insertion], *, planned: bool = False) -> TableResult:
        with AtUsersLine():
            if not insertions:
                raise ProgramError("there is nothing to insert", hint="add inserts first")
            client = start_inserts(self._environment, insertions, planned=planned)
        names = [str(insertion.identifier) for insertion in insertions]
        names = [f"{name}_{place}" if names.count(name) > 1 else name for place, name in enumerate(names, 1)]
        rows = RowType([RowField(name, BigIntType()) for name in names])
        result = TableResult(
            ResultKind.SUCCESS_WITH_CONTENT, ResolvedSchema.physical(rows), rows=[(-1,) * len(names)], client=client, style="raw"
        )
        if self._config.get("table.dml-sync", "false").lower() == "true":
            result.wait()
        return result

    def _attach(self, insertions: Sequence[Insertion]) -> None:
        with AtUsersLine():
            add_inserts(self._environment, insertions)

    def _to_arrow(self, plan: Relation) -> Any:
        with AtUsersLine():
            return to_arrow(self._environment, plan)

    def _explain(self, plan: Relation, details: Sequence[ExplainDetail]) -> str:
        return self._plan_text([plan], [detail.name for detail in details])

    def _explain_insertions(self, insertions: Sequence[Insertion], details: Sequence[ExplainDetail]) -> str:
        return self._plan_text(insertions, [detail.name for detail in details])

    def _explain_statement(self, sql: str, statement: statements.Statement, details: Sequence[str]) -> str:
        if isinstance(statement, statements.Query):
            return self._plan_text([QueryBinder(sql, self._tables()).bind(statement.tree)], details)
        if isinstance(statement, statements.CompilePlan):
            return self._plan_text(self._insertions_of(sql, statement.statement), details)
        if isinstance(statement, statements.Insert | statements.StatementSet):
            return self._plan_text(self._insertions_of(sql, statement), details)
        if isinstance(statement, statements.ExecutePlan):
            return self._explain_plan(PlanReference.from_file(statement.file)._text(), [ExplainDetail[detail] for detail in details])
        if isinstance(statement, statements.CreateTable):
            insertion = defined_table(self, sql, statement)[2]
            if insertion is not None:
                return self._plan_text([insertion], details)
        raise ProgramError("EXPLAIN takes a query, an INSERT, CREATE TABLE ... AS or a statement set", hint="give one of them")

    def _check_statement(self, sql: str, statement: statements.Statement) -> None:
        """Raise what explaining a statement would raise, and starting its job, which is not run."""
        self._explain_statement(sql, statement, ())
        if isinstance(statement, statements.CompilePlan):
            statement = statement.statement
        if isinstance(statement, statements.Query):
            check_job(self._environment, [QueryBinder(sql, self._tables()).bind(statement.tree)])
        elif isinstance(statement, statements.Insert | statements.StatementSet):
            check_job(self._environment, self._insertions_of(sql, statement))

    def _plan_text(self, roots: Sequence[Relation | Insertion], details: Sequence[str], *, planned: bool = False) -> str:
        in_batch = is_batch(self._environment)
        options = self._config.get_configuration()
        sinks = [sink_of(root, options, in_batch=in_batch) if isinstance(root, Insertion) else None for root in roots]
        ttl = None if is_batch(self._environment) else self._config.get("table.exec.state.ttl", "0 ms")
        text = explained(roots, options, state_ttl=ttl, sinks=sinks, details=details, planned=planned)
        if "JSON_EXECUTION_PLAN" not in details:
            return text
        return f"{text}\n== Physical Execution Plan ==\n{execution_plan(self._environment, roots, planned=planned)}\n"

    def _set_option(self, key: str, value: str) -> None:
        configuration = self._config.get_configuration()
        if key not in self._before_set:
            self._before_set[key] = configuration.get_string(key, "") if configuration.contains_key(key) else None
        if key == "table.local-time-zone":
            self._config.set_local_timezone(value)
        elif key == DIALECT_OPTION:
            if value.lower() not in (DEFAULT_DIALECT, HIVE_DIALECT):
                raise ProgramError(f"there is no dialect {value!r}", hint=f"there are {DEFAULT_DIALECT} and {HIVE_DIALECT}")
            self._config.set(key, value.lower())
        else:
            self._config.set(key, value)

    def _reset_options(self, key: str | None) -> None:
        configuration = self._config.get_configuration()
        for each in [key] if key is not None else list(self._before_set):
            before = self._before_set.pop(each, None)
            configuration.remove_config(each)
            if before is not None:
                configuration.set(each, before)


class StreamTableEnvironment(TableEnvironment):
    """A table environment on top of a stream environment: its jobs are run by the stream environment's ``execute()``.

    >>> t_env = StreamTableEnvironment.create(StreamExecutionEnvironment.get_execution_environment())
    >>> t_env.list_tables()
    []
    """

    @staticmethod
    def create(  # type: ignore[override]
        stream_execution_environment: StreamExecutionEnvironment | None = None,
        environment_settings: EnvironmentSettings | None = None,
    ) -> StreamTableEnvironment:
        """Return a table environment on top of a stream environment.

        Args:
            stream_execution_environment: The stream environment; a new one of the settings if it is None.
            environment_settings: Settings; their mode and options become those of the stream environment.
        """
        for given, kind, name in (
            (stream_execution_environment, StreamExecutionEnvironment, "stream_execution_environment"),
            (environment_settings, EnvironmentSettings, "environment_settings"),
        ):
            if given is not None:
                require_instance(given, kind, name, f"give a {kind.__name__}")
        if stream_execution_environment is None and environment_settings is None:
            raise program_error("create() got neither a stream environment nor settings", "give at least one of them", ArgumentValueError)
        configuration = Configuration() if environment_settings is None else environment_settings.get_configuration()
        if stream_execution_environment is None:
            stream_execution_environment = StreamExecutionEnvironment.get_execution_environment(configuration)
        else:
            stream_execution_environment.configure(configuration)
        return StreamTableEnvironment(stream_execution_environment, environment_settings)

    def from_data_stream(self, data_stream: DataStream, *fields_or_schema: Any) -> Table:
        """Return a stream as a table: the fields of rows and tuples become columns, other records one column ``f0``.

        Args:
            data_stream: A stream of a declared type; its rows must be new ones (``RowKind.INSERT``).
            fields_or_schema: A :class:`~wiesel.table.Schema`, whose types fields are cast to, with computed columns, and with the metadata
                column ``rowtime``, the time of the records; ``SOURCE_WATERMARK()`` takes over the stream's watermarks. Or names of the
                columns: expressions ``col("a")``, where ``col("ts").rowtime`` and ``col("now").proctime`` are the time of the records and
                the clock.

        Raises:
            ProgramError: If the records' type cannot become columns, or the schema does not fit it.
        """
        require_instance(data_stream, DataStream, "from_data_stream() takes a stream: it", "give the stream that a method returned")
        with AtUsersLine():
            return self._stream_table(data_stream, fields_or_schema)

    def _stream_table(self, stream: DataStream, given: Sequence[Any], kinds: frozenset[RowKind] = INSERT_ONLY) -> Table:
        if stream.get_execution_environment() is not self._environment:
            raise ProgramError("the stream belongs to another environment", hint="create the table environment on the stream's environment")
        if len(given) == 1 and isinstance(given[0], Schema):
            plan, declared = stream_relation(stream, given[0], kinds)
            return Table(plan, self, declared)
        if not given:
            return Table(stream_relation(stream, None, kinds)[0], self)
        plan, _ = stream_relation(stream, schema_of_fields(stream, given), kinds, ROWTIME_OF_FIELDS)
        return Table(renamed(plan, [field_name(each) for each in given], nullable=True), self)

    def create_temporary_view(self, view_path: str, table_or_data_stream: Any, *fields_or_schema: Any) -> None:
        """Create a table or a stream known under a path, as long as the environment lives.

        Args:
            view_path: The path.
            table_or_data_stream: A table of this environment, or a stream.
            fields_or_schema: Of a stream: as :meth:`from_data_stream` takes them.

        Raises:
            ProgramError: If there is a table or view of the path.
        """
        if isinstance(table_or_data_stream, DataStream):
            table_or_data_stream = self.from_data_stream(table_or_data_stream, *fields_or_schema)
            fields_or_schema = ()
        super().create_temporary_view(view_path, table_or_data_stream, *fields_or_schema)

    def from_changelog_stream(
        self, data_stream: DataStream, schema: Schema | None = None, changelog_mode: ChangelogMode | None = None
    ) -> Table:
        """Return a stream of changes as a table: rows with their kinds (``Row.set_row_kind``).

        Args:
            data_stream: A stream of rows of a declared type; each ``-U`` and ``-D`` retracts a row inserted before.
            schema: As :meth:`from_data_stream` takes it; for upserts it has the primary key. All fields of the stream are columns
                if it declares none of them.
            changelog_mode: The kinds that come, all by default; with ``ChangelogMode.upsert()`` rows take the place of those with the same
                key, and the table remembers the row of each key.

        Raises:
            ProgramError: If the schema does not fit the stream, or upserts have no primary key.
        """
        require_instance(data_stream, DataStream, "from_changelog_stream() takes a stream: it", "give the stream that a method returned")
        mode = ChangelogMode.all() if changelog_mode is None else changelog_mode
        require_instance(mode, ChangelogMode, "the changelog mode", "give ChangelogMode.all() or another of its modes")
        kinds = mode._kinds
        with AtUsersLine():
            if RowKind.UPDATE_AFTER in kinds and RowKind.UPDATE_BEFORE not in kinds:
                key = None if schema is None else with_fields(data_stream, schema).resolve().primary_key
                if key is None:
                    raise ProgramError("upserts need a primary key", hint="give a Schema with primary_key(...)")
                data_stream, kinds = normalized(data_stream, key.columns), frozenset(RowKind)
            return self._stream_table(data_stream, () if schema is None else (schema,), kinds)

    def to_changelog_stream(
        self, table: Table, target_schema: Schema | None = None, changelog_mode: ChangelogMode | None = None
    ) -> DataStream:
        """Return the changes of a table as a stream of :class:`~wiesel.common.Row` with their kinds.

        Args:
            table: The table. A column with event time becomes the time of the records.
            target_schema: The columns and types that rows are cast to, by their order. The metadata column ``rowtime`` is no field of the
                records: it becomes their time.
            changelog_mode: The kinds that are to come, all by default: without ``-U`` an update is told by ``+U`` alone;
                ``ChangelogMode.insert_only()`` refuses tables with changes.

        Raises:
            ConfigurationError: If the table's connector or its options are wrong.
            ProgramError: If a column's values cannot become records of a stream, or the schema or mode does not fit the table.
        """
        plan = self._own_plan("to_changelog_stream", table)
        mode = ChangelogMode.all() if changelog_mode is None else changelog_mode
        require_instance(mode, ChangelogMode, "the changelog mode", "give ChangelogMode.all() or another of its modes")
        with AtUsersLine():
            time: int | None = None
            if target_schema is not None:
                plan, time = fitted_to(plan, target_schema)
            if mode == ChangelogMode.insert_only():
                reader = "to_changelog_stream() with ChangelogMode.insert_only()"
                require_append(plan, reader)
                return to_stream(self._environment, plan, reader=reader, time=time)
            update_before = RowKind.UPDATE_BEFORE in mode._kinds
            return to_stream(self._environment, plan, changelog=True, update_before=update_before, time=time)

    def to_data_stream(self, table: Table) -> DataStream:
        """Return the rows of a table as a stream of :class:`~wiesel.common.Row` with the columns as fields.

        A column with event time becomes the time of the records, and watermarks go on.

        Raises:
            ConfigurationError: If the table's connector or its options are wrong.
            ProgramError: If a column's values cannot become records of a stream, or the table updates rows.
        """
        plan = self._own_plan("to_data_stream", table)
        with AtUsersLine():
            return to_stream(self._environment, plan)

    def to_append_stream(self, table: Table, type_info: TypeInformation) -> DataStream:
        """Return the rows of a table as a stream; the older name of :meth:`to_data_stream`.

        Args:
            table: The table.
            type_info: The type of the records, by the positions of the columns: that of a row, which tells the names of its fields, or of a
                tuple.
        """
        plan = self._typed_plan("to_append_stream", table, type_info)
        with AtUsersLine():
            rows = to_stream(self._environment, plan)
        if rows.get_type() == type_info:
            return rows
        if isinstance(type_info, RowTypeInfo):
            return rows.map(lambda row: row, output_type=type_info)
        return rows.map(lambda row: tuple(row._values), output_type=type_info)

    def to_retract_stream(self, table: Table, type_info: TypeInformation) -> DataStream:
        """Return the changes of a table as a stream of pairs: whether the row comes, or goes, and the row."""
        self._typed_plan("to_retract_stream", table, type_info)
        return self.to_changelog_stream(table).map(_with_flag, output_type=Types.TUPLE([Types.BOOLEAN(), type_info]))

    def _typed_plan(self, method: str, table: Table, type_info: TypeInformation) -> Relation:
        """Return a table with the names that a type of records has for its columns."""
        require_instance(type_info, TypeInformation, "the type of the records", "give Types.ROW([...])")
        plan = self._own_plan(method, table)
        count, columns = len(type_info.children()), [field.name for field in plan.fields]
        if not isinstance(type_info, RowTypeInfo | TupleTypeInfo) or count != len(columns):
            what = f"{count} fields" if isinstance(type_info, RowTypeInfo | TupleTypeInfo) else "no fields"
            hint = f"give Types.ROW([...]) with one type for each of them: {', '.join(columns)}"
            raise program_error(f"the table of {method}() has {len(columns)} columns, but the type {type_info} has {what}", hint)
        return renamed(plan, type_info.get_field_names()) if isinstance(type_info, RowTypeInfo) else plan

    def _own_plan(self, method: str, table: Table) -> Relation:
        require_instance(table, Table, f"{method}() takes a table: it", "give what from_path() or from_data_stream() returned")
        if table._t_env is not self:
            raise program_error("the table belongs to another environment", f"call {method}() of the environment that made it")
        return table._plan


def _with_flag(row: Row) -> tuple[bool, Row]:
    """Return whether a row comes, and the row as one that comes."""
    kind = row.get_row_kind()
    return kind in (RowKind.INSERT, RowKind.UPDATE_AFTER), make_row(row._names, list(row._values))
