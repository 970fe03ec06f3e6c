"""Splits of one subtask wait for each other (FLIP-217): one that is ahead is paused, and the others are read on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.engine.stored_job import environment, start
from tests.unit.spi.split_readers import AVAILABLE, NumbersSource
from wiesel.common import Duration, Types, WatermarkStrategy
from wiesel.connectors.rate_limited import RateLimitedSource
from wiesel.core.errors import JobExecutionError, ProgramError
from wiesel.datastream.connectors.datagen import RateLimiterStrategy
from wiesel.datastream.connectors.hybrid_source import HybridSource
from wiesel.runtime.operators.source import SourceOperator
from wiesel.spi.source import Source, SourceReader
from wiesel.testing import CollectedStream, ManualSource

DRIFT_MS = 10_000
UPDATE_MS = 1_000
STEP_MS = 5_000
ALLOW_UNALIGNED = {"pipeline_watermark__alignment_allow__unaligned__source__splits": "true"}


def aligned(drift_ms: int = DRIFT_MS) -> WatermarkStrategy:
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    return strategy.with_watermark_alignment("group", Duration.of_millis(drift_ms), Duration.of_millis(UPDATE_MS))


def started(source: Source[Any], strategy: WatermarkStrategy | None = None, checkpoints: Path | None = None, **config: Any) -> Any:
    env = environment(checkpoints, 1, **config)
    results = env.collect(env.from_source(source, strategy or aligned(), "source"))
    return start(env), results


def push_ahead(source: ManualSource) -> None:
    """Split 0 has twenty records, a step after each other; split 1 has one."""
    source.push("slow 0", 0, split=1)
    for n in range(20):
        source.push(f"fast {n}", n * STEP_MS, split=0)


def seen(results: CollectedStream, kind: str) -> int:
    values = [value for value in results.values if value.startswith(kind)]
    assert values == [f"{kind} {n}" for n in range(len(values))]
    return len(values)


def wrapped(source: ManualSource, kind: str) -> Source[Any]:
    if kind == "limited":
        return RateLimitedSource(source, RateLimiterStrategy.per_second(1e9), per_split=True)
    return HybridSource.builder(source).build() if kind == "hybrid" else source


@pytest.mark.parametrize("kind", ["plain", "limited", "hybrid"])
def test_a_split_that_is_ahead_waits_for_the_others_of_its_subtask(kind: str, tmp_path: Path) -> None:
    source = ManualSource(2, type_info=Types.STRING())
    job, results = started(wrapped(source, kind), checkpoints=tmp_path)
    with job:
        push_ahead(source)
        job.advance_processing_time(5 * UPDATE_MS)
        # Within the drift, and the one whose watermark is beyond it.
        ahead = seen(results, "fast")
        assert DRIFT_MS // STEP_MS < ahead <= DRIFT_MS // STEP_MS + 2 and seen(results, "slow") == 1
        source.push("slow 1", 4 * STEP_MS, split=1)
        job.settle()
        assert seen(results, "slow") == 2, "not held with the other split"
        job.advance_processing_time(UPDATE_MS)
        assert ahead + 3 <= seen(results, "fast") <= ahead + 5
        job.store()
        source.push("slow 2", 5 * STEP_MS, split=1)  # or it would not be known how far the split has come
        job.fail()
        job.advance_processing_time(UPDATE_MS)
        assert seen(results, "fast") < 15, "paused again after a failure"
        source.end(split=1)
        job.advance_processing_time(UPDATE_MS)
        assert seen(results, "fast") == 20, "a split alone waits for nobody"


def test_time_that_a_split_is_paused_counts_for_no_idleness() -> None:
    source = ManualSource(2, type_info=Types.STRING())
    job, results = started(source, aligned().with_idleness(Duration.of_seconds(3)))
    with job:
        push_ahead(source)
        for n in range(1, 21):
            job.advance_processing_time(UPDATE_MS)
            source.push(f"slow {n}", n, split=1)
        assert seen(results, "fast") < 5
        (operator,) = [o for task in job._world.tasks.values() for o in task.task.operators if isinstance(o, SourceOperator)]
        assert not any(split.idle for split in operator._splits.values())
        job.advance_processing_time(10 * UPDATE_MS)
        assert seen(results, "fast") == 20, "an idle split holds nobody back"


class Unpausable(ManualSource):
    def create_reader(self, context: Any) -> SourceReader[Any]:
        reader = super().create_reader(context)
        reader.pause_or_resume_splits = SourceReader.pause_or_resume_splits.__get__(reader)  # type: ignore[method-assign]
        return reader


def test_readers_that_cannot_pause_splits_are_refused_unless_that_is_allowed() -> None:
    source = Unpausable(2, type_info=Types.STRING())
    with pytest.raises(JobExecutionError) as failure:
        job, _ = started(source, restart__strategy_type="none")
        with job:
            push_ahead(source)
            job.advance_processing_time(5 * UPDATE_MS)
    assert isinstance(failure.value.__cause__, ProgramError)
    assert "_Reader cannot pause single splits" in str(failure.value.__cause__)
    assert "allow-unaligned-source-splits to true" in str(failure.value.__cause__)
    allowed = Unpausable(2, type_info=Types.STRING())
    job, results = started(allowed, **ALLOW_UNALIGNED)
    with job:
        push_ahead(allowed)
        job.advance_processing_time(5 * UPDATE_MS)
        assert seen(results, "fast") == 20


def test_a_single_split_needs_no_pausing() -> None:
    source = Unpausable(1, type_info=Types.STRING())
    job, results = started(source)
    with job:
        for n in range(20):
            source.push(f"fast {n}", n * STEP_MS)
        job.advance_processing_time(5 * UPDATE_MS)
        assert seen(results, "fast") == 20


FAST_MS, SLOW_MS = 10_000, 1_000


class Skewed(NumbersSource):
    """The time of ``p0`` runs ten times as fast as that of the other splits."""


def time_of(pair: tuple[str, int]) -> int:
    return pair[1] * (FAST_MS if pair[0] == "p0" else SLOW_MS)


@pytest.mark.parametrize("thread_per_split", [False, True])
def test_splits_that_threads_read_are_aligned_with_what_was_fetched_already(thread_per_split: bool) -> None:
    source = NumbersSource(3, 300, name="aligned", thread_per_split=thread_per_split)
    AVAILABLE["aligned"] = 300
    strategy = aligned(100_000).with_timestamp_assigner(lambda pair, _: time_of(pair))
    job, results = started(source, strategy)
    with job:
        job.finish()
    assert sorted(results.values) == sorted((f"p{i}", n) for i in range(3) for n in range(300))
    latest = {f"p{i}": 0 for i in range(3)}
    furthest = 0
    for pair in results.values:
        latest[pair[0]] = time_of(pair)
        if max(latest["p1"], latest["p2"]) < 299 * SLOW_MS:
            furthest = max(furthest, latest["p0"] - min(latest["p1"], latest["p2"]))
    # What was fetched before the pause may be emitted at once: three fetches of seven. Without alignment it would be 2,700 s.
    assert 50_000 < furthest <= 100_000 + 22 * FAST_MS
