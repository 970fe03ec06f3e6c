"""Local recovery on Spark: the tasks of a restarted job find their state in the job's working directory."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.faults.counting_job import SPLITS, PacedSource, file_sink
from wiesel.common import Configuration, Types, WatermarkStrategy
from wiesel.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from wiesel.datastream.state import ValueStateDescriptor

RECORDS, KEYS = 2000, 300
PADDING = "x" * 200
LIMIT_S = 300.0


class PaddedCount(KeyedProcessFunction):
    """Count by key, with enough state for files of their own; fails in its first attempt when it is told to."""

    def __init__(self, fail: Path) -> None:
        self.fail = str(fail)

    def open(self, runtime_context: Any) -> None:
        self.first = runtime_context.get_attempt_number() == 0
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.STRING()))

    def process_element(self, value: tuple[str, int], ctx: Any) -> Iterator[str]:
        if self.first and ctx.get_current_key() == 0:
            self.on_timer(0, ctx)
        count = int((self.count.value() or "0").rstrip("x")) + 1
        self.count.update(f"{count}{PADDING}")
        yield f"{ctx.get_current_key()} {count}"

    def on_timer(self, timestamp: int, ctx: Any) -> None:
        if self.first and Path(self.fail).exists():
            raise RuntimeError("told to fail")
        ctx.timer_service().register_processing_time_timer(ctx.timer_service().current_processing_time() + 100)


def until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def test_a_restarted_task_reads_its_state_from_its_host(tmp_path: Path) -> None:
    config = {
        "wiesel.spark.master": "local[8]",
        "execution.checkpointing.dir": str(tmp_path / "checkpoints"),
        "execution.checkpointing.interval": "300 ms",
        "execution.checkpointing.data-inline-threshold": "0",
        "state.backend.local-recovery": "true",
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.delay": "100 ms",
    }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(config))
    env.set_parallelism(2)
    source = PacedSource(RECORDS, 2000, str(tmp_path / "go"))
    records = env.from_source(source, WatermarkStrategy.no_watermarks(), "paced").uid("paced")
    counts = records.key_by(lambda record: record[1] % KEYS, Types.INT()).process(PaddedCount(tmp_path / "fail"), Types.STRING())
    counts.uid("counts").sink_to(file_sink(tmp_path / "counts")).uid("files")
    client = env.execute_async("counting")

    def totals(name: str) -> int:
        return sum(task["metrics"].get(name, 0) for task in client.get_job_metrics().result()["tasks"])

    until(lambda: any((tmp_path / "checkpoints").glob("*/chk-*/_metadata")) and totals("stateSize") > KEYS * len(PADDING), "a checkpoint")
    last = client.get_job_metrics().result()["checkpoints"]["last_id"]
    until(lambda: client.get_job_metrics().result()["checkpoints"]["last_id"] > last + 1, "one with all keys")
    (tmp_path / "fail").touch()
    until(lambda: client.get_job_metrics().result()["restarts"] == 1 and totals("stateFilesReadLocally") >= 2, "files read locally")
    assert totals("stateFilesReadFromStorage") == 0
    (tmp_path / "go").touch()
    client.get_job_execution_result().result(LIMIT_S)
    found = list((tmp_path / "counts").rglob("part*.txt"))
    written = Counter(line for path in found for line in path.read_text().splitlines())
    each = Counter(n % KEYS for n in range(RECORDS) for _ in range(SPLITS))
    assert written == Counter(f"{key} {count}" for key in range(KEYS) for count in range(1, each[key] + 1))
