"""Many attempts in one Spark session: what each of them takes of files, threads, memory and processes has come back in the end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil
from pyspark import SparkContext

from tests.parity.conftest import time_limit
from wiesel.common import Configuration, Types, WatermarkStrategy
from wiesel.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from wiesel.datastream.connectors.datagen import DataGeneratorSource
from wiesel.datastream.state import ValueStateDescriptor

LIMIT_S = 500.0
RECORDS = 3000
FEW, MANY = 4, 24
"""Restarts of the first job, after which everything that is made once is there, and of the second."""

SLACK = {"jvm_files": 8, "jvm_threads": 8, "heap_mb": 8, "direct_buffers": 16, "direct_mb": 4, "files": 4, "threads": 4, "workers": 2}
"""What may differ by chance, such as pools of threads: less than a piece for each restart."""

REST_S = 10.0
"""Nothing more has come back for so long."""

SETTLED_S = 150.0
"""Threads and processes that wait for work for a while have ended by then."""

MB = 1 << 20


class FailsOften(KeyedProcessFunction):
    """Counts by key, and fails in each attempt but the last when its first subtask has seen some records."""

    def __init__(self, restarts: int) -> None:
        self.restarts = restarts

    def open(self, runtime_context: Any) -> None:
        first = runtime_context.get_index_of_this_subtask() == 0
        self.left = 200 if first and runtime_context.get_attempt_number() < self.restarts else -1
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: int, ctx: Any) -> Iterator[tuple[int, int]]:
        self.left -= 1
        if self.left == 0:
            raise RuntimeError("told to fail")
        self.count.update((self.count.value() or 0) + 1)
        yield ctx.get_current_key(), self.count.value()


@dataclass(frozen=True)
class Taken:
    """What the driver and its JVM hold, in pieces.

    Attributes:
        direct_mb: Memory of the JVM outside of its heap, of which network buffers are made.
        workers: Python processes below the JVM.
    """

    jvm_files: int
    jvm_threads: int
    heap_mb: float
    direct_buffers: int
    direct_mb: float
    files: int
    threads: int
    workers: int


def taken() -> Taken:
    context: Any = SparkContext._active_spark_context
    jvm, here = context._jvm, psutil.Process()
    java = psutil.Process(int(jvm.ProcessHandle.current().pid()))
    jvm.System.gc()
    runtime, beans = jvm.Runtime.getRuntime(), jvm.java.lang.management.ManagementFactory
    pools = beans.getPlatformMXBeans(jvm.java.lang.Class.forName("java.lang.management.BufferPoolMXBean"))
    direct = [pool for pool in pools if pool.getName() == "direct"]
    return Taken(
        jvm_files=java.num_fds(),
        jvm_threads=java.num_threads(),
        heap_mb=(runtime.totalMemory() - runtime.freeMemory()) / MB,
        direct_buffers=sum(pool.getCount() for pool in direct),
        direct_mb=sum(pool.getMemoryUsed() for pool in direct) / MB,
        files=here.num_fds(),
        threads=here.num_threads(),
        workers=sum(map(is_python, java.children(recursive=True))),
    )


def is_python(process: psutil.Process) -> bool:
    try:
        return process.name().startswith("python")
    except psutil.NoSuchProcess:
        return False  # it has ended since it was found


def at_rest() -> dict[str, float]:
    """Return the least that is taken of each, when that has stopped falling."""
    least = asdict(taken())
    since_s = time.monotonic()
    while time.monotonic() - since_s < REST_S:
        time.sleep(0.5)
        now = asdict(taken())
        if any(least[name] - now[name] >= 1 for name in least):
            since_s = time.monotonic()
        least = {name: min(least[name], now[name]) for name in least}
    return least


def grown(was: dict[str, float]) -> dict[str, tuple[float, float]]:
    """Return what is more than before, if it stays so."""
    deadline_s = time.monotonic() + SETTLED_S
    while True:
        now = asdict(taken())
        more = {name: (was[name], now[name]) for name in was if now[name] - was[name] > SLACK[name]}
        if not more or time.monotonic() > deadline_s:
            print(was, now, sep="\n")
            return more
        time.sleep(1)


def number(index: int) -> int:
    return index


def run(directory: Path, restarts: int) -> None:
    config = {
        "wiesel.spark.master": "local[8]",
        "execution.checkpointing.dir": str(directory),
        "execution.checkpointing.interval": "100 ms",
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": str(restarts),
        "restart-strategy.fixed-delay.delay": "0 s",
    }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(config)).set_parallelism(2)
    numbers = env.from_source(DataGeneratorSource(number, RECORDS), WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
    counts = numbers.key_by(lambda n: n % 11, Types.LONG()).process(FailsOften(restarts), Types.TUPLE([Types.LONG(), Types.LONG()]))
    with counts.execute_and_collect() as results:
        found = sorted(results)
        assert results.get_job_client().get_job_metrics().result()["restarts"] == restarts
    assert found == sorted((n % 11, n // 11 + 1) for n in range(RECORDS))


def test_n10_what_many_attempts_have_taken_comes_back(tmp_path: Path) -> None:
    with time_limit(LIMIT_S):
        run(tmp_path / "few", FEW)
        before = at_rest()
        run(tmp_path / "many", MANY)
        assert not grown(before)
