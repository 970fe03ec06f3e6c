"""The demo with its processes killed: two Python workers and then the driver, each with SIGKILL, and a comparison with a quiet run.

The job runs in a child process, which writes what ``JobClient.get_job_metrics`` says as lines of JSON. It replays slowly enough to be hit.
A kill that did not hit, or after which nothing was recovered, counts as a failure: it would prove nothing.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rich.console import Console

from examples.flights import data, report
from examples.flights.job import Results
from examples.flights.progress import Progress, Reading

_PROGRAM = Path(__file__).with_name("run.py")
_KILLED_RUN_S = 40.0
_SILENCE_S = 120.0
"""A job that says nothing for so long has failed."""

_GONE_S = 60.0
"""How long processes may take to end after their driver was killed."""

_YEAR_DAYS = 365
_SHOWN_DIFFERENCES = 5


class DemoFailed(Exception):
    """What was to be shown could not be shown; says why."""


class Child:
    """A driver in a process and process group of its own."""

    def __init__(self, options: argparse.Namespace, output: Path, *further: str) -> None:
        command = [sys.executable, str(_PROGRAM), "--json", "--output", str(output), "--cache", str(options.cache)]
        command += ["--parallelism", str(options.parallelism), *further]
        if options.days is not None:
            command += ["--days", str(options.days)]
        self._log_path = output.with_name(f"{output.name}-driver.log")
        self._log_path.parent.mkdir(parents=True, exist_ok=True)
        self._log = self._log_path.open("w")
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self._log, text=True, start_new_session=True)
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def _read(self) -> None:
        if self._process.stdout is not None:
            for line in self._process.stdout:
                self._lines.put(line)
        self._lines.put(None)

    def looks(self) -> Iterator[dict[str, Any]]:
        """Yield the looks at the job until the process has ended.

        Raises:
            DemoFailed: nothing was heard for long.
        """
        while True:
            try:
                line = self._lines.get(timeout=_SILENCE_S)
            except queue.Empty:
                raise DemoFailed(f"the driver (process {self.pid}) has said nothing for {_SILENCE_S:.0f} s; see {self._log_path}") from None
            if line is None:
                return
            # One that was killed may have said half of a line.
            if line.startswith('{"job_id"') and line.endswith("\n"):
                yield json.loads(line)

    def wait(self) -> int:
        """Wait for the end of the process and return its exit code."""
        code = self._process.wait(timeout=_GONE_S)
        self._log.close()
        return code

    def must_have_succeeded(self) -> None:
        code = self.wait()
        if code != 0:
            log = self._log_path.read_text()[-2000:]
            raise DemoFailed(f"the driver ended with exit code {code}:\n{log}")

    def end(self) -> None:
        """End what is left of the process and its group (the JVM); for the case that the demo itself fails."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()
        self._log.close()
        self._reader.join(_GONE_S)
        if self._process.stdout is not None and not self._reader.is_alive():
            self._process.stdout.close()


def run(console: Console, options: argparse.Namespace) -> int:
    """Run the demo; return the exit code."""
    directory = data.prepare(options.cache)
    total = data.count(directory, options.days)
    quiet, killed = options.output / "quiet", options.output / "killed"
    try:
        console.print(f"[bold]1. The undisturbed run[/bold] of {total:,} records", highlight=False)
        _run_quietly(console, options, quiet, total)
        console.print("\n[bold]2. The same, slower, and processes are killed[/bold]", highlight=False)
        story = _Killer(console, options, killed, total).run()
        console.print("\n[bold]3. What happened[/bold]")
        for line in story:
            console.print(f"   {line}", highlight=False, soft_wrap=True)
        _compare(console, quiet, killed)
    except DemoFailed as failure:
        console.print(f"\n[bold red]failed:[/bold red] {failure}", highlight=False, soft_wrap=True)
        return 1
    return 0


def _run_quietly(console: Console, options: argparse.Namespace, output: Path, total: int) -> None:
    child = Child(options, output)
    try:
        with Progress(console, total, options.days) as progress:
            for look in child.looks():
                progress.show(look)
        child.must_have_succeeded()
    finally:
        child.end()


