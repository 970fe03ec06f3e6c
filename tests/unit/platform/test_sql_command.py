"""``wiesel sql check`` as a user meets it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from wiesel.platform.cli import main


def test_scripts_are_read_and_their_errors_shown(tmp_path: Path) -> None:
    right, wrong = tmp_path / "right.sql", tmp_path / "wrong.sql"
    right.write_text("CREATE TABLE t (a INT) WITH ('connector' = 'datagen');\nSELECT a FROM t;\n")
    wrong.write_text("SELECT a FROM t;\nSELECT a b c FROM t;\nINSRT INTO t SELECT 1;\n")
    result = CliRunner().invoke(main, ["sql", "check", str(right), str(wrong)])
    assert result.exit_code == 1
    assert f"{right}: 2 statements, all read" in result.output
    assert f"{wrong}: 3 statements, 3 wrong" in result.output
    assert f"{wrong}: line 1, column 15: table `t` was not found" in result.output
    assert f"{wrong}: line 2, column 12" in result.output
    assert "did you mean INSERT?" in result.output


def test_names_can_be_left_alone_or_come_from_another_script(tmp_path: Path) -> None:
    tables, script = tmp_path / "tables.sql", tmp_path / "script.sql"
    tables.write_text("CREATE TABLE t (a INT) WITH ('connector' = 'datagen');")
    script.write_text("SELECT a FROM t;\nSELECT b FROM t;\n")
    result = CliRunner().invoke(main, ["sql", "check", "-i", str(tables), str(script)])
    assert result.exit_code == 1
    assert f"{script}: line 2, column 8: column `b` was not found" in result.output
    assert "2 statements, 1 wrong" in result.output
    assert CliRunner().invoke(main, ["sql", "check", "--syntax-only", str(script)]).exit_code == 0


NAMES = """
CREATE TABLE t (a INT, b STRING) WITH ('connector' = 'datagen', 'rows-per-secnd' = '4');
CREATE TABLE o (a INT) WITH ('connector' = 'blackhole');
SELECT a, c FROM t;
INSERT INTO o SELECT b FROM t;
SELECT a FROM t;
SELECT a FROM o;
CREATE TABLE z WITH ('connector' = 'blackhole') AS SELECT 1 AS x;
INSERT INTO z VALUES (3);
BEGIN STATEMENT SET;
INSERT INTO z VALUES (1);
SHOW TABLES;
END;
CREATE VIEW v AS SELECT x + 'a' AS y FROM (VALUES (1)) AS w (x);
CREATE FUNCTION f AS 'no.such.function' LANGUAGE PYTHON;
EXPLAIN SELECT q FROM t;
"""


def test_names_types_and_options_are_looked_up_and_nothing_runs() -> None:
    result = CliRunner().invoke(main, ["sql", "check", "-"], input=NAMES)
    places = [line.split(": ")[1] for line in result.output.splitlines() if line.startswith("-: line")]
    # The column, the type, the unknown option, the table that cannot be read, the statement within a set, the types, the function.
    expected = [(4, 11), (5, 22), (6, 1), (7, 1), (12, 1), (14, 25), (15, 1), (16, 16)]
    assert places == [f"line {line}, column {column}" for line, column in expected]
    assert "made at" not in result.output


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("SELECT * FROM t ORDER BY a;", "rows can be sorted or numbered up to a last place only"),
        ("SELECT SUM(a) OVER (PARTITION BY b) FROM t;", "OVER in a job without end needs an ORDER BY"),
        ("WITH RECURSIVE r (n) AS (SELECT 1 UNION SELECT n FROM r) SELECT n FROM r;", "WITH RECURSIVE is not supported"),
        ("BEGIN STATEMENT SET;\nINSERT INTO o SELECT a FROM t;", "line 4, column 1: BEGIN STATEMENT SET has no END"),
    ],
)
def test_what_would_be_refused_when_its_job_starts_is_refused_by_the_check(statement: str, message: str) -> None:
    tables = "\n".join(NAMES.splitlines()[1:3]).replace("rows-per-secnd", "rows-per-second")
    result = CliRunner().invoke(main, ["sql", "check", "-"], input=f"\n{tables}\n{statement}")
    assert result.exit_code == 1 and message in result.output


def test_recursion_is_checked_without_being_run() -> None:
    script = "WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r;"  # without end, if it ran
    assert CliRunner().invoke(main, ["sql", "check", "--batch", "-"], input=script).exit_code == 0


def test_a_script_for_batch_mode_is_checked_for_that() -> None:
    script = """
