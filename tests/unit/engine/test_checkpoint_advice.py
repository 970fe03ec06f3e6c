"""What is said of checkpoints whose barriers wait behind many records."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.unit.engine.stored_job import StoredJob, totals
from wiesel.checkpoint.coordinator import Checkpoint, UnderWay
from wiesel.checkpoint.messages import TaskKey
from wiesel.checkpoint.snapshot import CheckpointStats
from wiesel.engine.checkpoint_advice import BACKPRESSURE, CheckpointAdvice, longest_wait
from wiesel.testing import ManualSource

SOURCE, TOTAL = (0, 0), (1, 0)


def waiting(start_delay_ms: float, alignment_ms: float = 0.0) -> CheckpointStats:
    return CheckpointStats(start_delay_ms=start_delay_ms, alignment_ms=alignment_ms)


@pytest.fixture
def job() -> StoredJob:
    job, _ = totals(ManualSource(), None, parallelism=2)
    with job:
        assert [vertex.is_source for vertex in job.master.recovery.job.vertices][:2] == [True, False]
        job.checkpoint()
    return job


def test_the_wait_is_that_in_front_of_the_slowest_task_behind_the_sources(job: StoredJob) -> None:
    graph = job.master.recovery.job
    wait_ms, vertex = longest_wait(graph, {SOURCE: waiting(50), TOTAL: waiting(100, 20), (1, 1): waiting(300, 1000)})
    assert (wait_ms, vertex) == (1250, graph.vertices[1])
    assert longest_wait(graph, {SOURCE: waiting(500), TOTAL: waiting(400)}) == (0, None), "it is the source that is slow"
    assert longest_wait(graph, {SOURCE: waiting(500)}) == (0, None)


def taken(job: StoredJob, source: CheckpointStats, total: CheckpointStats) -> Checkpoint:
    checkpoint: Checkpoint = job.master.last_checkpoint
    stats = {SOURCE: source, TOTAL: total}
    return replace(checkpoint, tasks={key: replace(task, stats=stats.get(key, task.stats)) for key, task in checkpoint.tasks.items()})


def test_it_is_told_once_what_there_is_to_do(job: StoredJob, caplog: pytest.LogCaptureFixture) -> None:
    graph, advice = job.master.recovery.job, CheckpointAdvice(wanted=True)
    with caplog.at_level(logging.WARNING):
        advice.look(graph, taken(job, waiting(0), waiting(9_000)), 9_500)
        advice.look(graph, taken(job, waiting(15_000), waiting(16_000)), 30_000)
        assert caplog.messages == []
        for _ in range(2):
            advice.look(graph, taken(job, waiting(2_000), waiting(14_000, 3_000)), 17_400)
    (told,) = caplog.messages
    assert told.startswith("checkpoint 1 took 17 s, 15 s of which its barriers waited behind records in front of")
    assert f"'{graph.vertices[1].name}'" in told
    assert "taskmanager.network.memory.buffer-debloat.enabled: true" in told and "execution.checkpointing.unaligned.enabled: true" in told


def test_who_takes_unaligned_checkpoints_is_told_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    option = "execution_checkpointing_unaligned_enabled"
    said = {}
    for value in ("false", "true"):
        job, _ = totals(ManualSource(), tmp_path / value, parallelism=2, **{option: value})
        with job, caplog.at_level(logging.WARNING):
            job.checkpoint()
            caplog.clear()
            job.master.checkpoint_completed(taken(job, waiting(0), waiting(20_000)), 20_100)
            said[value] = len(caplog.messages)
    assert said == {"false": 1, "true": 0}


def test_it_is_told_of_checkpoints_that_expire_before_their_barriers_come(job: StoredJob, caplog: pytest.LogCaptureFixture) -> None:
    graph, late = job.master.recovery.job, frozenset({TOTAL, (1, 1)})
    held: dict[TaskKey, dict[str, Any]] = {key: {BACKPRESSURE: 950} for key in (SOURCE, TOTAL)}
    with caplog.at_level(logging.WARNING):
        CheckpointAdvice(wanted=False).look_at_late(graph, late, held)
        advice = CheckpointAdvice(wanted=True)
        advice.look_at_late(graph, frozenset(), held)
        advice.look_at_late(graph, late | {SOURCE}, {})
        assert caplog.messages == [], "a source that is busy with something else waits for nobody"
        for _ in range(2):
            advice.look_at_late(graph, late | {SOURCE}, held)
        CheckpointAdvice(wanted=True).look_at_late(graph, late, {})
    for told in caplog.messages:
        assert f"'{graph.vertices[1].name}'" in told and "buffer-debloat.enabled: true" in told
    assert len(caplog.messages) == 2


def test_where_a_limit_is_set_already_barriers_that_overtake_are_what_helps(job: StoredJob, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        CheckpointAdvice(wanted=True, limited=True).look_at_late(job.master.recovery.job, frozenset({TOTAL}), {})
    (told,) = caplog.messages
    assert "buffer-debloat" not in told
    assert told.endswith("'execution.checkpointing.unaligned.enabled: true' enables unaligned checkpoints")


def test_it_is_told_of_a_checkpoint_that_goes_on_and_on(job: StoredJob, caplog: pytest.LogCaptureFixture) -> None:
    graph = job.master.recovery.job
    under_way = UnderWay(7, 1_000, frozenset({TOTAL}))
    advice = CheckpointAdvice(wanted=True)
    with caplog.at_level(logging.WARNING):
        advice.look_at_pending(graph, under_way, 30_000, {})
        advice.look_at_pending(graph, None, 90_000, {})
        advice.look_at_pending(graph, UnderWay(7, 1_000, frozenset({SOURCE})), 90_000, {})
        assert caplog.messages == []
        for _ in range(2):
            advice.look_at_pending(graph, under_way, 32_400, {})
    (told,) = caplog.messages
    assert told.startswith("checkpoint 7 was triggered 31 s ago, and its barriers may wait behind records in front of")
    assert f"'{graph.vertices[1].name}'" in told and "buffer-debloat.enabled: true" in told


def test_the_master_looks_as_time_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    job, _ = totals(ManualSource(), None, parallelism=2)
    with job, caplog.at_level(logging.WARNING):
        job.master.attempt.trigger()
        # No task has heard of it yet; the source is held by those behind it.
        job.master.attempt.metrics.update({(0, index): {BACKPRESSURE: 950} for index in range(2)})
        job.master.on_time(job.master._clock.now_ms() + 31_000)
        assert "was triggered 31 s ago" in "".join(caplog.messages)


def test_who_has_not_taken_part_in_time_is_named() -> None:
    job, _ = totals(ManualSource(), None, parallelism=2, execution_checkpointing_timeout="10 s")
    with job:
        job.master.attempt.trigger()
        # Before any task has heard of it, its time is over.
        coordinator = job.master.attempt.coordinator
        (aborted, *_) = coordinator.on_time(job.master._clock.now_ms() + 10_000)
        # The second subtask of the source has no split, and has finished.
        named = "'Source: numbers' (1/2), 'KEYED PROCESS' (1/2), 'KEYED PROCESS' (2/2), 'Sink: Collected' (1/1)"
        assert aborted.reason == f"expired after 10000 ms; no acknowledgement from {named}"
        assert aborted.late == {(0, 0), (1, 0), (1, 1), (2, 0)}
