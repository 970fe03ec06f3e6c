"""The interactive client of SQL: what is typed, what is offered, and the real command in a terminal."""

from __future__ import annotations

import os
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pexpect
import pyte
import pytest

from wiesel.common import Configuration
from wiesel.platform.sql_client.client import help_lines
from wiesel.platform.sql_client.completion import suggestions
from wiesel.platform.sql_client.result_rows import ChangeRows, TableRows
from wiesel.platform.sql_client.typed import Command, command_of, is_complete
from wiesel.table import TableEnvironment

pytestmark = pytest.mark.slow

LIMIT_S = 150
PROMPT = "Wiesel SQL>"
SRC = Path(__file__).parents[3] / "src"
ROWS = "'connector' = 'datagen', 'number-of-rows' = '3', 'fields.a.kind' = 'sequence', 'fields.a.start' = '1', 'fields.a.end' = '3'"
TABLE = f"CREATE TABLE numbers (a BIGINT, b AS a * 10) WITH ({ROWS});"
# Few rows a second: all that was printed is looked through again and again.
ENDLESS = (
    "CREATE TABLE endless (n INT) WITH ('connector' = 'datagen', 'rows-per-second' = '100', 'fields.n.min' = '7', 'fields.n.max' = '7');"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", True),
        ("SELECT 1", False),
        ("SELECT 1;", True),
        ("SELECT ';'", False),
        ("SELECT 'it''s;", False),
        ("SELECT 1 -- a comment;", False),
        ("SELECT 1; -- behind it", True),
        ("SELECT 1 /* open;", False),
        ("SELECT `a;b` FROM t", False),
        ("EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1;", False),
        ("EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; END;", True),
        ("USE x; EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1;", False),
        ("EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; END; SELECT 1;", True),
        ("BEGIN STATEMENT SET;", True),
        ("quit", True),
        ("source a.sql", True),
    ],
)
def test_enter_runs_whole_statements_only(text: str, expected: bool) -> None:
    assert is_complete(text) is expected


def test_commands() -> None:
    assert command_of("Exit;") == Command("QUIT")
    assert command_of(" help ; ") == Command("HELP")
    assert command_of("SOURCE 'my file.sql';") == Command("SOURCE", "my file.sql")
    assert command_of("SET 'a' = 'b';") is None
    assert command_of("SELECT help;") is None


@pytest.fixture(scope="module")
def t_env() -> TableEnvironment:
    t_env = TableEnvironment.create(Configuration().set("wiesel.engine", "local"))
    t_env.execute_sql(TABLE)
    t_env.execute_sql("CREATE VIEW doubled AS SELECT a, b AS twice FROM numbers")
    t_env.execute_sql("CREATE CATALOG other WITH ('type' = 'generic_in_memory')")
    t_env.execute_sql("CREATE DATABASE sales")
    t_env.execute_sql("CREATE TABLE sales.orders (id INT, `the price` INT) WITH ('connector' = 'blackhole')")
    return t_env


