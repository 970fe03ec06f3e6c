"""Workers on Spark in a steady run: no collections of all objects."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import Any

from wiesel.common import Configuration, WatermarkStrategy
from wiesel.datastream import MapFunction, StreamExecutionEnvironment
from wiesel.datastream.connectors.number_seq import NumberSequenceSource

BLOCKS = 120


class Witness(MapFunction):
    """Makes many objects that live for a while, and counts the collections of its process by generation."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def open(self, runtime_context: Any) -> None:
        self.seen = [0, 0, 0]
        self.block: list[list[int]] = []
        gc.callbacks.append(self.note)

    def note(self, phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            self.seen[info["generation"]] += 1

    def map(self, value: int) -> int:
        self.block = [[n] for n in range(25_000)]
        return value

    def close(self) -> None:
        gc.callbacks.remove(self.note)
        (self.directory / "seen").write_text(json.dumps(self.seen))


def test_no_major_collections_in_a_steady_run(tmp_path: Path) -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"wiesel.engine": "spark"})).set_parallelism(1)
    numbers = env.from_source(NumberSequenceSource(1, BLOCKS), WatermarkStrategy.no_watermarks(), "numbers")
    mapped = numbers.rebalance().map(Witness(tmp_path)).key_by(lambda n: n % 2).reduce(lambda a, b: a + b)
    assert max(mapped.execute_and_collect()) > 0
    young, _, major = json.loads((tmp_path / "seen").read_text())
    assert young > 100
    assert major == 0
