"""Internal. ``wiesel sql``: execution of SQL scripts, and reports of errors in them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from wiesel.core.config import Configuration
from wiesel.core.errors import WieselError
from wiesel.core.options import RUNTIME_MODE
from wiesel.platform.cli._warm_up import warm_up_in_background
from wiesel.platform.cli.sql_session import SqlSession
from wiesel.table import EnvironmentSettings, TableEnvironment

__all__ = ["SqlSources", "converse", "run"]

EXIT_FAILED = 1
EXIT_INTERRUPTED = 130


@dataclass(frozen=True)
class SqlSources:
    """Statements to run: first those of the files, then those of the strings. ``-`` is the standard input."""

    files: tuple[str, ...] = ()
    strings: tuple[str, ...] = ()

    def scripts(self) -> list[tuple[str, str]]:
        """Return names and strings."""
        found = [(path, _text_of(path)) for path in self.files]
        return [*found, *(("-e", text) for text in self.strings)]


def _text_of(path: str) -> str:
    return sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")


def new_session(options: dict[str, str], *, batch: bool, explain_only: bool = False) -> SqlSession:
    """Return a session with these options."""
    configuration = Configuration.from_dict(options)
    if batch:
        configuration.set(RUNTIME_MODE, "BATCH")
    if not explain_only:
        warm_up_in_background(configuration)
    settings = EnvironmentSettings.new_instance().with_configuration(configuration).build()
    return SqlSession(TableEnvironment.create(settings), _write, explain_only=explain_only)


def _write(line: str) -> None:
    click.echo(line)


def converse(options: dict[str, str], init: Sequence[str], history: str | None, *, batch: bool, explain_only: bool) -> int:
    """Run statements from the terminal until the user leaves; return 0, or 1 if a script of ``init`` fails."""
    from wiesel.platform.sql_client.client import HISTORY, SqlClient

    try:
        session = new_session(options, batch=batch, explain_only=explain_only)
        run_init(session, init)
    except WieselError as error:
        click.echo(str(error), err=True)
        return EXIT_FAILED
    return SqlClient(session, _write, HISTORY if history is None else Path(history)).run()


def run_init(session: SqlSession, paths: Sequence[str]) -> None:
    """Run the initialization scripts of a session.

    Raises:
        WieselError: If one fails, or has a query or an insert.
    """
    for path in paths:
        try:
            session.run_init(_text_of(path))
        except WieselError as error:
            raise type(error)(f"{path}: {error.message}", hint=error.hint, **error.details) from error


def run(sources: SqlSources, options: dict[str, str], init: Sequence[str] = (), *, batch: bool, explain_only: bool) -> int:
    """Run scripts in one session. Return 0, 1 after the first statement that fails, or 130 if the user interrupted."""
    try:
        session = new_session(options, batch=batch, explain_only=explain_only)
        run_init(session, init)
    except WieselError as error:
        click.echo(str(error), err=True)
        return EXIT_FAILED
    try:
        return _run_all(session, sources)
    except KeyboardInterrupt:
        session.cancel()
        click.echo("interrupted", err=True)
        return EXIT_INTERRUPTED


def _run_all(session: SqlSession, sources: SqlSources) -> int:
    at = ""
    try:
        for name, text in sources.scripts():
            at = name
            session.run(text)
        session.finish()
    except WieselError as error:
        click.echo(f"{at}: {error}", err=True)
        if cancelled := session.cancel():
            click.echo(f"{cancelled} running job(s) of inserts before it cancelled; SET 'table.dml-sync' = 'true' waits for each", err=True)
        return EXIT_FAILED
    return 0
