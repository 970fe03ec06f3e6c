"""Commits of sinks beside checkpoints: a slow one delays neither the next checkpoints nor another sink, and loses and repeats nothing."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.engine.test_failover import LEFT, RIGHT, Driver
from wiesel.checkpoint.committables import committables_by_operator
from wiesel.checkpoint.coordinator import Checkpoint
from wiesel.checkpoint.messages import CheckpointComplete, TaskFinished
from wiesel.checkpoint.metadata import unpacked
from wiesel.checkpoint.snapshots import find_snapshot
from wiesel.checkpoint.store import CheckpointStore
from wiesel.common.job_status import JobStatus
from wiesel.core.errors import CheckpointError, JobCancelledError, JobExecutionError
from wiesel.engine.job_attempt import CHECKPOINTS, CLEANING


class Laned(Driver):
    """Works lane by lane: those in ``held`` stand still."""

    def __init__(self, directory: Path | None, **settings: str) -> None:
        self.lanes: defaultdict[str, deque[Callable[[], None]]] = defaultdict(deque)
        self.held: set[str] = set()
        super().__init__(directory, **settings)

    def run(self, work: Callable[[], Any], done: Callable[[Any, BaseException | None], None], lane: str = CHECKPOINTS) -> None:
        super().run(work, done, lane)
        self.lanes[lane].append(self.work.pop())

    def work_all(self) -> None:
        while ready := [work for lane, work in self.lanes.items() if work and lane not in self.held]:
            ready[0].popleft()()

    def lane(self, region: int) -> str:
        return f"commit-{self.sink_id(region)}"

    def sink_id(self, region: int) -> str:
        vertices = [v for v in self.plan.graph.job.vertices if v.index in self.attempt.regions[region].vertices]
        (sink,) = [o.operator_id for v in vertices for o in v.operators if o.node.operator.kind == "sink"]
        return sink

    def checkpoint(self, number: int) -> None:
        self.begin_checkpoint((f"left {number}", f"right {number}"))
        self.work_all()

    def release(self, region: int) -> None:
        self.held.discard(self.lane(region))
        self.work_all()

    def restart(self, error: BaseException | None = None) -> None:
        """The whole job fails and begins anew."""
        before = self.number(LEFT)
        self.attempt.fail(error or JobExecutionError("the whole job"))
        for region in (LEFT, RIGHT):
            self.master.on_launch_ended(before, None, region)
        self.pass_time()
        self.register(LEFT)
        self.register(RIGHT)

    def finish_tasks(self) -> None:
        for region in (LEFT, RIGHT):
            for task in self.tasks(region):
                last = self.snapshot(task, ("left, the last", "right, the last")[region])
                self.master.on_message(self.number(region), TaskFinished(task, last, epoch=self.attempt.coordinator.next_id - 1))

    def all_gone(self) -> None:
        for region in (LEFT, RIGHT):
            self.master.on_launch_ended(self.number(region), None, region)
        self.work_all()

    def to_commit(self, checkpoint: Checkpoint, region: int) -> dict[int, list[Any]]:
        return committables_by_operator(checkpoint.tasks, checkpoint.checkpoint_id).get(self.sink_id(region), {})


@pytest.fixture(params=["stored", "in memory"])
def driver(request: pytest.FixtureRequest, tmp_path: Path) -> Laned:
    return Laned(tmp_path if request.param == "stored" else None)


def test_a_slow_commit_delays_neither_checkpoints_nor_another_sink(driver: Laned) -> None:
    driver.held.add(driver.lane(LEFT))
    for number in (1, 2, 3):
        driver.checkpoint(number)
        assert driver.master.completed_checkpoints == number
        complete = [task for _, task, message in driver.sent if message == CheckpointComplete(number)]
        assert sorted(complete) == sorted([*driver.tasks(LEFT), *driver.tasks(RIGHT)])
    assert (driver.committed(LEFT), driver.committed(RIGHT)) == ([], ["right 1", "right 2", "right 3"])
    latest = driver.attempt.coordinator.latest
    assert driver.to_commit(latest, LEFT) == {1: ["left 1"], 2: ["left 2"], 3: ["left 3"]}
    assert driver.to_commit(latest, RIGHT) == {3: ["right 3"]}
    driver.release(LEFT)
    assert driver.committed(LEFT) == ["left 1", "left 2", "left 3"]
    driver.checkpoint(4)
    assert driver.to_commit(driver.attempt.coordinator.latest, LEFT) == {4: ["left 4"]}


def test_a_restart_commits_what_the_newest_checkpoint_has_in_order_and_behind_the_commit_under_way(driver: Laned) -> None:
    driver.held.add(driver.lane(LEFT))
    driver.checkpoint(1)
    driver.checkpoint(2)
    driver.restart()
    assert driver.attempt.restored_checkpoint_id == 2 and driver.committed(LEFT) == []
    driver.checkpoint(3)
    assert driver.to_commit(driver.attempt.coordinator.latest, LEFT) == {1: ["left 1"], 2: ["left 2"], 3: ["left 3"]}
    driver.release(LEFT)
    assert driver.committed(LEFT) == ["left 1", "left 2", "left 3"], "that of the attempt before was refused"


def test_another_driver_commits_what_the_one_before_did_not_get_to(tmp_path: Path) -> None:
    dead = Laned(tmp_path)
    dead.held.add(dead.lane(LEFT))
    dead.checkpoint(1)
    dead.checkpoint(2)
    found, _ = CheckpointStore(str(tmp_path), dead.master.job_id).load(2)
    assert found.tasks[dead.tasks(LEFT)[-1]].operators[dead.sink_id(LEFT)].committable_counts == ((1, 1), (2, 1))
    path = str(tmp_path / dead.master.job_id)
    claim = {"execution_state__recovery_path": path, "execution_state__recovery_claim__mode": "CLAIM"}
    newer = Laned(tmp_path, **claim)
    newer.work_all()
    assert (newer.committed(LEFT), newer.committed(RIGHT)) == (["left 1", "left 2"], ["right 2"])
    dead.release(LEFT)
    assert dead.committed(LEFT) == [] and dead.attempt.ended, "it is fenced"


def test_pending_committables_survive_the_restart_of_a_region(driver: Laned) -> None:
    driver.held.add(driver.lane(LEFT))
    driver.checkpoint(1)
    driver.worker_dies(LEFT)
    driver.pass_time()
    driver.register(LEFT)
    assert (driver.number(LEFT), driver.number(RIGHT)) == (2, 1)
    driver.checkpoint(2)
    assert driver.to_commit(driver.attempt.coordinator.latest, LEFT) == {1: ["left 1"], 2: ["left 2"]}
    driver.release(LEFT)
    assert driver.committed(LEFT) == ["left 1", "left 2"]


def test_a_savepoint_has_what_is_not_committed_and_commits_nothing(driver: Laned, tmp_path: Path) -> None:
    driver.held.add(driver.lane(LEFT))
    driver.checkpoint(1)
    answer = driver.master.savepoint(str(tmp_path / "savepoints"))
    driver.work_all()
    driver.acknowledge(driver.attempt.coordinator.pending_id, ("left 2", "right 2"))
    driver.work_all()
    saved = unpacked(find_snapshot(answer.result(0)).checkpoint)
    groups = [sorted(driver.to_commit(saved, region)) for region in (LEFT, RIGHT)]
    assert groups == [[1, 2], [2]]
    driver.release(LEFT)
    assert (driver.committed(LEFT), driver.committed(RIGHT)) == (["left 1"], ["right 1"])


def test_the_job_finishes_when_all_is_committed(driver: Laned) -> None:
    driver.held.add(driver.lane(LEFT))
    driver.checkpoint(1)
    driver.finish_tasks()
    driver.all_gone()
    assert driver.master.completed_checkpoints == 2 and driver.committed(RIGHT) == ["right 1", "right, the last"]
    assert driver.master.status is JobStatus.RUNNING
    driver.release(LEFT)
    assert driver.master.status is JobStatus.FINISHED
    assert driver.committed(LEFT) == ["left 1", "left, the last"]


def test_the_job_stops_with_a_savepoint_when_all_is_committed(driver: Laned, tmp_path: Path) -> None:
    driver.held.add(driver.lane(LEFT))
    answer = driver.master.savepoint(str(tmp_path / "savepoints"), stop=True)
    driver.work_all()
    number = driver.attempt.coordinator.pending_id
    driver.acknowledge(number, ("left, the last", "right, the last"))
    driver.work_all()
    assert driver.committed(RIGHT) == ["right, the last"] and not answer.done()
    assert CheckpointComplete(number) not in [message for _, _, message in driver.sent], "tasks would end"
    another = driver.master.checkpoint()
    driver.work_all()
    driver.attempt.trigger()
    assert driver.attempt.coordinator.pending_id is None, "tasks have stopped: none of them would take part"
    driver.release(LEFT)
    assert CheckpointComplete(number) in [message for _, _, message in driver.sent]
    driver.all_gone()
    assert driver.master.status is JobStatus.FINISHED and answer.result(0)
    with pytest.raises(CheckpointError, match="no checkpoint was taken"):
        another.result(0)
    assert driver.committed(LEFT) == ["left, the last"]


def test_a_failed_commit_fails_the_job_which_commits_again(driver: Laned) -> None:
    commit = driver.sinks[LEFT].committed
    driver.sinks[LEFT].committed = Broken()
    driver.restart()
    driver.checkpoint(1)
    assert driver.attempt.ended and driver.committed(RIGHT) == ["right 1"]
    driver.sinks[LEFT].committed = commit
    driver.all_gone()
    assert str(driver.master.failures[-1]) == "the table is locked"
    driver.pass_time()
    assert commit == ["left 1"]


class Broken(list[str]):
    def extend(self, values: Any) -> None:
        raise OSError("the table is locked")


def test_a_job_is_cancelled_while_a_commit_hangs(driver: Laned) -> None:
    driver.held.add(driver.lane(LEFT))
    driver.checkpoint(1)
    driver.master.cancel()
    driver.all_gone()
    assert driver.master.status is JobStatus.CANCELED
    with pytest.raises(JobCancelledError):
        driver.master.result.result(0)


def test_old_checkpoints_are_deleted_in_a_lane_of_their_own_before_the_job_ends(tmp_path: Path) -> None:
    driver = Laned(tmp_path)
    driver.held.add(CLEANING)
    for number in (1, 2, 3):
        driver.checkpoint(number)
    store = CheckpointStore(str(tmp_path), driver.master.job_id)
    assert store.checkpoint_ids() == [3, 2, 1] and driver.committed(LEFT) == ["left 1", "left 2", "left 3"]
    driver.finish_tasks()
    driver.all_gone()
    assert driver.master.status is JobStatus.RUNNING
    driver.held.clear()
    driver.work_all()
    assert driver.master.status is JobStatus.FINISHED and store.checkpoint_ids() == []
