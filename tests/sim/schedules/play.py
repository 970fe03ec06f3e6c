"""Plays schedules: a job whose events come in an order that a seed chooses, with faults, compared with the same job left in peace."""

from __future__ import annotations

import gc
import logging
import os
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

import pytest

from tests.sim.schedules.faults import FATAL, FIRST_STEPS, DriverDied, Faults
from tests.sim.schedules.jobs import SMALL, ScheduledJob, Size, new_job
from tests.sim.schedules.state import state_of
from tests.sim.schedules.storage import Disk, MemoryFileIO
from tests.sim.schedules.world import FaultyWorld, failing_committers
from wiesel.checkpoint import file_io, retries
from wiesel.checkpoint.coordinator import Checkpoint
from wiesel.common import Configuration
from wiesel.core.clock import ManualClock
from wiesel.core.errors import CheckpointError, CheckpointStorageError
from wiesel.engine.base import JobSettings, job_settings
from wiesel.engine.job_master import JobMaster
from wiesel.engine.local.executor import NEVER_MS
from wiesel.engine.local.simulation import ShippedCode
from wiesel.engine.restart import FixedDelayRestart
from wiesel.graph.execution_graph import build_execution_graph
from wiesel.graph.job_graph import build_job_graph
from wiesel.graph.stage_plan import StagePlan, build_stage_plan
from wiesel.testing import local_environment

DIRECTORY = "/checkpoints"
RESTARTS, DELAY_MS = 1000, 5
MOST_STEPS = 60_000
MOST_DRIVERS = 30
TRIGGERED = 0.06
"""How probable it is at a step that a checkpoint is asked for."""

ZOMBIE_STEPS = 0.5
"""The share of the steps that a driver does that was replaced."""

RESCALED = 0.1
"""The share of the schedules in which the job is rescaled, once or twice."""


@dataclass(frozen=True)
class Variant:
    """How a job is run."""

    parallelism: int
    unaligned: bool = False
    backend: str = "hashmap"
    local_copies: bool = False


VARIANTS = (
    *(Variant(parallelism, unaligned) for parallelism in (1, 1, 1, 2, 2, 2, 2, 3) for unaligned in (False, True)),
    *(Variant(2, False, backend) for backend in ("lmdb", "rocksdb")),
    Variant(2, False, "hashmap", local_copies=True),
)


@dataclass
class Outcome:
    """How a schedule ended.

    Attributes:
        output: What is visible, sorted.
        state: The state of the last checkpoint.
        restored: How many attempts began with a checkpoint.
    """

    output: list[Any] = field(default_factory=list)
    state: dict[Any, Any] = field(default_factory=dict)
    hits: Counter[str] = field(default_factory=Counter)
    restarts: int = 0
    restored: int = 0
    drivers: int = 1
    rescaled: int = 0
    completed: int = 0
    given_up: int = 0
    steps: int = 0


class Master(JobMaster):
    """A JobMaster that passes points at which the schedule may strike."""

    world: FaultyWorld
    outcome: Outcome
    last_state: dict[Any, Any] | None = None

    def reached(self, point: str) -> None:
        if not self.world.zombie and self.attempt is not None:
            self.world.faults.at_master_point(point, self.attempt.fail)

    def _begin(self, restore: Checkpoint | None, before: Any = None) -> None:
        super()._begin(restore, before)
        self.outcome.restored += restore is not None
        if self.attempt is not None:
            failing_committers(self.attempt, self.world.faults)

    def checkpoint_completed(self, checkpoint: Checkpoint, duration_ms: int) -> None:
        if checkpoint.final:
            failing, self.world.disk.failing = self.world.disk.failing, 0
            self.last_state = state_of(self.plan.graph.job, checkpoint, self.recovery.files)
            self.world.disk.failing = failing
        super().checkpoint_completed(checkpoint, duration_ms)


