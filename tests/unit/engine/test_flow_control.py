"""Producers run no further ahead of a task than it says, by way of the JobMaster; nothing is lost and nothing stands still."""

from __future__ import annotations

import pytest

from wiesel.common import WatermarkStrategy
from wiesel.datastream import KeyedProcessFunction
from wiesel.testing import ManualSource, local_environment

DEBLOAT = {"taskmanager.network.memory.buffer-debloat.enabled": "true"}
RECORDS = 3000


class Shorten(KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield value[0]


def pushed_at_once(config: dict[str, str], seed: int) -> tuple[int, list[int]]:
    """Push all records at once; return how many came through without time passing, and what came in the end."""
    env = local_environment(parallelism=2, seed=seed, config=config)
    numbers = ManualSource()
    stream = env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers").set_parallelism(1)
    # Both exchanges have their limit; the second one is by round robin.
    out = env.collect(stream.key_by(lambda v: v[0] % 7).process(Shorten()).rebalance().filter(lambda n: True))
    with env.start() as job:
        numbers.push_all([(n, bytes([n % 251]) * 100) for n in range(RECORDS)])
        job.settle()
        at_once = len(out.values)
        job.finish()
    return at_once, sorted(out.values)


@pytest.mark.parametrize("seed", range(3))
def test_a_producer_waits_until_the_receiver_tells_what_it_has_taken(seed: int) -> None:
    at_once, came = pushed_at_once(DEBLOAT, seed)
    assert 0 < at_once < RECORDS
    assert came == list(range(RECORDS))


def test_without_the_option_nobody_waits() -> None:
    assert pushed_at_once({}, 0)[0] == RECORDS
