"""A driver in a process of its own: its output, its faults, its end, and all the processes that belong to it."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TextIO

import psutil

from tests.faults.counting_job import expected

PROGRAM = Path(__file__).with_name("counting_job.py")
ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 450.0
"""How long anything may take that the job does by itself: a loaded machine is slow. Less than the limit of a test, so that it is this
which ends the waiting for a job that hangs, and tells what was seen of it."""

GONE_S = 90.0
"""How long processes may outlive their driver."""

_END = "all has been said\n"


class Driver:
    """Runs ``counting_job`` in a directory. Everything it starts stays in its session, which is how orphans are found."""

    def __init__(self, directory: Path, *options: str, faults: Iterable[dict[str, Any]] = (), program: Path = PROGRAM) -> None:
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        # Of its own: what one driver is looked for must not be said, or pushed away, by another one.
        self.log = directory / f"driver-{1 + len(list(directory.glob('driver-*.log')))}.log"
        plan = json.dumps(list(faults))
        # The workers of executors look for the modules of programs there.
        modules = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        output, written = os.pipe()
        self._output: int | None = written
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, str(program), str(directory), *options],
                stdout=written,
                stderr=log,
                text=True,
                start_new_session=True,
                env={**os.environ, "WIESEL_FAULT_PLAN": plan, "PYTHONPATH": modules},
            )
        self.last: dict[str, Any] = {}
        self.lines: list[str] = []
        self.restored: dict[int, int] = {}
        """Which checkpoint each attempt that was seen began with."""
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, args=(os.fdopen(output, encoding="utf-8", errors="replace"),), daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        return self.process.pid

    def _read(self, output: TextIO) -> None:
        with output:
            for line in output:
                if line == _END:
                    break
                self._lines.put(line)
        self._lines.put(None)

    def _mark_end(self) -> None:
        """Say behind all that the driver has said that it has ended: what it has left behind may hold its output open."""
        if self._output is not None:
            # What it was killed in the middle of ends here.
            os.write(self._output, f"\n{_END}".encode())
            os.close(self._output)
            self._output = None

    def look(self, timeout_s: float = LIMIT_S) -> dict[str, Any] | None:
        """Return the next look at the job, None after the end of the process.

        Raises:
            queue.Empty: There was none in time.
        """
        while True:
            try:
                line = self._lines.get(timeout=timeout_s)
            except queue.Empty:
                if self._output is None or self.process.poll() is None:
                    raise
                self._mark_end()
                continue
            if line is None:
                self._lines.put(None)
                return None
            with contextlib.suppress(json.JSONDecodeError):
                if line.startswith('{"job_id"'):
                    self.last = json.loads(line)
                    self.restored[self.last["attempt"]] = self.last["checkpoints"]["restored_id"]
                    return self.last
            self.lines.append(line)

    def catch_up(self) -> dict[str, Any]:
        """Return the newest look that has come until now."""
        with contextlib.suppress(queue.Empty):
            while self.look(0) is not None:
                pass
        return self.last

    def wait_for(self, condition: Callable[[dict[str, Any]], bool], what: str) -> dict[str, Any]:
        """Return the first look that the condition holds for."""
        look = self.wait_unless(lambda: False, condition, what)
        assert look is not None
        return look

    def wait_unless(self, silenced: Callable[[], bool], condition: Callable[[dict[str, Any]], bool], what: str) -> dict[str, Any] | None:
        """Return the first look that the condition holds for, None if the driver says nothing more as something has silenced it."""
        deadline_s = time.monotonic() + LIMIT_S
        while time.monotonic() < deadline_s:
            try:
                look = self.look(0.5)
            except queue.Empty:
                if silenced():
                    return None
                continue
            if look is None:
                break
            if condition(look):
                return look
        if silenced():
            return None
        raise AssertionError(f"{what} was never seen; last: {self.last}\n{self.tail()}")

    def wait_for_end(self) -> int:
        """Read until the process ends; return its exit code."""
        deadline_s = time.monotonic() + LIMIT_S
        while True:
            with contextlib.suppress(queue.Empty):
                if self.look(0.5) is None:
                    return self.process.wait()
            assert time.monotonic() < deadline_s, f"the driver did not end within {LIMIT_S:.0f} s; last: {self.last}\n{self.tail()}"

    def release(self) -> None:
        """Let the source emit its last records."""
        (self.directory / "go").touch()

    def tail(self) -> str:
        return "".join(self.lines[-20:]) + self.log.read_text()[-3000:]

    def family(self) -> list[psutil.Process]:
        """Return all live processes of the driver's session."""
        found = []
        for process in psutil.process_iter():
            try:
                if os.getsid(process.pid) == self.pid and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
            except (ProcessLookupError, psutil.NoSuchProcess):
                continue
        return found

    def jvm(self) -> psutil.Process:
        """Return Spark's JVM."""
        for process in self.family():
            with contextlib.suppress(psutil.NoSuchProcess):  # a worker, which has ended since
                if process.name().startswith("java"):
                    return process
        raise AssertionError(f"there is no JVM\n{self.tail()}")

    def family_must_vanish(self) -> None:
        """Wait for the processes that the driver has left behind."""
        started_s = time.monotonic()
        while family := self.family():
            assert time.monotonic() - started_s < GONE_S, f"still there after {GONE_S:.0f} s: {[p.cmdline()[:6] for p in family]}"
            time.sleep(0.05)

    def end(self) -> None:
        """Kill what is left, whatever it is."""
        for process in self.family():
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        self.process.wait()
        self._mark_end()
        self._reader.join()


