"""What docs/spark-users.md says of a job in Spark's own tools."""

from __future__ import annotations

import time
from collections.abc import Callable

from pyspark import SparkContext, StatusTracker

from wiesel.common import Configuration, Types, WatermarkStrategy
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy

LIMIT_S = 300.0


def same(index: int) -> int:
    return index


def until(condition: Callable[[], bool], what: str) -> None:
    deadline_s = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline_s, what
        time.sleep(0.05)


def test_d25_an_attempt_of_a_region_is_a_spark_job_all_of_whose_stages_run_at_once() -> None:
    options = {"wiesel.spark.master": "local[16]", "restart-strategy.type": "none"}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(options)).set_parallelism(2)
    for name in ("one", "other"):
        source = DataGeneratorSource(same, 1_000_000, RateLimiterStrategy.per_second(10), Types.LONG())
        numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), name).set_parallelism(1)
        numbers.map(lambda n: n + 1, Types.LONG()).rebalance().filter(lambda n: False).print().set_parallelism(1)
    client = env.execute_async("for Spark users")
    try:
        until(lambda: all(task["pid"] for task in client.get_job_metrics().result()["tasks"]), "the running tasks")
        context = SparkContext._active_spark_context
        assert context is not None
        tracker = context.statusTracker()
        job_id = str(client.get_job_id())
        for region in (0, 1):
            group = f"wiesel-{job_id}-1-{region}"
            # Spark tells of what has happened a while later, in a thread of its own.
            until(lambda group=group: len(tracker.getJobIdsForGroup(group)) == 1, "one job per region")  # type: ignore[misc]
            (job,) = tracker.getJobIdsForGroup(group)
            until(lambda job=job: active(tracker, job) == [1, 1, 2, 2], "tasks of all stages")  # type: ignore[misc]
            info = tracker.getJobInfo(job)
            assert info is not None and info.status == "RUNNING" and len(info.stageIds) == 4
        assert tracker.getJobIdsForGroup(f"wiesel-{job_id}-2-0") == []
    finally:
        client.cancel().result()
        until(lambda: client.get_job_status().result().is_globally_terminal_state(), "the end")


def active(tracker: StatusTracker, job: int) -> list[int]:
    """Return how many tasks of each stage run, as far as Spark has told yet, the fewest first."""
    info = tracker.getJobInfo(job)
    found = [tracker.getStageInfo(number) for number in (info.stageIds if info is not None else ())]
    return sorted(stage.numActiveTasks for stage in found if stage is not None)