class _Killer:
    """Runs the job to its end with kills on the way."""

    def __init__(self, console: Console, options: argparse.Namespace, output: Path, total: int) -> None:
        self._console = console
        self._options = options
        self._output = output
        self._total = total
        self._story: list[str] = []
        replay_days = _YEAR_DAYS if options.days is None else options.days
        self._speed_up = options.speed_up or replay_days * 86_400 / _KILLED_RUN_S

    def run(self) -> list[str]:
        """Return what happened, line by line.

        Raises:
            DemoFailed: a kill did not hit, nothing was recovered, or the job did not end well.
        """
        with Progress(self._console, self._total, self._options.days) as progress:
            first = self._start()
            try:
                looks = first.looks()
                self._kill_worker(looks, progress, 0.25, source=False)
                self._kill_worker(looks, progress, 0.5, source=True)
                before, killed_s = self._kill_driver(first, looks, progress, 0.75)
                self._wait_until_gone(first, _pids(before), killed_s)
            finally:
                first.end()
            self._resume(before, progress)
        return self._story

    def _start(self, *further: str) -> Child:
        return Child(self._options, self._output, "--speed-up", str(self._speed_up), *further)

    def _kill_worker(self, looks: Iterator[dict[str, Any]], progress: Progress, at: float, *, source: bool) -> None:
        before = self._wait(looks, progress, at)
        victim = next(t for t in before["tasks"] if t["source"] == source)
        name = victim["name"].removeprefix("Source: ").partition(" -> ")[0]
        self._say(f"worker {victim['pid']} ({name}, subtask {victim['subtask']})", at, before)
        os.kill(victim["pid"], signal.SIGKILL)
        killed_s = time.monotonic()
        for look in looks:
            progress.show(look)
            if look["attempt"] > before["attempt"] and _all_run(look):
                break
        else:
            raise DemoFailed(f"the job ended though its worker {victim['pid']} was killed; the kill did not hit or nothing was recovered")
        if victim["pid"] in _groups():
            raise DemoFailed(f"worker {victim['pid']} still runs: the kill did not hit")
        self._recovered(before, look, killed_s)

    def _kill_driver(
        self, child: Child, looks: Iterator[dict[str, Any]], progress: Progress, at: float
    ) -> tuple[dict[str, Any], float]:
        before = self._wait(looks, progress, at)
        self._say(f"the driver, process {child.pid}", at, before)
        os.kill(child.pid, signal.SIGKILL)
        killed_s = time.monotonic()
        for look in looks:  # what it had said before
            before = look
        code = child.wait()
        if code != -signal.SIGKILL:
            raise DemoFailed(f"the driver ended with exit code {code}: the kill did not hit")
        return before, killed_s

    def _wait(self, looks: Iterator[dict[str, Any]], progress: Progress, at: float) -> dict[str, Any]:
        """Return the first look at the job at which it has come so far, all its tasks run, and the attempt has a checkpoint of its own."""
        for look in looks:
            reading: Reading = progress.show(look)
            checkpoints = look["checkpoints"]
            if reading.fraction(self._options.days) >= at and _all_run(look) and checkpoints["last_id"] > checkpoints["restored_id"]:
                return look
        raise DemoFailed(f"the job ended before {at:.0%} of the replay, so nothing could be killed there")

    def _wait_until_gone(self, child: Child, workers: list[int], since_s: float) -> None:
        def gone() -> bool:
            groups = _groups()
            return child.pid not in groups.values() and not groups.keys() & set(workers)

        _wait_for(gone, "the JVM and the workers of the killed driver")
        self._story.append(f"its JVM and {len(workers)} workers ended by themselves within {time.monotonic() - since_s:.1f} s")

    def _resume(self, before: dict[str, Any], progress: Progress) -> None:
        path = self._output / "checkpoints" / before["job_id"]
        started_s = time.monotonic()
        child = self._start("--restore", str(path))
        recovered = False
        try:
            for look in child.looks():
                progress.show(look)
                if not recovered and _all_run(look):
                    self._recovered(before, look, started_s)
                    recovered = True
            child.must_have_succeeded()
        finally:
            child.end()
        if not recovered:
            raise DemoFailed("the second driver was never seen running the job")

    def _say(self, what: str, at: float, before: dict[str, Any]) -> None:
        last_id = before["checkpoints"]["last_id"]
        line = f"killed {what}, at {at:.0%} of the replay, in attempt {before['attempt']}, after checkpoint {last_id}"
        self._tell(line)

    def _tell(self, line: str) -> None:
        self._story.append(line)
        self._console.print(line, highlight=False, soft_wrap=True)

    def _recovered(self, before: dict[str, Any], after: dict[str, Any], since_s: float) -> None:
        restored = after["checkpoints"]["restored_id"]
        if after["attempt"] <= before["attempt"] or restored < before["checkpoints"]["last_id"]:
            raise DemoFailed(f"attempt {after['attempt']} began from checkpoint {restored}: nothing was recovered")
        line = f"attempt {after['attempt']} went on from checkpoint {restored}, {time.monotonic() - since_s:.1f} s later"
        self._tell(line)


def _pids(look: dict[str, Any]) -> list[int]:
    return [task["pid"] for task in look["tasks"] if task["pid"]]


def _all_run(look: dict[str, Any]) -> bool:
    return look["status"] == "RUNNING" and bool(look["tasks"]) and all(task["pid"] for task in look["tasks"])


def _groups() -> dict[int, int]:
    """Return the process group of each process that runs; those that have ended and were not waited for do not count."""
    if Path("/proc/self/stat").exists():
        found = {}
        for path in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                # "pid (name) state parent group ..."; the name may hold anything.
                state, _, group = path.read_text().rpartition(") ")[2].split()[:3]
                if state not in "ZX":
                    found[int(path.parent.name)] = int(group)
        return found
    listed = subprocess.run(["ps", "-A", "-o", "pid=,pgid=,stat="], capture_output=True, text=True, check=True).stdout
    rows = (line.split() for line in listed.splitlines())
    return {int(pid): int(group) for pid, group, state in rows if not state.startswith("Z")}


def _wait_for(condition: Callable[[], bool], what: str) -> None:
    deadline_s = time.monotonic() + _GONE_S
    while not condition():
        if time.monotonic() > deadline_s:
            raise DemoFailed(f"{what} are still there after {_GONE_S:.0f} s")
        time.sleep(0.1)


def _compare(console: Console, quiet: Path, killed: Path) -> None:
    differences: list[str] = []
    for name in Results._fields:
        expected, found = report.multiset(quiet / name), report.multiset(killed / name)
        if not expected:
            raise DemoFailed(f"the undisturbed run has written no {name}")
        missing, surplus = expected - found, found - expected
        console.print(
            f"   {name.replace('_', '-')}: {expected.total():,} lines, {missing.total():,} missing, {surplus.total():,} too many",
            highlight=False,
        )
        differences += [f"missing: {line}" for line in list(missing)[:_SHOWN_DIFFERENCES]]
        differences += [f"too many: {line}" for line in list(surplus)[:_SHOWN_DIFFERENCES]]
    if differences:
        raise DemoFailed("the outputs differ:\n" + "\n".join(differences))
    console.print("   [bold green]outputs are equal[/bold green]")
