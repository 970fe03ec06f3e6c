"""Backpressure on Spark: a slow or standing consumer slows its producer down with little in between, and nothing is lost."""

from __future__ import annotations

import json
import mmap
import re
import struct
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.parity.conftest import time_limit
from wiesel.checkpoint.savepoint import Savepoint
from wiesel.common import Configuration, JobClient, Time, Types, WatermarkStrategy
from wiesel.core.errors import JobExecutionError
from wiesel.datastream import FlatMapFunction, KeyedProcessFunction, MapFunction, StreamExecutionEnvironment
from wiesel.datastream.connectors.datagen import DataGeneratorSource, RateLimiter, RateLimiterStrategy
from wiesel.datastream.connectors.number_seq import NumberSequenceSource
from wiesel.datastream.state import StateTtlConfig, ValueStateDescriptor
from wiesel.platform.cli import _jobs, main
from wiesel.platform.cli._progress import progress_lines

LIMIT_S = 400
RECORDS = 60_000
RECORD_BYTES = 1000
IN_FLIGHT_BYTES = 8 << 20
"""Far more than the mailbox, the shuffle and the sockets between two tasks may hold, and far less than all records."""

STOP, SLOW, FREE = 0, 1, 2
SLOW_S = 0.0005


@pytest.fixture(autouse=True)
def limited() -> Iterator[None]:
    with time_limit(LIMIT_S):
        yield


class Shared:
    """Numbers that the processes of a job and the test share."""

    NAMES = ("pace", "produced", "consumed", "hot")

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        path.write_bytes(bytes(8 * len(self.NAMES)))

    def __getstate__(self) -> str:
        return self.path

    def __setstate__(self, path: str) -> None:
        self.path = path

    def open(self) -> None:
        with open(self.path, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 0)

    def __getitem__(self, name: str) -> int:
        return int(struct.unpack_from("<q", self.memory, 8 * self.NAMES.index(name))[0])

    def __setitem__(self, name: str, value: int) -> None:
        struct.pack_into("<q", self.memory, 8 * self.NAMES.index(name), value)


class Produce(MapFunction):
    """Pads a number, and counts."""

    def __init__(self, shared: Shared) -> None:
        self.shared = shared

    def open(self, runtime_context: Any) -> None:
        self.shared.open()

    def map(self, value: int) -> tuple[int, str]:
        self.shared["produced"] += 1
        return value, f"{value:0{RECORD_BYTES}d}"


class Consume(FlatMapFunction):
    """Takes records at the pace that is set; with the last one it tells how many they were, and their sum."""

    def __init__(self, shared: Shared) -> None:
        self.shared = shared
        self.total = 0

    def open(self, runtime_context: Any) -> None:
        self.shared.open()

    def flat_map(self, value: tuple[int, str]) -> Iterable[tuple[int, int]]:
        while (pace := self.shared["pace"]) == STOP:
            time.sleep(0.01)
        if pace == SLOW:
            time.sleep(SLOW_S)
        self.total += value[0]
        self.shared["consumed"] += 1
        if value[0] == RECORDS - 1:
            yield self.shared["consumed"], self.total


UNLIMITED = {"taskmanager.network.memory.buffer-debloat.enabled": "false"}
"""All that the exchange has room for may be on its way, also to tasks that stand still."""


def environment(parallelism: int, **more: str) -> StreamExecutionEnvironment:
    options = {"restart-strategy.type": "none", "wiesel.spark.master": "local[64]", "heartbeat.interval": "300 ms", **more}
    return StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(options)).set_parallelism(parallelism)


def same(index: int) -> int:
    return index


class Few(RateLimiter):
    """Any rate, but few records at a time, so that they are not most of what is on its way."""

    def permits(self, now_ms: int, wanted: int) -> int:
        return min(wanted, 50)


class FewAtATime(RateLimiterStrategy):
    def create_rate_limiter(self, parallelism: int, subtask_index: int = 0) -> RateLimiter:
        return Few()


def source() -> DataGeneratorSource:
    return DataGeneratorSource(same, RECORDS, FewAtATime())


