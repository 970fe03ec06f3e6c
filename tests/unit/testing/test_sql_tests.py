"""Tests of SQL in YAML: those of the examples pass, and tests that should fail do."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from click.testing import CliRunner

from wiesel.core.errors import ProgramError, SqlParseError, WieselError
from wiesel.platform.cli import main
from wiesel.testing import SqlTest, sql_tests

EXAMPLES = Path(__file__).parents[3] / "examples" / "sql"
TABLES = """
tables:
  orders:
    schema: id INT NOT NULL, item STRING, price DECIMAL(6, 2), ts TIMESTAMP(3), WATERMARK FOR ts AS ts
    rows:
      - [1, tea, 2.5, 2020-01-01 10:00:00]
      - {id: 2, item: 'yes', ts: 2020-01-01 10:00:59.999}
      - {id: 3, item: tea, price: '4.00', ts: 2020-01-01 10:01:00}
"""


def cases_of(tmp_path: Path, tests: str, tables: str = TABLES) -> list[SqlTest]:
    path = tmp_path / "tests.yaml"
    path.write_text(f"{tables}\ntests:\n{textwrap.indent(textwrap.dedent(tests), '  ')}")
    return sql_tests(path)


def run(tmp_path: Path, tests: str, tables: str = TABLES) -> None:
    found = cases_of(tmp_path, tests, tables)
    assert found
    for test in found:
        test.run()


@pytest.mark.parametrize("test", [test for path in sorted(EXAMPLES.glob("*.yaml")) for test in sql_tests(path)], ids=str)
def test_the_examples_pass(test: SqlTest) -> None:
    test.run()


def test_the_example_of_the_document_passes(tmp_path: Path) -> None:
    document = (EXAMPLES.parents[1] / "docs" / "testing.md").read_text()
    (tmp_path / "tests.yaml").write_text(document.partition("```yaml\n")[2].partition("```")[0])
    tests = sql_tests(tmp_path / "tests.yaml")
    assert len(tests) == 2
    for test in tests:
        test.run()


def test_every_mode_and_parallelism_is_a_test(tmp_path: Path) -> None:
    tests = cases_of(tmp_path, "- {name: a, query: SELECT 1, parallelism: [1, 3], expect: [1]}")
    assert [str(test) for test in tests] == [
        f"a ({mode}, parallelism {number})" for mode in ("streaming", "batch") for number in (1, 3)
    ]


PASSING = [
    "- {name: a, query: 'SELECT id, price FROM orders', expect: [[1, 2.50], [2, null], [3, 4]]}",
    "- {name: a, query: 'SELECT item FROM orders WHERE id = 2', expect: ['yes']}",
    "- {name: a, query: 'SELECT ts FROM orders WHERE id = 1', expect: [{ts: 2020-01-01 10:00:00}]}",
    "- {name: a, query: 'SELECT ARRAY[id] AS a, MAP[item, id] AS m, ROW(id, item) AS r FROM orders WHERE id = 1', "
    "expect: [{a: [1], m: {tea: 1}, r: {EXPR$0: 1, EXPR$1: tea}}]}",
    "- {name: a, query: 'SELECT id FROM orders WHERE id > 9', expect: {rows: []}}",
    "- {name: a, query: 'SELECT item, COUNT(*) AS n FROM orders GROUP BY item', expect: [[tea, 2], ['yes', 1]]}",
    """
    - name: a
      query: |
        SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
        GROUP BY window_start, window_end
      expect: [[2020-01-01 10:00:00, 2], [2020-01-01 10:01:00, 1]]
    """,
    """
    - name: changes go in and come out
      tables:
        stock:
          schema: item STRING, n INT, PRIMARY KEY (item) NOT ENFORCED
          changes: [[+I, tea, 1], [-U, tea, 1], [+U, tea, 5], [+I, ink, 2], {-D: {item: ink, n: 2}}]
      query: SELECT item, n * 10 AS tens FROM stock
      expect:
        changelog: [[+I, tea, 10], [-U, tea, 10], [+U, tea, 50], [+I, ink, 20], [-D, ink, 20]]
        rows: [[tea, 50]]
    """,
    """
    - name: a table with a key keeps the last row of each
      statements: |
        CREATE TABLE last (item STRING, id INT, PRIMARY KEY (item) NOT ENFORCED) WITH ('connector' = 'not there');
        INSERT INTO last SELECT COALESCE(item, ''), id FROM orders;
        INSERT INTO last VALUES ('ink', 9);
      expect: {tables: {last: [[tea, 3], ['yes', 2], [ink, 9]]}}
    """,
    """
    - name: metadata is given as any other column
      statements: CREATE TABLE logs (line STRING, source STRING METADATA FROM 'file.path' VIRTUAL) WITH ('connector' = 'filesystem')
      tables: {logs: [[a, x.log]]}
      query: SELECT * FROM logs
      expect: [{line: a, source: x.log}]
    """,
    "- {name: a, query: 'SELECT 1 / 0', expect: {error: zero}}",
    "- {name: a, query: 'SELECT nothing FROM orders', expect: {error: 'line 1, column 8: column `nothing` was not found'}}",
    "- {name: a, options: {table.local-time-zone: Asia/Tokyo}, query: \"SELECT TO_TIMESTAMP_LTZ(0, 3)\", "
    "expect: [1970-01-01 00:00:00.000Z]}",
]


@pytest.mark.parametrize("test", PASSING)
def test_what_passes(tmp_path: Path, test: str) -> None:
    run(tmp_path, test)


FAILING = [
    ("query: SELECT id FROM orders, expect: [1, 2]", r"(?s)not expected:\s+\[3\]"),
    ("query: SELECT id FROM orders, expect: [1, 2, 3, 4]", r"(?s)missing:\s+\[4\]$"),
    ("query: SELECT id FROM orders, expect: [1, 2, 2]", r"(?s)missing:\s+\[2\].*not expected:\s+\[3\]"),
    ("query: 'SELECT id FROM orders ORDER BY id LIMIT 2', modes: batch, expect: {ordered: true, rows: [2, 1]}", "in this order"),
    ("query: SELECT id FROM orders, expect: {changelog: [[+I, 1], [+I, 2], [-D, 3]]}", r"(?s)\[-D, 3\].*\[\+I, 3\]"),
    ("query: SELECT id FROM orders, expect: {error: zero}", "no error came"),
    ("query: SELECT nothing FROM orders, expect: {error: zero}", "another error came"),
    ("query: 'SELECT MAX(id) FROM orders', expect: [{EXPR$0: 4}]", r"\[4\]"),
]


@pytest.mark.parametrize(("test", "problem"), FAILING)
def test_what_fails_shows_the_difference(tmp_path: Path, test: str, problem: str) -> None:
    with pytest.raises(AssertionError, match=problem):
        run(tmp_path, f"- {{name: a, {test}}}")


WRONG = [
    ("- {name: a, query: SELECT id FROM orders, expect: [[1, 2]]}", "2 values for 1 columns"),
    ("- {name: a, query: SELECT id FROM orders, expect: [{ID: 1}]}", "there is no column 'ID'"),
    ("- {name: a, query: SELECT id FROM orders, expect: [tea]}", "'tea'} is no row of ROW<`id` INT>"),
    ("- {name: a, query: 'SELECT id, item FROM orders', expect: [{id: 1}]}", "there is no value for column 'item'"),
    ("- {name: a, expect: [1]}", "there is no query"),
    ("- {name: a, query: SELECT 1, expect: {tables: {out: [1]}}}", "nothing is written to table 'out'"),
    ("- {name: a, query: SELECT 1, tables: {other: [1]}, expect: [1]}", "no statement makes the table 'other'"),
    ("- {name: a, query: SELECT 1, expect: [1]}\n- {name: a, query: SELECT 1, expect: [1]}", "two tests are named 'a'"),
    ("- {name: a, query: SELECT 1, expects: [1]}", r"tests\[0\]: unknown key 'expects'"),
    ("- {name: a, query: SELECT 1}", "needs 'expect'"),
    ("- {query: SELECT 1, expect: [1]}", "needs a name"),
    ("- {name: a, query: SELECT 1, expect: {}}", "nothing is expected"),
    ("- {name: a, query: SELECT 1, modes: fast, expect: [1]}", "modes are streaming and batch"),
    ("- {name: a, query: SELECT 1, parallelism: 0, expect: [1]}", "whole numbers"),
    ("- {name: a, file: nowhere.sql, expect: [1]}", "nowhere.sql cannot be read"),
    ("- {name: a, query: SELECT 1, expect: {changelog: [[I, 1]]}}", "'I' is no kind"),
    ("- {name: a, tables: {t: {schema: a INT, changes: [[-U, 1]]}}, query: SELECT a FROM t, expect: [1]}", "have to follow each other"),
    ("- {name: a, tables: {t: {schema: a INT, rows: [1], changes: []}}, query: SELECT a FROM t, expect: [1]}", "not both"),
    ("- [", "while parsing"),
]


@pytest.mark.parametrize(("test", "problem"), WRONG)
def test_what_is_wrong_in_a_file_is_told(tmp_path: Path, test: str, problem: str) -> None:
    with pytest.raises(ProgramError, match=problem) as caught:
        run(tmp_path, test)
    assert caught.value.hint


def test_errors_of_statements_name_the_script(tmp_path: Path) -> None:
    (tmp_path / "script.sql").write_text("SHOW TABLES;\nSELECT nothing FROM orders;\n")
    with pytest.raises(SqlParseError, match=r"^script.sql: line 2, column 8"):
        run(tmp_path, "- {name: a, file: script.sql, expect: [1]}")


def test_the_command_tells_how_each_test_went(tmp_path: Path) -> None:
    cases_of(tmp_path, "- {name: good, query: SELECT 1, expect: [1]}\n- {name: bad, query: SELECT 1, expect: [2]}")
    path = str(tmp_path / "tests.yaml")
    result = CliRunner().invoke(main, ["sql", "test", path])
    assert result.exit_code == 1
    assert f"ok      {path}: good (batch, parallelism 1)" in result.output
    assert f"FAILED  {path}: bad (streaming, parallelism 1)\n        the query returned other rows than expected\n" in result.output
    assert result.output.endswith("2 passed, 2 failed\n")
    assert CliRunner().invoke(main, ["sql", "test", "-k", "good", path]).exit_code == 0
    assert CliRunner().invoke(main, ["sql", "test", "-k", "nothing", path]).exit_code == 1


def test_a_test_leaves_no_file_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    with pytest.raises(WieselError):
        run(tmp_path, "- {name: a, query: SELECT nothing FROM orders, expect: [1]}")
    assert not list((tmp_path / "temporary").glob("wiesel-sql-test-*"))
