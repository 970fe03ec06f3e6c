"""The coordinator of a source: order of calls, work elsewhere, and errors of the enumerator."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from wiesel.checkpoint.messages import AssignSplits
from wiesel.common import WatermarkStrategy
from wiesel.core.clock import ManualClock
from wiesel.core.errors import ConnectorError
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.engine.source_coordinator import SourceCoordinator
from wiesel.graph.job_graph import build_job_graph
from wiesel.spi.source import Boundedness, Source, SplitEnumerator


class Recorder(SplitEnumerator[Any]):
    def __init__(self, source: Recorded, context: Any, state: Any) -> None:
        self.context, self.calls = context, source.calls
        self.calls.append(("create", state))
        if source.refuses:
            raise ConnectorError("no such topic")

    def start(self) -> None:
        self.calls.append("start")

    def add_reader(self, subtask: int) -> None:
        self.calls.append(("reader", subtask))

    def handle_split_request(self, subtask: int) -> None:
        self.calls.append(("request", subtask))
        if subtask == 7:
            raise ValueError("seven")
        self.context.assign_splits({subtask: ["split"]})

    def snapshot_state(self, checkpoint_id: int) -> Any:
        return ("state", checkpoint_id)

    def close(self) -> None:
        self.calls.append("close")


class Recorded(Source[Any]):
    boundedness = Boundedness.BOUNDED

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.refuses = False

    def create_enumerator(self, context: Any, state: Any | None = None) -> SplitEnumerator[Any]:
        return Recorder(self, context, state)

    def create_reader(self, context: Any) -> Any:
        raise AssertionError("no reader runs here")


class World:
    """A coordinator, the shell around it, and work that is done when the test says so."""

    def __init__(self, state: Any = None) -> None:
        env = StreamExecutionEnvironment.get_execution_environment()
        env.from_source(Recorded(), WatermarkStrategy.no_watermarks(), "topic").print()
        (vertex, *_) = build_job_graph(env._generate_stream_graph()).vertices
        self.source: Recorded = vertex.operators[0].node.operator.payload["source"]
        self.sent: list[Any] = []
        self.work: deque[Callable[[], None]] = deque()
        self.lanes: set[str] = set()
        self.failures: list[BaseException] = []
        self.clock = ManualClock(1_000)
        self.coordinator = SourceCoordinator(vertex, 3, state, self, self.clock, self.failures.append)

    def send(self, task: Any, message: Any) -> None:
        self.sent.append((task, message))

    def run_async(self, work: Callable[[], Any], done: Callable[[Any, BaseException | None], None], lane: str) -> None:
        def step() -> None:
            try:
                result = work()
            except Exception as error:  # noqa: BLE001 - handed on, as shells do
                done(None, error)
            else:
                done(result, None)

        self.lanes.add(lane)
        self.work.append(step)

    @property
    def calls(self) -> Sequence[Any]:
        return self.source.calls


def test_calls_before_the_enumerator_is_there_wait_in_their_order_and_its_state_is_the_restored_one() -> None:
    world = World(state={"offset": 5})
    coordinator = world.coordinator
    coordinator.create_async()
    coordinator.start()
    coordinator.add_reader(0)
    coordinator.handle_split_request(0)
    assert world.calls == [] and world.sent == []
    assert coordinator.snapshot_state(9) == {"offset": 5}
    world.work.popleft()()
    assert world.calls == [("create", {"offset": 5}), "start", ("reader", 0), ("request", 0)]
    assert [(task, type(message)) for task, message in world.sent] == [((0, 0), AssignSplits)]
    assert coordinator.snapshot_state(9) == ("state", 9)
    assert world.lanes == {"source-0-3"}


def test_an_enumerator_that_is_created_too_late_is_closed() -> None:
    world = World()
    world.coordinator.create_async()
    world.coordinator.start()
    world.coordinator.close()
    world.work.popleft()()
    assert world.calls == [("create", None), "close"] and world.failures == []


def test_errors_name_the_source_and_fail_its_tasks() -> None:
    world = World()
    world.source.refuses = True
    with pytest.raises(ConnectorError, match=r"(?s)no such topic.*source 'Source: topic' .made at .*test_source_coordinator\.py"):
        world.coordinator.create()
    world.coordinator.create_async()
    world.work.popleft()()
    (failure,) = world.failures
    assert "source 'Source: topic'" in str(failure)
    world.source.refuses = False
    world.coordinator.create()
    world.coordinator.handle_split_request(7)
    assert isinstance(world.failures[1], ValueError)


def test_work_runs_elsewhere_and_again_after_its_period() -> None:
    world = World()
    coordinator = world.coordinator
    coordinator.create()
    found: list[Any] = []
    results = iter([["a"], ConnectorError("broker is away"), ["a", "b"]])

    def discover() -> Any:
        result = next(results)
        if isinstance(result, Exception):
            raise result
        return result

    coordinator.call_async(discover, lambda result, error: found.append(error or result), initial_delay_ms=50, period_ms=100)
    assert coordinator.due_ms == 1_050 and not world.work
    for due_ms in (1_050, 1_150, 1_260):
        world.clock.set(due_ms)
        coordinator.on_time(due_ms)
        assert coordinator.due_ms is None, "it is not begun again while it runs"
        if due_ms == 1_150:
            world.clock.advance(10)  # the period begins at the end
        world.work.popleft()()
        assert coordinator.due_ms == world.clock.now_ms() + 100
    assert found[0] == ["a"] and isinstance(found[1], ConnectorError) and found[2] == ["a", "b"]
    coordinator.call_async(lambda: "late", lambda result, error: found.append(result))
    coordinator.close()
    world.work.popleft()()
    assert len(found) == 3 and world.failures == []


def test_what_a_handler_raises_fails_the_tasks_of_the_source() -> None:
    world = World()
    world.coordinator.create()

    def handler(result: Any, error: BaseException | None) -> None:
        raise ConnectorError(f"cannot use {result}")

    world.coordinator.call_async(lambda: 4, handler)
    world.work.popleft()()
    (failure,) = world.failures
    assert "cannot use 4" in str(failure) and "source 'Source: topic'" in str(failure)
