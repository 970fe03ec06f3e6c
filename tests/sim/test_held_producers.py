"""Aligned checkpoints with producers that wait for what an alignment holds back: nobody waits for ever, and nothing is lost."""

from __future__ import annotations

from typing import Any

import pytest

from wiesel.common import Configuration, Types, WatermarkStrategy
from wiesel.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from wiesel.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy
from wiesel.datastream.state import ValueStateDescriptor

FAST, SLOW = 20_000, 300
KEYS = 17


class Passed(KeyedProcessFunction):
    """Emits each number once more, with how often its key was seen; fails once, in the midst."""

    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
        self.left = 4000 if runtime_context.get_attempt_number() == 0 and runtime_context.get_index_of_this_subtask() == 0 else -1

    def process_element(self, value: int, ctx: Any) -> Any:
        self.left -= 1
        if self.left == 0:
            raise RuntimeError("the failure in the middle")
        self.count.update((self.count.value() or 0) + 1)
        yield value, self.count.value()


def identity(index: int) -> int:
    return index


@pytest.mark.parametrize("deep", [False, True], ids=["no relays", "relays"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_jobs_with_many_alignments_come_to_their_end(seed: int, deep: bool) -> None:
    settings = {
        "wiesel.engine": "local",
        "wiesel.local.seed": str(seed),
        "execution.checkpointing.interval": "20 ms",
        "taskmanager.network.memory.buffer-debloat.enabled": "true",
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.delay": "1 ms",
    }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings)).set_parallelism(3)
    none = WatermarkStrategy.no_watermarks()
    slowly = RateLimiterStrategy.per_second(500)
    fast = env.from_source(DataGeneratorSource(identity, FAST, RateLimiterStrategy.no_op(), Types.LONG()), none, "fast").uid("fast")
    slow = env.from_source(DataGeneratorSource(identity, SLOW, slowly, Types.LONG()), none, "slow").uid("slow")
    if deep:
        slow = slow.rebalance().map(identity, Types.LONG()).uid("same")
    pair = Types.TUPLE([Types.LONG(), Types.LONG()])
    first = fast.union(slow).key_by(lambda n: n % KEYS, Types.LONG()).process(Passed(), pair).uid("first")
    second = first.key_by(lambda p: p[0] % 5, Types.LONG()).map(lambda p: p, pair).uid("second")
    with second.execute_and_collect() as results:
        found = sorted(results)
    numbers = [*range(FAST), *range(SLOW)]
    assert sorted(n for n, _ in found) == sorted(numbers)
    for key in range(KEYS):
        assert sorted(count for n, count in found if n % KEYS == key) == list(range(1, sum(n % KEYS == key for n in numbers) + 1))
