"""Commits of sinks beside checkpoints: a slow one delays neither the next checkpoints nor another sink, and loses and repeats nothing."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Sequence
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
from wiesel.core.errors import CheckpointError, JobCancelledError, JobExecutionError, ProgramError
from wiesel.engine.job_attempt import CHECKPOINTS, CLEANING
from wiesel.spi.sink import CommitRequest, Committer
from wiesel.spi.sink.committer import CommitOutcome


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


# Requests


class Answering(Committer[str]):
    """Answers requests as it is told to: by committable, what to do at each try; commits what is left out."""

    def __init__(self, committed: list[str], answers: dict[str, list[Callable[[CommitRequest[str]], None]]], *, combines: bool) -> None:
        self.committed = committed
        self.answers = answers
        self.calls: list[list[tuple[str, int]]] = []
        self.combines_checkpoints = combines  # type: ignore[misc]

    def commit(self, requests: Sequence[CommitRequest[str]]) -> None:
        self.calls.append([(request.committable, request.number_of_retries) for request in requests])
        for request in requests:
            committable = request.committable
            if self.answers.get(committable):
                self.answers[committable].pop(0)(request)
            if request.outcome is CommitOutcome.COMMITTED:
                self.committed.append(committable)


def answering(driver: Laned, *, combines: bool = False, **answers: Callable[[CommitRequest[str]], None]) -> Answering:
    """Have the left sink answer so: ``at_1`` and ``at_1_again`` are what it does with "left 1" the first and the second time."""
    committer = Answering(driver.sinks[LEFT].committed, defaultdict(list), combines=combines)
    for name, answer in answers.items():
        committer.answers["left " + name.split("_")[1]].append(answer)
    driver.sinks[LEFT].create_committer = lambda: committer  # type: ignore[method-assign]
    driver.restart()
    return committer


def later(request: CommitRequest[str]) -> None:
    request.retry_later()


def test_what_is_to_be_committed_later_comes_again_after_a_back_off_and_before_what_is_newer(driver: Laned) -> None:
    committer = answering(driver, at_1=later, at_1_again=later)
    driver.checkpoint(1)
    driver.checkpoint(2)
    assert driver.committed(LEFT) == [] and driver.committed(RIGHT) == ["right 1", "right 2"]
    assert driver.to_commit(driver.attempt.coordinator.latest, LEFT) == {1: ["left 1"], 2: ["left 2"]}
    assert committer.calls == [[("left 1", 0)], [("left 1", 1)]], "the back-off of the first retry was over before the second checkpoint"
    driver.pass_time(199)
    assert len(committer.calls) == 2
    driver.pass_time(1)
    assert committer.calls[2:] == [[("left 1", 2)], [("left 2", 0)]]
    assert driver.committed(LEFT) == ["left 1", "left 2"] and not driver.attempt.ended


def test_what_is_left_of_a_committable_comes_again_and_is_in_checkpoints(driver: Laned) -> None:
    committer = answering(driver, at_1=lambda request: request.update_and_retry_later("the rest of left 1"))
    driver.checkpoint(1)
    assert driver.attempt._commits.uncommitted()[driver.sink_id(LEFT)].committables == {1: ["the rest of left 1"]}
    driver.pass_time(100)
    assert committer.calls == [[("left 1", 0)], [("the rest of left 1", 1)]] and driver.committed(LEFT) == ["the rest of left 1"]


def test_the_job_fails_when_retries_are_used_up_and_commits_again_after_its_restart(tmp_path: Path) -> None:
    driver = Laned(tmp_path, sink_committer_retries="2")
    committer = answering(driver, at_1=later, at_1_2=later, at_1_3=later)
    driver.checkpoint(1)
    driver.pass_time(100)
    driver.pass_time(200)
    assert driver.attempt.ended
    driver.all_gone()
    assert "1 committables could not be committed after 2 retries" in str(driver.master.failures[-1])
    assert "in sink 'Sink: Writer' (made at " in str(driver.master.failures[-1])
    driver.pass_time()
    assert committer.calls[-1] == [("left 1", 0)] and driver.committed(LEFT) == ["left 1"]


def test_what_was_committed_already_or_never_can_be_is_not_tried_again(driver: Laned, caplog: pytest.LogCaptureFixture) -> None:
    failed = OSError("the table was dropped")
    committer = answering(
        driver, at_1=CommitRequest.signal_already_committed, at_2=lambda request: request.signal_failed_with_known_reason(failed)
    )
    for number in (1, 2, 3):
        driver.checkpoint(number)
    assert committer.calls == [[("left 1", 0)], [("left 2", 0)], [("left 3", 0)]] and driver.committed(LEFT) == ["left 3"]
    assert "'left 2' cannot be committed, and is given up: OSError: the table was dropped" in caplog.text
    assert not driver.attempt.ended and driver.attempt._commits.all_committed


def test_a_failure_for_an_unknown_reason_fails_the_job(driver: Laned) -> None:
    answering(driver, at_1=lambda request: request.signal_failed_with_unknown_reason(OSError("the connection was lost")))
    driver.checkpoint(1)
    driver.all_gone()
    assert "'left 1' could not be committed: OSError: the connection was lost" in str(driver.master.failures[-1])
    driver.pass_time()
    assert driver.committed(LEFT) == ["left 1"]


@pytest.mark.parametrize("combines", [False, True])
def test_a_committer_may_combine_the_checkpoints_that_wait_for_it(driver: Laned, combines: bool) -> None:
    committer = answering(driver, combines=combines)
    driver.held.add(driver.lane(LEFT))
    for number in (1, 2, 3):
        driver.checkpoint(number)
    driver.release(LEFT)
    one_by_one = [[("left 1", 0)], [("left 2", 0)], [("left 3", 0)]]
    assert committer.calls == ([one_by_one[0], [*one_by_one[1], *one_by_one[2]]] if combines else one_by_one)


def test_commits_that_lag_far_behind_are_warned_of(driver: Laned, caplog: pytest.LogCaptureFixture) -> None:
    driver.held.add(driver.lane(LEFT))
    for number in range(1, 12):
        driver.checkpoint(number)
    warned = [record.getMessage() for record in caplog.records if "commits more slowly" in record.getMessage()]
    assert len(warned) == 1 and "11 wait for it" in warned[0]


def test_a_job_whose_retry_is_waited_for_finishes_behind_it(driver: Laned) -> None:
    answering(driver).answers["left, the last"] = [later]
    driver.finish_tasks()
    driver.all_gone()
    driver.pass_time(99)
    assert driver.master.status is JobStatus.RUNNING and driver.committed(LEFT) == []
    driver.pass_time(1)
    assert driver.master.status is JobStatus.FINISHED and driver.committed(LEFT) == ["left, the last"]


class Older(Committer[Any]):
    def commit(self, committables: Any) -> None:
        raise AssertionError("it takes what it does not know")


def test_a_committer_of_an_older_version_is_refused(tmp_path: Path) -> None:
    driver = Laned(tmp_path)
    driver.sinks[LEFT].create_committer = Older  # type: ignore[method-assign, assignment]
    with pytest.raises(ProgramError, match=r"Older\.commit takes committables, and is called with requests to commit them"):
        driver.master._begin(None)


def test_a_request_is_no_committable() -> None:
    request: Any = CommitRequest(("name", [1]), 3)
    with pytest.raises(TypeError, match=r"request\.committable"):
        _, _ = request
    with pytest.raises(AttributeError, match=r"no attribute 'target': what is to be committed is request\.committable"):
        _ = request.target
    assert (request.committable, request.checkpoint_id, request.number_of_retries) == (("name", [1]), 3, 0)
