"""An asynchronous sink writer on Spark: requests that hang or fail delay neither checkpoints nor heartbeats, and nothing is lost."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from wiesel.common import Configuration, JobStatus, WatermarkStrategy
from wiesel.core.errors import JobCancelledError
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.datastream.connectors.base import AsyncSinkWriter, AsyncSinkWriterConfig, ResultHandler, Sink, SinkWriter
from wiesel.datastream.connectors.number_seq import NumberSequenceSource

LIMIT_S = 120.0
HANGS_S = 60.0
CANCELLED_S = 2.0


class LineSink(Sink):
    """Appends numbers to a file per subtask. Every third request fails in half; the first one hangs if it is wanted."""

    def __init__(self, directory: Path, *, hangs: bool) -> None:
        self.directory, self.hangs = directory, hangs

    def create_writer(self, context: Any, state: Sequence[Any] = ()) -> SinkWriter:
        return LineWriter(context, state, self)


class LineWriter(AsyncSinkWriter[int]):
    def __init__(self, context: Any, state: Sequence[Any], sink: LineSink) -> None:
        self.file = sink.directory / f"numbers-{context.subtask_index}"
        self.begun = sink.directory / "request-has-begun"
        self.hangs = sink.hangs
        self.count = 0
        super().__init__(context, AsyncSinkWriterConfig(max_batch_size=10, max_in_flight_requests=1, max_buffered_requests=100), state)

    def submit_requests(self, requests: list[int], result: ResultHandler[int]) -> None:
        self.count += 1
        if self.hangs:
            self.begun.touch()
            time.sleep(HANGS_S)
        done = len(requests) // 2 if self.count % 3 == 0 else len(requests)
        with self.file.open("a") as lines:
            lines.write("".join(f"{number}\n" for number in requests[:done]))
            lines.flush()
            os.fsync(lines.fileno())
        result.retry_for_entries(requests[done:])

    def size_in_bytes(self, request: int) -> int:
        return 8


def environment(numbers: NumberSequenceSource, sink: LineSink) -> StreamExecutionEnvironment:
    # A task that is held up sends no heartbeats: the job would restart, which it may not.
    settings = {"execution.checkpointing.interval": "100 ms", "heartbeat.timeout": "5 s", "heartbeat.interval": "500 ms"}
    settings |= {"restart-strategy.type": "none", "parallelism.default": "2", "execution.checkpointing.unaligned.enabled": "false"}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
    env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers").sink_to(sink).name("lines")
    return env


def wait_for(condition: Callable[[], bool], what: str) -> None:
    deadline_s = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline_s, what
        time.sleep(0.02)


def test_requests_that_fail_are_sent_again_and_nothing_is_lost(tmp_path: Path) -> None:
    environment(NumberSequenceSource(1, 2000), LineSink(tmp_path, hangs=False)).execute("lines")
    numbers = [int(line) for path in tmp_path.glob("numbers-*") for line in path.read_text().split()]
    assert sorted(numbers) == list(range(1, 2001)), "without failures of the job each arrives once"


def test_checkpoints_go_on_and_the_job_is_cancelled_while_requests_hang(tmp_path: Path) -> None:
    client = environment(NumberSequenceSource(1, 10**9), LineSink(tmp_path, hangs=True)).execute_async("lines")

    def completed() -> int:
        return int(client.get_job_metrics().result()["checkpoints"]["completed"])

    wait_for((tmp_path / "request-has-begun").exists, "no request was made")
    before = completed()
    wait_for(lambda: completed() >= before + 5, "checkpoints wait for the requests")
    assert client.get_job_status().result() is JobStatus.RUNNING
    cancelled_s = time.monotonic()
    client.cancel().result()
    with pytest.raises(JobCancelledError):
        client.get_job_execution_result().result(LIMIT_S)
    assert time.monotonic() - cancelled_s < CANCELLED_S
    assert not list(tmp_path.glob("numbers-*")), "the requests hang still"
