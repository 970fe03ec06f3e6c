"""A source on Spark whose client blocks: heartbeats and checkpoints go on, and kills and cancellation wait for nothing."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.faults.counting_job import RunningCount, file_sink
from tests.faults.driver_process import must_have_made
from tests.unit.spi.split_readers import NumbersSource
from wiesel.common import Configuration, JobStatus, Types, WatermarkStrategy
from wiesel.core.errors import JobCancelledError
from wiesel.datastream import StreamExecutionEnvironment

LIMIT_S = 150.0
NUMBERS = 2000
CANCELLED_S = 2.0


class Job:
    """Counts the numbers of two splits, read by two readers; ``block`` has their clients block."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.block = directory, directory / "block"
        config = {
            "wiesel.spark.master": "local[8]",
            "execution.checkpointing.dir": str(directory / "checkpoints"),
            "execution.checkpointing.interval": "200 ms",
            "heartbeat.interval": "500 ms",
            "heartbeat.timeout": "10 s",
            "restart-strategy.type": "fixed-delay",
            "restart-strategy.fixed-delay.attempts": "1",
            "restart-strategy.fixed-delay.delay": "100 ms",
        }
        env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(config)).set_parallelism(2)
        source = NumbersSource(2, NUMBERS, self.block, pace_s=0.01)
        numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
        counts = numbers.key_by(lambda pair: pair[0], Types.STRING()).process(RunningCount(), Types.STRING()).uid("counts")
        counts.sink_to(file_sink(directory / "counts")).uid("files")
        self.client = env.execute_async("blocking client")

    def look(self) -> dict[str, Any]:
        return self.client.get_job_metrics().result()

    def readers(self) -> list[int]:
        return [task["pid"] for task in self.look()["tasks"] if task["source"] and task["pid"] is not None]

    def checkpoints(self) -> int:
        return self.look()["checkpoints"]["completed"]

    def until(self, condition: Callable[[], bool], what: str) -> None:
        deadline_s = time.monotonic() + LIMIT_S
        while not condition():
            assert time.monotonic() < deadline_s, what
            assert self.client.get_job_status().result() is not JobStatus.FAILED
            time.sleep(0.02)

    def until_blocked(self) -> None:
        (self.directory / "begun").unlink(missing_ok=True)
        self.block.touch()
        self.until((self.directory / "begun").exists, "the client blocks")

    def checkpoints_go_on(self) -> None:
        before = self.checkpoints()
        self.until(lambda: self.checkpoints() >= before + 5, "checkpoints while the client blocks")


def test_a_client_that_blocks_holds_up_nothing_and_no_number_is_lost_or_read_twice(tmp_path: Path) -> None:
    job = Job(tmp_path)
    job.until(lambda: job.checkpoints() > 1, "a checkpoint")
    job.until_blocked()
    job.checkpoints_go_on()
    assert job.look()["restarts"] == 0, "missing heartbeats"
    victims = job.readers()
    os.kill(victims[0], signal.SIGKILL)
    job.until(lambda: len(job.readers()) == 2 and not set(job.readers()) & set(victims[:1]), "the next attempt")
    job.block.unlink()
    job.client.get_job_execution_result().result(LIMIT_S)
    assert job.look()["restarts"] == 1
    must_have_made(tmp_path / "counts", Counter(f"p{i} {n + 1}" for i in range(2) for n in range(NUMBERS)))


def test_a_job_whose_client_blocks_is_cancelled_at_once(tmp_path: Path) -> None:
    job = Job(tmp_path)
    job.until(lambda: job.checkpoints() > 1, "a checkpoint")
    job.until_blocked()
    job.checkpoints_go_on()
    began_s = time.monotonic()
    job.client.cancel().result()
    with pytest.raises(JobCancelledError):
        job.client.get_job_execution_result().result(LIMIT_S)
    assert time.monotonic() - began_s < CANCELLED_S
