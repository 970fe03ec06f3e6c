"""``wiesel examples`` lists, copies and runs what is in ``examples/``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.arch.repository import ROOT, tracked_files
from wiesel.platform.cli import main

EXAMPLES = ROOT / "examples"


def output(*arguments: str) -> str:
    result = CliRunner().invoke(main, ["examples", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_all_programs_and_scripts_are_listed_with_what_they_show() -> None:
    found = json.loads(output("list", "--json"))
    paths = [path for path in tracked_files() if path.parts[0] == "examples" and len(path.parts) <= 2 + ("sql" in path.parts)]
    named = {example["name"] for example in found}
    assert named >= {path.stem for path in paths if path.suffix == ".py" and len(path.parts) == 2}
    assert named >= {f"sql/{path.stem}" for path in paths if path.suffix == ".sql"}
    assert all(example["about"] and "\n" not in example["about"] for example in found)
    assert len(output("list").splitlines()) == len(found)


def test_all_are_copied_with_the_files_that_they_read(tmp_path: Path) -> None:
    copied = {Path(line) for line in output("copy", "--all", "-d", str(tmp_path)).splitlines()}
    assert {path.relative_to(tmp_path) for path in copied} > {Path("karate_club.csv"), Path("sql/delays.yaml"), Path("sql/delays.sql")}
    assert all(path.read_bytes() == (EXAMPLES / path.relative_to(tmp_path)).read_bytes() for path in copied)


def test_nothing_is_overwritten_unless_asked_for(tmp_path: Path) -> None:
    (tmp_path / "word_count.py").write_text("mine")
    result = CliRunner().invoke(main, ["examples", "copy", "collatz", "word_count.py", "-d", str(tmp_path)])
    assert result.exit_code == 1 and "word_count.py exists already" in result.output
    assert [path.name for path in tmp_path.iterdir()] == ["word_count.py"]
    output("copy", "word_count", "--force", "-d", str(tmp_path))
    assert (tmp_path / "word_count.py").read_bytes() == (EXAMPLES / "word_count.py").read_bytes()


def test_tests_of_sql_are_run() -> None:
    assert "0 failed" in output("run", "sql/orders_and_payments")


def test_a_script_of_sql_is_run() -> None:
    printed = output("run", "-D", "wiesel.engine=local", "-D", "wiesel.local.start-time-ms=1700000000000", "sql/orders_per_second")
    counts = [int(line.split("|")[4]) for line in printed.splitlines() if line.startswith("| +I")]
    assert sum(counts) == 100


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["run", "nothing"], "there is no example 'nothing'; 'wiesel examples list' prints the names"),
        (["run", "sql/delays", "more"], "only programs take arguments"),
        (["run", "-p", "2", "sql/delays"], "tests of SQL take no options"),
        (["copy"], "give the names of examples, or --all"),
        (["copy", "--all", "word_count"], "give the names of examples, or --all"),
    ],
)
def test_wrong_calls_are_refused(arguments: list[str], told: str) -> None:
    result = CliRunner().invoke(main, ["examples", *arguments])
    assert result.exit_code == 2 and told in result.output