class Plans:
    """The plans of a job by variant: made once, as schedules do not differ in them."""

    def __init__(self, job: ScheduledJob) -> None:
        self.job = job
        self._plans: dict[Variant, tuple[StagePlan, JobSettings]] = {}
        self.shipped_code: defaultdict[Variant, ShippedCode] = defaultdict(ShippedCode)

    def plan(self, variant: Variant) -> tuple[StagePlan, JobSettings]:
        if variant not in self._plans:
            options = {
                "execution.checkpointing.dir": DIRECTORY,
                "execution.checkpointing.interval": "1 d",
                "execution.checkpointing.timeout": "10 s",
                "execution.checkpointing.num-retained": "2",
                # So that there are state files, although there is little state.
                "execution.checkpointing.data-inline-threshold": "64 b",
                "execution.checkpointing.tolerable-failed-checkpoints": "1000000",
                "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
                "execution.checkpointing.unaligned.enabled": str(variant.unaligned).lower(),
                # On Spark, unaligned checkpoints always limit what is in flight.
                "taskmanager.network.memory.buffer-debloat.enabled": str(variant.unaligned).lower(),
                "execution.state-recovery.claim-mode": "CLAIM",
                "execution.state-recovery.from-local": str(variant.local_copies).lower(),
                "execution.checkpointing.local-backup.enabled": str(variant.local_copies).lower(),
            }
            env = local_environment(parallelism=variant.parallelism, state_backend=variant.backend, config=options)
            env.set_max_parallelism(8)
            self.job.build(env)
            graph = build_job_graph(env._generate_stream_graph(clear_transformations=True))
            config = Configuration.from_dict(env._config.to_dict())
            self._plans[variant] = build_stage_plan(build_execution_graph(graph)), job_settings(config)
        return self._plans[variant]


class Play:
    """One schedule of a job, over all its drivers."""

    def __init__(self, plans: Plans, disk: Disk, seed: int, local_dir: Path, *, quiet: bool = False) -> None:
        self.random = Random(seed)
        self.job = plans.job
        variants = [v for v in VARIANTS if self.job.takes_unaligned or not v.unaligned]
        self.variant = self.random.choice(variants)
        self.plan, self.settings = plans.plan(self.variant)
        self.shipped_code = plans.shipped_code[self.variant]
        self.disk = disk
        self.local_dir = local_dir
        self.faults = Faults(self.random)
        rescaled = self.random.randrange(1, 3) if self.random.random() < RESCALED else 0
        self.rescale_at = sorted(self.random.randrange(FIRST_STEPS) for _ in range(rescaled))
        if quiet:
            self.faults.planned.clear()
            self.rescale_at.clear()
        self.clock = ManualClock(1_000_000)
        self.job_id = UUID(int=self.random.getrandbits(128)).hex
        self.outcome = Outcome()
        self.zombie: Master | None = None

    def run(self) -> Outcome:
        """Play to the end of the job."""
        try:
            return self._run()
        finally:
            self.job.reset()

    def _run(self) -> Outcome:
        self.disk.files.clear()
        self.disk.failing = 0
        self.disk.random = self.random
        self.job.reset()
        master = self._next_driver()
        while not master.result.done():
            try:
                self._step(master)
            except DriverDied:
                if master.last_state is not None and not self._has_checkpoint:
                    self.faults.missed()  # all was committed, and the checkpoints are gone: there was nothing left to do
                    break
                master = self._replace(master)
            if self.faults.step > MOST_STEPS:
                raise AssertionError(f"the job has not ended after {MOST_STEPS} steps")
        if master.result.done():
            master.result.result()
        replaced = self.zombie is not None
        self._end_zombie()
        if not replaced:  # whose tasks may have written on, behind the end of the job
            self.job.nothing_may_be_left()
        outcome = self.outcome
        outcome.output, outcome.hits, outcome.steps = self.job.output(), self.faults.hits, self.faults.step
        self._count(master)
        assert master.last_state is not None
        outcome.state = master.last_state
        return outcome

    def _count(self, master: Master) -> None:
        self.outcome.restarts += master.restarts
        self.outcome.rescaled += master.rescaling.completed
        self.outcome.completed += master.completed_checkpoints
        self.outcome.given_up += master.failed_checkpoints

    def _step(self, master: Master) -> None:
        zombie = self.zombie
        if zombie is not None and not zombie.result.done() and self.random.random() < ZOMBIE_STEPS:
            zombie.world.step()
            return
        if self.rescale_at and self.rescale_at[0] <= self.faults.step:
            self.rescale_at.pop(0)
            self._rescale(master)
        if self.random.random() < TRIGGERED and master.attempt is not None and not master.attempt.ended:
            master.attempt.trigger()
        master.world.step()

    def _rescale(self, master: Master) -> None:
        with suppress(CheckpointError):  # it has just ended
            master.rescale(self.random.randrange(1, 4))

    def _replace(self, master: Master) -> Master:
        self.outcome.drivers += 1
        self._count(master)
        if master.world.zombie:
            self.zombie = master
        else:
            for task in master.world.tasks.values():
                if not task.gone:
                    task.task.close()
        return self._next_driver()

    def _next_driver(self) -> Master:
        """Start a driver, from the checkpoints of the one before if there are any. The storage may fail it: then another one tries."""
        for _ in range(MOST_DRIVERS):
            try:
                return self._start()
            except CheckpointStorageError:
                self.outcome.drivers += 1
            except DriverDied:
                self.outcome.drivers += 1
        raise AssertionError(f"{MOST_DRIVERS} drivers could not start")

    @property
    def _has_checkpoint(self) -> bool:
        return any(name.endswith("/_metadata") for name in self.disk.files)

    def _start(self) -> Master:
        path = f"{DIRECTORY}/{self.job_id}" if self._has_checkpoint else None
        local_dir = str(self.local_dir)
        copies = self.settings.local_backup.below(local_dir)
        settings = replace(self.settings, restore_path=path, heartbeat_timeout_ms=NEVER_MS, local_backup=copies)
        world = FaultyWorld(
            self.plan,
            clock=self.clock,
            checkpoint_dir=DIRECTORY,
            local_dir=local_dir,
            local_backup=copies,
            faults=self.faults,
            disk=self.disk,
            shipped_code=self.shipped_code,
        )
        strategy = FixedDelayRestart(RESTARTS, DELAY_MS)
        job_id = self.job_id
        master = Master(self.plan, settings, strategy, job_id=job_id, launcher=world, background=world, clock=self.clock)
        master.world, master.outcome = world, self.outcome
        world.master = master
        master.start()
        return master

    def _end_zombie(self) -> None:
        """A driver that was replaced finds that out by itself, at the latest when it wants to publish, commit or restart something."""
        if self.zombie is None:
            return
        before = self.job.output()
        zombie, self.zombie = self.zombie, None
        for _ in range(MOST_STEPS):
            if zombie.result.done():
                break
            if zombie.attempt is not None and not zombie.attempt.ended:
                zombie.attempt.trigger()
            zombie.world.step()
        assert zombie.result.done(), "the driver that was replaced has not ended"
        assert self.job.output() == before, "the driver that was replaced has changed the output"