def until(condition: Callable[[], bool]) -> None:
    """Wait; the limit of the test ends what never comes."""
    while not condition():
        time.sleep(0.02)


def shares(client: JobClient) -> dict[bool, dict[str, int]]:
    """Return the metrics of the source's task and of the other one."""
    return {task["source"]: task["metrics"] for task in client.get_job_metrics().result()["tasks"]}


def is_stagnant(client: JobClient) -> bool:
    """Whether the source is seen to wait all the time because nobody takes its output, and the consumer to be busy all the time."""
    found = shares(client)
    blocked = found[True].get("backPressuredTimeMsPerSecond", 0) > 990
    return blocked and found[False].get("busyTimeMsPerSecond", 0) > 990


def wait_until_all_stands_still(client: JobClient, shared: Shared) -> int:
    """Return how many records had been produced when nothing moved any more."""
    seen = -1
    while seen != shared["produced"] or not seen:
        seen = shared["produced"]
        for _ in range(5):
            time.sleep(0.2)
            until(lambda: is_stagnant(client))
    return seen


def test_n9_n16_n25_a_source_goes_as_fast_as_its_consumer_and_nothing_is_lost(tmp_path: Path) -> None:
    shared = Shared(tmp_path / "shared")
    shared.open()
    env = environment(1, **UNLIMITED)
    numbers = env.from_source(source(), WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
    padded = numbers.map(Produce(shared), Types.TUPLE([Types.LONG(), Types.STRING()]))
    with padded.rebalance().flat_map(Consume(shared)).execute_and_collect() as results:
        client = results.get_job_client()
        # It stands still: so does the source, and both are seen to.
        standing = wait_until_all_stands_still(client, shared)
        assert standing * RECORD_BYTES <= IN_FLIGHT_BYTES
        assert shared["consumed"] == 0
        waiting = shares(client)[False]
        assert waiting["Shuffle.Netty.Input.Buffers.inputQueueLength"] == 2, "its queue is full, and no longer"
        assert 2 * RECORD_BYTES < waiting["Shuffle.Netty.Input.Buffers.inputQueueSize"] < IN_FLIGHT_BYTES

        # It is slow: so is the source.
        shared["pace"] = SLOW
        began_s = time.monotonic()
        until(lambda: shared["consumed"] >= min(4 * standing, RECORDS // 2))
        consumed, produced = shared["consumed"], shared["produced"]
        slow_rate = consumed / (time.monotonic() - began_s)
        assert produced - consumed <= 2 * standing

        # It is free again: the rate comes back, and every record has come once.
        shared["pace"] = FREE
        assert fastest(shared) > 2 * slow_rate
        assert list(results) == [(RECORDS, RECORDS * (RECORDS - 1) // 2)]
        client.get_job_execution_result().result()
        assert shares(client)[False]["Shuffle.Netty.Input.Buffers.inputQueueSize"] == 0


def fastest(shared: Shared) -> float:
    """Return the rate at which the best piece of the rest is consumed: a machine that stands still for seconds spoils one of them."""
    rates = []
    # The end of the job takes a time of its own.
    while (before := shared["consumed"]) < RECORDS:
        began_s = time.monotonic()
        until(lambda before=before: shared["consumed"] >= min(before + RECORDS // 20, RECORDS))  # type: ignore[misc]
        rates.append((shared["consumed"] - before) / (time.monotonic() - began_s))
    return max(rates)


EVERY = 1000
"""Of so many records one goes to the subtask that stands still."""


class Either(FlatMapFunction):
    """Subtask 1 stands still until it may go on."""

    def __init__(self, shared: Shared) -> None:
        self.shared = shared

    def open(self, runtime_context: Any) -> None:
        self.shared.open()
        self.hot = runtime_context.get_index_of_this_subtask() == 1

    def flat_map(self, value: int) -> Iterable[int]:
        while self.hot and self.shared["pace"] == STOP:
            time.sleep(0.01)
        self.shared["hot" if self.hot else "consumed"] += 1
        if self.hot:
            yield value


def test_n22_a_subtask_that_stands_still_does_not_stop_the_others(tmp_path: Path) -> None:
    shared = Shared(tmp_path / "shared")
    shared.open()
    env = environment(2, **UNLIMITED)
    numbers = env.from_source(source(), WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
    parted = numbers.set_parallelism(1).partition_custom(lambda key, n: key, lambda number: int(number % EVERY == 0))
    hot = range(0, RECORDS, EVERY)
    with parted.flat_map(Either(shared), Types.LONG()).execute_and_collect() as results:
        until(lambda: shared["consumed"] == RECORDS - len(hot))
        assert shared["hot"] == 0
        shared["pace"] = FREE
        assert list(results) == list(hot)


class Stands(FlatMapFunction):
    """Stands still until it may go on."""

    def __init__(self, shared: Shared) -> None:
        self.shared = shared

    def open(self, runtime_context: Any) -> None:
        self.shared.open()

    def flat_map(self, value: int) -> Iterable[int]:
        while self.shared["pace"] == STOP:
            time.sleep(0.01)
        yield -value


class Witness(FlatMapFunction):
    """Counts what comes past the one that stands still, and what comes from it; tells the sums at the end of each."""

    def __init__(self, shared: Shared) -> None:
        self.shared = shared
        self.total = 0

    def open(self, runtime_context: Any) -> None:
        self.shared.open()

    def flat_map(self, value: int) -> Iterable[int]:
        name = "hot" if value <= 0 else "consumed"
        self.shared[name] += 1
        self.total += value
        if self.shared["hot"] + self.shared["consumed"] == 2 * RECORDS:
            yield self.total


def behind(index: int) -> int:
    return index + 1


def test_n21_what_skips_a_task_that_stands_still_flows_on(tmp_path: Path) -> None:
    shared = Shared(tmp_path / "shared")
    shared.open()
    env = environment(1, **UNLIMITED)
    numbers = env.from_source(source(), WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
    others = DataGeneratorSource(behind, RECORDS, FewAtATime())
    past = env.from_source(others, WatermarkStrategy.no_watermarks(), "past", Types.LONG())
    stands = numbers.rebalance().flat_map(Stands(shared), Types.LONG())
    both = stands.union(past).rebalance().flat_map(Witness(shared), Types.LONG())
    with both.execute_and_collect() as results:
        until(lambda: shared["consumed"] == RECORDS)
        assert shared["hot"] == 0
        shared["pace"] = FREE
        assert list(results) == [RECORDS]


def test_an_error_beside_what_is_relayed_ends_the_job(tmp_path: Path) -> None:
    shared = Shared(tmp_path / "shared")
    env = environment(1, **UNLIMITED)
    numbers = env.from_source(source(), WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
    broken = numbers.rebalance().map(lambda n: 1 // (RECORDS // 2 - n), Types.LONG())
    both = broken.union(numbers).rebalance().flat_map(Consume(shared), Types.LONG())
    with pytest.raises(JobExecutionError, match="ZeroDivisionError"), both.execute_and_collect() as results:
        list(results)


class Slowly(FlatMapFunction):
    """Takes 10 ms for each record, and stands still while it is hot: what the exchange has room for of such records would take minutes."""

    def __init__(self, shared: Shared) -> None:
        self.shared = shared

    def open(self, runtime_context: Any) -> None:
        self.shared.open()

    def flat_map(self, value: int) -> Iterable[int]:
        time.sleep(0.01)
        while self.shared["hot"]:
            time.sleep(0.01)
        self.shared["consumed"] += 1
        return ()


def test_a_job_stops_with_a_savepoint_behind_a_slow_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIESEL_REGISTRY_DIR", str(tmp_path / "registry"))
    for name in ("_SHOW_AFTER_S", "_SHOW_EVERY_S"):
        monkeypatch.setattr(_jobs, name, 0.7)
    shared = Shared(tmp_path / "shared")
    shared.open()
    env = environment(1)
    numbers = env.from_source(NumberSequenceSource(0, 10**9), WatermarkStrategy.no_watermarks(), "numbers", type_info=Types.LONG())
    keyed = numbers.key_by(lambda n: n % 101, Types.LONG()).map(lambda n: n, Types.LONG())
    keyed.key_by(lambda n: n % 103, Types.LONG()).flat_map(Slowly(shared), Types.LONG()).print()
    client = env.execute_async("slow")
    until(lambda: shared["consumed"] > 500)
    before = shared["consumed"]
    shared["hot"] = 1

    def lines(progress: dict[str, Any], waited_s: float) -> list[str]:
        told = progress_lines(progress, waited_s)
        shared["hot"] = int("in one call of its function" not in "".join(told))
        return told

    monkeypatch.setattr(_jobs, "progress_lines", lines)
    taken = CliRunner().invoke(main, ["savepoint", "trigger", "slow", str(tmp_path / "savepoints"), "--json"])
    assert json.loads(taken.stdout)["location"].startswith(str(tmp_path / "savepoints"))
    assert re.search(r"have not acknowledged\n  '[^']*' \(1/1\): .*in one call of its function for \d\.\d s", taken.stderr), taken.stderr
    # Two exchanges with what takes a second each; without limits there were 59,000 records in each.
    assert shared["consumed"] - before < 3000
    stopped = CliRunner().invoke(main, ["stop", "slow", "-p", str(tmp_path / "savepoints"), "--alignedTimeout", "0 ms"])
    assert Savepoint(stopped.stdout.strip()).facts().unaligned
    client.get_job_execution_result().result()


class OneAfterTheOther(MapFunction):
    """Takes longer for the first record than buffers wait; each later one waits until the one before has come to its receiver."""

    def __init__(self, shared: Shared) -> None:
        self.shared = shared

    def open(self, runtime_context: Any) -> None:
        self.shared.open()

    def map(self, value: int) -> int:
        time.sleep(0.3)
        until(lambda: self.shared["consumed"] >= value)
        return value


class Count(MapFunction):
    def __init__(self, shared: Shared) -> None:
        self.shared = shared

    def open(self, runtime_context: Any) -> None:
        self.shared.open()

    def map(self, value: int) -> int:
        self.shared["consumed"] += 1
        return value


@pytest.mark.parametrize("chained", [True, False])
def test_a_result_leaves_while_the_next_record_is_being_processed(chained: bool, tmp_path: Path) -> None:
    shared = Shared(tmp_path / "shared")
    env = environment(1)
    numbers = env.from_collection(list(range(4)), Types.LONG())
    slow = (numbers if chained else numbers.rebalance()).map(OneAfterTheOther(shared), Types.LONG())
    with slow.rebalance().map(Count(shared), Types.LONG()).execute_and_collect() as results:
        assert list(results) == [0, 1, 2, 3]


class Slow(MapFunction):
    def map(self, value: int) -> int:
        time.sleep(SPACING_S)
        return value


SPACING_S, TIMER_MS, TTL_MS = 0.9, 250, 450


class Watch(KeyedProcessFunction):
    """Says whether the state of the record before is there still, and when 250 ms are over."""

    def open(self, runtime_context: Any) -> None:
        descriptor = ValueStateDescriptor("seen", Types.LONG())
        descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.milliseconds(TTL_MS)).build())
        self.seen = runtime_context.get_state(descriptor)

    def process_element(self, value: int, ctx: Any) -> Iterator[str]:
        yield f"{value} after {self.seen.value()}"
        self.seen.update(value)
        ctx.timer_service().register_processing_time_timer(ctx.timer_service().current_processing_time() + TIMER_MS)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[str]:
        yield f"timer of {self.seen.value()}"


def test_n16_timers_and_ttl_behind_a_slow_function_see_each_record_when_it_was_processed() -> None:
    env = environment(1)
    slow = env.from_collection([0, 1, 2], Types.LONG()).map(Slow(), Types.LONG())
    with slow.key_by(lambda n: 0, Types.LONG()).process(Watch(), Types.STRING()).execute_and_collect() as results:
        # The end of the input comes with the last record, so its timer does not fire.
        assert [r for r in results if r != "timer of 2"] == ["0 after None", "timer of 0", "1 after None", "timer of 1", "2 after None"]
