"""BATCH mode's sorted input, in memory and beyond."""

from __future__ import annotations

import random

import pytest

from wiesel.common import Configuration
from wiesel.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from wiesel.runtime.sorted_input import SortedInput
from wiesel.wire.batch import Batch


def _taken(sorted_input: SortedInput) -> list[tuple[str, int, int | None, int]]:
    return [
        (key, value, time, index)
        for batch, index in sorted_input.take()
        for key, value, time in zip(batch.keys, batch.values, batch.timestamps or [None] * len(batch), strict=True)
    ]


@pytest.mark.parametrize("memory_bytes", [2_000, 20_000, 100_000_000])
def test_keys_are_complete_and_each_is_sorted_by_time_and_arrival(memory_bytes: int) -> None:
    seed = random.randrange(1 << 30)
    print(f"seed {seed}")
    source = random.Random(seed)
    sorted_input = SortedInput(memory_bytes)
    given: dict[str, list[tuple[int | None, int, int]]] = {}
    number = 0
    for _ in range(60):
        index = source.randrange(2)
        size = source.randrange(1, 30)
        keys = [f"k{source.randrange(12)}" for _ in range(size)]
        times = None if source.random() < 0.2 else [source.choice([None, 1, 2, 3, -5]) for _ in range(size)]
        values = list(range(number, number + size))
        number += size
        for key, value, time in zip(keys, values, times or [None] * size, strict=True):
            given.setdefault(key, []).append((time, index, value))
        sorted_input.add(Batch(values, times, keys), index)
    expected = {key: sorted(entries, key=lambda e: (-(2**63) if e[0] is None else e[0], e[1])) for key, entries in given.items()}
    taken = _taken(sorted_input)
    order = list(dict.fromkeys(key for key, _, _, _ in taken))
    assert sorted(order) == sorted(given)
    assert taken == [(key, value, time, index) for key in order for time, index, value in expected[key]]
    assert (sorted_input.spilled_bytes > 0) == (memory_bytes < 100_000)
    sorted_input.close()


def test_records_without_a_key_come_first() -> None:
    sorted_input = SortedInput(1)
    sorted_input.add(Batch([1, 2], None, ["a", "b"]), 0)
    sorted_input.add(Batch(["rule"]), 1)
    assert [(batch.values, index) for batch, index in sorted_input.take()] == [(["rule"], 1), ([1], 0), ([2], 0)]


def test_a_job_beyond_its_memory_gives_the_same_results() -> None:
    settings = {"wiesel.engine": "local", "taskmanager.memory.managed.size": "16kb"}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    stream = env.from_collection([(i % 7, i) for i in range(700)])
    summed = stream.key_by(lambda v: v[0]).reduce(lambda a, b: (a[0], a[1] + b[1]))
    assert sorted(summed.execute_and_collect()) == [(k, sum(range(k, 700, 7))) for k in range(7)]
