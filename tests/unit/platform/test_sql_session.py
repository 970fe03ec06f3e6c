"""``wiesel sql`` runs scripts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from wiesel.common import JobStatus
from wiesel.platform.cli import main
from wiesel.table import TableResult

NUMBERS = """
CREATE TABLE n (a BIGINT, b AS a * 2) WITH ('connector' = 'datagen', 'number-of-rows' = '2', 'fields.a.kind' = 'sequence',
  'fields.a.start' = '1', 'fields.a.end' = '2');
"""


def sql(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["sql", "-D", "wiesel.engine=local", "-p", "1", *arguments])


def test_scripts_and_statements_run_in_one_session(tmp_path: Path) -> None:
    script = tmp_path / "numbers.sql"
    script.write_text(NUMBERS + "SELECT a, b FROM n;")
    result = sql("-f", str(script), "-e", "SHOW TABLES")
    assert result.exit_code == 0
    assert "| +I |                    2 |                    4 |\n" in result.output
    assert "| table name |" in result.output


def test_inserts_are_waited_for(tmp_path: Path) -> None:
    out = tmp_path / "out"
    target = f"CREATE TABLE o (a BIGINT) WITH ('connector' = 'filesystem', 'path' = '{out}', 'format' = 'csv');"
    statements = "BEGIN STATEMENT SET; INSERT INTO o SELECT a FROM n; INSERT INTO o SELECT b FROM n; END;"
    result = sql("-e", NUMBERS + target + statements)
    assert result.exit_code == 0, result.output
    assert result.output.count("the job was submitted") == 1
    assert sorted(line for path in out.glob("part-*") for line in path.read_text().split()) == ["1", "2", "2", "4"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("SHOW TABLES;\nSELECT 1 +;", "line 2, column 10"),
        ("SHOW TABLES;\nSELECT x\nFROM nowhere;", "line 3, column 6: table `nowhere` was not found"),
        ("SHOW TABLES;\nDROP TABLE nowhere;", "line 2, column 1: table `default_catalog`.`default_database`.`nowhere` was not found"),
        ("BEGIN STATEMENT SET;\nSHOW TABLES;", "line 2, column 1: between BEGIN STATEMENT SET and END stand inserts only"),
        ("BEGIN STATEMENT SET;", "has no END"),
        ("END;", "there is no statement set to end"),
    ],
)
def test_errors_have_places_and_an_exit_code(text: str, problem: str) -> None:
    result = sql("-e", text)
    assert result.exit_code == 1
    assert problem in result.output


ENDLESS = """
CREATE TABLE e (a BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '10');
CREATE TABLE nothing (a BIGINT) WITH ('connector' = 'blackhole');
INSERT INTO nothing SELECT a FROM e;
"""


def test_it_is_told_that_inserts_end_with_the_statement_that_fails() -> None:
    result = sql("-e", ENDLESS + "SELECT x FROM nowhere;")
    assert result.exit_code == 1
    assert "table `nowhere` was not found" in result.output
    assert "1 running job(s) of inserts before it cancelled; SET 'table.dml-sync' = 'true' waits for each" in result.output


def test_who_interrupts_the_waiting_ends_the_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    clients: list[Any] = []

    def interrupted(result: TableResult, timeout_ms: int | None = None) -> None:
        clients.append(result.get_job_client())
        raise KeyboardInterrupt

    monkeypatch.setattr(TableResult, "wait", interrupted)
    result = sql("-e", ENDLESS)
    assert (result.exit_code, result.output.splitlines()[-1]) == (130, "interrupted")
    assert [client.get_job_status().result() for client in clients] == [JobStatus.CANCELED]


def test_nothing_runs_if_a_statement_cannot_be_read(tmp_path: Path) -> None:
    result = sql("-e", "SHOW CATALOGS; SELEC 1;")
    assert result.exit_code == 1 and "default_catalog" not in result.output


def test_plans_in_place_of_results() -> None:
    result = sql("--explain", "-e", NUMBERS + "SELECT a FROM n WHERE b > 2;")
    assert result.exit_code == 0
    assert "== Optimized Execution Plan ==" in result.output and "Filter" in result.output


def test_batch_mode_and_nothing_to_run() -> None:
    assert "| op |" not in sql("--batch", "-e", NUMBERS + "SELECT a FROM n;").output
    assert sql().exit_code == 2
