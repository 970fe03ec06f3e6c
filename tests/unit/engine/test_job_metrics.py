"""What a client is told about a job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from wiesel.common import Configuration, Row, Types, WatermarkStrategy
from wiesel.core.errors import JobExecutionError
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.datastream.connectors.datagen import DataGeneratorSource, RateLimiter, RateLimiterStrategy
from wiesel.table import StreamTableEnvironment

MAX_WATERMARK = 2**63 - 1


def run(settings: dict[str, Any]) -> dict[str, Any]:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"wiesel.engine": "local", **settings}))
    numbers = env.from_collection(list(range(100)), Types.INT())
    numbers.key_by(lambda n: n % 7).reduce(lambda a, b: a + b).set_parallelism(2).name("sum").print().set_parallelism(2)
    client = env.execute_async("metrics")
    client.get_job_execution_result().result(60)
    return client.get_job_metrics().result()


def test_a_job_that_has_ended(tmp_path: Path) -> None:
    metrics = run({"execution.checkpointing.interval": "1 s", "execution.checkpointing.dir": str(tmp_path)})
    assert (metrics["status"], metrics["attempt"], metrics["restarts"]) == ("FINISHED", 1, 0)
    checkpoints = metrics["checkpoints"]
    assert (checkpoints["completed"], checkpoints["failed"], checkpoints["restored_id"]) == (1, 0, 0)
    assert checkpoints["last_id"] == 1
    assert checkpoints["last_duration_ms"] >= 0
    assert 0 < checkpoints["last_written_bytes"] <= checkpoints["last_state_bytes"]
    assert [(t["vertex"], t["subtask"], t["source"]) for t in metrics["tasks"]] == [(0, 0, True), (1, 0, False), (1, 1, False)]
    assert {t["host"] for t in metrics["tasks"]} == {"local"}
    reports = [t["metrics"] for t in metrics["tasks"]]
    assert sum(r["numRecordsIn"] for r in reports[1:]) == 100
    assert sum(r["sum.numRecordsOut"] for r in reports[1:]) == 100
    assert [r["currentInputWatermark"] for r in reports[1:]] == [MAX_WATERMARK] * 2


class TenAtATime(RateLimiter):
    def permits(self, now_ms: int, wanted: int) -> int:
        return min(wanted, 10)


class TenByTen(RateLimiterStrategy):
    def create_rate_limiter(self, parallelism: int, subtask_index: int = 0) -> RateLimiter:
        return TenAtATime()


def bytes_of_a_buffer(**settings: str) -> float:
    keys = {key.replace("__", "-").replace("_", "."): value for key, value in settings.items()}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"wiesel.engine": "local", **keys}))
    texts = DataGeneratorSource(lambda n: f"{n:064d}", 20_000, TenByTen(), Types.STRING())
    stream = env.from_source(texts, WatermarkStrategy.no_watermarks(), "texts").rebalance()
    stream.map(len).print()
    client = env.execute_async("buffers")
    client.get_job_execution_result().result(60)
    (source,) = (task["metrics"] for task in client.get_job_metrics().result()["tasks"] if task["source"])
    assert source["numRecordsOut"] == 20_000
    return source["numBytesOut"] / source["numBuffersOut"]


def test_n5_buffers_are_as_large_as_the_option_says() -> None:
    # Events have buffers of their own, which are small; a full one may be larger by the ten records that filled it.
    for size in (4 << 10, 32 << 10):
        assert 0.5 * size < bytes_of_a_buffer(taskmanager_memory_segment__size=str(size)) < 1.2 * size
    assert bytes_of_a_buffer(taskmanager_memory_segment__size="32 kb", wiesel_exchange_row__size="4 kb") < 1.2 * (4 << 10)


def send_generators(*, chained: bool) -> list[dict[str, Any]]:
    """Send what no serialiser can write from one function to the next; return the counters of the tasks."""
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"wiesel.engine": "local"}))
    env.set_parallelism(1)
    generators = env.from_collection([2, 3, 4], Types.INT()).map(lambda n: (i for i in range(n)))
    sums = generators.map(sum, Types.INT())
    if not chained:
        sums.disable_chaining()
    sums.print()
    client = env.execute_async("generators")
    client.get_job_execution_result().result(60)
    return [task["metrics"] for task in client.get_job_metrics().result()["tasks"]]


def test_n13_in_a_task_records_are_handed_over_and_between_tasks_they_are_bytes_in_buffers(capsys: pytest.CaptureFixture[str]) -> None:
    (task,) = send_generators(chained=True)
    assert capsys.readouterr().out.split() == ["1", "3", "6"]
    assert (task["numBuffersOut"], task["numBytesOut"]) == (0, 0), "a chain has neither buffers nor bytes between its functions"
    with pytest.raises(JobExecutionError, match="generator"):
        send_generators(chained=False)
    source, *sums = (task["metrics"] for task in run({})["tasks"])
    assert source["numRecordsOut"] == 100 and 0 < source["numBuffersOut"] < 100 < source["numBytesOut"]
    assert all(task["numBuffersOut"] == 0 for task in sums)


def test_without_periodic_checkpoints_the_last_one_is_still_told() -> None:
    metrics = run({})
    assert metrics["checkpoints"]["completed"] == 1  # the one that ends the job
    assert metrics["job_id"]


def test_rows_of_tables_are_counted_one_by_one() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration().set("wiesel.engine", "local"))
    env.set_parallelism(2)
    t_env = StreamTableEnvironment.create(env)
    rows = Types.ROW([Types.INT(), Types.INT()])
    numbers = t_env.from_data_stream(env.from_collection([Row(i % 3, i) for i in range(50)], rows).rebalance().map(lambda row: row, rows))
    t_env.create_temporary_view("numbers", numbers)
    t_env.to_changelog_stream(t_env.sql_query("SELECT DISTINCT f0, f1 * 2 FROM numbers")).filter(lambda row: False).print()
    client = env.execute_async()
    client.get_job_execution_result().result(60)
    tasks = client.get_job_metrics().result()["tasks"]
    assert [task["metrics"]["Calc.numRecordsOut"] for task in tasks if task["vertex"] == 1] == [25, 25]
    assert sum(task["metrics"]["numRecordsOut"] for task in tasks if task["vertex"] == 1) == 50
    assert sum(task["metrics"]["numRecordsIn"] for task in tasks if task["vertex"] == 2) == 50
