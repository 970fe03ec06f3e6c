"""One job with and without alignment on Spark: what waits while a checkpoint is taken, and what counts twice after a worker was killed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults.counting_job import file_sink
from wiesel.common import Configuration, JobClient, Types, WatermarkStrategy
from wiesel.datastream import KeyedProcessFunction, MapFunction, StreamExecutionEnvironment
from wiesel.datastream.connectors.datagen import DataGeneratorSource, RateLimiter, RateLimiterStrategy
from wiesel.datastream.state import ValueStateDescriptor

RECORDS = 6000
PER_S = 100
WAITS_S = 1.0
"""So long a checkpoint waits for the barrier of one input before anything is looked at."""

LIMIT_S = 300.0


class _Paced(RateLimiter):
    def __init__(self, go: Path) -> None:
        self.go, self.given, self.since_ms = go, 0, -1

    def permits(self, now_ms: int, wanted: int) -> int:
        if self.since_ms < 0:
            self.since_ms = now_ms
        due = wanted if self.go.exists() else (now_ms - self.since_ms) * PER_S // 1000 - self.given
        self.given += (taken := max(0, min(wanted, due)))
        return taken


class Paced(RateLimiterStrategy):
    """So many records per second, or all that are left when a file exists."""

    def __init__(self, go: Path) -> None:
        self.go = go

    def create_rate_limiter(self, parallelism: int, subtask_index: int = 0) -> RateLimiter:
        return _Paced(self.go)


class Halting(MapFunction):
    """Stands still as long as a file exists."""

    def __init__(self, halt: Path) -> None:
        self.halt = halt

    def map(self, value: int) -> str:
        while self.halt.exists():
            time.sleep(0.01)
        return "slow"


class Count(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: str, ctx: Any) -> Iterator[str]:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield f"{value} {count}"


def same(index: int) -> int:
    return index


def start(directory: Path, mode: str, *, relayed: bool) -> JobClient:
    config = {
        "wiesel.spark.master": "local[8]",
        "execution.checkpointing.dir": str(directory / "checkpoints"),
        "execution.checkpointing.interval": "500 ms",
        "execution.checkpointing.min-pause": "3 s",
        "execution.checkpointing.mode": mode,
        "execution.buffer-timeout.interval": "5 ms",
        "heartbeat.interval": "100 ms",
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.delay": "100 ms",
    }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(config)).set_parallelism(1)

    def input_of(name: str) -> Any:
        source = DataGeneratorSource(same, RECORDS, Paced(directory / "go"), Types.LONG())
        return env.from_source(source, WatermarkStrategy.no_watermarks(), name).uid(name)

    slow = input_of("slow").disable_chaining().map(Halting(directory / "halt"), Types.STRING()).uid("halting")
    # With as many tasks on the way as the slow input has nothing is relayed, with fewer all of it, by the task that stands still.
    fast = input_of("fast") if relayed else input_of("fast").disable_chaining()
    both = fast.map(lambda n: "fast", Types.STRING()).uid("fast map").union(slow)
    counts = both.key_by(lambda name: name, Types.STRING()).process(Count(), Types.STRING()).uid("counts").name("counts")
    counts.sink_to(file_sink(directory / "counts")).uid("files")
    return env.execute_async("two inputs")


def until(condition: Callable[[], bool], what: str) -> None:
    deadline_s = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline_s, what
        time.sleep(0.02)


def played(directory: Path, mode: str, *, relayed: bool) -> tuple[dict[str, int], int]:
    """Let a checkpoint wait for one input, and kill a worker behind it; return the counts at the end, and how many were made meanwhile."""
    directory.mkdir()
    client = start(directory, mode, relayed=relayed)

    def look() -> dict[str, Any]:
        return client.get_job_metrics().result()

    def counting() -> dict[str, Any]:
        task = next(task for task in look()["tasks"] if task["name"].startswith("counts"))
        return {"pid": task["pid"], "numRecordsIn": 0, "checkpointAlignmentTime": 0} | task["metrics"]

    def waits() -> bool:
        """Whether there is an alignment, which takes longer and longer; that of the last checkpoint does not."""
        so_far = counting()["checkpointAlignmentTime"]
        time.sleep(WAITS_S / 4)
        return counting()["checkpointAlignmentTime"] > max(so_far, WAITS_S * 1e9)

    until(lambda: look()["checkpoints"]["last_id"] > 0, "a checkpoint")
    (directory / "halt").touch()
    until(waits, "a checkpoint that waits for the slow input")
    last, before = look()["checkpoints"]["last_id"], counting()["numRecordsIn"]
    time.sleep(2 * WAITS_S)
    meanwhile = counting()["numRecordsIn"] - before
    assert look()["checkpoints"]["last_id"] == last, "the checkpoint did not wait"
    (directory / "halt").unlink()
    until(lambda: look()["checkpoints"]["last_id"] > last, "the checkpoint")
    os.kill(counting()["pid"], signal.SIGKILL)
    (directory / "go").touch()
    client.get_job_execution_result().result(LIMIT_S)
    assert look()["restarts"] == 1 and look()["checkpoints"]["restored_id"] > last
    lines = [line.split() for path in (directory / "counts").glob("part*.txt") for line in path.read_text().splitlines()]
    return {name: max(int(n) for of, n in lines if of == name) for name in ("fast", "slow")}, meanwhile


@pytest.mark.parametrize("relayed", [False, True])
def test_c12_with_alignment_records_wait_for_a_checkpoint_and_count_once(tmp_path: Path, relayed: bool) -> None:
    counts, meanwhile = played(tmp_path / "job", "EXACTLY_ONCE", relayed=relayed)
    assert meanwhile == 0 and counts == {"fast": RECORDS, "slow": RECORDS}


@pytest.mark.parametrize("relayed", [False, True])
def test_c12_without_alignment_records_do_not_wait_and_count_twice_after_a_kill(tmp_path: Path, relayed: bool) -> None:
    counts, meanwhile = played(tmp_path / "job", "AT_LEAST_ONCE", relayed=relayed)
    assert meanwhile > WAITS_S * PER_S / 4, "records of the other input were held back"
    # The checkpoint has what came of the fast input while the barrier of the slow one was on its way: it is read again.
    assert counts["fast"] >= RECORDS + meanwhile and counts["slow"] == RECORDS
