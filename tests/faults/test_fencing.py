"""A JobMaster that was replaced, as its process stood still for a while, can neither publish, commit, delete nor take the job back.

Here two masters meet in one process, with tasks that do nothing; ``test_zombie_driver.py`` does it with real processes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from wiesel.checkpoint.messages import AckCheckpoint, RegisterTask, TaskFailed
from wiesel.checkpoint.snapshot import OperatorStateSnapshot, TaskSnapshot
from wiesel.checkpoint.store import CheckpointStore
from wiesel.common import Configuration
from wiesel.common.job_status import JobStatus
from wiesel.core.clock import ManualClock
from wiesel.core.errors import FencedError, InvariantError, JobExecutionError
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.datastream.connectors.base import CommitRequest, Committer, Sink, SinkWriter
from wiesel.engine.base import job_settings
from wiesel.engine.job_master import JobMaster
from wiesel.engine.restart import FixedDelayRestart
from wiesel.graph.execution_graph import build_execution_graph
from wiesel.graph.job_graph import build_job_graph
from wiesel.graph.stage_plan import StagePlan, build_stage_plan

JOB = "0" * 32
INTERVAL_MS = 1000


class Tally(Committer[Any]):
    def __init__(self, committed: list[str]) -> None:
        self.committed = committed

    def commit(self, requests: Sequence[CommitRequest[Any]]) -> None:
        self.committed.extend(request.committable for request in requests)


class TallySink(Sink):
    def __init__(self) -> None:
        self.committed: list[str] = []

    def create_writer(self, context: Any) -> SinkWriter:
        raise AssertionError("no task runs here")

    def create_committer(self) -> Committer[Any]:
        return Tally(self.committed)


class Driver:
    """A JobMaster with tasks that do nothing, and a background that works when it is told to."""

    def __init__(self, directory: Path, restore: str = "") -> None:
        settings = {
            "execution.checkpointing.dir": str(directory),
            "execution.checkpointing.interval": f"{INTERVAL_MS} ms",
            "execution.state-recovery.claim-mode": "CLAIM",
            **({"execution.state-recovery.path": restore} if restore else {}),
        }
        config = Configuration.from_dict(settings)
        self.sink = TallySink()
        env = StreamExecutionEnvironment.get_execution_environment(config).set_parallelism(1)
        env.from_collection([1, 2]).uid("numbers").key_by(lambda n: n).map(lambda n: n).uid("map").sink_to(self.sink).uid("sink")
        self.plan = build_stage_plan(build_execution_graph(build_job_graph(env._generate_stream_graph())))
        self.clock = ManualClock(0)
        self.work: deque[Callable[[], None]] = deque()
        self.launched: list[int] = []
        strategy = FixedDelayRestart(10, 0)
        self.master = JobMaster(
            self.plan, job_settings(config), strategy, job_id=JOB, launcher=self, background=self, clock=self.clock
        )

    def launch(self, attempt: int, plan: StagePlan, regions: Any) -> None:
        self.launched.append(attempt)

    def free_slots(self) -> int | None:
        return None

    def cancel(self, attempt: int, region: int) -> None:
        pass

    def send(self, attempt: int, task: Any, message: Any) -> None:
        pass

    def run(self, work: Callable[[], Any], done: Callable[[Any, BaseException | None], None], lane: str = "") -> None:
        def step() -> None:
            try:
                result = work()
            except Exception as error:  # noqa: BLE001 - handed to the master
                done(None, error)
            else:
                done(result, None)

        self.work.append(step)

    def start(self) -> Driver:
        self.master.start()
        for task in self.tasks:
            self.master.on_message(self.number, RegisterTask(task, self.number, 1, "here"))
        self.work_all()
        return self

    @property
    def number(self) -> int:
        return self.launched[-1]

    @property
    def tasks(self) -> list[tuple[int, int]]:
        return [(s.vertex, s.index) for s in self.plan.graph.subtasks]

    def work_all(self) -> None:
        while self.work:
            self.work.popleft()()

    def begin_checkpoint(self) -> None:
        """Trigger a checkpoint and have all tasks acknowledge it: what is left to do waits in ``work``."""
        self.clock.advance(INTERVAL_MS)
        self.master.on_time(self.clock.now_ms())
        assert self.master.attempt is not None
        pending = self.master.attempt.coordinator.pending_id
        assert pending is not None
        for vertex, subtask in self.tasks:
            operators = {
                operator.operator_id: OperatorStateSnapshot(committables=[f"{self.number}/{pending}"])
                for operator in self.plan.graph.job.vertices[vertex].operators
                if operator.node.operator.kind == "sink"
            }
            self.master.on_message(self.number, AckCheckpoint((vertex, subtask), pending, TaskSnapshot(operators)))

    def checkpoint(self) -> None:
        self.begin_checkpoint()
        self.work_all()

    def must_be_fenced(self) -> None:
        """Check that the job has ended here, and that its attempts did not go on."""
        assert self.master.status is JobStatus.FAILED
        with pytest.raises(JobExecutionError, match=r"attempt 1 of job 0+ was replaced by attempt 2") as raised:
            self.master.result.result(0)
        assert isinstance(raised.value.__cause__, FencedError)
        assert self.launched == [1]


def successor(directory: Path) -> Driver:
    return Driver(directory, str(directory / JOB)).start()


@pytest.fixture
def zombie(tmp_path: Path) -> Driver:
    driver = Driver(tmp_path).start()
    driver.checkpoint()
    assert driver.master.last_checkpoint is not None and driver.sink.committed == ["1/1"]
    return driver


def test_publishes_nothing(zombie: Driver, tmp_path: Path) -> None:
    zombie.begin_checkpoint()
    newer = successor(tmp_path)
    zombie.work_all()
    zombie.master.on_launch_ended(1, None)
    zombie.must_be_fenced()
    assert CheckpointStore(str(tmp_path), JOB).checkpoint_ids() == [1]
    assert zombie.sink.committed == ["1/1"]
    newer.checkpoint()
    assert newer.sink.committed == ["1/1", "2/2"]


def test_commits_nothing_which_its_successor_does(zombie: Driver, tmp_path: Path) -> None:
    zombie.begin_checkpoint()
    zombie.work.popleft()()  # publishes, and wants to commit
    assert zombie.work
    newer = successor(tmp_path)
    assert newer.sink.committed == ["1/2"]
    zombie.work_all()
    zombie.master.on_launch_ended(1, None)
    zombie.must_be_fenced()
    assert zombie.sink.committed == ["1/1"]


def test_does_not_take_the_job_back_when_its_tasks_have_ended(zombie: Driver, tmp_path: Path) -> None:
    newer = successor(tmp_path)
    zombie.master.on_message(1, TaskFailed((0, 0), JobExecutionError("the JobMaster of this task is gone")))
    zombie.master.on_launch_ended(1, JobExecutionError("the Spark job failed"))
    assert zombie.master.status is JobStatus.RESTARTING
    zombie.master.on_time(zombie.clock.now_ms())
    zombie.must_be_fenced()
    newer.checkpoint()
    assert newer.master.status is JobStatus.RUNNING and newer.sink.committed == ["1/1", "2/2"]


def test_deletes_no_checkpoint(zombie: Driver, tmp_path: Path) -> None:
    zombie.begin_checkpoint()
    zombie.work.popleft()()
    assert len(zombie.work) == 2  # a commit, and the deletion of the first checkpoint
    zombie.work.popleft()
    CheckpointStore(str(tmp_path), JOB).acquire()
    zombie.work_all()
    assert CheckpointStore(str(tmp_path), JOB).checkpoint_ids() == [2, 1]


def test_what_it_publishes_until_it_is_fenced_is_restored(zombie: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    acquire = CheckpointStore.acquire

    def late(store: CheckpointStore, *, at_least: int = 1) -> int:
        monkeypatch.setattr(CheckpointStore, "acquire", acquire)
        zombie.checkpoint()
        return acquire(store, at_least=at_least)

    newer = Driver(tmp_path, str(tmp_path / JOB))
    monkeypatch.setattr(CheckpointStore, "acquire", late)
    newer.start()
    assert newer.master.attempt is not None
    assert newer.master.attempt.restored_checkpoint_id == 2
    assert zombie.sink.committed == ["1/1", "1/2"]


def test_is_fenced_also_where_checkpoints_go_to_another_directory_from_now_on(zombie: Driver, tmp_path: Path) -> None:
    zombie.begin_checkpoint()
    newer = Driver(tmp_path / "new", str(tmp_path / JOB)).start()
    zombie.work_all()
    zombie.master.on_launch_ended(1, None)
    zombie.must_be_fenced()
    newer.checkpoint()
    assert CheckpointStore(str(tmp_path / "new"), JOB).checkpoint_ids() == [2]
    # The numbers of attempts, which are in the names of files, are those of the one job.
    assert newer.launched == [2]


def test_restarts_of_one_master_have_numbers_that_follow_each_other(zombie: Driver) -> None:
    for number in (1, 2, 3):
        zombie.master.on_launch_ended(number, JobExecutionError("the Spark job failed"))
        zombie.master.on_time(zombie.clock.now_ms())
    assert zombie.launched == [1, 2, 3, 4]


def test_a_task_that_starts_twice_fails_the_attempt(zombie: Driver) -> None:
    zombie.master.on_message(1, RegisterTask((0, 0), 1, 2, "elsewhere"))
    zombie.master.on_launch_ended(1, None)
    (failure,) = zombie.master.failures
    assert isinstance(failure, InvariantError) and "was started twice" in failure.message
