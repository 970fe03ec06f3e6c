"""The metrics of sources have the names of FLIP-33 and FLIP-182, and the values that follow from what was read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.unit.connectors.reading import World
from tests.unit.connectors.test_wanted import lines
from tests.unit.engine.stored_job import environment, start
from tests.unit.spi.split_readers import AVAILABLE, NumbersEnumerator, NumbersReader, NumbersSource
from wiesel.common import Types, WatermarkStrategy
from wiesel.engine.job_metrics import job_metrics
from wiesel.spi.source import RecordsBySplits, SourceReaderBase, SplitEnumerator, SplitRecords
from wiesel.testing import ManualSource


def test_lags_idleness_and_watermarks_of_splits() -> None:
    source = ManualSource(2, type_info=Types.LONG())
    env = environment(None)
    env.collect(env.from_source(source, WatermarkStrategy.for_monotonous_timestamps(), "numbers"))
    with start(env) as job:
        assert job.metric("Source: numbers.watermarkLag") == job.metric("Source: numbers.currentEmitEventTimeLag") == -1
        begin = job.processing_time
        source.push_all([1, 2, 3], [begin - 900, begin - 800, begin - 700], split=0)
        source.push(4, begin - 5_000, split=1)
        job.settle()
        assert job.metric("Source: numbers.numRecordsIn") == 4
        assert job.metric("Source: numbers.currentEmitEventTimeLag") in (700, 5_000), "of the record that was emitted last"
        job.advance_processing_time(2_000)
        assert job.metric("Source: numbers.split.split-0.watermark.currentWatermark") == begin - 701
        assert job.metric("Source: numbers.split.split-1.watermark.currentWatermark") == begin - 5_001
        assert job.metric("Source: numbers.watermarkLag") == 7_001
        assert 1_900 <= job.metric("Source: numbers.sourceIdleTime") <= 2_000
        source.push(5, begin, split=0)
        job.settle()
        assert job.metric("Source: numbers.sourceIdleTime") == 0
        source.end(split=1)
        job.settle()
        (task,) = (task.task for task in job._world.tasks.values())
        assert "Source: numbers.split.split-0.watermark.currentWatermark" in task.metrics()
        assert "Source: numbers.split.split-1.watermark.currentWatermark" not in task.metrics(), "those of a finished split are removed"


class Measured(NumbersSource):
    def create_enumerator(self, context: Any, state: Any | None = None) -> SplitEnumerator[Any]:
        enumerator = super().create_enumerator(context, state)
        assert isinstance(enumerator, NumbersEnumerator)
        context.metric_group.set_unassigned_splits_gauge(lambda: len(enumerator.splits))
        return enumerator

    def create_reader(self, context: Any) -> Any:
        group = context.metric_group
        group.set_pending_records_gauge(lambda: 40)
        group.set_pending_bytes_gauge(lambda: 4_000)
        group.num_records_in_errors.inc(2)
        return SourceReaderBase(context, lambda: MeasuredReader(self, group, context))


class MeasuredReader(NumbersReader):
    def __init__(self, source: NumbersSource, group: Any, context: Any) -> None:
        super().__init__(source)
        self.group, self.context = group, context

    def fetch(self) -> RecordsBySplits | None:
        fetched = super().fetch()
        if not fetched or not fetched.records:
            return fetched
        self.group.num_bytes_in.inc(100)
        records = fetched.records[0]
        assert isinstance(records.records, list)
        times = [self.context.now_ms() - 250] * len(records.records)
        return RecordsBySplits([SplitRecords(records.split_id, records.records, records.position, times)], fetched.finished_splits)


def test_metrics_of_connectors() -> None:
    AVAILABLE["measured"] = 21
    env = environment(None)
    env.collect(env.from_source(Measured(1, 40, name="measured"), WatermarkStrategy.no_watermarks(), "orders"))
    with start(env) as job:
        names = ("numRecordsIn", "numBytesIn", "numRecordsInErrors", "pendingRecords")
        found = {name: job.metric(f"Source: orders.{name}") for name in names}
        assert found == {"numRecordsIn": 21, "numBytesIn": 300, "numRecordsInErrors": 2, "pendingRecords": 40}
        assert job.metric("Source: orders.pendingBytes") == 4_000 and job.metric("Source: orders.currentFetchEventTimeLag") == 250
        assert job_metrics(job.master)["sources"] == {"Source: orders": {"unassignedSplits": 0}}


def test_files_that_no_reader_has(tmp_path: Path) -> None:
    world = World(lines(tmp_path))
    assert world.context.metrics.snapshot() == {"unassignedSplits": 1}
    world.run()
    assert world.context.metrics.snapshot() == {"unassignedSplits": 0}
