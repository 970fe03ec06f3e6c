"""Unaligned checkpoints on Spark: complete while a function is slow, with the records on their way, which count once after a failure."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from wiesel.checkpoint.metadata import decode_metadata
from wiesel.common import Configuration, Types, WatermarkStrategy
from wiesel.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from wiesel.datastream.connectors.datagen import DataGeneratorSource
from wiesel.datastream.state import ValueStateDescriptor

NUMBERS = 3000
KEYS = 7
SLOW_S = 0.02
LIMIT_S = 300.0
END_OF_TIME = 2**63 - 1


class SlowSum(KeyedProcessFunction):
    """Count and sum by key. Slow in its first attempt, until it is told to fail."""

    def __init__(self, fail: Path) -> None:
        self.fail = str(fail)

    def open(self, runtime_context: Any) -> None:
        self.first = runtime_context.get_attempt_number() == 0
        self.sums = runtime_context.get_state(ValueStateDescriptor("sums", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value: int, ctx: Any) -> None:
        if self.first:
            time.sleep(SLOW_S)
            if Path(self.fail).exists():
                raise RuntimeError("told to fail")
        count, total = self.sums.value() or (0, 0)
        self.sums.update((count + 1, total + value))
        ctx.timer_service().register_event_time_timer(END_OF_TIME)

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        yield ctx.get_current_key(), *self.sums.value()


def same(index: int) -> int:
    return index


def key(number: int) -> int:
    return number % KEYS


def bytes_on_their_way(directory: Path) -> int:
    """Return what the checkpoints that are there hold of records on their way."""
    found = 0
    for path in directory.glob("*/chk-*/_metadata"):
        try:
            checkpoint, _ = decode_metadata(path.read_bytes(), str(path))
        except FileNotFoundError:
            continue  # a newer one has taken its place
        found = max([found, *(task.stats.persisted_bytes for task in checkpoint.tasks.values())])
    return found


@contextmanager
def failing_when_seen(checkpoints: Path, fail: Path, seen: list[int]) -> Iterator[None]:
    """Have the job fail as soon as a checkpoint with records on their way is there."""
    over = threading.Event()

    def watch() -> None:
        until = time.monotonic() + LIMIT_S
        while not seen and time.monotonic() < until and not over.wait(0.05):
            if found := bytes_on_their_way(checkpoints):
                seen.append(found)
        fail.touch()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_records_on_their_way_are_in_the_checkpoint_and_count_once(tmp_path: Path) -> None:
    checkpoints, fail = tmp_path / "checkpoints", tmp_path / "fail"
    config = {
        "wiesel.spark.master": "local[8]",
        "execution.checkpointing.dir": str(checkpoints),
        "execution.checkpointing.interval": "200 ms",
        "execution.checkpointing.unaligned.enabled": "true",
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "1",
        "restart-strategy.fixed-delay.delay": "10 ms",
    }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(config))
    env.set_parallelism(2)
    numbers = env.from_source(DataGeneratorSource(same, NUMBERS, type_info=Types.INT()), WatermarkStrategy.no_watermarks(), "numbers")
    sums = numbers.key_by(key, Types.INT()).process(SlowSum(fail))
    seen: list[int] = []
    with failing_when_seen(checkpoints, fail, seen), sums.execute_and_collect() as results:
        found = sorted(results)
    assert found == [(k, len(range(k, NUMBERS, KEYS)), sum(range(k, NUMBERS, KEYS))) for k in range(KEYS)]
    assert seen, "no checkpoint with records on their way was complete while the function was slow"
    assert fail.exists()
