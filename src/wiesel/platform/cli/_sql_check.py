"""Internal. ``wiesel sql check``: validation and formatting of scripts."""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from wiesel.core.errors import ProgramError, SqlParseError, WieselError
from wiesel.platform.cli.sql_session import placed
from wiesel.sql.catalog.catalogs import MemoryCatalog
from wiesel.sql.catalog.sqlite_catalog import SqliteCatalog
from wiesel.sql.language import statements as s
from wiesel.sql.language.formatting import format_script
from wiesel.sql.language.parser import check_script
from wiesel.table import EnvironmentSettings, TableEnvironment
from wiesel.table.statements.runner import define_table, run_statement

__all__ = ["check", "lay_out", "problems_of"]


def check(paths: Sequence[str], init: Sequence[str], *, names: bool, batch: bool = False, as_json: bool = False) -> int:
    """Print the errors of the statements of scripts; return 1 if there is any.

    Args:
        paths: The scripts, ``-`` for the standard input.
        init: Scripts that create tables for the others.
        names: Resolve names and types as well.
        batch: Validate for batch mode.
        as_json: Print JSON: by script, the number of statements and the problems.
    """
    failed, found = False, []
    before = [Path(path).read_text(encoding="utf-8") for path in init]
    for path in paths:
        text = _text_of(path)
        count, problems = problems_of(text, before, names=names, batch=batch)
        failed = failed or bool(problems)
        if as_json:
            told = [{"message": p.message, "hint": p.hint, **{k: p.details.get(k) for k in ("line", "column")}} for p in problems]
            found.append({"script": path, "statements": count, "problems": told})
            continue
        for problem in problems:
            click.echo(f"{path}: {problem}", err=True)
        click.echo(f"{path}: {count} statement{'s' * (count != 1)}, {f'{len(problems)} wrong' if problems else 'all read'}")
    if as_json:
        click.echo(json.dumps(found, indent=2))
    return 1 if failed else 0


def problems_of(text: str, before: Sequence[str] = (), *, names: bool = True, batch: bool = False) -> tuple[int, list[WieselError]]:
    """Return the number of statements of a script and its errors, ordered by position.

    Args:
        text: The script.
        before: Scripts that run before it in the same session.
        names: Resolve names and types as well.
        batch: Validate for batch mode.

    Raises:
        WieselError: If a script of ``before`` has an error.
    """
    if not names:
        statements, errors = check_script(text)
        return len(statements) + len(errors), list(errors)
    session = _Session(batch)
    for each in before:
        for problem in session.problems(each, check_script(each, session.options())[0]):
            raise problem
    statements, errors = check_script(text, session.options())
    problems: list[WieselError] = [*errors, *session.problems(text, statements)]
    problems.sort(key=lambda error: (error.details.get("line", 0), error.details.get("column", 0)))
    return len(statements) + len(errors), problems


class _Session:
    """Session that applies statements to the catalogs only: no job runs, and catalogs are in memory."""

    def __init__(self, batch: bool) -> None:
        settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
        self._t_env = TableEnvironment.create(settings)
        self._in_set = False

    def options(self) -> dict[str, str]:
        """Return the parser's options for the next script."""
        return self._t_env._script_options()

    def problems(self, text: str, statements: Sequence[s.Statement]) -> list[WieselError]:
        found: list[WieselError] = []
        for statement in statements:
            try:
                self._check(text, statement)
            except WieselError as error:
                found.append(placed(text, statement, error))
        if self._in_set:
            self._in_set = False
            begun = [statement for statement in statements if isinstance(statement, s.BeginStatementSet)]
            found.append(placed(text, begun[-1], ProgramError("BEGIN STATEMENT SET has no END", hint="write END; behind the inserts")))
        return found

    def _check(self, text: str, statement: s.Statement) -> None:
        if isinstance(statement, s.BeginStatementSet):
            self._in_set = True
        elif isinstance(statement, s.EndStatementSet):
            if not self._in_set:
                raise ProgramError("there is no statement set to end", hint="write BEGIN STATEMENT SET; before the inserts")
            self._in_set = False
        elif self._in_set and not isinstance(statement, s.Insert):
            raise ProgramError("between BEGIN STATEMENT SET and END stand inserts only", hint="write END; first")
        elif isinstance(statement, s.Explain):
            self._t_env._explain_statement(text, statement.statement, ())
        elif isinstance(statement, s.Query | s.Insert | s.StatementSet | s.CompilePlan):
            self._t_env._check_statement(text, statement)
        elif isinstance(statement, s.ExecutePlan):
            pass  # # The file may not be written yet.
        elif isinstance(statement, s.CreateTable):
            define_table(self._t_env, text, statement)
        elif isinstance(statement, s.CreateCatalog) and statement.options.get("type") in ("sqlite", "spark"):
            if not (statement.if_not_exists and self._t_env._catalogs.has_catalog(statement.name)):
                self._t_env._catalogs.add_catalog(statement.name, _stand_in(statement.options))
        else:
            run_statement(self._t_env, text, statement)


def _stand_in(options: Mapping[str, str]) -> MemoryCatalog:
    """Return an in-memory copy of a file catalog; empty if the file does not exist or is no catalog."""
    stand_in = MemoryCatalog(options.get("default-database", "default"), options)
    path = options.get("path")
    if options["type"] == "sqlite" and (not path or Path(path).is_file()):
        for name, database in SqliteCatalog(options).databases.items():
            stand_in.create_database(name, database, ignore_if_exists=True)
            for entry in database.entries:
                stand_in.put(name, entry, database.entries[entry])
    return stand_in


def lay_out(paths: Sequence[str], *, diff: bool) -> int:
    """Format the scripts. With ``diff``, print the changes without writing, and return 1 if there are any.

    The standard input (``-``) is written to the standard output. A script with syntax errors is left unchanged, and 1 is returned.
    """
    failed = False
    for path in paths:
        text = _text_of(path)
        try:
            formatted = format_script(text)
        except SqlParseError as error:
            click.echo(f"{path}: {error}", err=True)
            failed = True
            continue
        if diff:
            lines = difflib.unified_diff(text.splitlines(True), formatted.splitlines(True), path, f"{path} (formatted)")
            click.echo("".join(lines), nl=False)
            failed = failed or formatted != text
        elif path == "-":
            click.echo(formatted, nl=False)
        elif formatted != text:
            Path(path).write_text(formatted, encoding="utf-8")
            click.echo(f"{path}: formatted")
    return 1 if failed else 0


def _text_of(path: str) -> str:
    return sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
