"""When a loop is known to be empty, and how events find their operators."""

from __future__ import annotations

import logging

import pytest

from wiesel.checkpoint.messages import EventFromOperator, EventToOperator, TaskKey, ToTask
from wiesel.common import Configuration
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.engine.loop_coordinator import LoopCoordinator
from wiesel.engine.operator_coordinators import OperatorEventRouter
from wiesel.graph.job_graph import build_job_graph
from wiesel.runtime.feedback.messages import (
    BarrierArrived,
    BarrierSent,
    Feedback,
    FeedbackTaken,
    HeadEnded,
    InputEnded,
    InputPaused,
    LoopEmpty,
    LoopFlushed,
    SendBarrier,
    TailEnded,
)


def test_the_first_round_begins_when_all_inputs_have_ended() -> None:
    loop = LoopCoordinator("loop", 2)
    assert not loop.on_event("head", 1, InputEnded())
    assert loop.on_event("head", 0, InputEnded()) == [("head", 0, SendBarrier(1, 0)), ("head", 1, SendBarrier(1, 0))]


def test_the_loop_is_empty_when_each_head_has_taken_what_its_tail_has_received() -> None:
    loop = LoopCoordinator("loop", 1)
    loop.on_event("head", 0, InputEnded())
    assert not loop.on_event("head", 0, BarrierSent(1, 4))
    # One entry came to the tail before the barrier that the head had not processed when it sent the barrier.
    assert loop.on_event("tail", 0, BarrierArrived(1, 5)) == [("head", 0, SendBarrier(2, 5))]
    assert not loop.on_event("tail", 0, BarrierArrived(1, 5)), "of a round that is over"
    assert not loop.on_event("tail", 0, BarrierArrived(2, 5))
    assert loop.on_event("head", 0, BarrierSent(2, 5)) == [("head", 0, LoopEmpty())]


def test_equal_sums_are_no_proof() -> None:
    loop = LoopCoordinator("loop", 2)
    loop.on_event("head", 0, InputEnded())
    loop.on_event("head", 1, InputEnded())
    for subtask, (taken, received) in enumerate([(3, 4), (4, 3)]):
        loop.on_event("head", subtask, BarrierSent(1, taken))
        judged = loop.on_event("tail", subtask, BarrierArrived(1, received))
    assert judged == [("head", 0, SendBarrier(2, 4)), ("head", 1, SendBarrier(2, 3))]


def test_a_loop_inside_another_is_flushed_for_each_barrier_of_that_and_goes_on() -> None:
    loop = LoopCoordinator("inner", 2)
    loop.on_event("head", 0, InputEnded())
    first = loop.on_event("head", 1, InputPaused())
    assert first == [("head", 0, SendBarrier(1, 0)), ("head", 1, SendBarrier(1, 0))]
    # This end comes too late for round 1: records may have come before it.
    assert not loop.on_event("head", 1, InputEnded())
    for subtask in (0, 1):
        loop.on_event("head", subtask, BarrierSent(1, 0))
        judged = loop.on_event("tail", subtask, BarrierArrived(1, 0))
    assert judged == [("head", i, LoopFlushed()) for i in (0, 1)] + [("head", i, SendBarrier(2, 0)) for i in (0, 1)]
    for subtask in (0, 1):
        loop.on_event("head", subtask, BarrierSent(2, 0))
        judged = loop.on_event("tail", subtask, BarrierArrived(2, 0))
    assert judged == [("head", 0, LoopEmpty()), ("head", 1, LoopEmpty())]


def test_feedback_that_comes_too_late_is_told(caplog: pytest.LogCaptureFixture) -> None:
    loop = LoopCoordinator("the loop", 1)
    loop.on_event("head", 0, HeadEnded(2))
    with caplog.at_level(logging.WARNING, "wiesel.iteration"):
        loop.on_event("tail", 0, TailEnded(2))
        assert not caplog.messages
        loop.on_event("tail", 0, TailEnded(5))
    assert "3 batches of feedback" in caplog.text


def test_events_wait_for_tasks_that_are_not_there_and_carry_the_latest_epoch() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"parallelism.default": "2"}))
    loop = env.from_collection([1, 2]).iterate().disable_chaining()
    loop.close_with(loop.map(lambda n: n).disable_chaining())
    job = build_job_graph(env._generate_stream_graph())
    by_kind = {o.node.operator.kind: (v.index, o.operator_id) for v in job.vertices for o in v.operators}
    (head, head_id), (tail, tail_id) = by_kind["iteration_head"], by_kind["iteration_tail"]
    sent: list[tuple[TaskKey, ToTask]] = []
    router = OperatorEventRouter(job, lambda task, message: sent.append((task, message)))

    feedback = Feedback(0, (), 0)
    router.on_event(EventFromOperator((tail, 1), tail_id, feedback, epoch=7))
    assert not sent
    router.on_registered((head, 0))
    assert not sent
    router.on_registered((head, 1))
    assert sent == [((head, 1), EventToOperator(head_id, feedback, 7))]
    router.on_registered((tail, 1))
    router.on_event(EventFromOperator((head, 1), head_id, FeedbackTaken(1), epoch=6))
    assert sent[1:] == [((tail, 1), EventToOperator(tail_id, FeedbackTaken(1), 7))]
