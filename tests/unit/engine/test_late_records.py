"""What is said of records that come too late."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from tests.unit.engine.stored_job import StoredJob, environment, start
from wiesel.checkpoint.messages import Heartbeat
from wiesel.common import Time, Types, WatermarkStrategy
from wiesel.datastream import OutputTag
from wiesel.datastream.window import TumblingEventTimeWindows
from wiesel.testing import ManualSource

LATE = OutputTag("late", Types.TUPLE([Types.STRING(), Types.LONG()]))


def counted(source: ManualSource, checkpoints: Path, *, late: OutputTag | None = None) -> StoredJob:
    """Start a job that counts the keys of each second, with two subtasks."""
    env = environment(checkpoints, parallelism=2)
    pairs = env.from_source(source, WatermarkStrategy.no_watermarks(), "pairs", Types.TUPLE([Types.STRING(), Types.LONG()]))
    windows = pairs.key_by(lambda pair: pair[0]).window(TumblingEventTimeWindows.of(Time.seconds(1)))
    if late is not None:
        windows = windows.side_output_late_data(late)
    windows.reduce(lambda a, b: (a[0], a[1] + b[1])).name("seconds").print()
    return start(env)


@pytest.fixture
def source() -> ManualSource:
    source = ManualSource(type_info=Types.TUPLE([Types.STRING(), Types.LONG()]))
    source.push(("a", 1), 500)
    source.advance_watermark(5_000)
    return source


def push_late(source: ManualSource, count: int) -> None:
    for number in range(count):
        source.push((f"k{number}", 1), 400)


def test_that_they_are_dropped_is_said_at_a_checkpoint_and_in_all_at_the_end(
    tmp_path: Path, source: ManualSource, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING), counted(source, tmp_path) as job:
        job.checkpoint()
        assert caplog.messages == []
        push_late(source, 7)
        for _ in range(2):
            job.settle()
            # Tasks of this engine tell their metrics at their end only, those of Spark all the time.
            for each in job._world.tasks.values():
                job.master.attempt.on_message(Heartbeat(each.key, each.task.metrics()))
            job.checkpoint()
        (said,) = caplog.messages
        assert said.startswith("'seconds' has dropped 7 late records")
        push_late(source, 1_300)
        source.end()
        job.finish()
    assert len(caplog.messages) == 2
    assert caplog.messages[1].startswith("'seconds' has dropped 1,307 late records")


def test_nothing_is_said_of_records_that_go_elsewhere(tmp_path: Path, source: ManualSource, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING), counted(source, tmp_path, late=LATE) as job:
        push_late(source, 7)
        source.end()
        job.finish()
    assert caplog.messages == []