def must_be_as_quiet(outcome: Outcome, quiet: Outcome, expected: list[Any]) -> None:
    """Compare a schedule with the quiet run and with what was computed without the job."""
    missing, surplus = _difference(expected, outcome.output)
    assert not missing and not surplus, f"output: {len(missing)} missing, {len(surplus)} too many: {missing[:3]}, {surplus[:3]}"
    for name in quiet.state.keys() | outcome.state.keys():
        assert outcome.state.get(name) == quiet.state.get(name), f"state {name}: {outcome.state.get(name)}, not {quiet.state.get(name)}"
    if any(kind in FATAL for kind in outcome.hits):
        assert outcome.restarts + outcome.drivers > 1, f"after {dict(outcome.hits)} nothing was recovered"


def _difference(wanted: list[Any], got: list[Any]) -> tuple[list[Any], list[Any]]:
    want, have = Counter(map(repr, wanted)), Counter(map(repr, got))
    return list((want - have).elements()), list((have - want).elements())


class Stage:
    """All that plays schedules of one job: its plans, and its quiet run to compare with."""

    def __init__(self, name: str, directory: Path, disk: Disk, size: Size) -> None:
        self.job = new_job(name, directory / "out", size)
        self.disk = disk
        self.local_dir = directory / "local"
        self.local_dir.mkdir()
        self.plans = Plans(self.job)
        self.expected = self.job.expected()
        self.quiet = self._play(0, quiet=True)
        must_be_as_quiet(self.quiet, self.quiet, self.expected)

    def _play(self, seed: int, *, quiet: bool = False) -> Outcome:
        return Play(self.plans, self.disk, seed, self.local_dir, quiet=quiet).run()

    def play(self, seed: int, *, quiet: bool = False) -> Outcome:
        """Play a schedule and compare its outcome.

        Raises:
            AssertionError: It is another, or the job did not end well; with the command that repeats it.
        """
        try:
            outcome = self._play(seed, quiet=quiet)
            must_be_as_quiet(outcome, self.quiet, self.expected)
        except Exception as error:
            again = f"python -m tests.sim.schedules {self.job.name} {seed}"
            raise AssertionError(f"schedule {seed} of {self.job.name}, again with `{again}`: {type(error).__name__}: {error}") from error
        return outcome


@contextmanager
def prepared(name: str, size: Size = SMALL) -> Iterator[Stage]:
    """Give what plays schedules of a job: the storage of checkpoints is in memory, and nothing waits for disks."""
    disk = Disk()
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory(prefix="wiesel-schedules-") as directory:
        patch.setattr(file_io, "LocalFileIO", lambda root, *, direct_io="false": MemoryFileIO(disk, root))
        patch.setattr(retries, "DELAYS_S", ())
        patch.setattr(os, "fsync", lambda _: None)
        logging.disable(logging.WARNING)  # each fault has its lines
        thresholds = gc.get_threshold()
        gc.set_threshold(50_000)
        try:
            yield Stage(name, Path(directory), disk, size)
        finally:
            gc.set_threshold(*thresholds)
            logging.disable(logging.NOTSET)
