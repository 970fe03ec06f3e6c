"""Runs the static checks and every group of tests; the last line sums up, the exit code is 0 only when all of it passed.

usage: run_tests.py [--static | --quick] [arguments for pytest]

Groups run as processes of their own, several at a time: one needs no JVM, the others have a Spark session each that their tests share.
What a group prints goes to ``build/test/<group>.log`` and is shown only when the group fails. ``--quick`` runs the tests that need no JVM
without those marked as slow, and the basic tests of jobs on Spark: for daily work, in a few minutes.

Tests with real processes, sockets and clocks may fail where a machine stands still for seconds. So when a few tests failed, which are
printed, these are run a second time, alone. Those that pass then are named and counted as unsteady; each is a defect to be mended, of a
test or of what it tests, but no longer fails the run.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "build" / "test"
BIN = Path(sys.executable).parent
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 2
HEARTBEAT_S = 60
NO_TESTS_COLLECTED = 5
# More failures than these have a cause that a second try does not take away.
UNSTEADY_MAX = 4


@dataclass(frozen=True)
class Group:
    """Folders of tests that run in one pytest process.

    Attributes:
        name: Name in the output and of the log.
        folders: Folders and files below ``tests``; folders that hold no tests yet are left out.
        timeout_s: Limit of one test that hangs; a slow machine, or one that others use, may take ten times as long as a fast one.
        limit_s: Limit of the whole group, for what hangs outside a test; a slow machine may take several times as long as a fast one.
        workers: Processes of xdist; 0 runs in one process, which keeps one Spark session for all of the group.
    """

    name: str
    folders: tuple[str, ...]
    timeout_s: int
    limit_s: int = 5400
    workers: int = 0


UNIT = Group("unit", ("unit", "arch", "api", "sim", "compat", "sql_cases"), timeout_s=600, workers=min(CORES, 8))
# The longest first. Fault tests wait most of their time, so the group without a JVM, which keeps all cores busy, runs beside them.
GROUPS = (
    Group("faults", ("faults",), timeout_s=900),
    UNIT,
    Group("spark", ("spark",), timeout_s=900),
    Group("parity", ("parity",), timeout_s=600),
    Group("servers", ("servers",), timeout_s=600),
)
QUICK = (Group("spark", ("spark/test_engine.py",), timeout_s=900), UNIT)
# Not part of `make test`: hours long.
ELSEWHERE = ("soak",)
# Every Spark group keeps a JVM and Python workers busy.
SIDE_BY_SIDE = max(2, CORES // 2)


@dataclass
class Counts:
    """Numbers of tests by outcome; errors in set-up and tear-down count as failed.

    Attributes:
        failed: Tests that failed, and one for a group that did not end well.
        unsteady: Of those that passed, how many had failed before.
        ended_well: Whether pytest came to its end and told of every test.
    """

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    unsteady: int = 0
    ended_well: bool = True

    def add(self, other: Counts) -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.unsteady += other.unsteady
        self.ended_well = self.ended_well and other.ended_well

    def __str__(self) -> str:
        some = [(self.skipped, "skipped"), (self.unsteady, "unsteady: failed at first, passed alone")]
        return f"{self.passed} passed, {self.failed} failed" + "".join(f", {number} {what}" for number, what in some if number)


@dataclass
class Running:
    """A process that was started, and where its output goes."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path
    began: float
    limit_s: float
    report: Path | None = None
    timed_out: bool = False


def start(name: str, command: Sequence[str], limit_s: float, report: Path | None = None) -> Running:
    """Start a command in a process group of its own, so that what it leaves behind can be ended with it."""
    log = LOGS / f"{name}.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True
        )
    return Running(name, process, log, time.monotonic(), limit_s, report)


