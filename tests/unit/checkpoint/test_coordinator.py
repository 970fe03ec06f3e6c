"""The coordinator's decisions, event by event."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from wiesel.checkpoint.committables import Uncommitted, committables_by_operator
from wiesel.checkpoint.coordinator import (
    Aborted,
    CheckpointCoordinator,
    CheckpointSettings,
    Completed,
    Discard,
    FailJob,
    Overtake,
    Publish,
    TriggerSources,
)
from wiesel.checkpoint.messages import AckCheckpoint, DeclineCheckpoint, TaskFinished, TaskKey
from wiesel.checkpoint.metadata import copied
from wiesel.checkpoint.snapshot import OperatorStateSnapshot, TaskSnapshot
from wiesel.wire.events import SavepointOptions

SOURCE, SINK = (0, 0), (1, 0)
EMPTY = TaskSnapshot({})


def coordinator(
    *,
    tasks: Sequence[TaskKey] = (SOURCE, SINK),
    next_id: int = 1,
    uncommitted: Callable[[], Mapping[str, Uncommitted]] = dict,
    **settings: int,
) -> CheckpointCoordinator:
    return CheckpointCoordinator(
        CheckpointSettings(interval_ms=1000, **settings),
        tasks=tasks,
        sources=[SOURCE],
        attempt=1,
        next_id=next_id,
        uncommitted=uncommitted,
    )


def with_committables(*committables: str) -> TaskSnapshot:
    return TaskSnapshot({"sink": OperatorStateSnapshot(committables=list(committables))})


def ack(task: TaskKey, checkpoint_id: int, snapshot: TaskSnapshot = EMPTY) -> AckCheckpoint:
    return AckCheckpoint(task, checkpoint_id, snapshot)


def complete(c: CheckpointCoordinator, now_ms: int, checkpoint_id: int) -> list[object]:
    c.trigger(now_ms, {})
    c.on_ack(ack(SOURCE, checkpoint_id))
    c.on_ack(ack(SINK, checkpoint_id))
    return list(c.on_published(checkpoint_id, now_ms + 5))


def test_triggers_at_the_interval_and_only_one_at_a_time() -> None:
    c = coordinator()
    assert not c.trigger_due(999)
    assert c.trigger_due(1000)
    assert c.trigger(1000, {"s": 1}) == [TriggerSources(1, 1000, (SOURCE,))]
    assert not c.trigger_due(5000)
    assert c.trigger(5000, {}) == []


def test_published_only_with_all_acknowledgements() -> None:
    c = coordinator()
    c.trigger(0, {"s": "enumerator"})
    assert c.on_ack(ack(SOURCE, 1)) == []
    assert c.on_ack(ack(SOURCE, 1)) == []  # a duplicate
    assert c.on_ack(ack(SINK, 7)) == []  # of another checkpoint
    (publish,) = c.on_ack(ack(SINK, 1))
    assert isinstance(publish, Publish)
    assert publish.checkpoint.enumerators == {"s": "enumerator"}
    (done,) = c.on_published(1, 40)
    assert isinstance(done, Completed)
    assert done.duration_ms == 40
    assert c.on_ack(ack(SINK, 1)) == []  # late


def test_a_checkpoint_that_takes_too_long_is_given_up_and_late_acks_have_no_effect() -> None:
    c = coordinator(timeout_ms=100, tolerable_failures=1)
    c.trigger(0, {})
    c.on_ack(ack(SOURCE, 1))
    assert c.on_time(99) == []
    (aborted,) = c.on_time(100)
    assert isinstance(aborted, Aborted)
    assert c.on_ack(ack(SINK, 1)) == []
    assert c.pending_id is None


def test_a_long_checkpoint_is_followed_by_the_pause_before_the_next() -> None:
    c = coordinator(min_pause_ms=300)
    c.trigger(1000, {})
    c.on_ack(ack(SOURCE, 1))
    c.on_ack(ack(SINK, 1))
    c.on_published(1, 1900)
    assert not c.trigger_due(2199) and c.next_deadline_ms() == 2200, "the interval alone would have been over at 2000"
    assert c.trigger_due(2200)
    complete(c, 2200, 2)
    assert not c.trigger_due(3199) and c.trigger_due(3200), "after a short one the interval counts"


def test_failures_in_a_row_fail_the_job_beyond_what_is_tolerated() -> None:
    c = coordinator(tolerable_failures=1)
    c.trigger(0, {})
    assert [type(a) for a in c.on_decline(DeclineCheckpoint(SINK, 1, "full disk"))] == [Aborted]
    complete(c, 10, 2)  # a success resets the count
    c.trigger(20, {})
    assert [type(a) for a in c.on_decline(DeclineCheckpoint(SINK, 3, "full disk"))] == [Aborted]
    c.trigger(30, {})
    assert [type(a) for a in c.on_decline(DeclineCheckpoint(SINK, 4, "full disk"))] == [Aborted, FailJob]


def test_a_failed_publication_aborts() -> None:
    c = coordinator()
    c.trigger(0, {})
    c.on_ack(ack(SOURCE, 1))
    c.on_ack(ack(SINK, 1))
    assert c.on_time(10**9) == []  # no timeout while the metadata is being written
    assert [type(a) for a in c.on_publish_failed(1, "no space")] == [Aborted, FailJob]


def test_subsumed_checkpoints_are_discarded_by_the_retention_count() -> None:
    c = coordinator(num_retained=2)
    assert [type(a) for a in complete(c, 0, 1)] == [Completed]
    assert [type(a) for a in complete(c, 10, 2)] == [Completed]
    _, discard = complete(c, 20, 3)
    assert isinstance(discard, Discard)
    assert discard.checkpoint.checkpoint_id == 1
    assert [k.checkpoint_id for k in discard.keep] == [2, 3]


def test_a_finished_task_counts_for_the_checkpoint_under_way_and_its_committables_go_into_one_only() -> None:
    c = coordinator()
    c.trigger(0, {})
    c.on_ack(ack(SOURCE, 1))
    (publish,) = c.on_task_finished(TaskFinished(SINK, with_committables("part-0")))
    assert isinstance(publish, Publish)
    assert publish.checkpoint.finished == {SINK}
    assert publish.checkpoint.tasks[SINK].operators["sink"].committables == ["part-0"]
    (completed,) = c.on_published(1, 5)
    assert isinstance(completed, Completed) and completed.committables == {"sink": {1: ["part-0"]}}
    c.trigger(10, {})
    (second,) = c.on_ack(ack(SOURCE, 2))
    assert isinstance(second, Publish)
    assert second.checkpoint.tasks[SINK].operators["sink"].committables == []


def test_what_is_not_known_to_be_committed_stays_in_checkpoints() -> None:
    """If that commit fails, the job goes on from the checkpoint that was published meanwhile, and commits what that has."""
    uncommitted: dict[str, Uncommitted] = {}
    c = coordinator(uncommitted=lambda: uncommitted)
    c.on_task_finished(TaskFinished(SINK, with_committables("part-0")))
    c.trigger(0, {})
    c.on_ack(ack(SOURCE, 1))
    (completed,) = c.on_published(1, 5)
    assert isinstance(completed, Completed)
    uncommitted["sink"] = Uncommitted(SINK, completed.committables["sink"])
    c.trigger(10, {})
    (second,) = c.on_ack(ack(SOURCE, 2))
    assert isinstance(second, Publish)
    assert second.checkpoint.tasks[SINK].operators["sink"].committables == ["part-0"]
    completed = c.on_published(2, 15)[0]
    assert isinstance(completed, Completed) and not completed.committables, "the committers have it already"

    uncommitted.clear()
    c.trigger(20, {})
    (third,) = c.on_ack(ack(SOURCE, 3))
    assert isinstance(third, Publish) and third.checkpoint.tasks[SINK].operators["sink"].committables == []


def test_checkpoints_name_what_is_to_be_committed_in_the_order_of_its_checkpoints() -> None:
    other = (1, 1)
    uncommitted = {"sink": Uncommitted(SINK, {1: ["a1", "b1"], 2: ["a2"]})}
    c = coordinator(tasks=[SOURCE, SINK, other], next_id=3, uncommitted=lambda: uncommitted)
    c.trigger(0, {})
    for task, committable in ((SOURCE, None), (other, "b3"), (SINK, "a3")):
        actions = c.on_ack(ack(task, 3, EMPTY if committable is None else with_committables(committable)))
    (publish,) = actions
    assert isinstance(publish, Publish)
    assert committables_by_operator(publish.checkpoint.tasks, 3) == {"sink": {1: ["a1", "b1"], 2: ["a2"], 3: ["a3", "b3"]}}
    assert committables_by_operator(copied(publish.checkpoint).tasks, 3) == {"sink": {1: ["a1", "b1"], 2: ["a2"], 3: ["a3", "b3"]}}
    (completed,) = c.on_published(3, 5)
    assert isinstance(completed, Completed) and completed.committables == {"sink": {3: ["a3", "b3"]}}


def test_what_a_task_hands_out_again_before_it_is_notified_is_taken_once() -> None:
    c = coordinator()
    for checkpoint_id, counts in ((1, ((1, 1),)), (2, ((1, 1), (2, 1)))):
        c.trigger(checkpoint_id * 10, {})
        c.on_ack(ack(SOURCE, checkpoint_id))
        handed_out = [f"part-{n}" for n, _ in counts]
        again = TaskSnapshot({"sink": OperatorStateSnapshot(committables=handed_out, committable_counts=counts)})
        (publish,) = c.on_ack(ack(SINK, checkpoint_id, again))
        assert isinstance(publish, Publish)
        completed = c.on_published(checkpoint_id, checkpoint_id * 10 + 5)[0]
        assert isinstance(completed, Completed)
        assert completed.committables == {"sink": {checkpoint_id: [f"part-{checkpoint_id}"]}}
    everything, counts = ["part-1", "part-2", "last"], ((1, 1), (2, 1), (3, 1))
    last = TaskSnapshot({"sink": OperatorStateSnapshot(committables=everything, committable_counts=counts)})
    c.on_task_finished(TaskFinished(SINK, last, epoch=2))
    c.on_task_finished(TaskFinished(SOURCE, EMPTY, epoch=2))
    c.finish(30, {})
    completed = c.on_published(3, 35)[0]
    assert isinstance(completed, Completed) and completed.committables == {"sink": {3: ["last"]}}


def test_what_a_savepoint_or_a_checkpoint_that_was_given_up_has_is_handed_over_by_the_next() -> None:
    c = coordinator(tolerable_failures=5)
    c.trigger(0, {}, savepoint=SavepointOptions("/savepoint"))
    c.on_ack(ack(SOURCE, 1))
    c.on_ack(ack(SINK, 1, with_committables("part-1")))
    (saved,) = c.on_published(1, 5)
    assert isinstance(saved, Completed) and not saved.commits
    c.trigger(10, {})
    c.on_decline(DeclineCheckpoint(SOURCE, 2, "no"))
    c.trigger(20, {})
    c.on_ack(ack(SOURCE, 3))
    again = TaskSnapshot(
        {"sink": OperatorStateSnapshot(committables=["part-1", "part-2", "part-3"], committable_counts=((1, 1), (2, 1), (3, 1)))}
    )
    (publish,) = c.on_ack(ack(SINK, 3, again))
    assert isinstance(publish, Publish)
    completed = c.on_published(3, 25)[0]
    assert isinstance(completed, Completed) and completed.committables == {"sink": {3: ["part-1", "part-2", "part-3"]}}


def test_an_aborted_checkpoint_does_not_lose_the_committables_of_a_finished_task() -> None:
    c = coordinator(tolerable_failures=5)
    c.trigger(0, {})
    c.on_task_finished(TaskFinished(SINK, with_committables("part-0")))
    c.on_decline(DeclineCheckpoint(SOURCE, 1, "no"))
    c.trigger(10, {})
    (publish,) = c.on_ack(ack(SOURCE, 2))
    assert isinstance(publish, Publish)
    assert publish.checkpoint.tasks[SINK].operators["sink"].committables == ["part-0"]


def test_the_acknowledgement_counts_for_a_task_that_finishes_before_the_publication() -> None:
    c = coordinator()
    c.trigger(0, {})
    c.on_ack(ack(SINK, 1, with_committables("before")))
    c.on_task_finished(TaskFinished(SINK, with_committables("after")))
    (publish,) = c.on_ack(ack(SOURCE, 1))
    assert isinstance(publish, Publish)
    assert publish.checkpoint.tasks[SINK].operators["sink"].committables == ["before"]
    c.on_published(1, 5)
    c.on_task_finished(TaskFinished(SOURCE, EMPTY))
    (last,) = c.finish(10, {})
    assert isinstance(last, Publish)
    assert last.checkpoint.final
    assert last.checkpoint.tasks[SINK].operators["sink"].committables == ["after"]


def test_the_last_checkpoint_waits_for_the_one_under_way() -> None:
    c = coordinator()
    c.trigger(0, {})
    c.on_task_finished(TaskFinished(SOURCE, EMPTY))
    c.on_task_finished(TaskFinished(SINK, EMPTY))
    assert c.all_finished
    assert c.finish(5, {}) == []
    c.on_published(1, 6)
    (publish,) = c.finish(7, {})
    assert isinstance(publish, Publish)
    assert publish.checkpoint.final


def test_no_checkpoint_can_be_completed_once_a_finished_task_could_not_keep_its_state() -> None:
    c = coordinator(tolerable_failures=5)
    c.trigger(0, {})
    c.on_ack(ack(SINK, 1))
    (under_way,) = c.on_task_finished(TaskFinished(SOURCE, EMPTY, missing="too large"))
    assert isinstance(under_way, Aborted) and "too large" in under_way.reason and "(0, 0)" in under_way.reason
    (later,) = c.trigger(1000, {})
    assert isinstance(later, Aborted) and "too large" in later.reason
    # The end of the job commits the sinks all the same: nobody goes back to this state any more.
    c.on_task_finished(TaskFinished(SINK, with_committables("file")))
    (publish,) = c.finish(2000, {})
    assert isinstance(publish, Publish) and publish.checkpoint.final


def test_a_task_that_was_acknowledged_before_it_finished_without_its_state_does_not_disturb_that_checkpoint() -> None:
    c = coordinator()
    c.trigger(0, {})
    c.on_ack(ack(SOURCE, 1))
    assert c.on_task_finished(TaskFinished(SOURCE, EMPTY, missing="too large")) == []
    (publish,) = c.on_ack(ack(SINK, 1))
    assert isinstance(publish, Publish)


LOOP, TAIL = (1, 0), (2, 0)


def coordinator_of_a_loop() -> CheckpointCoordinator:
    return CheckpointCoordinator(
        CheckpointSettings(interval_ms=1000),
        tasks=[SOURCE, LOOP, TAIL],
        sources=[SOURCE],
        attempt=1,
        next_id=1,
        upstream={LOOP: {SOURCE}, TAIL: {LOOP}},
    )


def test_a_task_that_goes_on_when_its_inputs_have_finished_is_triggered_like_a_source() -> None:
    c = coordinator_of_a_loop()
    assert c.trigger(0, {}) == [TriggerSources(1, 0, (SOURCE,))]
    for task in (SOURCE, LOOP, TAIL):
        c.on_ack(ack(task, 1))
    c.on_published(1, 5)
    assert c.on_task_finished(TaskFinished(SOURCE, EMPTY)) == []
    assert c.trigger(1000, {}) == [TriggerSources(2, 1000, (LOOP,))]
    assert c.on_ack(ack(LOOP, 2)) == []
    (publish,) = c.on_ack(ack(TAIL, 2))
    assert isinstance(publish, Publish)
    assert publish.checkpoint.finished == {SOURCE}


def test_a_source_that_finishes_without_having_seen_the_trigger_passes_it_on() -> None:
    c = coordinator_of_a_loop()
    c.trigger(0, {})
    assert c.on_task_finished(TaskFinished(SOURCE, EMPTY)) == [TriggerSources(1, 0, (LOOP,))]
    c.on_ack(ack(LOOP, 1))
    assert c.on_task_finished(TaskFinished(LOOP, EMPTY)) == [TriggerSources(1, 0, (TAIL,))]
    (publish,) = c.on_ack(ack(TAIL, 1))
    assert isinstance(publish, Publish)


def test_barriers_overtake_at_once_when_they_have_no_time_to_be_aligned() -> None:
    c = coordinator(overtake_after_ms=0)
    assert c.trigger(1000, {}) == [TriggerSources(1, 1000, (SOURCE,)), Overtake(1, 1000, (SINK,))]
    assert c.on_time(1001) == []


def test_barriers_overtake_when_the_time_to_align_them_is_over_and_the_checkpoint_is_not_complete() -> None:
    c = coordinator(overtake_after_ms=300)
    assert c.trigger(1000, {}) == [TriggerSources(1, 1000, (SOURCE,))]
    assert c.next_deadline_ms() == 1300
    assert c.on_time(1299) == []
    assert c.on_time(1300) == [Overtake(1, 1000, (SINK,))]
    assert c.next_deadline_ms() == 1000 + CheckpointSettings().timeout_ms
    complete(c, 1400, 1)
    c.trigger(2000, {})
    c.on_ack(ack(SOURCE, 2))
    c.on_ack(ack(SINK, 2))
    assert c.on_time(2300) == [], "it waits for its metadata only"


def test_savepoints_are_always_aligned() -> None:
    c = coordinator(overtake_after_ms=0)
    options = SavepointOptions("/savepoints/1")
    assert c.trigger(1000, {}, savepoint=options) == [TriggerSources(1, 1000, (SOURCE,), options)]
    assert c.on_time(5000) == []


def test_what_a_task_ended_with_is_no_substitute_for_its_lost_acknowledgement() -> None:
    """Its last state is of behind the barrier: with the others' state at the barrier, what came in between would count twice or be lost."""
    c = coordinator(timeout_ms=100, tolerable_failures=1)
    c.trigger(0, {})
    c.on_ack(ack(SOURCE, 1))
    assert c.on_task_finished(TaskFinished(SINK, with_committables("behind the barrier"), epoch=1)) == []
    assert c.pending_id == 1, "the acknowledgement may be late"
    assert [type(action) for action in c.on_time(100)] == [Aborted]

    c.trigger(200, {})
    (publish,) = c.on_ack(ack(SOURCE, 2))
    assert isinstance(publish, Publish) and publish.checkpoint.tasks[SINK] == with_committables("behind the barrier")


def test_a_late_acknowledgement_of_a_task_that_has_ended_counts() -> None:
    c = coordinator()
    c.trigger(0, {})
    c.on_task_finished(TaskFinished(SINK, with_committables("behind the barrier"), epoch=1))
    c.on_ack(ack(SOURCE, 1))
    (publish,) = c.on_ack(ack(SINK, 1, with_committables("before the barrier")))
    assert isinstance(publish, Publish) and publish.checkpoint.tasks[SINK] == with_committables("before the barrier")
