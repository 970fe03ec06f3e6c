"""BATCH mode's sorted input, in memory and beyond."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import pytest

from wiesel.common import Configuration, Time, WatermarkStrategy
from wiesel.common.watermark_strategy import TimestampAssigner
from wiesel.datastream import KeyedProcessFunction, MapFunction, RuntimeExecutionMode, StreamExecutionEnvironment
from wiesel.datastream.state import ListStateDescriptor, ValueStateDescriptor
from wiesel.datastream.window import TumblingEventTimeWindows
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


class Witness(KeyedProcessFunction):
    """Notes how many keys have state when it sees a record, and what timers see."""

    def open(self, runtime_context: Any) -> None:
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen"))
        self.backend = runtime_context._context.backend.backend

    def process_element(self, value: tuple[int, int], ctx: Any) -> None:
        self.seen.add(value[1])
        timers = ctx.timer_service()
        timers.register_event_time_timer(value[1])
        timers.register_processing_time_timer(4_102_444_800_000 + value[1])

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        # As a timer that comes again and again would: in BATCH mode there is no time to come.
        ctx.timer_service().register_event_time_timer(timestamp + 1)
        ctx.timer_service().register_processing_time_timer(timestamp + 1)
        keys = len(self.backend._tables["seen"])
        yield ctx.get_current_key(), timestamp, sorted(self.seen.get()), keys, ctx.timer_service().current_watermark()


@pytest.mark.parametrize("mode", [RuntimeExecutionMode.BATCH, RuntimeExecutionMode.AUTOMATIC])
@pytest.mark.parametrize("memory", ["64mb", "8kb"])
def test_a_key_ends_with_its_timers_and_leaves_nothing(memory: str, mode: RuntimeExecutionMode) -> None:
    # The backend that is asked for would keep its state in files.
    settings = {"wiesel.engine": "local", "taskmanager.memory.managed.size": memory, "state.backend.type": "lmdb"}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings)).set_parallelism(1)
    env.set_runtime_mode(mode)
    events = [(n % 9, n) for n in range(180)]
    found = list(env.from_collection(events).key_by(lambda e: e[0]).process(Witness()).execute_and_collect())
    expected = []
    for key in range(9):
        numbers = list(range(key, 180, 9))
        for far in (0, 4_102_444_800_000):
            expected += [(key, far + n, numbers, 1, 2**63 - 1) for n in numbers]
    assert sorted(found, key=lambda r: r[:2]) == expected
    # All timers of a key fire before the next one begins.
    assert len([key for key, _ in groupby(found, key=lambda r: r[0])]) == 9


def test_functions_with_state_start_anew_with_each_key() -> None:
    class Numbered(MapFunction):
        def open(self, runtime_context: Any) -> None:
            self.count = runtime_context.get_state(ValueStateDescriptor("count"))
            self.backend = runtime_context._context.backend.backend

        def map(self, value: int) -> tuple[int, int, int]:
            number = (self.count.value() or 0) + 1
            self.count.update(number)
            return value % 5, number, len(self.backend._tables["count"])

    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"wiesel.engine": "local"}))
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    numbered = env.from_collection(list(range(40))).key_by(lambda n: n % 5).map(Numbered())
    assert sorted(numbered.execute_and_collect()) == [(key, number, 1) for key in range(5) for number in range(1, 9)]


def test_windows_in_batch_mode_are_those_of_all_records_of_a_key() -> None:
    seed = random.randrange(1 << 30)
    print(f"seed {seed}")
    source = random.Random(seed)
    events = [(source.randrange(7), source.randrange(1_000)) for _ in range(400)]
    settings = {"wiesel.engine": "local", "taskmanager.memory.managed.size": "16kb"}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings)).set_parallelism(2)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)

    class Second(TimestampAssigner):
        def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
            return int(value[1])

    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    keyed = env.from_collection(events).assign_timestamps_and_watermarks(strategy).map(lambda e: (e[0], e[1], 1)).key_by(lambda e: e[0])
    windows = keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(100)))
    counts = windows.reduce(lambda a, b: (a[0], a[1] // 100 * 100, a[2] + b[2]))
    expected = Counter((key, time // 100) for key, time in events)
    assert sorted((key, time // 100, n) for key, time, n in counts.execute_and_collect()) == sorted((*k, n) for k, n in expected.items())
