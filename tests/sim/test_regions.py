"""Two pipelines of one job that share nothing: failures of each, alone, together and on top of each other, in an order that a seed chooses.

What each has committed in the end is what was pushed to it, once: totals per key are a closed form of the pushes. And while one restarts,
the tasks of the other are the very same objects as before.
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
from wiesel.engine.failover import FailoverRegion
from wiesel.engine.job_attempt import AttemptState
from wiesel.testing import CollectedStream, InjectedFailure, ManualSource
from wiesel.testing._failures import MASTER_POINTS, TASK_POINTS

pytestmark = pytest.mark.slow

KEYS = 5
STEPS = 16
SEEDS = 40
POINTS = (*TASK_POINTS, *MASTER_POINTS, "during-commit")
PIPELINES = ("left", "right")


class Pipeline:
    """Counts per key what is pushed to its source, into a sink with two phases and into a stream that the test collects."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.outside = Outside()
        self.numbers = ManualSource(splits=2)
        self.pushed = [0] * KEYS
        self.collected: CollectedStream | None = None

    def add_to(self, env: Any) -> None:
        stream = env.from_source(self.numbers, WatermarkStrategy.no_watermarks(), self.name).uid(self.name)
        total = Types.TUPLE([Types.STRING(), Types.LONG()])
        sums = stream.key_by(lambda pair: pair[0], Types.STRING()).process(Total(), total).uid(f"{self.name} total")
        sums.sink_to(TwoPhaseSink(self.outside)).uid(f"{self.name} out")
        self.collected = env.collect(sums)

    def push(self, random: Random) -> None:
        for split in (0, 1):
            keys = [random.randrange(KEYS) for _ in range(random.randrange(1, 9))]
            for key in keys:
                self.pushed[key] += 1
            self.numbers.push_all([(f"key {key}", 1) for key in keys], split=split)

    def expected(self) -> list[tuple[str, int]]:
        return sorted((f"key {key}", n) for key, count in enumerate(self.pushed) for n in range(1, count + 1))


class Played:
    """The job of two pipelines, and what is done to it."""

    def __init__(self, directory: Path, seed: int, **config: str) -> None:
        self.random = Random(seed)
        self.pipelines = [Pipeline(name) for name in PIPELINES]
        self.done: list[str] = []
        stored = seed % 4 != 1
        settings = {
            "wiesel_local_seed": str(seed),
            "state_backend_type": self.random.choice(["hashmap", "lmdb"]),
            "execution_checkpointing_unaligned_enabled": str(seed % 3 == 0).lower(),
            "restart__strategy_type": "fixed-delay",
            "restart__strategy_fixed__delay_attempts": "1000",
            "restart__strategy_fixed__delay_delay": "0 ms",
            **({} if stored else {"execution_checkpointing_interval": "1 d"}),
        }
        env = environment(directory / "checkpoints" if stored else None, self.random.choice([1, 2, 3]), **settings, **config)
        for pipeline in self.pipelines:
            pipeline.add_to(env)
        self.job: StoredJob = start(env)
        self.go_on()

    @property
    def attempt(self) -> Any:
        return self.job.master.attempt

    def runs(self) -> bool:
        return self.job.status is JobStatus.RUNNING and self.attempt.state is AttemptState.RUNNING

    def go_on(self) -> None:
        self.job.until(self.runs, "go on")

    def some_steps(self) -> None:
        self.job.step(self.random.randrange(1, 120))

    def region(self, name: str) -> FailoverRegion:
        vertex = next(v for v in self.job.master.plan.graph.job.vertices if v.operators[0].node.uid == name)
        return next(region for region in self.attempt.regions if vertex.index in region.vertices)

    def tasks_of(self, region: FailoverRegion) -> dict[Any, Any]:
        return {key: task for key, task in self.job._world.tasks.items() if key in region.tasks}

    # What may happen

    def push(self) -> None:
        for pipeline in self.pipelines:
            pipeline.push(self.random)

    def fail_one(self) -> None:
        """Kill the tasks of one pipeline, once or several times while it starts again: the other one does not notice."""
        region = self.region(self.random.choice(PIPELINES))
        others = [self.tasks_of(other) for other in self.attempt.regions if other is not region]
        numbers = [other.number for other in self.attempt.regions if other is not region]
        before = region.number
        for _ in range(self.random.randrange(1, 4)):
            self.attempt.fail_region(region, InjectedFailure("killed"))
            self.some_steps()
        self.go_on()
        assert region.number > before
        assert [self.tasks_of(other) for other in self.attempt.regions if other is not region] == others
        assert [other.number for other in self.attempt.regions if other is not region] == numbers

    def fail_both(self) -> None:
        for name in self.random.sample(PIPELINES, 2):
            self.attempt.fail_region(self.region(name), InjectedFailure("killed"))
            if self.random.random() < 0.5:
                self.some_steps()
        self.go_on()

    def fail_all(self) -> None:
        """The job fails as a whole, perhaps while a pipeline restarts."""
        if self.random.random() < 0.5:
            self.attempt.fail_region(self.region(self.random.choice(PIPELINES)), InjectedFailure("killed"))
            self.some_steps()
        self.attempt.fail(InjectedFailure("killed"))
        self.some_steps()
        self.go_on()

    def checkpoint(self) -> None:
        """Take a checkpoint, and perhaps be killed at a point of it, and at that of the next one again."""
        if self.random.random() < 0.7:
            self.kill_at(self.random.choice(POINTS), times=self.random.randrange(1, 3))
        try:
            self.job.checkpoint()
        except (InjectedFailure, CheckpointError):
            self.go_on()

    def kill_at(self, point: str, times: int) -> None:
        """Kill the task that passes a point; at a point of the JobMaster one pipeline or all."""
        left, victim = [times], self.random.choice([*PIPELINES, None])

        def passed(task: bool, reached: str) -> None:
            if reached != point or not left[0] or self.attempt.ended:
                return
            left[0] -= 1
            if task:
                raise InjectedFailure(f"at {point}")
            if victim is None:
                self.attempt.fail(InjectedFailure(f"at {point}"))
            else:
                self.attempt.fail_region(self.region(victim), InjectedFailure(f"at {point}"))

        self.job.master.on_point = lambda reached: passed(False, reached)
        self.job._world._faults = lambda reached, _: passed(True, reached)

    def rescale(self) -> None:
        """Rescale, and perhaps lose a pipeline meanwhile."""
        answer = self.job.master.rescale(self.random.choice([1, 2, 3, 4]))
        for _ in range(self.random.randrange(3)):
            self.some_steps()
            if not self.attempt.ended:
                self.attempt.fail_region(self.region(self.random.choice(PIPELINES)), InjectedFailure("killed while it is rescaled"))
        self.job.until(answer.done, "answer")
        assert answer.exception() is None or isinstance(answer.exception(), CheckpointError)
        self.go_on()

    def play(self) -> None:
        often = [self.push, self.fail_one, self.checkpoint]
        for _ in range(STEPS):
            action = self.random.choice([*often, *often, self.fail_both, self.fail_all, self.rescale])
            self.done.append(action.__name__)
            action()
            self.some_steps()
            self.go_on()

    def must_be_exact(self) -> None:
        self.kill_at("", times=0)
        self.push()
        self.job.settle()
        self.job.checkpoint()
        self.job.settle()
        for pipeline in self.pipelines:
            assert sorted(pipeline.outside.values) == pipeline.expected(), (pipeline.name, self.done)
            assert pipeline.collected is not None
            assert sorted(pipeline.collected.values) == pipeline.expected(), (pipeline.name, self.done)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_what_both_commit_is_exact_after_failures_of_each(tmp_path: Path, seed: int) -> None:
    print(f"seed {seed}")
    played = Played(tmp_path, seed)
    try:
        played.play()
        played.must_be_exact()
        print(f"{played.done}, restarts: {played.job.restarts}")
    finally:
        played.job.close()


