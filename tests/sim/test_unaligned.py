"""A job with unaligned checkpoints that fails at a random moment, goes on, and is started elsewhere with another parallelism.

Each number has to count once, whatever was on its way when the checkpoint was taken: the sums are a closed form. That something was on
its way is looked up in the checkpoints.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from wiesel.checkpoint.metadata import decode_metadata
from wiesel.checkpoint.state_files import state_files
from wiesel.common import Configuration, Types, WatermarkStrategy
from wiesel.core.errors import JobExecutionError
from wiesel.datastream import KeyedProcessFunction, MapFunction, StreamExecutionEnvironment
from wiesel.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy
from wiesel.datastream.state import ValueStateDescriptor

NUMBERS = 2000
PER_SECOND = 5_000
KEYS = 13
END_OF_TIME = 2**63 - 1


class Same(MapFunction):
    def map(self, value: Any) -> Any:
        return value


class Sum(KeyedProcessFunction):
    """Count, sum and last number of each side by key. Fails in some attempts, after some records."""

    def __init__(self, failing_attempts: int, after: int) -> None:
        self.failing_attempts = failing_attempts
        self.left = after

    def open(self, runtime_context: Any) -> None:
        self.sums = runtime_context.get_state(ValueStateDescriptor("sums", Types.PICKLED_BYTE_ARRAY()))
        self.fails = runtime_context.get_attempt_number() < self.failing_attempts and runtime_context.get_index_of_this_subtask() == 0

    def process_element(self, value: tuple[str, int], ctx: Any) -> None:
        self.left -= 1
        if self.fails and self.left < 0:
            raise RuntimeError("the failure in the middle")
        side, number = value
        count, total, last = self.sums.value() or (0, 0, -1)
        if side == "left":
            assert last < number, f"{number} came after {last}"
            last = number
        self.sums.update((count + 1, total + number, last))
        ctx.timer_service().register_event_time_timer(END_OF_TIME)

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        yield ctx.get_current_key(), *self.sums.value()[:2]


def left(index: int) -> tuple[str, int]:
    return "left", index


def right(index: int) -> tuple[str, int]:
    return "right", index


def key(value: tuple[str, int]) -> int:
    return value[1] % KEYS


def run(parallelism: int, failing_attempts: int, after: int, options: dict[str, Any]) -> list[Any]:
    settings = {
        "wiesel.engine": "local",
        "execution.checkpointing.interval": "10 ms",
        "execution.checkpointing.num-retained": "3",
        "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
        "execution.checkpointing.unaligned.enabled": "true",
        "taskmanager.network.memory.buffer-debloat.enabled": "true",
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "1",
        "restart-strategy.fixed-delay.delay": "1 ms",
    }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings | options))
    env.set_parallelism(parallelism).set_max_parallelism(16)
    none = WatermarkStrategy.no_watermarks()
    rate = RateLimiterStrategy.per_second(PER_SECOND)
    # One subtask each: the order within a key is looked at where nothing but the exchange by key lies between.
    one, other = (
        env.from_source(DataGeneratorSource(make, NUMBERS, rate, Types.PICKLED_BYTE_ARRAY()), none, name).uid(name).set_parallelism(1)
        for name, make in (("left", left), ("right", right))
    )
    spread = other.rebalance().map(Same(), Types.PICKLED_BYTE_ARRAY()).uid("spread")
    summed = one.union(spread).key_by(key, Types.INT()).process(Sum(failing_attempts, after)).uid("sum")
    with summed.execute_and_collect() as results:
        return list(results)


def in_flight_bytes(path: Path) -> int:
    checkpoint, _ = decode_metadata((path / "_metadata").read_bytes(), str(path))
    assert all(file.size for file in state_files(checkpoint))
    return sum(task.stats.persisted_bytes for task in checkpoint.tasks.values())


def newest(checkpoints: Path) -> Path:
    found = sorted(checkpoints.glob("*/chk-*/_metadata"), key=lambda path: int(path.parent.name.removeprefix("chk-")))
    return found[-1].parent


@pytest.mark.parametrize(
    ("seed", "parallelisms", "backend"),
    [(1, (2, 2), "hashmap"), (2, (3, 1), "hashmap"), (6, (1, 4), "lmdb"), (4, (4, 2, 3), "hashmap"), (5, (2, 3, 2), "hashmap")],
)
def test_each_record_counts_once(tmp_path: Path, seed: int, parallelisms: tuple[int, ...], backend: str) -> None:
    print(f"seed {seed}")
    random = Random(seed)
    restore: dict[str, Any] = {}
    results: list[Any] = []
    on_their_way = 0
    for job, parallelism in enumerate(parallelisms):
        last = job == len(parallelisms) - 1
        checkpoints = tmp_path / f"checkpoints-{job}"
        options = {
            "wiesel.local.seed": str(random.randrange(1 << 20)),
            "state.backend.type": backend,
            "execution.checkpointing.dir": str(checkpoints),
        }
        after = random.randrange(60, 160)
        if last:
            results = run(parallelism, 1, after, options | restore)
        else:
            with pytest.raises(JobExecutionError, match="the failure in the middle"):
                run(parallelism, 2, after, options | restore)
            on_their_way += in_flight_bytes(newest(checkpoints))
            restore = {"execution.state-recovery.path": str(newest(checkpoints))}
    assert on_their_way > 0
    assert sorted(results) == [(k, 2 * len(range(k, NUMBERS, KEYS)), 2 * sum(range(k, NUMBERS, KEYS))) for k in range(KEYS)]