@pytest.mark.parametrize(
    ("before", "after", "offered"),
    [
        ("sel", "", ["SELECT"]),
        ("hel", "", ["HELP"]),
        ("SELECT * FROM ", "", ["doubled", "numbers", "sales", "other"]),
        ("SELECT * FROM num", "", ["numbers"]),
        ("SELECT * FROM sales.", "", ["orders"]),
        ("SELECT * FROM default_catalog.", "", ["default_database", "sales"]),
        ("SELECT * FROM default_catalog.sales.o", "", ["orders"]),
        ("SELECT ", " FROM doubled", ["a", "twice"]),
        ("SELECT tw", " FROM doubled", ["twice"]),
        ("SELECT o.", " FROM sales.orders AS o", ["id", "`the price`"]),
        ("SELECT numbers.", " FROM numbers", ["a", "b"]),
        ("SELECT a FROM numbers WHERE char_l", "", ["CHAR_LENGTH("]),
        ("SELECT a FROM numbers GRO", "", ["GROUP BY"]),
        ("SELECT ", "", ["a", "b", "twice"]),
        ("SELECT tw", "", ["twice"]),
        ("SELECT a FROM numbers GROUP B", "", ["BY"]),
        ("SELECT a FROM numbers ORDER ", "", ["BY"]),
        ("SELECT a FROM numbers WHERE a IS NOT ", "", ["NULL"]),
        ("INSERT I", "", ["INTO"]),
        ("CREATE TEMPORARY ", "", ["TABLE", "VIEW", "FUNCTION"]),
        ("SHOW JO", "", ["JOBS"]),
        ("SHOW USER ", "", ["FUNCTIONS"]),
        ("STOP ", "", ["JOB"]),
        ("DROP VIEW dou", "", ["doubled"]),
        ("DESCRIBE num", "", ["numbers"]),
        ("USE CATALOG o", "", ["other"]),
        ("USE sa", "", ["sales"]),
        ("SHOW CURRENT D", "", []),
        ("SHOW TAB", "", ["TABLES"]),
        ("SET 'sql-client.execution.r", "", ["sql-client.execution.result-mode"]),
        ("CREATE TABLE x (a BIGI", "", ["BIGINT"]),
        ("SELECT 1; SELECT * FROM nu", "", ["numbers"]),
    ],
)
def test_what_is_offered(t_env: TableEnvironment, before: str, after: str, offered: list[str]) -> None:
    found = [each.text for each in suggestions(t_env._catalogs, before, after)]
    assert set(offered) <= set(found)
    typed = re.search(r"[^']+$" if "'" in before else r"[\w`]*$", before)
    assert typed is not None
    assert all(text.strip("`").upper().startswith(typed[0].strip("`").upper()) for text in found)


@pytest.mark.parametrize("width", [60, 80, 200])
def test_help_is_wrapped_at_words(width: int) -> None:
    lines = list(help_lines(width))
    assert all(len(line) <= width for line in lines)
    words = " ".join(lines).split()
    assert "'sql-client.execution.result-mode':" in words and "STOP JOB 'id'" in " ".join(words)
    assert words == " ".join(help_lines(1000)).split()


def test_nothing_is_offered_inside_of_texts(t_env: TableEnvironment) -> None:
    assert suggestions(t_env._catalogs, "SELECT 'nu") == []


def test_table_rows_are_what_changes_come_to() -> None:
    seed = random.randrange(2**32)
    print("seed", seed)
    chance = random.Random(seed)
    rows, expected = TableRows(10_000), Counter[tuple[str, ...]]()
    for _ in range(5_000):
        row = (str(chance.randrange(30)),)
        if expected[row] and chance.random() < 0.6:
            rows.add(chance.choice(["-U", "-D"]), row)
            expected[row] -= 1
        else:
            rows.add(chance.choice(["+I", "+U"]), row)
            expected[row] += 1
    assert Counter(rows.page(0, len(rows))) == +expected
    assert len(rows) == expected.total()


def test_old_rows_are_forgotten() -> None:
    table, changes = TableRows(2), ChangeRows(2)
    for kind, value in (("+I", "a"), ("+I", "b"), ("+I", "c"), ("-D", "a"), ("-D", "b")):
        table.add(kind, (value,))
        changes.add(kind, (value,))
    assert list(table.page(0, 9)) == [("c",)]
    assert list(changes.page(0, 9)) == [("-D", "a"), ("-D", "b")]


# In a terminal


