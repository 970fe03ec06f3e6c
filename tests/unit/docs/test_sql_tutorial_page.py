"""The tutorial ``docs/sql-tutorial.md`` runs as it is written, and its results are those that pandas computes of the same flights."""

from __future__ import annotations

import csv
import re
import time
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from examples.flights import data
from wiesel.common import Configuration
from wiesel.platform.cli import main
from wiesel.sql.language import statements as s
from wiesel.sql.language.parser import parse_script
from wiesel.table import TableEnvironment

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).parents[3] / "docs" / "sql-tutorial.md").read_text()
BLOCKS = re.findall(r"^```sql\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
TABLES, QUESTION, STREAM, HOURS, JOB, MORE = BLOCKS
FEBRUARY_MS = 1_359_694_800_000


@pytest.fixture(scope="module")
def flights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return data.prepare(tmp_path_factory.mktemp("flights"))


@pytest.fixture
def folder(flights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder as the tutorial's reader has it."""
    (tmp_path / ".cache" / "flights").mkdir(parents=True)
    (tmp_path / ".cache" / "flights" / "replay-1").symlink_to(flights)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table(printed: str, names: list[str]) -> list[list[str]]:
    """Return the rows of the printed table with these columns."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in printed.splitlines() if line.startswith("|")]
    start = rows.index(names) + 1
    end = next((place for place in range(start, len(rows)) if rows[place][0] in ("op", "origin")), len(rows))
    return rows[start:end]


def hours_of(given: pd.DataFrame) -> dict[tuple[str, str], tuple[int, int]]:
    local = pd.to_datetime(given["departure_ms"], unit="ms", utc=True).dt.tz_convert("America/New_York").dt.tz_localize(None)
    groups = given.assign(hour=local.dt.floor("h")).groupby(["origin", "hour"])
    return {(origin, str(hour)): (len(part), int((part["delay_min"] > 15).sum())) for (origin, hour), part in groups}


def given(flights: Path) -> pd.DataFrame:
    return pd.concat(pd.read_parquet(path) for path in sorted(flights.glob("*.parquet")))


def test_questions_and_hours(folder: Path, flights: Path) -> None:
    (folder / "all.sql").write_text("\n".join([TABLES, QUESTION, STREAM, HOURS]))
    result = CliRunner().invoke(main, ["sql", "-D", "wiesel.engine=local", "-f", "all.sql"])
    assert result.exit_code == 0, result.output
    everything = given(flights)
    late = everything[everything["delay_min"] > 60]
    assert table(result.output, ["origin", "flights", "late"]) == [
        [origin, str((everything["origin"] == origin).sum()), str((late["origin"] == origin).sum())] for origin in ("EWR", "JFK", "LGA")
    ]
    shown = PAGE.partition("```text\n")[2].partition("```")[0]
    assert shown in result.output
    rows = table(result.output, ["op", "origin", "window_start", "flights", "late"])
    assert {row[0] for row in rows} == {"+I"}
    found = {(origin, start.removesuffix(".000")): (int(count), int(tardy)) for _, origin, start, count, tardy in rows}
    assert found == hours_of(everything[everything["reported_ms"] < FEBRUARY_MS])
    assert len(found) == len(rows) > 1000


def test_the_job_goes_on_when_more_comes(folder: Path, flights: Path) -> None:
    (folder / "tables.sql").write_text(made_tables())
    (folder / "hours.sql").write_text(JOB)
    checked = CliRunner().invoke(main, ["sql", "check", "-i", "tables.sql", "hours.sql"])
    assert (checked.exit_code, checked.output) == (0, "hours.sql: 4 statements, all read\n")

    def feed(script: str) -> None:
        result = CliRunner().invoke(main, ["sql", "-D", "wiesel.engine=local", "-i", "tables.sql", "-e", script])
        assert result.exit_code == 0, result.output

    t_env = TableEnvironment.create(Configuration().set("wiesel.engine", "local"))
    started = None
    for statement in parse_script(made_tables()):
        t_env.execute_sql(made_tables()[statement.span.start : statement.span.end])
    feed("SET 'execution.runtime-mode' = 'batch'; SET 'table.dml-sync' = 'true';" + STREAM[STREAM.index("INSERT") :])
    for statement in parse_script(JOB):
        started = t_env.execute_sql(JOB[statement.span.start : statement.span.end])
    assert started is not None
    try:
        wait_for(folder, "2013-01-31")
        assert not any(begins.startswith("2013-02-01 1") for _, begins, _, _ in written(folder))
        feed(MORE)
        wait_for(folder, "2013-02-02")
    finally:
        started.cancel()
    expected = hours_of(given(flights).query("reported_ms <= 1359867600000"))
    for origin, begins, count, late in written(folder):
        assert expected[origin, begins] == (int(count), int(late)), (origin, begins)


def made_tables() -> str:
    """Return the statements of the first steps that make tables and set the time zone."""
    text = TABLES + STREAM
    kept = [each for each in parse_script(text) if isinstance(each, s.CreateTable) or "time-zone" in text[each.span.start : each.span.end]]
    return "".join(text[each.span.start : each.span.end] + ";\n" for each in kept)


def written(folder: Path) -> list[list[str]]:
    return [row for path in (folder / "hours").glob("part-*") for row in csv.reader(path.read_text().splitlines())]


def wait_for(folder: Path, day: str) -> None:
    # The endless job and what feeds it share a core, which may be a busy one.
    deadline = time.monotonic() + 280
    while not any(begins.startswith(day) for _, begins, _, _ in written(folder)):
        assert time.monotonic() < deadline, f"no hour of {day} among {len(written(folder))}"
        time.sleep(0.2)
