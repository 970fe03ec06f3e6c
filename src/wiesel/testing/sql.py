"""SQL tests in YAML files: rows of tables, statements, and their expected results.

:func:`sql_tests` reads a file; ``wiesel sql test`` runs such files, and so does pytest::

    @pytest.mark.parametrize("test", sql_tests("tests/flights.yaml"), ids=str)
    def test_flights(test: SqlTest) -> None:
        test.run()

The form of the files is described in ``docs/testing.md``.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from wiesel.core.config import Configuration
from wiesel.core.errors import ProgramError, WieselError
from wiesel.spi.table.catalog import CatalogTable, ObjectIdentifier
from wiesel.spi.table.schema import Column, ComputedColumn, MetadataColumn, PhysicalColumn, ResolvedSchema
from wiesel.sql.dml.insert import Insertion
from wiesel.sql.language import statements as s
from wiesel.sql.language.errors import parse_error
from wiesel.sql.language.parser import parse_script
from wiesel.table import TableEnvironment, TableResult
from wiesel.table.statements.runner import define_table, run_statement
from wiesel.testing._sql_files import Expected, TestCase, read_cases
from wiesel.testing._sql_rows import Change, difference, final_rows, row_strings, write_changes, write_rows
from wiesel.types.logical import DataType, RowField, RowType

__all__ = ["SqlTest", "sql_tests"]


def sql_tests(path: str | Path) -> list[SqlTest]:
    """Return the tests of a file, each once per mode and parallelism.

    Args:
        path: A file of YAML.

    Raises:
        ProgramError: If it cannot be read, or is not of the form described in docs/testing.md; with the location.
    """
    return [
        SqlTest(case, mode, parallelism)
        for case in read_cases(Path(path))
        for mode in (("streaming",) if case.expected.changelog is not None else case.modes)
        for parallelism in case.parallelism
    ]


@dataclass(frozen=True)
class SqlTest:
    """A test; :meth:`run` raises an AssertionError that shows the difference if it fails."""

    case: TestCase
    mode: str
    parallelism: int

    def __str__(self) -> str:
        return f"{self.case.name} ({self.mode}, parallelism {self.parallelism})"

    def run(self) -> None:
        """Run the statements on the local engine, in a separate session.

        Raises:
            AssertionError: If the results differ from the expected ones.
            ProgramError: If given or expected rows do not match their tables.
            WieselError: Of a statement that fails unexpectedly.
        """
        with tempfile.TemporaryDirectory(prefix="wiesel-sql-test-") as directory:
            session = _Session(self, Path(directory))
            error = self.case.expected.error
            if error is None:
                session.run()
                session.check(self.case.expected)
                return
            try:
                session.run()
            except WieselError as raised:
                if error not in str(raised):
                    raise AssertionError(f"another error came than one with {error!r}: {raised}") from raised
                return
            raise AssertionError(f"no error came, but one with {error!r} was expected")


class _Session:
    """Runs statements: given tables are read from files, and rows written to tables are collected."""

    def __init__(self, test: SqlTest, directory: Path) -> None:
        config = Configuration().set("wiesel.engine", "local").set("execution.runtime-mode", test.mode.upper())
        config.set("parallelism.default", str(test.parallelism)).set("table.local-time-zone", "UTC")
        for key, value in test.case.options.items():
            config.set(key, value)
        self._case = test.case
        self._directory = directory
        self._t_env = TableEnvironment.create(config)
        self._given: set[str] = set()
        self._result: tuple[list[Change], ResolvedSchema] | None = None
        self._written: dict[str, tuple[list[Change], CatalogTable]] = {}

    def run(self) -> None:
        for name, table in self._case.given.items():
            if table.schema is not None:
                text = f"CREATE TABLE {name} ({table.schema}) WITH ('connector' = 'filesystem')"
                self._run_script(f"tables.{name}.schema", text)
        for name, text in self._case.scripts:
            self._run_script(name, text)
        unused = sorted(set(self._case.given) - self._given)
        if unused:
            raise ProgramError(f"no statement makes the table {unused[0]!r} that rows are given for", hint="give it a 'schema'")

    def _run_script(self, name: str, text: str) -> None:
        for statement in parse_script(text, self._t_env._script_options()):
            try:
                self._run(text, statement)
            except ProgramError as error:
                if "line" in error.details:
                    raise type(error)(f"{name}: {error.message}", hint=error.hint, **error.details) from error
                placed = parse_error(text, (statement.span.start, statement.span.start + 1), error.message, hint=error.hint)
                raise ProgramError(f"{name}: {placed.message}", hint=placed.hint) from error

    def _run(self, text: str, statement: s.Statement) -> None:
        if isinstance(statement, s.CreateTable):
            insertion = define_table(self._t_env, text, statement)
            self._give(self._t_env._catalogs.qualify(statement.path), temporary=statement.is_temporary)
            if insertion is not None:
                self._write(insertion)
        elif isinstance(statement, s.Insert | s.StatementSet):
            for insertion in self._t_env._insertions_of(text, statement):
                self._write(insertion)
        elif isinstance(statement, s.CompilePlan | s.ExecutePlan):
            raise ProgramError("tests run no compiled plans", hint="test the INSERT that is compiled")
        elif isinstance(statement, s.Query):
            result = run_statement(self._t_env, text, statement)
            self._result = _changes(result), result.get_resolved_schema()
        elif not isinstance(statement, s.BeginStatementSet | s.EndStatementSet):
            run_statement(self._t_env, text, statement)

    def _give(self, identifier: ObjectIdentifier, *, temporary: bool) -> None:
        """Let a table be read from its given rows, if there are any."""
        given = self._case.given.get(identifier.object_name)
        found = self._t_env._catalogs.get(identifier)
        if given is None or found is None or not isinstance(found[0], CatalogTable):
            return
        self._given.add(identifier.object_name)
        table = found[0]
        columns = tuple(_stored(column) for column in table.schema.columns)
        names = [column.name for column in columns if not isinstance(column, ComputedColumn)]
        path = self._directory / f"{len(self._given)}-{len(list(self._directory.iterdir()))}"
        at = f"table {identifier.object_name!r}"
        if given.changes is None:
            write_rows(path, given.rows, names, at)
        else:
            write_changes(path, given.changes, names, at)
        options = {
            "connector": "filesystem",
            "path": str(path),
            "format": "json" if given.changes is None else "debezium-json",
            "scan.parallelism": "1",
        }
        changed = replace(table, schema=replace(table.schema, columns=columns), options=options, partition_keys=())
        self._t_env._catalogs.replace(identifier, changed, temporary=temporary)

    def _write(self, insertion: Insertion) -> None:
        """Collect the rows of an insert."""
        name = insertion.identifier.object_name
        changes = _changes(self._t_env._start_query(insertion.relation))
        before = self._written.get(name, ([], insertion.table))[0]
        self._written[name] = [*before, *changes], insertion.table

    # Results

    def check(self, expected: Expected) -> None:
        if expected.rows is not None or expected.changelog is not None:
            if self._result is None:
                raise ProgramError("rows are expected, but there is no query", hint="add a 'query', or expect rows of 'tables'")
            changes, schema = self._result
            self._compare("the query", changes, schema, expected, None)
        for name, each in expected.tables.items():
            if name not in self._written:
                shown = ", ".join(sorted(self._written)) or "none"
                raise ProgramError(f"nothing is written to table {name!r}", hint=f"the tables that inserts write to are: {shown}")
            changes, table = self._written[name]
            key = table.schema.primary_key
            stored = _stored_schema(table)
            places = None if key is None else [stored.physical_row_type.names.index(column) for column in key.columns]
            self._compare(f"table {name!r}", changes, stored, each, places)

    def _compare(self, what: str, changes: list[Change], schema: ResolvedSchema, expected: Expected, key: list[int] | None) -> None:
        columns = RowType([RowField(field.name, field.data_type.nullable()) for field in schema.physical_row_type], nullable=False)
        zone = self._t_env.get_config().get_local_timezone()
        problems = []
        if expected.rows is not None:
            rows = row_strings(expected.rows, columns, zone, f"the rows expected of {what}")
            problems.append(difference(final_rows(changes, key), rows, ordered=expected.ordered))
        if expected.changelog is not None:
            at = f"the changelog expected of {what}"
            kinds = [kind for kind, _ in expected.changelog]
            rows = row_strings([row for _, row in expected.changelog], columns, zone, at)
            pairs = [(kind, *row) for kind, row in zip(kinds, rows, strict=True)]
            problems.append(difference([(kind, *row) for kind, row in changes], pairs, ordered=True))
        found = [problem for problem in problems if problem is not None]
        if found:
            raise AssertionError("\n".join([f"{what} returned other rows than expected", *found]))


def _stored(column: Column) -> Column:
    """Return a column as a physical one of files: given rows include metadata columns."""
    if not isinstance(column, MetadataColumn):
        return column
    assert isinstance(column.data_type, DataType)  # noqa: S101 - schemas of catalogs are resolved
    return PhysicalColumn(column.name, column.data_type, column.comment)


def _stored_schema(table: CatalogTable) -> ResolvedSchema:
    written = [
        _stored(column)
        for column in table.schema.columns
        if not isinstance(column, ComputedColumn) and not (isinstance(column, MetadataColumn) and column.is_virtual)
    ]
    return ResolvedSchema(tuple(written))


def _changes(result: TableResult) -> list[Change]:
    return [(kind, tuple(row)) for kind, *row in result.text_rows()]
