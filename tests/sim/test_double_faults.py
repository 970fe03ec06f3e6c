"""Faults on top of faults: failures while a job recovers, is rescaled, restores a savepoint or commits, in an order that a seed chooses.

What was committed in the end is what was pushed, once: totals per key are a closed form of the pushes.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.unit.engine.stored_job import StoredJob, Total, environment, start
from tests.unit.testing.programs import Outside, TwoPhaseSink
from wiesel.common import Types, WatermarkStrategy
from wiesel.common.job_status import JobStatus
from wiesel.core.errors import CheckpointError
from wiesel.engine.job_attempt import AttemptState
from wiesel.testing import InjectedFailure, ManualSource
from wiesel.testing._failures import MASTER_POINTS, TASK_POINTS

pytestmark = pytest.mark.slow

KEYS = 5
STEPS = 14
SEEDS = 40
POINTS = (*TASK_POINTS, *MASTER_POINTS, "during-commit")


class Played:
    """A job that counts per key into a sink with two phases, and what is done to it."""

    def __init__(self, directory: Path, seed: int, unaligned: bool = False) -> None:
        self.random = Random(seed)
        self.seed = seed
        self.directory = directory
        self.unaligned = unaligned
        self.outside = Outside()
        self.numbers = ManualSource(splits=2)
        self.pushed = [0] * KEYS
        self.parallelism = self.random.choice([1, 2, 3])
        self.done: list[str] = []
        self.job = self._start()

    def _start(self, savepoint: str | None = None) -> StoredJob:
        config: dict[str, Any] = {
            "wiesel_local_seed": str(self.seed),
            "state_backend_type": self.random.choice(["hashmap", "lmdb"]),
            "execution_checkpointing_unaligned_enabled": str(self.unaligned).lower(),
        }
        if savepoint is not None:
            claim = self.random.choice(["CLAIM", "NO_CLAIM"])
            config |= {"execution_state__recovery_path": savepoint, "execution_state__recovery_claim__mode": claim}
        env = environment(self.directory / "checkpoints", self.parallelism, **config)
        stream = env.from_source(self.numbers, WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
        total = Types.TUPLE([Types.STRING(), Types.LONG()])
        sums = stream.key_by(lambda pair: pair[0], Types.STRING()).process(Total(), total).uid("total")
        sums.sink_to(TwoPhaseSink(self.outside)).uid("out")
        return start(env)

    def push(self) -> None:
        for split in (0, 1):
            keys = [self.random.randrange(KEYS) for _ in range(self.random.randrange(1, 9))]
            for key in keys:
                self.pushed[key] += 1
            self.numbers.push_all([(f"key {key}", 1) for key in keys], split=split)

    def some_steps(self) -> None:
        self.job.step(self.random.randrange(1, 120))

    def runs(self) -> bool:
        return self.job.status is JobStatus.RUNNING and self.job.master.attempt.state is AttemptState.RUNNING

    def go_on(self) -> None:
        self.job.until(self.runs, "go on")

    # What may happen

    def fail(self) -> None:
        """Kill the tasks, and perhaps those of the next attempts while they start."""
        for _ in range(self.random.randrange(1, 4)):
            if not self.job.master.attempt.ended:
                self.job.master.attempt.fail(InjectedFailure("killed"))
            self.some_steps()
        self.go_on()

    def checkpoint(self) -> None:
        """Take a checkpoint, and perhaps be killed at a point of it, and at that of the next one again."""
        if self.random.random() < 0.6:
            self.kill_at(self.random.choice(POINTS), times=self.random.randrange(1, 3))
        try:
            self.job.checkpoint()
        except (InjectedFailure, CheckpointError):
            self.go_on()

    def kill_at(self, point: str, times: int) -> None:
        left = [times]

        def passed(task: Any, reached: str) -> None:
            if reached == point and left[0] and not self.job.master.attempt.ended:
                left[0] -= 1
                if task:
                    raise InjectedFailure(f"at {point}")
                self.job.master.attempt.fail(InjectedFailure(f"at {point}"))

        self.job.master.on_point = lambda reached: passed(False, reached)
        self.job._world._faults = lambda reached, _: passed(True, reached)

    def rescale(self) -> None:
        """Rescale, and perhaps be killed once or twice meanwhile."""
        self.parallelism = self.random.choice([1, 2, 3, 4])
        answer = self.job.master.rescale(self.parallelism)
        for _ in range(self.random.randrange(3)):
            self.some_steps()
            if not self.job.master.attempt.ended:
                self.job.master.attempt.fail(InjectedFailure("killed while it is rescaled"))
        self.job.until(answer.done, "answer")
        assert answer.exception() is None or isinstance(answer.exception(), CheckpointError)
        self.go_on()

    def start_from_a_savepoint(self) -> None:
        """Stop with a savepoint, start from it with another parallelism and backend, and be killed before the first checkpoint."""
        self.kill_at("", times=0)
        path = self.job.savepoint(self.directory / "savepoints", stop=True)
        self.job.close()
        self.parallelism = self.random.choice([1, 2, 3])
        self.job = self._start(path)
        for _ in range(self.random.randrange(3)):
            self.fail()

    def play(self) -> None:
        for _ in range(STEPS):
            action = self.random.choice([self.push, self.push, self.fail, self.checkpoint, self.rescale, self.start_from_a_savepoint])
            self.done.append(action.__name__)
            action()
            self.some_steps()
            self.go_on()

    def expected(self) -> list[tuple[str, int]]:
        return sorted((f"key {key}", n) for key, count in enumerate(self.pushed) for n in range(1, count + 1))


@pytest.mark.parametrize("seed", range(SEEDS))
def test_what_is_committed_is_exact_after_faults_on_faults(tmp_path: Path, seed: int) -> None:
    print(f"seed {seed}")
    played = Played(tmp_path, seed, unaligned=seed % 3 == 0)
    try:
        played.play()
        played.kill_at("", times=0)
        played.push()
        played.job.settle()
        played.job.checkpoint()
        played.job.settle()
        assert sorted(played.outside.values) == played.expected(), played.done
        print(f"{played.done}, restarts of the last job: {played.job.restarts}")
    finally:
        played.job.close()


def test_the_faults_hit(tmp_path: Path) -> None:
    """A schedule with many faults has led to as many failures: the others would prove nothing without them."""
    played = Played(tmp_path, 1)
    with played.job:
        for n, point in enumerate(POINTS, start=1):
            played.push()
            played.kill_at(point, times=1)
            with pytest.raises(InjectedFailure):
                played.job.checkpoint()
            played.go_on()
            assert len(played.job.master.failures) == n, point
        played.job.settle()
        played.job.checkpoint()
        assert sorted(played.outside.values) == played.expected()


@pytest.mark.parametrize("point", ["before-commit", "during-commit", "after-commit"])
def test_killed_in_a_commit_and_in_the_commit_after_the_restore(tmp_path: Path, point: str) -> None:
    played = Played(tmp_path, 2)
    with played.job:
        played.push()
        played.job.settle()
        struck: list[str] = []

        def passed(reached: str) -> None:
            if len(struck) < 2 and reached == ("during-commit" if struck else point):
                struck.append(reached)
                played.job.master.attempt.fail(InjectedFailure(f"at {reached}"))

        played.job.master.on_point = passed
        with pytest.raises(InjectedFailure):
            played.job.checkpoint()
        played.job.until(lambda: played.runs() and len(struck) == 2, "commit again")
        played.job.settle()
        played.job.checkpoint()
        assert played.job.restarts == 2
        assert sorted(played.outside.values) == played.expected()
