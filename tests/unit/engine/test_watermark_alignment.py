"""Sources of an alignment group wait for each other, as Flink's documentation says, and hold nobody back when they have nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.engine.stored_job import StoredJob, environment, start
from wiesel.common import Duration, Types, WatermarkStrategy
from wiesel.core.errors import ProgramError
from wiesel.runtime.alignment import SourceAlignment
from wiesel.testing import CollectedStream, ManualSource
from wiesel.testing.environment import LocalEnvironment

DRIFT_MS = 10_000
UPDATE_MS = 1_000
STEP_MS = 5_000


def strategy(group: str = "both", drift_ms: int = DRIFT_MS) -> WatermarkStrategy:
    aligned = WatermarkStrategy.for_monotonous_timestamps().with_watermark_alignment(
        group, Duration.of_millis(drift_ms), Duration.of_millis(UPDATE_MS)
    )
    return aligned.with_idleness(Duration.of_minutes(10))


def two(
    env: LocalEnvironment, fast: WatermarkStrategy, slow: WatermarkStrategy
) -> tuple[ManualSource, ManualSource, CollectedStream, CollectedStream]:
    sources = ManualSource(type_info=Types.LONG()), ManualSource(type_info=Types.LONG())
    streams = [env.from_source(s, wm, name) for s, wm, name in zip(sources, (fast, slow), ("fast", "slow"), strict=True)]
    return *sources, env.collect(streams[0]), env.collect(streams[1])


def go_on(job: StoredJob, fast: ManualSource, begin: int, count: int = 20) -> None:
    """Push one record a second, each further on in event time."""
    for n in range(begin, begin + count):
        fast.push(n, n * STEP_MS)
        job.advance_processing_time(UPDATE_MS)


def test_the_faster_source_waits_for_the_slower_one(tmp_path: Path) -> None:
    env = environment(None)
    fast, slow, seen, _ = two(env, strategy(), strategy())
    with start(env) as job:
        slow.push(0, 0)
        job.advance_processing_time(2 * UPDATE_MS)
        go_on(job, fast, 0)
        # Within the drift, and what was read until the watermark beyond it was emitted and answered.
        held = seen.values
        assert held == list(range(len(held))) and DRIFT_MS // STEP_MS < len(held) <= DRIFT_MS // STEP_MS + 2
        slow.push(1, 20 * STEP_MS)
        job.advance_processing_time(3 * UPDATE_MS)
        assert seen.values == list(range(20))
        go_on(job, fast, 20)
        assert 22 < len(seen.values) <= 22 + 2, "held again"
        slow.end()
        job.advance_processing_time(UPDATE_MS)
        assert seen.values == list(range(40)), "a source that has ended holds the other one back"


def test_other_groups_and_sources_without_one_do_not_wait(tmp_path: Path) -> None:
    for slow_strategy in (strategy("another"), WatermarkStrategy.for_monotonous_timestamps()):
        env = environment(None)
        fast, slow, seen, _ = two(env, strategy(), slow_strategy)
        with start(env) as job:
            slow.push(0, 0)
            go_on(job, fast, 0)
            assert seen.values == list(range(20))


def test_an_idle_source_holds_nobody_back(tmp_path: Path) -> None:
    env = environment(None)
    idle = strategy().with_idleness(Duration.of_seconds(5))
    fast, slow, seen, _ = two(env, strategy(), idle)
    with start(env) as job:
        slow.push(0, 0)
        job.advance_processing_time(2 * UPDATE_MS)
        go_on(job, fast, 0)
        assert seen.values == list(range(20))


def test_time_that_a_source_is_held_counts_for_no_idleness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reports = []
    report = SourceAlignment.report

    def noted(self: SourceAlignment, watermark: int, now_ms: int, *, free: bool) -> None:
        reports.append(free)
        report(self, watermark, now_ms, free=free)

    monkeypatch.setattr(SourceAlignment, "report", noted)
    env = environment(None)
    fast, slow, seen, _ = two(env, strategy().with_idleness(Duration.of_seconds(3)), strategy())
    with start(env) as job:
        slow.push(0, 0)
        job.advance_processing_time(2 * UPDATE_MS)
        go_on(job, fast, 0, count=10)
        job.advance_processing_time(30 * UPDATE_MS)
        assert len(seen.values) < 10, "never held"
        slow.push(1, 20 * STEP_MS)
        job.advance_processing_time(3 * UPDATE_MS)
        assert seen.values == list(range(10))
        assert not any(reports), "idle while it was held"
        job.advance_processing_time(5 * UPDATE_MS)
        assert any(reports), "never idle, without anything to read"


def test_each_source_has_its_own_drift(tmp_path: Path) -> None:
    env = environment(None)
    fast, slow, seen, _ = two(env, strategy(drift_ms=40_000), strategy())
    with start(env) as job:
        slow.push(0, 0)
        job.advance_processing_time(2 * UPDATE_MS)
        go_on(job, fast, 0)
        assert 8 < len(seen.values) <= 8 + 2


def test_a_held_source_takes_part_in_checkpoints_and_goes_on_after_a_failure(tmp_path: Path) -> None:
    env = environment(tmp_path / "checkpoints")
    fast, slow, seen, _ = two(env, strategy(), strategy())
    with start(env) as job:
        slow.push(0, 0)
        job.advance_processing_time(2 * UPDATE_MS)
        go_on(job, fast, 0)
        held = len(seen.values)
        assert held < 20
        job.store()
        job.fail()
        job.advance_processing_time(5 * UPDATE_MS)
        slow.push(1, 100 * STEP_MS)
        job.advance_processing_time(5 * UPDATE_MS)
        assert seen.values == list(range(20))


@pytest.mark.parametrize(("drift_ms", "interval_ms"), [(-1, 1000), (0, 0)])
def test_settings_that_make_no_sense_are_refused(drift_ms: int, interval_ms: int) -> None:
    with pytest.raises(ProgramError, match="alignment"):
        WatermarkStrategy.no_watermarks().with_watermark_alignment("group", Duration.of_millis(drift_ms), Duration.of_millis(interval_ms))
