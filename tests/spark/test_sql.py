"""SQL on Spark: results of queries over exchanges, and a job of SQL alone whose worker is killed."""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.differential import nexmark_data
from tests.faults.driver_process import alive
from tests.parity.conftest import time_limit
from wiesel.common import Configuration
from wiesel.table import EnvironmentSettings, TableEnvironment

GOLDENS = json.loads((Path(nexmark_data.__file__).parent / "goldens" / "nexmark.json").read_text(encoding="utf-8"))
SECONDS = 400
"""A job that hangs fails its test; a busy machine makes everything slow."""


@pytest.fixture(autouse=True)
def limited() -> Iterator[None]:
    with time_limit(SECONDS):
        yield


def environment(**options: str) -> TableEnvironment:
    settings = {"wiesel.spark.master": "local[64]", "parallelism.default": "2", "execution.checkpointing.interval": "200ms"}
    settings.update({key.replace("__", "-").replace("_", "."): value for key, value in options.items()})
    return TableEnvironment.create(EnvironmentSettings.new_instance().with_configuration(Configuration.from_dict(settings)).build())


@pytest.mark.parametrize("name", ["q4", "q5", "q20"])
def test_results_are_those_of_flink(name: str, tmp_path: Path) -> None:
    events, side = nexmark_data.make_events(tmp_path)
    t_env = environment(execution_checkpointing_dir=str(tmp_path / "checkpoints"))
    tables = (nexmark_data.NEXMARK / "tables.sql").read_text()
    for statement in tables.replace("${events}", str(events)).replace("${side}", str(side)).split(";"):
        if statement.strip():
            t_env.execute_sql(statement)
    left: Counter[str] = Counter()
    with t_env.execute_sql((nexmark_data.NEXMARK / "queries" / f"{name}.sql").read_text()).collect() as rows:
        for row in rows:
            left[str(tuple(row))] += 1 if row.get_row_kind().name in ("INSERT", "UPDATE_AFTER") else -1
    assert nexmark_data.digest_of(+left) == GOLDENS[name]["digest"]


NUMBERS, KEYS, PER_WINDOW = 6_000, 7, 100
SCRIPT = """
CREATE TABLE numbers (
  id BIGINT,
  ts AS CAST(TIMESTAMPADD(SECOND, CAST(id AS INT), TIMESTAMP '2026-01-01 00:00:00') AS TIMESTAMP(3)),
  WATERMARK FOR ts AS ts
) WITH (
  'connector' = 'datagen', 'rows-per-second' = '400',
  'fields.id.kind' = 'sequence', 'fields.id.start' = '0', 'fields.id.end' = '{last}'
);
CREATE TABLE windows (k BIGINT, n BIGINT, total BIGINT) WITH ('connector' = 'filesystem', 'path' = '{out}', 'format' = 'csv');
INSERT INTO windows
SELECT MOD(id, {keys}), COUNT(*), SUM(id)
FROM TABLE(TUMBLE(TABLE numbers, DESCRIPTOR(ts), INTERVAL '{size}' SECOND(3)))
GROUP BY MOD(id, {keys}), window_start, window_end
"""


def test_windows_are_exact_after_a_worker_was_killed(tmp_path: Path) -> None:
    t_env = environment(
        execution_checkpointing_dir=str(tmp_path / "checkpoints"),
        restart__strategy_type="fixed-delay",
        restart__strategy_fixed__delay_delay="100ms",
        restart__strategy_fixed__delay_attempts="3",
    )
    script = SCRIPT.format(last=NUMBERS - 1, out=tmp_path / "out", keys=KEYS, size=PER_WINDOW)
    *tables, insert = script.split(";")
    for statement in tables:
        t_env.execute_sql(statement)
    result = t_env.execute_sql(insert)
    client = result.get_job_client()
    assert client is not None
    victim = _kill_a_worker(client)
    result.wait()
    look = client.get_job_metrics().result()
    assert look["attempt"] > 1 and look["checkpoints"]["restored_id"] > 0, "nothing was recovered"
    assert not alive(victim)
    expected: Counter[str] = Counter()
    for start in range(0, NUMBERS, PER_WINDOW):
        for key in range(KEYS):
            ids = [n for n in range(start, min(start + PER_WINDOW, NUMBERS)) if n % KEYS == key]
            expected[f"{key},{len(ids)},{sum(ids)}"] += 1
    files = [p for p in (tmp_path / "out").rglob("*") if p.is_file() and not p.name.startswith((".", "_"))]
    assert Counter(line for path in files for line in path.read_text().splitlines()) == expected


def _kill_a_worker(client: Any) -> int:
    """Kill the worker of a task behind the exchange once there is a checkpoint; return its process id."""
    while True:
        look = client.get_job_metrics().result()
        assert look["status"] not in ("FINISHED", "FAILED"), "the job has ended before there was a checkpoint"
        pids = [task["pid"] for task in look["tasks"] if task["pid"]]
        if pids and len(pids) == len(look["tasks"]) and look["checkpoints"]["completed"] >= 1:
            os.kill(pids[-1], signal.SIGKILL)
            return int(pids[-1])
        time.sleep(0.05)


ROWS = 30
COMING = """CREATE TABLE coming (n BIGINT) WITH (
  'connector' = 'filesystem', 'path' = '{}', 'format' = 'csv', 'source.monitor-interval' = '10 ms'
)"""


def test_q12_the_results_of_an_aggregation_are_there_before_the_next_row_is_made(tmp_path: Path) -> None:
    """No row is made before the result of the one before has come, so nothing can wait for a batch of rows, or for a checkpoint."""
    (tmp_path / "rows").mkdir()

    def make(number: int) -> None:
        (tmp_path / "next").write_text(f"{number}\n")
        (tmp_path / "next").rename(tmp_path / "rows" / str(number))

    t_env = environment(execution_checkpointing_interval="1 h", execution_checkpointing_mode="AT_LEAST_ONCE")
    t_env.execute_sql(COMING.format(tmp_path / "rows"))
    make(0)
    made, counts = 1, []
    with t_env.execute_sql("SELECT MOD(n, 3) AS k, COUNT(*) AS c FROM coming GROUP BY MOD(n, 3)").collect() as rows:
        for row in rows:
            if row.get_row_kind().name in ("INSERT", "UPDATE_AFTER"):
                counts.append((row[0], row[1]))
                if made == ROWS:
                    break
                make(made)
                made += 1
    assert counts == [(n % 3, n // 3 + 1) for n in range(ROWS)]
