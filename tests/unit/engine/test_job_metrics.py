"""What a client is told about a job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wiesel.common import Configuration, Types
from wiesel.datastream import StreamExecutionEnvironment

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


def test_without_periodic_checkpoints_the_last_one_is_still_told() -> None:
    metrics = run({})
    assert metrics["checkpoints"]["completed"] == 1  # the one that ends the job
    assert metrics["job_id"]
