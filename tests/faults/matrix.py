"""The crash matrix: victims x points x kinds of faults, carried out in real jobs. A seed stands for one cell of it.

Each cell ends one attempt of a job, so many of them can follow each other in one job, whose output must be exact in the end:

- a worker, an executor or the driver is killed with SIGKILL, at a named point of the protocol or at random;
- it is stopped with SIGSTOP until somebody else has taken its place, and then goes on;
- a file cannot be written, read or moved, as the disk is full or broken, for as long as all tries take. Where the job can go on without
  that file, it does, and has to complete the next checkpoint; a worker is killed after that, as only a restore shows that it is whole.

A fault that did not hit, or after which nothing was recovered, fails the round.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import psutil

from tests.faults.driver_process import LIMIT_S, Driver, alive, has_own_checkpoint
from tests.faults.executors import MASTER, executor_of
from tests.faults.matrix_job import LEDGER, MAX_PARALLELISM, OUT, SIZE, build, real_job
from tests.sim.schedules.jobs import JOBS, KEYS, IntoFiles
from tests.sim.schedules.play import prepared
from tests.sim.schedules.state import state_of
from wiesel.checkpoint.snapshots import find_snapshot
from wiesel.checkpoint.store import StateFiles
from wiesel.graph.job_graph import JobGraph, build_job_graph
from wiesel.state.key_groups import key_group, subtask_for_key_group
from wiesel.testing import local_environment

PROGRAM = Path(__file__).with_name("matrix_job.py")
BATCHES_PER_S = 5
PARALLELISM = 2
STOPPED_MS = 20_000
"""After so long without a heartbeat a process counts as lost; a busy machine may be slow."""

RETRIED = 4
"""How often the storage of checkpoints is tried."""

WORKER, DRIVER, EXECUTOR = "worker", "driver", "executor"
ACTIONS = ("kill", "stop", "disk-full", "io-error")
AT_RANDOM = "at random"
TASK_POINTS = ("before-barrier", "before-snapshot", "before-ack", "after-ack")
DRIVER_POINTS = ("running", "before-publish", "after-publish", "before-commit", "during-commit", "after-commit")
STATE, LEDGER_FILE, PART, STAGED = "/shared/", f"/{LEDGER}", f"/{OUT}/part-", f"/{OUT}/.inprogress-"


@dataclass(frozen=True)
class Kind:
    """One cell: what happens to whom, and where."""

    victim: str
    action: str
    point: str
    path: str = ""
    times: int = 1
    goes_on: bool = False
    """The attempt survives it."""

    @property
    def where(self) -> str:
        return f"{self.point} {self.path}".strip()

    @property
    def name(self) -> str:
        return f"{self.victim}: {self.action}: {self.where}"


def _cells() -> list[Kind]:
    found = [Kind(WORKER, action, point) for action in ("kill", "stop") for point in TASK_POINTS]
    found += [Kind(victim, "kill", AT_RANDOM) for victim in (WORKER, DRIVER, EXECUTOR)]
    found += [Kind(DRIVER, action, point) for action in ("kill", "stop") for point in DRIVER_POINTS]
    found += [Kind(EXECUTOR, action, point) for action in ("kill", "stop") for point in TASK_POINTS]
    # In the middle of an operation on files: a state file is written or restored, a checkpoint published, a part of several committed.
    found += [Kind(WORKER, "kill", "write", STATE), Kind(WORKER, "kill", "read", STATE)]
    found += [Kind(DRIVER, "kill", "write", "/_metadata"), Kind(DRIVER, "kill", "move", PART)]
    for error in ("disk-full", "io-error"):
        found += [
            Kind(WORKER, error, "write", STATE, RETRIED, goes_on=True),
            Kind(WORKER, error, "read", STATE, RETRIED),
            Kind(WORKER, error, "write", STAGED),
            Kind(WORKER, error, "write", LEDGER_FILE),
            Kind(DRIVER, error, "write", "/_metadata", RETRIED, goes_on=True),
            Kind(DRIVER, error, "move", PART),
            Kind(DRIVER, error, "write", LEDGER_FILE),
        ]
    return found


CELLS = _cells()


@dataclass(frozen=True)
class Program:
    """A job of the matrix.

    Attributes:
        tasks: All of its tasks.
        keyed: Those that have state by key.
        writers: Those that write what the sink commits.
    """

    name: str
    graph: JobGraph
    tasks: tuple[str, ...]
    keyed: tuple[str, ...]
    writers: tuple[str, ...]

    def has(self, kind: Kind) -> bool:
        """Return whether the cell can hit this job."""
        if kind.path in (PART, STAGED):
            return self.name == IntoFiles.name
        if kind.path == LEDGER_FILE:
            return self.name != IntoFiles.name
        return kind.path != STATE or bool(self.keyed)

    def fitting(self, kind: Kind) -> tuple[str, ...]:
        """Return the processes that the cell may hit."""
        if kind.victim == DRIVER:
            return (DRIVER,)
        return self.keyed if kind.path == STATE else self.writers if kind.path else self.tasks


@cache
def program(name: str) -> Program:
    """Return the job of that name."""
    env = local_environment(parallelism=PARALLELISM)
    job = real_job(name, Path("/nowhere"))
    build(job, env, PARALLELISM)
    graph = build_job_graph(env._generate_stream_graph())
    busy = {subtask_for_key_group(key_group(f"k{n}", MAX_PARALLELISM), MAX_PARALLELISM, PARALLELISM) for n in range(KEYS)}

    def tasks_of(uid: str | None) -> tuple[str, ...]:
        vertices = [v for v in graph.vertices if uid is None or any(o.node.uid == uid for o in v.operators)]
        return tuple(f"task-{v.index}-{subtask}" for v in vertices for subtask in range(v.parallelism) if uid is None or subtask in busy)

    return Program(name, graph, tasks_of(None), tasks_of(job.state_of) if job.state_of else (), tasks_of("out"))


@dataclass
class Planned:
    """A cell in a round.

    Attributes:
        seed: The seed that chose it.
        attempt: The attempt that it ends.
        completed: The newest checkpoint that had been seen when it hit.
        restored_id: The checkpoint that the attempt after it began with, 0 if that ended before it was seen.
    """

    seed: int
    kind: Kind
    attempt: int
    where: str
    nth: int
    marker: Path
    completed: int = 0
    restored_id: int = 0

    @property
    def fault(self) -> dict[str, Any] | None:
        kind = self.kind
        if kind.point == AT_RANDOM:
            return None
        # An executor is killed while one of its workers stands at the point.
        action = "stop" if kind.victim == EXECUTOR else kind.action
        planned = {"point": kind.point, "where": self.where, "attempt": self.attempt, "nth": self.nth, "times": kind.times}
        return {**planned, "action": action, "marker": str(self.marker), **({"path": kind.path} if kind.path else {})}


def plan(
    job: str, seeds: Sequence[int], directory: Path, victims: Sequence[str], actions: Sequence[str] = ACTIONS
) -> list[Planned]:
    """Return the cells of a round, one per seed and attempt."""
    return [_plan(program(job), seed, attempt, directory, victims, actions) for attempt, seed in enumerate(seeds, start=1)]


def _plan(job: Program, seed: int, attempt: int, directory: Path, victims: Sequence[str], actions: Sequence[str]) -> Planned:
    chance = random.Random(seed)
    # Nothing has been written when the first attempt begins, and it needs checkpoints before it dies; others may die in their recovery.
    first = attempt == 1
    fitting = [k for k in CELLS if job.has(k) and k.victim in victims and k.action in actions]
    fitting = [k for k in fitting if not (first and k.point in ("running", "read"))]
    victim = chance.choice([v for v in victims if any(k.victim == v for k in fitting)])
    action = chance.choice([a for a in actions if any((k.victim, k.action) == (victim, a) for k in fitting)])
    # The moves that only one job has: chosen as often in that as others in all jobs together.
    fitting = [k for k in fitting if (k.victim, k.action) == (victim, action) for _ in range(len(JOBS) if k.path == PART else 1)]
    kind = chance.choice(fitting)
    nth = chance.randint(3, 5) if first else chance.randint(1, 4)
    if kind.point in ("running", "read"):
        nth = 1
    elif kind.path and first:
        nth += 3
    where = chance.choice(job.fitting(kind))
    return Planned(seed, kind, attempt, where, nth, directory / f"fault-{attempt}")


def play(job: str, directory: Path, cells: list[Planned], backend: str) -> None:
    """Run one job through its faults to its end.

    Raises:
        AssertionError: A fault did not hit, nothing was recovered, processes were left over, or output or final state were wrong.
    """
    directory.mkdir(parents=True, exist_ok=True)
    options = ["--job", job, "--rate", str(BATCHES_PER_S), "--backend", backend, "--parallelism", str(PARALLELISM)]
    # However little state there is, it lies in files.
    options += ["--setting", "execution.checkpointing.data-inline-threshold=0"]
    # A job that fails by itself ends, and says why.
    options += ["--setting", f"restart-strategy.fixed-delay.attempts={len(cells) + 2}"]
    if any(cell.kind.victim == EXECUTOR for cell in cells):
        options += ["--master", MASTER]
    if any(cell.kind.action == "stop" for cell in cells):
        options += ["--heartbeat-timeout", str(STOPPED_MS)]
        # Wiesel gives the tasks of a silent executor up; Spark keeps it (tests/faults/test_executors.py: it gives it up as well).
        options += ["--setting", f"spark.storage.blockManagerHeartbeatTimeoutMs={int(LIMIT_S * 1e3)}"]
    Round(directory, cells, options).run()
    _must_be_exact(job, directory, may_leave_parts=any(cell.kind.action == "stop" for cell in cells))


def _must_be_exact(name: str, directory: Path, *, may_leave_parts: bool) -> None:
    """Compare the output with what a loop over the input gives, and the state at the end of the input with that of an undisturbed run."""
    job = real_job(name, directory)
    want, got = Counter(map(repr, job.expected())), Counter(map(repr, job.output()))
    missing, surplus = want - got, got - want
    assert not missing and not surplus, (
        f"{name}: {missing.total()} missing, {surplus.total()} too many: {list(missing)[:5]}, {list(surplus)[:5]}"
    )
    if not may_leave_parts:  # who was replaced may write on until it finds out
        job.nothing_may_be_left()
    found, files = find_snapshot((directory / "savepoint").read_text()), StateFiles("/", "", "read")
    state, quiet = state_of(program(name).graph, found.checkpoint, files), _quiet_state(name)
    for what in quiet.keys() | state.keys():
        assert state.get(what) == quiet.get(what), f"{name}: state {what}: {state.get(what)}, not {quiet.get(what)}"
    assert bool(quiet) == bool(program(name).keyed)


@cache
def _quiet_state(name: str) -> dict[str, Any]:
    """Return the final state of an undisturbed run, on the local engine."""
    with prepared(name, SIZE) as stage:
        return stage.quiet.state


class Round:
    """One job, over all its drivers."""

    def __init__(self, directory: Path, cells: list[Planned], options: list[str]) -> None:
        self.directory = directory
        self.cells = cells
        self.left = list(cells)
        self.options = options
        self.drivers: list[Driver] = []
        self.completed: dict[int, int] = {}
        """The newest checkpoint that was seen in each attempt, which may go on to the next one while somebody looks."""

        self.given_up = 0
        """How many checkpoints the present driver had given up when it was looked at last."""

    def run(self) -> None:
        restore: list[str] = []
        try:
            while True:
                driver = self._start(restore)
                if self._go_on(driver):
                    break
                restore = ["--restore", str(self.directory / "checkpoints" / self.drivers[0].last["job_id"])]
        finally:
            for each in self.drivers:
                each.end()
        self._must_have_recovered()

    def _start(self, restore: list[str]) -> Driver:
        faults = [cell.fault for cell in self.left if cell.fault is not None]
        before = self.drivers[-1] if self.drivers else None
        driver = Driver(self.directory, *self.options, *restore, faults=faults, program=PROGRAM)
        self.drivers.append(driver)
        self.given_up = 0
        if before is not None and before.process.poll() is None:
            self._wake(before, driver)
        return driver

    def _go_on(self, driver: Driver) -> bool:
        """Carry out cells until the driver is gone or none is left; return whether the job has ended."""
        while self.left:
            cell = self.left.pop(0)
            self._carry_out(driver, cell)
            cell.completed = max((newest for attempt, newest in self.completed.items() if attempt <= cell.attempt), default=0)
            if cell.kind.victim == DRIVER and cell.kind.action in ("kill", "stop"):
                return False
            self._wait_for_next(driver, cell.attempt)
        last = len(self.cells) + 1
        driver.wait_for(lambda look: look["attempt"] >= last and has_own_checkpoint(look), "the last attempt")
        driver.release()
        assert driver.wait_for_end() == 0, driver.tail()
        assert driver.last["attempt"] == last, f"attempt {driver.last['attempt']} was the last one after {len(self.cells)} faults"
        driver.family_must_vanish()
        return True

    def _wait_for_next(self, driver: Driver, attempt: int) -> None:
        driver.wait_unless(self._is_hit, lambda look: look["attempt"] > attempt and bool(look["tasks"]), f"attempt {attempt + 1}")

    def _is_hit(self) -> bool:
        """Return whether the next fault has hit the driver, which may be before it could tell anything."""
        return bool(self.left) and self.left[0].kind.victim == DRIVER and self.left[0].marker.exists()

    def _must_have_recovered(self) -> None:
        restored: dict[int, int] = {}
        for driver in self.drivers:
            restored |= driver.restored
        assert restored.get(len(self.cells) + 1, 0) > 0, "nothing was recovered at last"
        for cell in self.cells:
            cell.restored_id = restored.get(cell.attempt + 1, 0)
            seen = cell.attempt + 1 in restored
            assert not seen or cell.restored_id >= max(1, cell.completed), f"{cell.kind.name}: checkpoint {cell.restored_id} was restored"

    # The cells

    def _carry_out(self, driver: Driver, cell: Planned) -> None:
        kind = cell.kind
        if kind.point == AT_RANDOM:
            self._wait_for_checkpoint(driver, cell.attempt)
            time.sleep(random.Random(cell.seed).uniform(0, 0.5))
            self._kill(driver, kind.victim, cell.seed)
            return
        pid = self._wait_for_hit(driver, cell)
        if kind.goes_on:
            self._must_go_on(driver, cell)
            self._kill(driver, WORKER, cell.seed)
        elif kind.victim == EXECUTOR:
            self._lose_executor(driver, cell, pid)
        elif kind.action == "stop" and kind.victim == WORKER:
            self._replace_worker(driver, cell, pid)
        elif kind.action == "kill":
            _must_end([pid], kind.name)
        if kind.victim == DRIVER and kind.action == "kill":
            self._must_be_dead(driver)

    def _wait_for_checkpoint(self, driver: Driver, attempt: int) -> dict[str, Any]:
        look = driver.wait_for(lambda look: look["attempt"] == attempt and has_own_checkpoint(look), f"a checkpoint of attempt {attempt}")
        self._note(look)
        return look

    def _note(self, look: dict[str, Any]) -> None:
        self.completed[look["attempt"]] = max(self.completed.get(look["attempt"], 0), look["checkpoints"]["last_id"])

    def _wait_for_hit(self, driver: Driver, cell: Planned) -> int:
        """Wait until the fault has hit; return the process that it has hit."""
        deadline_s = time.monotonic() + LIMIT_S
        while not (cell.marker.exists() and cell.marker.read_text().endswith("\n")):
            if look := driver.catch_up():
                self._note(look)
            gone = driver.process.poll() is not None and not cell.marker.exists()
            assert not gone, f"the driver ended before {cell.kind.name}\n{driver.tail()}"
            assert time.monotonic() < deadline_s, f"the fault {cell.kind.name} (seed {cell.seed}) did not hit: {cell.fault}; {driver.last}"
            time.sleep(0.02)
        return int(cell.marker.read_text().split()[1])

    def _must_go_on(self, driver: Driver, cell: Planned) -> None:
        """The checkpoint is given up; the attempt goes on, and completes a later one."""
        given_up = self.given_up
        look = driver.wait_for(lambda look: look["checkpoints"]["failed"] > given_up, f"a checkpoint given up after {cell.kind.name}")
        self.given_up = look["checkpoints"]["failed"]
        assert look["attempt"] == cell.attempt, f"{cell.kind.name} has ended the attempt: {look}"
        last = look["checkpoints"]["last_id"]
        later = driver.wait_for(
            lambda look: look["checkpoints"]["last_id"] > max(last, look["checkpoints"]["restored_id"]), "a checkpoint after that"
        )
        assert later["attempt"] == cell.attempt
        self._note(later)

    def _kill(self, driver: Driver, victim: str, seed: int) -> None:
        tasks = driver.last["tasks"]
        worker = tasks[random.Random(seed).randrange(len(tasks))]["pid"]
        if victim == EXECUTOR:
            executor = executor_of(worker)
            lost = [executor.pid, *(p.pid for p in executor.children(recursive=True))]
            executor.kill()
            _must_end(lost, "the executor was killed")
            return
        pid = driver.pid if victim == DRIVER else worker
        os.kill(pid, signal.SIGKILL)
        _must_end([pid], f"the {victim} was killed")
        if victim == DRIVER:
            self._must_be_dead(driver)

    def _must_be_dead(self, driver: Driver) -> None:
        assert driver.wait_for_end() == -signal.SIGKILL, driver.tail()
        driver.family_must_vanish()

    def _lose_executor(self, driver: Driver, cell: Planned, worker: int) -> None:
        _must_stand_still(worker)
        executor = executor_of(worker)
        workers = [p.pid for daemon in executor.children() for p in daemon.children()]
        if cell.kind.action == "kill":
            lost = [executor.pid, *(p.pid for p in executor.children(recursive=True))]
            executor.kill()
            _go_on(worker)
            _must_end(lost, cell.kind.name)
            return
        executor.suspend()
        self._wait_for_next(driver, cell.attempt)
        _go_on(executor.pid)
        _go_on(worker)
        # The cluster has it back, but what ran there is not wanted any more.
        _must_end(workers, cell.kind.name)

    def _replace_worker(self, driver: Driver, cell: Planned, worker: int) -> None:
        """A worker stands still until another one has its place, and then finds out that nobody wants it any more."""
        _must_stand_still(worker)
        self._wait_for_next(driver, cell.attempt)
        _go_on(worker)
        _must_end([worker], cell.kind.name)

    def _wake(self, zombie: Driver, driver: Driver) -> None:
        """A driver stood still while another one took its job: it goes on, and has to find that out."""
        _must_stand_still(zombie.pid)
        look = driver.wait_unless(self._is_hit, has_own_checkpoint, "a checkpoint of the driver that has taken over")
        if look is not None:
            self._note(look)
        _go_on(zombie.pid)
        assert zombie.wait_for_end() == 1, f"the driver that was replaced has not failed\n{zombie.tail()}"
        assert "was replaced by attempt" in zombie.log.read_text()
        zombie.family_must_vanish()


def _must_stand_still(pid: int) -> None:
    deadline_s = time.monotonic() + LIMIT_S
    while psutil.Process(pid).status() != psutil.STATUS_STOPPED:
        assert time.monotonic() < deadline_s, f"process {pid} does not stand still"
        time.sleep(0.02)


def _go_on(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGCONT)
    except ProcessLookupError:
        return  # Spark has killed it


def _must_end(pids: Sequence[int], what: str) -> None:
    deadline_s = time.monotonic() + LIMIT_S
    while left := list(filter(alive, pids)):
        assert time.monotonic() < deadline_s, f"left after {what}: {left}"
        time.sleep(0.02)
