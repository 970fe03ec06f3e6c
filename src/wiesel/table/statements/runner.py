"""Internal. Runs statements in a table environment: a function per kind of statement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wiesel.core.errors import ProgramError
from wiesel.core.user_location import user_location
from wiesel.spi.table.catalog import CatalogTable, CatalogView, ObjectIdentifier
from wiesel.spi.table.schema import PhysicalColumn, ResolvedSchema
from wiesel.sql.binding.expansion import expanded
from wiesel.sql.binding.problems import problem
from wiesel.sql.binding.queries import QueryBinder
from wiesel.sql.catalog.catalogs import Database, FunctionDefinition
from wiesel.sql.catalog.relations import renamed
from wiesel.sql.ddl.alter_table import altered
from wiesel.sql.ddl.analyze_table import analysis_of, statistics_of
from wiesel.sql.ddl.create_like import table_like
from wiesel.sql.ddl.definitions import check_partition_keys, checked_schema, primary_key_of, table_of, watermark_of
from wiesel.sql.ddl.information import Information, declared_times, describe, show, strings
from wiesel.sql.dml.insert import Insertion, insertion_of
from wiesel.sql.language import statements as s
from wiesel.sql.language.parser import DEFAULT_DIALECT, VIEW_DIALECT
from wiesel.sql.plan.relations import Relation, time_attributes
from wiesel.sql.session.jobs import is_batch
from wiesel.table.catalogs.functions import loaded_function
from wiesel.table.compiled_plan import recompiles
from wiesel.table.plan_reference import PlanReference
from wiesel.table.result_kind import ResultKind
from wiesel.table.statements.models import alter_model, create_model, drop_model
from wiesel.table.table_result import TableResult

if TYPE_CHECKING:
    from wiesel.table.table_environment import TableEnvironment

__all__ = ["define_table", "defined_table", "ok", "rows_result", "run_statement"]


def ok() -> TableResult:
    """Return the result of a statement that only succeeds."""
    found = strings(["result"], [("OK",)])
    return TableResult(ResultKind.SUCCESS, ResolvedSchema.physical(found.columns), rows=found.rows, style="raw")


def rows_result(found: Information, *, raw: bool = False) -> TableResult:
    """Return rows as a result."""
    schema = ResolvedSchema.physical(found.columns)
    return TableResult(ResultKind.SUCCESS_WITH_CONTENT, schema, rows=found.rows, style="raw" if raw else "content")


def run_statement(t_env: TableEnvironment, sql: str, statement: s.Statement) -> TableResult:
    """Run a statement.

    Raises:
        ProgramError: If it cannot be run; tells why.
    """
    handler = _HANDLERS.get(type(statement))
    if handler is None:
        raise ProgramError(f"{_spelled(type(statement).__name__)} is not supported in this version", hint="leave the statement out")
    result = handler(t_env, sql, _with_capitals(t_env, statement) if statement.ignores_case else statement)
    return ok() if result is None else result


def _with_capitals(t_env: TableEnvironment, statement: s.Statement) -> s.Statement:
    """Return a statement with the names of tables that are there in the capitals that they have."""
    spelled = t_env._catalogs.spelled
    if isinstance(statement, s.AlterTable | s.AlterView | s.Analyze):
        return replace(statement, path=spelled(statement.path))
    if isinstance(statement, s.Drop | s.Describe) and statement.kind in ("TABLE", "VIEW"):
        return replace(statement, path=spelled(statement.path))
    if isinstance(statement, s.Show) and statement.what in ("CREATE TABLE", "CREATE VIEW", "COLUMNS", "PARTITIONS"):
        return replace(statement, of=spelled(statement.of))
    if isinstance(statement, s.CreateTable) and statement.like is not None:
        return replace(statement, like=replace(statement.like, source=spelled(statement.like.source)))
    return statement


def _spelled(name: str) -> str:
    return "".join(f" {letter}" if letter.isupper() else letter for letter in name).strip().upper()


# Queries and inserts


def _query(t_env: TableEnvironment, sql: str, statement: s.Query) -> TableResult:
    return t_env._start_query(QueryBinder(sql, t_env._tables()).bind(statement.tree))


def _insert(t_env: TableEnvironment, sql: str, statement: s.Insert) -> TableResult:
    return t_env._start_insertions([t_env._insertion_of(sql, statement)])


def _statement_set(t_env: TableEnvironment, sql: str, statement: s.StatementSet) -> TableResult:
    return t_env._start_insertions(t_env._insertions_of(sql, statement))


def _compile_plan(t_env: TableEnvironment, sql: str, statement: s.CompilePlan) -> TableResult | None:
    if statement.executes and Path(statement.file).exists() and not recompiles(t_env.get_config()):
        return t_env.execute_plan(PlanReference.from_file(statement.file))
    plan = t_env._compile(t_env._insertions_of(sql, statement.statement))
    plan.write_to_file(statement.file, statement.if_not_exists)
    return plan.execute() if statement.executes else None


def _execute_plan(t_env: TableEnvironment, sql: str, statement: s.ExecutePlan) -> TableResult:
    return t_env.execute_plan(PlanReference.from_file(statement.file))


def _explain(t_env: TableEnvironment, sql: str, statement: s.Explain) -> TableResult:
    text = t_env._explain_statement(sql, statement.statement, statement.details)
    return rows_result(strings(["result"], [(text,)]), raw=True)


# Tables and views


def _create_table(t_env: TableEnvironment, sql: str, statement: s.CreateTable) -> TableResult | None:
    insertion = define_table(t_env, sql, statement)
    if insertion is None:
        return None
    try:
        return t_env._start_insertions([insertion])
    except ProgramError:
        t_env._catalogs.drop(insertion.identifier, "TABLE", temporary=statement.is_temporary, if_exists=True)
        raise


def define_table(t_env: TableEnvironment, sql: str, statement: s.CreateTable) -> Insertion | None:
    """Put the table of a statement into its catalog; return what a query writes into it, None if there is none or the table was there.

    Raises:
        ProgramError: If the definition is wrong.
    """
    identifier, table, insertion = defined_table(t_env, sql, statement)
    created = t_env._catalogs.create(identifier, table, temporary=statement.is_temporary, ignore_if_exists=statement.if_not_exists)
    return insertion if created else None


def defined_table(t_env: TableEnvironment, sql: str, statement: s.CreateTable) -> tuple[ObjectIdentifier, CatalogTable, Insertion | None]:
    """Return the name of the table of a statement, the table, and what a query writes into it; None if there is no query.

    Raises:
        ProgramError: If the definition is wrong.
    """
    catalogs = t_env._catalogs
    if statement.replaces:
        raise ProgramError(f"CREATE {statement.replaces} TABLE is not supported in this version", hint="DROP the table, then CREATE it")
    identifier = catalogs.qualify(statement.path)
    plan = None if statement.query is None else QueryBinder(sql, t_env._tables()).bind(statement.query)
    if statement.like is not None:
        base = catalogs.find_table(statement.like.source)[1]
        table = table_like(statement, base, made_at=user_location())
    elif plan is not None:
        table = _table_of_query(statement, plan)
    else:
        table = table_of(statement, made_at=user_location())
    insertion = None
    if plan is not None:
        insertion = insertion_of(identifier, table, plan, statement.columns or tuple(field.name for field in plan.fields))
    return identifier, table, insertion


def _table_of_query(statement: s.CreateTable, plan: Relation) -> CatalogTable:
    """Return the table of CREATE TABLE AS: the columns of the definition, then those of the query."""
    if statement.is_temporary:
        raise ProgramError("CREATE TEMPORARY TABLE ... AS is not supported", hint="leave TEMPORARY out")
    elements = statement.elements
    if elements.columns:
        raise ProgramError("columns in CREATE TABLE ... AS are not supported in this version", hint="leave them out, or name them only")
    columns = {field.name: PhysicalColumn(field.name, field.data_type) for field in plan.fields}
    order = statement.columns or tuple(columns)
    if sorted(order) != sorted(columns):
        message = "the names in the brackets are not those of the query's columns"
        raise ProgramError(message, hint=f"write {', '.join(columns)} in any order")
    schema = checked_schema([columns[name] for name in order], primary_key_of(elements), watermark_of(elements))
    table = CatalogTable(schema, statement.options, statement.partition_keys, statement.comment, user_location())
    check_partition_keys(table)
    return table


def _create_view(t_env: TableEnvironment, sql: str, statement: s.CreateView) -> None:
    view = _view(t_env, sql, statement)
    identifier = t_env._catalogs.qualify(statement.path)
    t_env._catalogs.create(identifier, view, temporary=statement.is_temporary, ignore_if_exists=statement.if_not_exists)


def _view(t_env: TableEnvironment, sql: str, statement: s.CreateView) -> CatalogView:
    plan = QueryBinder(sql, t_env._tables()).bind(statement.query)
    if statement.columns:
        if len(statement.columns) != len(plan.fields):
            message = f"the view names {len(statement.columns)} columns, but the query returns {len(plan.fields)}"
            raise problem(sql, statement.query, message, "name each column")
        plan = renamed(plan, list(statement.columns))
    current, options = t_env._catalogs.current, _view_options(statement)
    text = None if options else expanded(statement.query, t_env._tables())
    return CatalogView(statement.query_text, current, plan.schema, statement.comment, user_location(), options, text)


def _view_options(statement: s.CreateView | s.AlterView) -> dict[str, str]:
    return {} if statement.dialect == DEFAULT_DIALECT else {VIEW_DIALECT: statement.dialect}


def _create_function(t_env: TableEnvironment, sql: str, statement: s.CreateFunction) -> None:
    function, functions = loaded_function(statement), t_env._catalogs.functions
    if statement.is_system:
        functions.create_of_system(statement.path[-1], function, if_not_exists=statement.if_not_exists)
        return
    identifier = t_env._catalogs.qualify(statement.path)
    if statement.is_temporary or not t_env._catalogs.catalog(identifier.catalog_name).keeps_functions:
        functions.create(identifier, function, if_not_exists=statement.if_not_exists)
    else:
        definition = FunctionDefinition(statement.identifier, statement.language)
        t_env._catalogs.keep_function(identifier, definition, if_not_exists=statement.if_not_exists)


def _drop(t_env: TableEnvironment, sql: str, statement: s.Drop) -> None:
    catalogs = t_env._catalogs
    if statement.kind == "CATALOG":
        catalogs.drop_catalog(statement.path[-1], if_exists=statement.if_exists)
    elif statement.kind == "DATABASE":
        catalog, name = catalogs.qualify_database(statement.path)
        if (catalog, name) == catalogs.current:
            raise ProgramError(f"database `{name}` is the current one, so it cannot be dropped", hint="USE another one first")
        catalogs.catalog(catalog).drop_database(name, if_exists=statement.if_exists, cascade=statement.cascade)
    elif statement.kind in ("TABLE", "VIEW"):
        identifier = catalogs.qualify(statement.path)
        catalogs.drop(identifier, statement.kind, temporary=statement.is_temporary, if_exists=statement.if_exists)
    elif statement.kind == "MODEL":
        drop_model(t_env, statement)
    elif statement.kind == "FUNCTION" and statement.is_system:
        catalogs.functions.drop_of_system(statement.path[-1], if_exists=statement.if_exists)
    else:
        identifier = catalogs.qualify(statement.path)
        if statement.is_temporary or not catalogs.forget_function(identifier):
            catalogs.functions.drop(identifier, if_exists=statement.if_exists)


def _alter_table(t_env: TableEnvironment, sql: str, statement: s.AlterTable) -> None:
    catalogs = t_env._catalogs
    identifier = catalogs.qualify(statement.path)
    found = catalogs.get(identifier)
    if found is None and statement.if_exists:
        return
    catalogs.find_table(statement.path)
    assert found is not None  # noqa: S101 - find_table() has found it
    entry, temporary = found
    assert isinstance(entry, CatalogTable)  # noqa: S101 - as above
    if isinstance(statement.change, s.Rename):
        catalogs.rename(identifier, statement.change.path)
        return
    catalogs.replace(identifier, altered(entry, statement.change), temporary=temporary)


def _analyze(t_env: TableEnvironment, sql: str, statement: s.Analyze) -> None:
    if not is_batch(t_env._environment):
        hint = "run it in batch mode: SET 'execution.runtime-mode' = 'batch'"
        raise ProgramError("ANALYZE TABLE is not supported in streaming mode", hint=hint)
    analysis = analysis_of(sql, statement, t_env._catalogs)
    found = statistics_of(analysis, t_env._to_arrow(t_env.sql_query(analysis.query)._plan))
    table = analysis.table
    known = table.statistics
    merged = {partition: known[partition].updated(new) if partition in known else new for partition, new in found.items()}
    t_env._catalogs.replace(analysis.identifier, replace(table, statistics={**known, **merged}), temporary=False)


def _alter_view(t_env: TableEnvironment, sql: str, statement: s.AlterView) -> None:
    catalogs = t_env._catalogs
    identifier = catalogs.qualify(statement.path)
    found = catalogs.get(identifier)
    if found is None and statement.if_exists:
        return
    catalogs.find(statement.path)
    assert found is not None  # noqa: S101 - find() has found it
    entry, temporary = found
    if not isinstance(entry, CatalogView):
        raise ProgramError(f"{identifier.sql} is no view with a text", hint="name a view that CREATE VIEW made")
    if statement.rename is not None:
        catalogs.rename(identifier, statement.rename.path)
    elif statement.query is not None:
        tables = t_env._tables()
        schema = QueryBinder(sql, tables).bind(statement.query).schema
        text = None if _view_options(statement) else expanded(statement.query, tables)
        options = {key: value for key, value in entry.options.items() if key != VIEW_DIALECT} | _view_options(statement)
        changed = replace(entry, query=statement.query_text, current=catalogs.current, schema=schema, options=options, expanded=text)
        catalogs.replace(identifier, changed, temporary=temporary)


# Databases and catalogs


def _create_database(t_env: TableEnvironment, sql: str, statement: s.CreateDatabase) -> None:
    catalog, name = t_env._catalogs.qualify_database(statement.path)
    database = Database(statement.comment, statement.options)
    t_env._catalogs.catalog(catalog).create_database(name, database, ignore_if_exists=statement.if_not_exists)


def _alter_database(t_env: TableEnvironment, sql: str, statement: s.AlterDatabase) -> None:
    catalog, name = t_env._catalogs.qualify_database(statement.path)
    known = t_env._catalogs.database(catalog, name)
    assert isinstance(statement.change, s.SetOptions)  # noqa: S101 - the language has no other
    t_env._catalogs.catalog(catalog).alter_database(name, known.comment, {**known.options, **statement.change.options})


def _create_catalog(t_env: TableEnvironment, sql: str, statement: s.CreateCatalog) -> None:
    t_env._catalogs.create_catalog(statement.name, statement.options, statement.comment, ignore_if_exists=statement.if_not_exists)


def _use_database(t_env: TableEnvironment, sql: str, statement: s.Use) -> None:
    t_env._catalogs.use_database(*t_env._catalogs.qualify_database(statement.path))


# The session


def _set(t_env: TableEnvironment, sql: str, statement: s.Set) -> TableResult | None:
    if statement.key is None:
        rows = sorted(t_env.get_config().to_map().items())
        return rows_result(strings(["key", "value"], [(key, str(value)) for key, value in rows]))
    if statement.value is None:
        value = t_env.get_config().to_map().get(statement.key)
        return rows_result(strings(["key", "value"], [] if value is None else [(statement.key, str(value))]))
    t_env._set_option(statement.key, str(statement.value))
    return None


def _reset(t_env: TableEnvironment, sql: str, statement: s.Reset) -> None:
    t_env._reset_options(statement.key)


def _show(t_env: TableEnvironment, sql: str, statement: s.Show) -> TableResult:
    return rows_result(show(t_env._catalogs, statement, _times(t_env, statement.of) if statement.what == "COLUMNS" else {}))


def _describe(t_env: TableEnvironment, sql: str, statement: s.Describe) -> TableResult:
    return rows_result(describe(t_env._catalogs, statement, _times(t_env, statement.path) if statement.kind == "TABLE" else {}))


def _times(t_env: TableEnvironment, path: s.Path) -> dict[str, str]:
    """Return the columns of a table or view that have time attributes, ``ROWTIME`` and ``PROCTIME``."""
    in_batch = is_batch(t_env._environment)
    entry = t_env._catalogs.find(path)[1]
    if isinstance(entry, CatalogTable):  # it may have a connector that is not there
        return declared_times(entry.schema, in_batch=in_batch)
    return time_attributes(t_env._tables().relation(path).fields, in_batch=in_batch)


_HANDLERS: dict[type[s.Statement], Callable[[Any, str, Any], TableResult | None]] = {
    s.Query: _query,
    s.Insert: _insert,
    s.StatementSet: _statement_set,
    s.CompilePlan: _compile_plan,
    s.ExecutePlan: _execute_plan,
    s.Explain: _explain,
    s.CreateTable: _create_table,
    s.CreateView: _create_view,
    s.CreateFunction: _create_function,
    s.CreateModel: create_model,
    s.AlterModel: alter_model,
    s.Drop: _drop,
    s.AlterTable: _alter_table,
    s.AlterView: _alter_view,
    s.Analyze: _analyze,
    s.CreateDatabase: _create_database,
    s.AlterDatabase: _alter_database,
    s.CreateCatalog: _create_catalog,
    s.UseCatalog: lambda t_env, sql, statement: t_env._catalogs.use_catalog(statement.name),
    s.Use: _use_database,
    s.UseModules: lambda t_env, sql, statement: t_env._catalogs.modules.use(statement.names),
    s.LoadModule: lambda t_env, sql, statement: t_env._catalogs.modules.load(statement.name, statement.options),
    s.UnloadModule: lambda t_env, sql, statement: t_env._catalogs.modules.unload(statement.name),
    s.Set: _set,
    s.Reset: _reset,
    s.Show: _show,
    s.Describe: _describe,
}


def insertion_into(t_env: TableEnvironment, plan: Relation, path: str) -> Insertion:
    """Return the insertion of a plan's rows into the table of a path."""
    identifier, table = t_env._catalogs.find_table(path)
    return insertion_of(identifier, table, plan)
