"""The test runner cannot be green by accident: it counts what ran, and everything that goes wrong counts as a failure."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.arch.repository import load_script

runner = load_script("run_tests")

REPORT = """<testsuites><testsuite>
<testcase classname="a" name="good"/>
<testcase classname="a" name="bad"><failure message="x"/></testcase>
<testcase classname="a" name="bad"><error message="tear-down"/></testcase>
<testcase classname="a" name="half"/>
<testcase classname="a" name="half"><error message="tear-down"/></testcase>
<testcase classname="a" name="later"><skipped/></testcase>
<testcase classname="b" name="good"/>
</testsuite></testsuites>"""


def test_outcomes_are_counted_per_test(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(REPORT)
    assert str(runner.read_report(report)) == "2 passed, 2 failed, 1 skipped"


def finish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, report: str | None = None, limit_s: float = 30.0) -> object:
    """Run Python code as if it were a group of tests."""
    monkeypatch.setattr(runner, "LOGS", tmp_path)
    file = tmp_path / "report.xml"
    if report is not None:
        file.write_text(report)
    (running,) = runner.as_they_end([("group", [sys.executable, "-c", code], limit_s, file)], 1)
    return running


@pytest.mark.parametrize(
    ("code", "report", "failed"),
    [
        ("print('fine')", '<testsuite><testcase classname="a" name="b"/></testsuite>', 0),
        ("raise SystemExit(1)", REPORT, 2),
        # Everything passed and yet pytest is not content, as when it was interrupted.
        ("raise SystemExit(2)", '<testsuite><testcase classname="a" name="b"/></testsuite>', 1),
        ("import os; os.kill(os.getpid(), 9)", None, 1),
        ("print('no report')", None, 1),
        ("raise SystemExit(1)", "<testsuite><testca", 1),
        # No tests in a folder that has test files.
        ("raise SystemExit(5)", "<testsuite/>", 1),
    ],
)
def test_whatever_goes_wrong_in_a_group_counts_as_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, report: str | None, failed: int
) -> None:
    assert runner.judge(finish(tmp_path, monkeypatch, code, report), may_be_empty=False).failed == failed


def test_a_selection_may_leave_a_group_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert runner.judge(finish(tmp_path, monkeypatch, "raise SystemExit(5)", "<testsuite/>"), may_be_empty=True).failed == 0


def test_a_group_that_hangs_is_ended_and_counts_as_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    running = finish(tmp_path, monkeypatch, "import threading; threading.Event().wait()", limit_s=0.2)
    assert runner.judge(running, may_be_empty=False).failed == 1
    assert "was ended" in capsys.readouterr().out


def test_failures_are_shown_from_where_pytest_tells_of_them() -> None:
    log = "....F\n=== FAILURES ===\n___ test_x ___\nassert 1 == 2\n=== short ==="
    assert runner.failures_of(log) == log.partition("\n")[2]
    assert runner.failures_of("Traceback: no pytest") == "Traceback: no pytest"


def test_a_run_without_a_single_test_is_not_a_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(runner, "LOGS", tmp_path / "logs")
    monkeypatch.setattr(runner, "ROOT", tmp_path)
    monkeypatch.setattr(runner, "static_checks", lambda: True)
    assert runner.main([]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "0 passed, 0 failed"


def test_failed_static_checks_fail_the_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(runner, "LOGS", tmp_path / "logs")
    monkeypatch.setattr(runner, "static_checks", lambda: False)
    monkeypatch.setattr(runner, "run_groups", lambda *_, **__: {"unit": runner.Counts(passed=1)})
    assert runner.main([]) == 1


UNSTEADY = """
from pathlib import Path

def test_good():
    pass

def test_unsteady():
    seen = Path(__file__).with_name("seen")
    if not seen.exists():
        seen.touch()
        raise AssertionError("at first")
"""


def run_of_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *files: str, arguments: tuple[str, ...] = ()) -> int:
    """Run everything, where everything is a group of these files."""
    folder = tmp_path / "tests" / "unit"
    folder.mkdir(parents=True)
    for number, text in enumerate(files):
        (folder / f"test_{number}.py").write_text(text)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --import-mode=importlib\nmarkers = slow")
    monkeypatch.setattr(runner, "ROOT", tmp_path)
    monkeypatch.setattr(runner, "LOGS", tmp_path / "logs")
    group = runner.Group("unit", ("unit",), timeout_s=30, workers=2)
    monkeypatch.setattr(runner, "GROUPS", (group,))
    monkeypatch.setattr(runner, "QUICK", (group,))
    monkeypatch.setattr(runner, "static_checks", lambda: True)
    return int(runner.main(list(arguments)))


def test_what_passes_when_it_runs_alone_is_told_as_unsteady(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_of_a_folder(tmp_path, monkeypatch, UNSTEADY) == 0
    said = capsys.readouterr().out
    assert "AssertionError: at first" in said and "unsteady: tests/unit/test_0.py::test_unsteady" in said
    assert said.splitlines()[-1] == "2 passed, 0 failed, 1 unsteady: failed at first, passed alone"


def test_what_fails_twice_fails_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_of_a_folder(tmp_path, monkeypatch, UNSTEADY, "def test_bad(): assert False") == 1
    assert capsys.readouterr().out.splitlines()[-1] == "2 passed, 1 failed, 1 unsteady: failed at first, passed alone"


def test_many_failures_have_no_second_try(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_of_a_folder(tmp_path, monkeypatch, UNSTEADY, *["def test_bad(): assert False"] * runner.UNSTEADY_MAX) == 1
    assert "unsteady:" not in capsys.readouterr().out


def test_a_group_that_did_not_end_well_has_no_second_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_of_a_folder(tmp_path, monkeypatch, UNSTEADY, "import os\nos._exit(3)") == 1
    assert "unsteady:" not in capsys.readouterr().out


def test_a_selection_has_no_second_try(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_of_a_folder(tmp_path, monkeypatch, UNSTEADY, arguments=("-k", "unsteady")) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "0 passed, 1 failed"


def test_a_quick_run_leaves_slow_tests_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    slow = "import pytest\n\n@pytest.mark.slow\ndef test_slow(): assert False\n\ndef test_fast(): pass"
    assert run_of_a_folder(tmp_path, monkeypatch, slow, arguments=("--quick",)) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "1 passed, 0 failed"