CREATE TABLE t (a INT) WITH ('connector' = 'datagen', 'number-of-rows' = '1');
CREATE TABLE sums (a INT, n BIGINT) WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'csv');
INSERT INTO sums SELECT a, COUNT(*) FROM t GROUP BY a;
"""
    streaming = CliRunner().invoke(main, ["sql", "check", "-"], input=script)
    assert streaming.exit_code == 1 and "line 4, column 1: table" in streaming.output
    assert CliRunner().invoke(main, ["sql", "check", "--batch", "-"], input=script).exit_code == 0


def test_scripts_are_laid_out(tmp_path: Path) -> None:
    script = tmp_path / "a.sql"
    script.write_text("select a,\n b from t where a>1; -- more\n")
    shown = CliRunner().invoke(main, ["sql", "check", "--diff", str(script)])
    assert shown.exit_code == 1
    assert "-select a,\n- b from t where a>1; -- more\n+SELECT a, b FROM t WHERE a > 1; -- more\n" in shown.output
    assert CliRunner().invoke(main, ["sql", "check", "--format", str(script)]).exit_code == 0
    assert script.read_text() == "SELECT a, b FROM t WHERE a > 1; -- more\n"
    again = CliRunner().invoke(main, ["sql", "check", "--diff", str(script)])
    assert (again.exit_code, again.output) == (0, "")
    assert CliRunner().invoke(main, ["sql", "check", "--format", "-"], input="select 1").output == "SELECT 1\n"
    script.write_text("selec 1")
    broken = CliRunner().invoke(main, ["sql", "check", "--format", str(script)])
    assert broken.exit_code == 1 and script.read_text() == "selec 1"


def test_the_standard_input_is_a_script() -> None:
    result = CliRunner().invoke(main, ["sql", "check", "-"], input="select 1")
    assert result.exit_code == 0 and "-: 1 statement, all read" in result.output


SHOUTS = """CREATE FUNCTION shout AS '{module}.shout' LANGUAGE PYTHON;
SELECT shout(a) AS b FROM (VALUES ('x')) AS t (a);
"""


@pytest.mark.parametrize("way", ["beside the script", "python.files", "working directory"])
def test_functions_are_found_beside_the_script(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    module = "shouts_" + way.replace(" ", "_").replace(".", "_")
    folder = tmp_path / "folder"
    folder.mkdir()
    code = "from wiesel.table.udf import udf\n\nshout = udf(lambda text: text.upper() + '!', result_type='STRING')\n"
    (folder / f"{module}.py").write_text(code)
    script = SHOUTS.format(module=module)
    arguments = ["-D", "wiesel.engine=local", "--batch"]
    if way == "beside the script":
        (folder / "script.sql").write_text(script)
        assert CliRunner().invoke(main, ["sql", "check", str(folder / "script.sql")]).exit_code == 0
        arguments += ["-f", str(folder / "script.sql")]
    elif way == "python.files":
        arguments += ["-D", f"python.files={folder / module}.py", "-e", script]
    else:
        monkeypatch.chdir(folder)
        arguments += ["-e", script]
    result = CliRunner().invoke(main, ["sql", *arguments])
    assert result.exit_code == 0 and " X! |" in result.output, result.output
