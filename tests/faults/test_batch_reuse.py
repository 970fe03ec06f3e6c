"""A worker of a BATCH job is killed in the third stage: the stages before it do not run again."""

from __future__ import annotations

import os
import signal
from collections import Counter
from pathlib import Path
from typing import Any
from uuid import uuid4

from wiesel.common import Configuration, Encoder, Types, WatermarkStrategy
from wiesel.datastream import KeyedProcessFunction, MapFunction, RuntimeExecutionMode, StreamExecutionEnvironment
from wiesel.datastream.connectors.file_system import FileSink
from wiesel.datastream.connectors.number_seq import NumberSequenceSource

PARALLELISM = 2
COUNT = 200


def note(directory: Path, what: str) -> None:
    """Leave a trace that does not depend on what the engine tells."""
    (directory / f"{what}.{uuid4().hex}").touch()


def noted(directory: Path) -> Counter[str]:
    return Counter(file.name.partition(".")[0] for file in directory.iterdir())


class First(MapFunction):
    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def open(self, runtime_context: Any) -> None:
        note(self.directory, "first-started")

    def map(self, value: int) -> tuple[int, int]:
        note(self.directory, "first")
        return value % 10, value


class Second(KeyedProcessFunction):
    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def open(self, runtime_context: Any) -> None:
        note(self.directory, "second-started")

    def process_element(self, value: tuple[int, int], ctx: Any) -> Any:
        note(self.directory, "second")
        yield value[1] % 7, value[1]


class Third(KeyedProcessFunction):
    """Kills its process in its midst, in the first attempt."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def open(self, runtime_context: Any) -> None:
        note(self.directory, "third-started")
        self.killed = runtime_context.get_attempt_number() == 0
        self.seen = 0

    def process_element(self, value: tuple[int, int], ctx: Any) -> Any:
        self.seen += 1
        if self.killed and self.seen == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        yield value[1] % 3, value[1]


def test_a_kill_in_the_third_stage_does_not_run_the_first_two_again(tmp_path: Path) -> None:
    traces, checkpoints, out = (tmp_path / name for name in ("traces", "checkpoints", "out"))
    traces.mkdir()
    options = {
        "wiesel.engine": "spark",
        "execution.checkpointing.interval": "20 ms",
        "execution.checkpointing.dir": str(checkpoints),
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "3",
        "restart-strategy.fixed-delay.delay": "0 s",
    }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(options)).set_parallelism(PARALLELISM)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    numbers = env.from_source(NumberSequenceSource(1, COUNT), WatermarkStrategy.no_watermarks(), "numbers")
    first = numbers.map(First(traces)).key_by(lambda r: r[0]).process(Second(traces))
    third = first.key_by(lambda r: r[0]).process(Third(traces))
    sums = third.key_by(lambda r: r[0]).reduce(lambda a, b: (a[0], a[1] + b[1])).map(str, Types.STRING())
    sums.sink_to(FileSink.for_row_format(str(out), Encoder.simple_string_encoder()).build())
    result = env.execute()
    expected = Counter({key: sum(n for n in range(1, COUNT + 1) if n % 3 == key) for key in range(3)})
    lines = [line for part in out.rglob("part*") for line in part.read_text().splitlines()]
    assert sorted(lines) == sorted(str(pair) for pair in expected.items())
    seen = noted(traces)
    assert seen["first"] == seen["second"] == COUNT
    assert seen["first-started"] == seen["second-started"] == PARALLELISM
    assert seen["third-started"] > PARALLELISM
    assert result.metrics["numRestarts"] > 0
    assert list(checkpoints.rglob("chk-*")) == []