def end_group(running: Running) -> None:
    """End all that is left of a process group: nothing of a finished group may go on holding cores or ports."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(running.process.pid, number)
        except (ProcessLookupError, PermissionError):
            return
        try:
            running.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            continue


def as_they_end(waiting: list[tuple[str, list[str], float, Path | None]], at_once: int) -> Iterator[Running]:
    """Run commands, at most ``at_once`` at the same time, and yield each when it has ended."""
    active: list[Running] = []
    spoke = time.monotonic()
    try:
        while waiting or active:
            while waiting and len(active) < at_once:
                active.append(start(*waiting.pop(0)))
            time.sleep(0.05)
            for running in list(active):
                over = time.monotonic() - running.began > running.limit_s
                if running.process.poll() is None and not over:
                    continue
                running.timed_out = running.process.poll() is None
                end_group(running)
                active.remove(running)
                spoke = time.monotonic()
                yield running
            if time.monotonic() - spoke > HEARTBEAT_S:
                spoke = time.monotonic()
                print("  still running: " + ", ".join(f"{r.name} ({spoke - r.began:.0f} s)" for r in active), flush=True)
    finally:
        for running in active:
            end_group(running)


def static_checks() -> bool:
    """Run ruff, mypy and the import contracts side by side; print what they object to."""
    commands = [
        ("mypy", [str(BIN / "mypy")]),
        ("lint-imports", [str(BIN / "lint-imports")]),
        ("ruff", [str(BIN / "ruff"), "check", "--quiet", "--output-format=concise"]),
    ]
    good = True
    for running in as_they_end([(name, command, 600, None) for name, command in commands], at_once=max(2, CORES)):
        if running.process.returncode != 0 or running.timed_out:
            good = False
            print(f"{running.name}: failed\n{running.log.read_text(errors='replace')}", flush=True)
        else:
            print(f"{running.name}: fine", flush=True)
    return good


def holds_tests(folder: str) -> bool:
    """Return whether ``tests/<folder>`` is a test file or a folder with test files."""
    path = ROOT / "tests" / folder
    return path.is_file() or any(path.rglob("test_*.py"))


def pytest_command(group: Group, arguments: Sequence[str], report: Path) -> list[str]:
    """The pytest call of a group."""
    folders = [f"tests/{folder}" for folder in group.folders if holds_tests(folder)]
    command = [sys.executable, "-m", "pytest", "-q", "--color=no", "--durations=5", f"--timeout={group.timeout_s}", f"--junitxml={report}"]
    # Where pytest keeps which tests failed; groups that run side by side would overwrite each other's.
    command += ["-o", f"cache_dir={LOGS / group.name}.cache"]
    if group.workers > 1:
        command += ["-n", str(group.workers), "--dist=worksteal"]
    return [*command, *arguments, *folders]


def read_report(report: Path) -> Counts:
    """Count the outcomes in a junit file; a test that failed and whose tear-down failed too counts once."""
    outcomes: dict[tuple[str, str], str] = {}
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        key = (case.get("classname", ""), case.get("name", ""))
        children = {child.tag for child in case}
        outcome = "failed" if children & {"failure", "error"} else "skipped" if "skipped" in children else "passed"
        if outcomes.get(key) != "failed":
            outcomes[key] = outcome
    values = list(outcomes.values())
    return Counts(values.count("passed"), values.count("failed"), values.count("skipped"))


def judge(running: Running, may_be_empty: bool) -> Counts:
    """Counts of a finished group, at least one failure if it did not end well; prints its line and, if it failed, its failures."""
    code = running.process.returncode
    trouble = ""
    try:
        counts = read_report(running.report) if running.report else Counts()
    except (OSError, ElementTree.ParseError):
        counts = Counts()
        trouble = f"ended with code {code} and left no report"
    if running.timed_out:
        trouble = f"still ran after {running.limit_s:.0f} s and was ended"
    elif code == NO_TESTS_COLLECTED and may_be_empty:
        code = 0
    elif code != 0 and not counts.failed and not trouble:
        trouble = f"ended with code {code}"
    if trouble:
        counts.failed += 1
        counts.ended_well = False
    print(f"{running.name}: {counts} in {time.monotonic() - running.began:.0f} s" + (f" ({trouble})" if trouble else ""), flush=True)
    if counts.failed:
        print(failures_of(running.log.read_text(errors="replace")), flush=True)
    return counts


def failures_of(log: str) -> str:
    """The part of pytest's output that tells of failures; all of it when there is no such part."""
    lines = log.splitlines()
    for i, line in enumerate(lines):
        if line.startswith("=") and (" FAILURES " in line or " ERRORS " in line):
            return "\n".join(lines[i:])
    return log


def run_groups(groups: Sequence[Group], arguments: Sequence[str], at_once: int) -> dict[str, Counts]:
    """Run groups of tests; their counts by name, in the order of their ends."""
    waiting: list[tuple[str, list[str], float, Path | None]] = []
    for group in groups:
        missing = [folder for folder in group.folders if not holds_tests(folder)]
        if len(missing) == len(group.folders):
            print(f"{group.name}: no tests yet", flush=True)
            continue
        report = LOGS / f"{group.name}.xml"
        waiting.append((group.name, pytest_command(group, arguments, report), float(group.limit_s), report))
    return {running.name: judge(running, may_be_empty=bool(arguments)) for running in as_they_end(waiting, at_once)}


def try_alone(counts: dict[str, Counts]) -> None:
    """Run the tests that failed once more, one after the other with nothing beside them, and put the outcome into the counts.

    Nothing is run again where many failed or where a group did not end well.
    """
    if sum(each.failed for each in counts.values()) > UNSTEADY_MAX or not all(each.ended_well for each in counts.values()):
        return
    for group in GROUPS:
        first = counts.get(group.name)
        if first is None or not first.failed:
            continue
        name = f"{group.name}-again"
        alone = replace(group, workers=0)
        command = pytest_command(alone, ["--last-failed", "--last-failed-no-failures=none", "-rap"], LOGS / f"{name}.xml")
        for running in as_they_end([(name, command, float(group.limit_s), LOGS / f"{name}.xml")], at_once=1):
            second = judge(running, may_be_empty=False)
            # Each of them, and no other: a test that was not found again has not passed.
            if second.ended_well and second.passed + second.failed == first.failed:
                first.passed, first.failed, first.unsteady = first.passed + second.passed, second.failed, second.passed
                print(unsteady_of(running.log.read_text(errors="replace")), flush=True)


def unsteady_of(log: str) -> str:
    """The lines of pytest's summary that name tests which passed the second time."""
    return "\n".join(line.replace("PASSED", "unsteady:", 1) for line in log.splitlines() if line.startswith("PASSED "))


def main(arguments: list[str]) -> int:
    """Run everything; see the module's docstring."""
    shutil.rmtree(LOGS, ignore_errors=True)
    LOGS.mkdir(parents=True)
    good = static_checks()
    if arguments[:1] == ["--static"]:
        return 0 if good else 1
    if arguments[:1] == ["--quick"]:
        counts = run_groups(QUICK, ["-m", "not slow", *arguments[1:]], SIDE_BY_SIDE)
    else:
        counts = run_groups(GROUPS, arguments, SIDE_BY_SIDE)
    # Whoever runs a selection looks at its failures.
    if not arguments:
        try_alone(counts)
    total = Counts()
    for each in counts.values():
        total.add(each)
    if not good:
        print("The static checks failed: see above.")
    print(total)
    return 0 if good and not total.failed and total.passed else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
