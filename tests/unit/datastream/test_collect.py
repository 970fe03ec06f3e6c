"""Collected results: each is handed out once, also when the job fails in between, and never before it is final."""

from __future__ import annotations

import pickle
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.datastream.conftest import FakeEngine
from wiesel.connectors.collect_sink import CollectDelivery, Collected, CollectReceiver, CollectResultBuffer, CollectSink
from wiesel.core.errors import InvariantError, JobExecutionError
from wiesel.datastream import CheckpointingMode, RuntimeExecutionMode, StreamExecutionEnvironment
from wiesel.datastream.closeable_iterator import CloseableIterator
from wiesel.spi.sink import WriterInitContext

EXACTLY, AT_LEAST, NO_RESTART = CollectDelivery.EXACTLY_ONCE, CollectDelivery.AT_LEAST_ONCE, CollectDelivery.NO_RESTART


def values(epoch: int, *collected: Any, attempt: int = 1) -> Collected:
    return Collected(0, attempt, epoch, list(collected))


def test_exactly_once_waits_for_the_checkpoint_that_covers_a_value() -> None:
    buffer = CollectResultBuffer(EXACTLY)
    buffer.add(values(0, "a"))
    buffer.add(values(1, "b"))
    assert buffer.take() == []
    buffer.checkpoint_complete(1)
    assert buffer.take() == ["a"]
    buffer.add(values(1, "c"))
    buffer.add(values(2, "d"))
    buffer.checkpoint_complete(3)
    assert buffer.take() == ["b", "c", "d"]


def test_exactly_once_drops_what_a_restart_repeats() -> None:
    buffer = CollectResultBuffer(EXACTLY)
    buffer.restored(0, 1)
    buffer.add(values(0, "a"))
    buffer.checkpoint_complete(1)
    buffer.add(values(1, "b"))
    buffer.restored(1, 2)
    buffer.add(values(1, "zombie", attempt=1))
    buffer.add(values(1, "b", attempt=2))
    buffer.finished()
    assert (buffer.take(), buffer.done, buffer.error) == (["a", "b"], True, None)


def test_a_restore_says_that_its_checkpoint_is_complete() -> None:
    buffer = CollectResultBuffer(EXACTLY)
    buffer.add(values(0, "a"))
    buffer.add(values(1, "b"))
    # The word that checkpoint 1 was complete was lost with the attempt.
    buffer.restored(1, 2)
    assert buffer.take() == ["a"]


def test_going_back_behind_results_that_were_handed_out_is_an_error() -> None:
    buffer = CollectResultBuffer(EXACTLY)
    buffer.add(values(1, "a"))
    buffer.checkpoint_complete(2)
    buffer.restored(1, 2)
    assert buffer.done
    assert "back to checkpoint 1" in str(buffer.error)


def test_at_least_once_repeats() -> None:
    buffer = CollectResultBuffer(AT_LEAST)
    buffer.add(values(0, "a"))
    assert buffer.take() == ["a"]
    buffer.restored(0, 2)
    buffer.add(values(0, "a", attempt=2))
    assert (buffer.take(), buffer.error) == (["a"], None)


def test_without_checkpoints_a_restart_is_an_error_once_something_was_taken() -> None:
    buffer = CollectResultBuffer(NO_RESTART)
    buffer.restored(0, 1)
    buffer.add(values(0, "a"))
    buffer.restored(0, 2)
    buffer.add(values(0, "a", attempt=2))
    assert (buffer.take(), buffer.error) == (["a"], None)
    buffer.restored(0, 3)
    assert isinstance(buffer.error, JobExecutionError)


def test_a_failed_job_gives_what_was_final_and_then_its_error() -> None:
    receiver = CollectReceiver(EXACTLY)
    receiver.receive(values(0, "a"))
    receiver.checkpoint_complete(1)
    receiver.receive(values(1, "b"))
    receiver.failed(JobExecutionError("broken"))
    assert receiver.take(0) == ["a"]
    with pytest.raises(JobExecutionError, match="broken"):
        receiver.take(0)


@given(st.lists(st.sampled_from(["value", "checkpoint", "fail", "fail before complete"]), max_size=40), st.booleans())
def test_exactly_once_against_a_model(steps: list[str], finish: bool) -> None:
    """A writer counts; whatever fails, the program sees 0, 1, 2, ... and all that a checkpoint covers."""
    buffer = CollectResultBuffer(EXACTLY)
    attempt, checkpoint, complete, next_value = 1, 0, 0, 0
    positions = {0: 0}
    buffer.restored(0, attempt)
    taken: list[Any] = []
    for step in steps:
        if step == "value":
            buffer.add(values(checkpoint, next_value, attempt=attempt))
            next_value += 1
        elif step == "checkpoint":
            checkpoint += 1
            positions[checkpoint] = next_value
            complete = checkpoint
            buffer.checkpoint_complete(complete)
        else:
            if step == "fail before complete":
                # The barrier has passed the writer, values came after it, and then it failed.
                checkpoint += 1
                buffer.add(values(checkpoint, next_value, attempt=attempt))
            attempt += 1
            next_value, checkpoint = positions[complete], complete
            buffer.restored(complete, attempt)
        taken += buffer.take()
        assert taken == list(range(positions[complete]))
    if finish:
        buffer.finished()
        assert taken + buffer.take() == list(range(next_value))


def context(sent: list[Any], restored: int = 0) -> WriterInitContext:
    return WriterInitContext("job", "operator", 0, 1, 4, restored, lambda channel, payload: sent.append((channel, payload)))