class Terminal:
    """A terminal of 30 lines in which the command runs."""

    def __init__(self, directory: Path, *arguments: str) -> None:
        command = ["-c", "from wiesel.platform.cli import main; main()", "sql", "-D", "wiesel.engine=local", "-p", "1"]
        environ = {**os.environ, "PYTHONPATH": str(SRC), "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}
        # History: what has scrolled off the screen can still be read.
        self._screen = pyte.HistoryScreen(160, 30, history=20_000)
        self._stream = pyte.Stream(self._screen)
        self._said = 0
        self._prompts = 0
        self.child = pexpect.spawn(
            sys.executable,
            [*command, "--history", str(directory / "history"), *arguments],
            env=environ,
            encoding="utf-8",
            timeout=LIMIT_S,
            dimensions=(30, 160),
            cwd=str(directory),
        )

    def _read(self) -> bool:
        """Take what was written, and return whether there may be more."""
        try:
            self._stream.feed(self.child.read_nonblocking(65_536, timeout=0.1))
        except pexpect.TIMEOUT:
            pass
        except pexpect.EOF:
            return False
        return True

    @property
    def screen(self) -> str:
        return "\n".join(line.rstrip() for line in self._screen.display).rstrip()

    @property
    def text(self) -> str:
        """All lines, those that have scrolled off the screen too."""
        above = ["".join(line[x].data for x in range(160)).rstrip() for line in self._screen.history.top]
        return "\n".join([*above, self.screen])

    def wait(self, pattern: str) -> str:
        """Wait until a text is on the screen, and return all of it."""
        found = re.compile(pattern, re.DOTALL)
        return self._wait(lambda: self.screen, lambda shown: found.search(shown) is not None, repr(pattern))

    def _wait(self, show: Callable[[], str], holds: Callable[[str], bool], what: str) -> str:
        deadline_s = time.monotonic() + LIMIT_S
        goes_on = True
        while not holds(shown := show()):
            assert goes_on and time.monotonic() < deadline_s, f"no {what} in:\n{self.text}"
            goes_on = self._read()
        return shown

    def type(self, *lines: str) -> None:
        for line in lines:
            self.child.send(line + "\r")

    def prompt(self) -> str:
        """Wait for the next prompt; returns what was shown since the one before."""
        said = self._said
        self._prompts += 1
        shown = self._wait(lambda: self.text, lambda text: text.endswith(PROMPT) and text.count(PROMPT) >= self._prompts, "further prompt")
        self._said = len(shown)
        return shown[said:]

    def ask(self, *lines: str) -> str:
        """Type lines and return what is shown up to the next prompt."""
        self.type(*lines)
        return self.prompt()

    def leave(self) -> str:
        """Leave, and return what is shown last."""
        self.type("QUIT;")
        return self.end(0)

    def end(self, code: int) -> str:
        """Wait for the end of the command, and return what is shown last."""
        while self._read():
            pass
        # The terminal is closed a moment before the process has ended, and who closes it too soon kills it.
        self.child.wait()
        self.child.close()
        assert self.child.exitstatus == code, self.text
        return self.screen


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    (tmp_path / "init.sql").write_text(f"{TABLE}\n{ENDLESS}\nSET 'sql-client.execution.result-mode' = 'tableau';\n")
    opened = Terminal(tmp_path, "-i", "init.sql")
    opened.prompt()
    yield opened
    opened.child.close(force=True)


def test_statements_of_several_lines_and_commands(terminal: Terminal, tmp_path: Path) -> None:
    shown = terminal.ask("SELECT a,", "  b", "FROM numbers;")
    assert "| +I |                    3 |                   30 |" in shown and "3 rows in set" in shown
    (tmp_path / "more.sql").write_text("CREATE VIEW v AS SELECT 5 AS five;\nSELECT five FROM v;\n")
    assert "|           5 |" in terminal.ask("SOURCE 'more.sql';")
    assert "nowhere.sql" in terminal.ask("SOURCE nowhere.sql")
    assert "SOURCE 'file.sql'" in terminal.ask("help")
    assert "sql-client.execution.result-mode" in terminal.ask("SET;")
    assert "OK" in terminal.ask("RESET 'sql-client.execution.result-mode';")
    assert "tableau" not in terminal.ask("SET;")
    terminal.type("clear;")
    assert terminal.wait("^Wiesel SQL>$") == "Wiesel SQL>"
    terminal.leave()
    assert "FROM numbers;" in (tmp_path / "history").read_text()


def test_errors_show_the_place_and_the_session_goes_on(terminal: Terminal) -> None:
    shown = terminal.ask("SELECT a,", "  wrong FROM numbers;")
    assert "[ERROR] line 2, column 3" in shown
    assert "\n    wrong FROM numbers;\n    ^^^^^" in shown
    shown = terminal.ask("SELECT a / 0 FROM numbers;")
    assert "[ERROR]" in shown and "zero" in shown.lower()
    assert "numbers" in terminal.ask("SHOW TABLES;")
    terminal.leave()


def test_the_tabulator_completes_and_the_arrows_recall(terminal: Terminal) -> None:
    terminal.child.send("SELECT a FROM num\t")
    terminal.wait("FROM numbers")
    assert "3 rows in set" in terminal.ask(";")
    terminal.child.send("\x1b[A")
    terminal.wait("FROM numbers;$")
    assert "3 rows in set" in terminal.ask("")
    terminal.leave()


def test_a_query_without_end_is_left_by_ctrl_c(terminal: Terminal) -> None:
    terminal.type("SELECT n FROM endless;")
    terminal.wait(re.escape("| +I |           7 |"))
    terminal.child.sendintr()
    assert "[INFO] cancelled" in terminal.prompt()
    assert "3 rows in set" in terminal.ask("SELECT a FROM numbers;")
    terminal.leave()


@pytest.mark.parametrize(("mode", "row"), [("table", r"\n\|\s+\d+ \|"), ("changelog", r"\n\| \+U \|\s+\d+ \|")])
@pytest.mark.parametrize("key", ["q", "\x03"])
def test_the_live_view(terminal: Terminal, mode: str, row: str, key: str) -> None:
    terminal.ask(f"SET 'sql-client.execution.result-mode' = '{mode}';")
    terminal.type("SELECT COUNT(*) AS c FROM endless;")
    terminal.wait(rf"{mode.title()} +running.*{row}")
    terminal.child.send(key)
    terminal.wait(r"\[INFO\] the query was cancelled; \d+ rows came\n\nWiesel SQL>$")
    terminal.type("SELECT SUM(b) AS s FROM numbers;")
    terminal.wait(rf"{mode.title()} +finished.*\|\s+60 \|")
    terminal.child.send("q")
    terminal.wait(r"\[INFO\] the query has ended; \d rows came\n\nWiesel SQL>$")
    terminal.leave()


def test_moving_about_in_a_result(terminal: Terminal) -> None:
    terminal.ask("SET 'sql-client.execution.result-mode' = 'table';")
    count = 60
    terminal.type("SELECT * FROM (VALUES " + ", ".join(f"({n}, 'text {n}')" for n in range(count)) + ") AS t (n, name);")
    # The title is written before the rows, and may come alone.
    shown = terminal.wait(r"finished +Rows: 60 +Page: Last of 3.*text 59 ")
    assert "text 24" not in shown
    for key, expected in (("g", r"Page: 1 of 3.*text 0 "), ("n", r"Page: 2 of 3.*text 25 "), ("l", r"Page: Last of 3.*text 50 ")):
        terminal.child.send(key)
        terminal.wait(expected)
    terminal.child.send("p")
    terminal.wait("Page: 2 of 3")
    terminal.child.send("\x1b[B")  # the arrow down
    terminal.child.send("o")
    terminal.wait(r"\nn: 26\nname: text 26\n")
    terminal.child.send("o+")
    terminal.wait(r"Refresh: 5 s.*text 49 ")
    terminal.child.send("q")
    terminal.wait("60 rows came\n\nWiesel SQL>$")
    terminal.leave()


def test_a_query_that_fails_leaves_the_view(terminal: Terminal) -> None:
    terminal.ask("RESET;")
    terminal.type("SELECT a / (a - 2) FROM numbers;")
    terminal.wait(r"\[ERROR\].*Wiesel SQL>$")
    terminal.leave()


def test_inserts_run_on_and_are_cancelled_at_the_end(terminal: Terminal) -> None:
    terminal.ask("CREATE TABLE nothing (n INT) WITH ('connector' = 'blackhole');")
    assert "the job was submitted" in terminal.ask("INSERT INTO nothing SELECT n FROM endless;")
    assert "3 rows in set" in terminal.ask("SELECT a FROM numbers;")
    assert "cancelling 1 running job" in terminal.leave()


def test_a_script_for_the_beginning_has_no_queries(tmp_path: Path) -> None:
    (tmp_path / "bad.sql").write_text(f"{TABLE}\nSELECT a FROM numbers;\n")
    assert "bad.sql: line 2, column 1" in Terminal(tmp_path, "-i", "bad.sql").end(1)