def all_run(look: dict[str, Any]) -> bool:
    """Return whether all tasks have reported."""
    return look["status"] == "RUNNING" and bool(look["tasks"]) and all(task["pid"] for task in look["tasks"])


def has_own_checkpoint(look: dict[str, Any]) -> bool:
    """Return whether all tasks run and the attempt has completed a checkpoint."""
    return all_run(look) and look["checkpoints"]["last_id"] > look["checkpoints"]["restored_id"]


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def kill_worker(driver: Driver, number: int) -> None:
    """Kill the worker of one task with SIGKILL and wait until a new attempt runs that began with a checkpoint."""
    before = driver.wait_for(has_own_checkpoint, "a running attempt with a checkpoint of its own")
    victim = before["tasks"][number % len(before["tasks"])]
    os.kill(victim["pid"], signal.SIGKILL)
    after = driver.wait_for(lambda look: look["attempt"] > before["attempt"] and all_run(look), "the next attempt")
    assert victim["pid"] not in [task["pid"] for task in after["tasks"]] and not alive(victim["pid"]), "the kill did not hit"
    assert after["checkpoints"]["restored_id"] >= before["checkpoints"]["last_id"] > 0, "nothing was recovered"


def published(directory: Path) -> dict[int, Path]:
    """Return the directories of the checkpoints that were published, by id.

    They tell more of a driver that was killed than its looks do: a fault may hit before it has printed the first one.
    """
    return {int(path.parent.name.removeprefix("chk-")): path.parent for path in (directory / "checkpoints").glob("*/chk-*/_metadata")}


def must_have_hit(marker: Path) -> None:
    """Check that a planned fault was carried out: its process wrote the marker and is gone."""
    assert marker.exists(), f"the fault of {marker.name} did not hit"
    assert not alive(int(marker.read_text().split()[1])), f"the process that should have been killed at {marker.name} lives"


def must_be_exact(directory: Path, records: int) -> None:
    """Compare the visible output with what the records lead to, as multisets."""
    for name, want in expected(records).items():
        must_have_made(directory / name, want)


def must_have_made(directory: Path, want: Counter[str]) -> None:
    """Compare the visible lines below a directory with what they should be, as multisets."""
    files = [p for p in directory.rglob("*") if p.is_file() and not p.name.startswith((".", "_"))]
    got = Counter(line for p in files for line in p.read_text().splitlines())
    missing, surplus = want - got, got - want
    assert not missing and not surplus, (
        f"{directory.name}: {missing.total()} missing, {surplus.total()} too many: {list(missing)[:5]}, {list(surplus)[:5]}"
    )