def test_the_writer_says_which_checkpoint_comes_before_its_values() -> None:
    sent: list[Any] = []
    writer = CollectSink("c").create_writer(context(sent, restored=7))
    writer.write_batch([1, 2], None)
    writer.flush(False)
    writer.snapshot_state(8)
    writer.write_batch([3], [5])
    writer.close()
    assert sent == [("c", Collected(0, 4, 7, [1, 2])), ("c", Collected(0, 4, 8, [3]))]


def test_a_writer_without_a_way_to_the_driver_is_a_bug() -> None:
    with pytest.raises(InvariantError, match="no way to the driver"):
        CollectSink("c").create_writer(WriterInitContext("job", "operator", 0, 1, 1, 0))


def test_the_sink_travels_without_its_receiver() -> None:
    sink = CollectSink("c", CollectReceiver(EXACTLY))
    assert sink.create_receiver() is sink.receiver
    assert pickle.loads(pickle.dumps(sink)).receiver is None


def collect(engine: FakeEngine, env: StreamExecutionEnvironment) -> tuple[CloseableIterator, CollectReceiver]:
    engine.finishes = False
    results = env.from_collection([1]).map(lambda x: x).set_parallelism(3).execute_and_collect()
    assert isinstance(results, CloseableIterator)
    return results, receiver_of(engine)


def receiver_of(engine: FakeEngine) -> CollectReceiver:
    (sink,) = [n for n in engine.graphs[-1].nodes.values() if n.is_sink]
    assert (sink.name, sink.parallelism) == ("Sink: Data stream collect sink", 1)
    receiver: CollectReceiver = sink.operator.payload["sink"].create_receiver()
    return receiver


def test_iterating_ends_with_the_job(engine: FakeEngine, env: StreamExecutionEnvironment) -> None:
    results, receiver = collect(engine, env)
    assert engine.graphs[-1].job_name == "DataStream Collect"
    receiver.receive(values(0, 1, 2))
    assert next(results) == 1
    receiver.receive(values(0, 3))
    receiver.finished()
    engine.handles[0].ended.set_result(None)  # type: ignore[arg-type]
    assert list(results) == [2, 3]
    with pytest.raises(StopIteration):
        results.next()


def test_an_engine_that_only_ends_the_job_ends_the_iteration_too(engine: FakeEngine, env: StreamExecutionEnvironment) -> None:
    results, receiver = collect(engine, env)
    receiver.receive(values(0, 1))
    engine.handles[0].ended.set_result(None)  # type: ignore[arg-type]
    assert list(results) == [1]


def test_a_failure_reaches_the_iterating_program(engine: FakeEngine, env: StreamExecutionEnvironment) -> None:
    results, receiver = collect(engine, env)
    receiver.receive(values(0, 1))
    engine.handles[0].ended.set_exception(JobExecutionError("broken"))
    assert next(results) == 1
    with pytest.raises(JobExecutionError, match="broken"):
        next(results)


def test_waiting_wakes_up_for_a_result(engine: FakeEngine, env: StreamExecutionEnvironment) -> None:
    results, receiver = collect(engine, env)
    sender = threading.Thread(target=lambda: receiver.receive(values(0, 5)))
    sender.start()
    assert next(results) == 5
    sender.join()


def test_closing_cancels_a_running_job_once(engine: FakeEngine, env: StreamExecutionEnvironment) -> None:
    results, receiver = collect(engine, env)
    receiver.receive(values(0, 1, 2))
    with results:
        assert next(results) == 1
    assert engine.handles[0].cancels == 1
    assert list(results) == []
    results.close()
    assert engine.handles[0].cancels == 1


def test_a_limit_gives_a_list_and_ends_the_job(
    engine: FakeEngine, env: StreamExecutionEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.finishes = False
    start = engine.execute

    def execute(graph: Any, config: Any) -> Any:
        client = start(graph, config)
        receiver_of(engine).receive(values(0, *range(10)))
        return client

    monkeypatch.setattr(engine, "execute", execute)
    assert env.from_collection([1]).execute_and_collect("named", limit=3) == [0, 1, 2]
    assert (engine.graphs[-1].job_name, engine.handles[0].cancels) == ("named", 1)


@pytest.mark.parametrize(
    ("mode", "runtime", "expected"),
    [
        (None, "STREAMING", NO_RESTART),
        (CheckpointingMode.EXACTLY_ONCE, "STREAMING", EXACTLY),
        (CheckpointingMode.AT_LEAST_ONCE, "STREAMING", AT_LEAST),
        (CheckpointingMode.EXACTLY_ONCE, "BATCH", NO_RESTART),
        (CheckpointingMode.EXACTLY_ONCE, "AUTOMATIC", NO_RESTART),
    ],
)
def test_when_results_are_final_follows_from_the_checkpoints(
    engine: FakeEngine, env: StreamExecutionEnvironment, mode: CheckpointingMode | None, runtime: str, expected: CollectDelivery
) -> None:
    env.set_runtime_mode(RuntimeExecutionMode[runtime])
    if mode is not None:
        env.enable_checkpointing(100, mode)
    _, receiver = collect(engine, env)
    assert receiver._buffer._delivery is expected


def test_each_collect_of_an_environment_has_a_channel_of_its_own(engine: FakeEngine, env: StreamExecutionEnvironment) -> None:
    stream = env.from_collection([1])
    for _ in range(2):
        stream.execute_and_collect()
    sinks = [n.operator.payload["sink"] for g in engine.graphs for n in g.nodes.values() if n.is_sink]
    assert len({s.channel for s in sinks}) == 2
