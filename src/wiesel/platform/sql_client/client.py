"""Internal. Main loop of the client: read, run and print statements until QUIT."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.filters import completion_is_selected
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.shortcuts import clear

from wiesel.core import hooks
from wiesel.core.errors import WieselError
from wiesel.core.options import SQL_MOST_ROWS, SQL_RESULT_MODE
from wiesel.platform.cli.sql_session import SqlSession
from wiesel.platform.sql_client.completion import SqlCompleter
from wiesel.platform.sql_client.live_result import LiveResult
from wiesel.platform.sql_client.result_rows import ChangeRows, ResultRows, TableRows
from wiesel.platform.sql_client.result_view import Shown, show_result
from wiesel.platform.sql_client.typed import Command, command_of, is_complete
from wiesel.sql.session.tableau import widths_by_type
from wiesel.table import SqlDialect, TableResult

__all__ = ["HISTORY", "SqlClient", "help_lines"]

HISTORY = Path("~/.wiesel-sql-history")
_PROMPT = "Wiesel SQL> "
_CHANGES = 1000
"""Number of changes in the scrollback, as in Flink."""

_HELP = "A statement ends with a semicolon and may have several lines. Tab completes, the arrow keys recall earlier statements."
_HELP_OF = {
    "HELP": "Shows this.",
    "QUIT or EXIT": "Cancels the running jobs of this session and leaves; so does Ctrl-D.",
    "CLEAR": "Clears the screen.",
    "SOURCE 'file.sql'": "Runs the statements of a file.",
    "SET 'key' = 'value'": "Sets an option of the session; SET alone shows all that are set.",
    "RESET 'key'": "Gives an option its default back; RESET alone all of them.",
    "SELECT ...": "Shows the result by 'sql-client.execution.result-mode': TABLE, CHANGELOG or TABLEAU. Q or Ctrl-C leaves it.",
    "INSERT INTO ...": "Starts a job that goes on while you type; with 'table.dml-sync' = 'true' waits for its end.",
    "BEGIN STATEMENT SET": "Collects inserts up to END, which become one job.",
    "EXPLAIN ...": "Shows the plan of a query or INSERT.",
    "SHOW ..., DESCRIBE": "Shows objects: SHOW TABLES, SHOW CREATE TABLE t, DESCRIBE t, ...",
    "SHOW JOBS": "Shows the running jobs of this user on this machine, also those of other programs.",
    "STOP JOB 'id'": "Cancels a running job; WITH SAVEPOINT [WITH DRAIN] ends it with a savepoint [and fires all timers before].",
}
_HELP_INDENT = 22
_NARROWEST = 60


def help_lines(width: int) -> Iterator[str]:
    """Yield the lines of HELP, wrapped at words for a terminal of ``width`` columns."""
    width = max(width, _NARROWEST)
    yield from textwrap.wrap(_HELP, width)
    yield ""
    for command, meaning in _HELP_OF.items():
        first = command.ljust(_HELP_INDENT)
        yield from textwrap.wrap(meaning, width, initial_indent=first, subsequent_indent=" " * _HELP_INDENT, break_on_hyphens=False)


class SqlClient:
    """The interactive client in a terminal.

    Args:
        session: Runs the statements.
        write: Writes a line.
        history: File of the input history.
    """

    def __init__(self, session: SqlSession, write: Callable[[str], None], history: Path = HISTORY) -> None:
        self._session = session
        self._write = write
        session.show_query = self._show_query
        self._prompt: PromptSession[str] = PromptSession(
            completer=SqlCompleter(session.t_env._catalogs),
            history=FileHistory(str(history.expanduser())),
            auto_suggest=AutoSuggestFromHistory(),
            multiline=True,
            prompt_continuation=lambda width, line, wrapped: "> ".rjust(width),
            key_bindings=_keys(self._reads_hive),
            complete_while_typing=False,
        )

    def run(self) -> int:
        """Run statements until the user leaves; return 0."""
        hooks.tell_of_jobs(lambda lines: None)  # lines of theirs would go into the shown results
        self._write("Wiesel SQL. Type HELP; for help, QUIT; to exit.")
        while True:
            try:
                text = self._prompt.prompt(_PROMPT)
            except KeyboardInterrupt:
                continue
            except EOFError:
                text = "QUIT"
            command = command_of(text)
            if command is not None and command.name == "QUIT":
                break
            self._run(text, command)
        if self._session.running_jobs:
            self._write(f"[INFO] cancelling {self._session.running_jobs} running job(s)")
        self._session.cancel()
        return 0

    def _run(self, text: str, command: Command | None) -> None:
        try:
            if command is None:
                self._session.run(text)
            elif command.name == "HELP":
                self._write("\n".join(help_lines(shutil.get_terminal_size().columns)) + "\n")
            elif command.name == "CLEAR":
                clear()
            else:
                self._session.run(Path(command.argument).expanduser().read_text(encoding="utf-8"))
        except WieselError as error:
            self._write(f"[ERROR] {error}\n")
        except (OSError, UnicodeDecodeError) as error:
            self._write(f"[ERROR] {command.argument if command else ''}: {error}\n")
        except KeyboardInterrupt:
            self._write("[INFO] cancelled\n")

    def _show_query(self, result: TableResult) -> None:
        mode = str(self._option(SQL_RESULT_MODE)).upper()
        if mode == "TABLEAU":
            self._session.write_lines(result)
            return
        schema = result.get_resolved_schema()
        names = [column.name for column in schema.columns]
        most = int(self._session.t_env.get_config().get("table.display.max-column-width", "30"))
        widths = widths_by_type(names, schema.physical_row_type.field_types(), most)
        rows: ResultRows
        if mode == "CHANGELOG":
            rows, names, widths = ChangeRows(_CHANGES), ["op", *names], [2, *widths]
        else:
            rows = TableRows(int(str(self._option(SQL_MOST_ROWS))))
        live = LiveResult(result, rows)
        show_result(live, Shown("Table" if mode == "TABLE" else "Changelog", names, widths))
        if live.error is not None:
            raise live.error
        self._write(f"[INFO] {'the query has ended' if live.had_ended else 'the query was cancelled'}; {live.taken} rows came\n")

    def _reads_hive(self) -> bool:
        return self._session.t_env.get_config().get_sql_dialect() == SqlDialect.HIVE

    def _option(self, option: object) -> object:
        return self._session.t_env.get_config().get_configuration().get(option)  # type: ignore[call-overload]


def _keys(reads_hive: Callable[[], bool]) -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter", filter=~completion_is_selected)
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if is_complete(buffer.text, hive=reads_hive()):
            buffer.validate_and_handle()
        else:
            buffer.newline()

    return keys