@pytest.mark.parametrize("seed", range(10))
def test_one_finishes_and_the_other_restarts_before_and_after_that(tmp_path: Path, seed: int) -> None:
    print(f"seed {seed}")
    played = Played(tmp_path, seed)
    left, right = played.pipelines
    with played.job:
        played.push()
        left.numbers.end()
        for _ in range(4):
            played.some_steps()
            if played.random.random() < 0.5:
                played.checkpoint()
            right.push(played.random)
            played.attempt.fail_region(played.region(played.random.choice(PIPELINES)), InjectedFailure("killed"))
            played.some_steps()
            played.go_on()
        played.kill_at("", times=0)
        played.job.settle()
        assert played.attempt.has_finished(played.region("left"))
        number = played.region("left").number
        played.attempt.fail_region(played.region("right"), InjectedFailure("killed"))
        played.go_on()
        assert played.region("left").number == number
        played.job.finish()
        for pipeline in played.pipelines:
            assert sorted(pipeline.outside.values) == pipeline.expected(), pipeline.name


def test_the_failures_hit_one_pipeline_and_checkpoints_were_restored(tmp_path: Path) -> None:
    """At every point of a checkpoint, of a task and of the JobMaster: the others would prove nothing without it."""
    played = Played(tmp_path, 4)
    with played.job:
        for n, point in enumerate(POINTS, start=1):
            played.push()
            right, left = played.region("right"), played.region("left")
            numbers = left.number, right.number
            hit = [False]

            def passed(reached: str, point: str = point, hit: list[bool] = hit) -> None:
                if reached == point and not hit[0]:
                    hit[0] = True
                    played.attempt.fail_region(played.region("left"), InjectedFailure(f"at {reached}"))

            played.job.master.on_point = passed
            played.job._world._faults = lambda reached, task, passed=passed: passed(reached)
            with pytest.raises(InjectedFailure):
                played.job.checkpoint()
            played.go_on()
            assert hit[0] and len(played.job.master.failures) == n, point
            assert left.number > numbers[0] and right.number == numbers[1], point
        assert played.attempt.restored_checkpoint_id > 0
        played.must_be_exact()
