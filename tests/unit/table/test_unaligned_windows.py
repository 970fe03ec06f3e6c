"""Windows of SQL go on from unaligned checkpoints, which take subtasks where they are, some further in time than others."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from tests.unit.table.aggregate_cases import EVENT_TYPES, add_events, event_rows
from tests.unit.table.test_aggregate_recovery import LATE, hopping, running, sessions
from wiesel.common import WatermarkStrategy
from wiesel.sql.session.translation import to_stream
from wiesel.table import StreamTableEnvironment
from wiesel.testing import ManualSource, local_environment

HOP = "HOP(TABLE e, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '20' SECOND)"
CASES = {
    "hop": (
        "SELECT k, window_start, COUNT(*) AS n, SUM(CAST(t AS INT)) AS s, COUNT(DISTINCT b) AS c "
        f"FROM TABLE({HOP}) GROUP BY k, window_start, window_end",
        hopping,
    ),
    "sessions": (
        "SELECT k, window_start, COUNT(*) AS n FROM TABLE(SESSION(TABLE e PARTITION BY k, DESCRIPTOR(ts), INTERVAL '8' SECOND)) "
        "GROUP BY k, window_start, window_end",
        sessions,
    ),
    "over": (
        "SELECT id, SUM(CAST(t AS INT)) OVER w AS s, MAX(t) OVER w AS x, MIN(v) OVER w AS i, FIRST_VALUE(k) OVER w AS f, "
        "COUNT(DISTINCT v) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS d "
        "FROM e WINDOW w AS (PARTITION BY k ORDER BY ts)",
        running,
    ),
}


RUNS = [(case, seed) for case in CASES for seed in range(15 if case == "hop" else 5)]


@pytest.mark.parametrize(("case", "seed"), RUNS)
def test_each_result_comes_once(case: str, seed: int) -> None:
    print("seed", seed)
    rng = random.Random(seed)
    query, expected = CASES[case]
    rows = [row for row in event_rows() if row[0] not in LATE]
    source = ManualSource(type_info=EVENT_TYPES)
    committed: list[Any] = []
    snapshot = None
    for last in (False, False, True):
        options = {"execution.checkpointing.unaligned.enabled": "true", "execution.checkpointing.mode": "EXACTLY_ONCE"}
        env = local_environment(parallelism=rng.choice([2, 3]), seed=rng.randrange(1_000), config=options)
        t_env = StreamTableEnvironment.create(env)
        add_events(t_env, env.from_source(source, WatermarkStrategy.no_watermarks(), "events", EVENT_TYPES))
        out = env.collect(to_stream(env, t_env.sql_query(query)._plan, changelog=True))
        with env.start(restore_from=snapshot) as job:
            for _ in range(3):
                count = rng.randrange(1, 5)
                source.push_all(rows[:count])
                del rows[:count]
                job.step(rng.randrange(1, 40))
                job.checkpoint()
                if rng.random() < 0.5:
                    job.step(rng.randrange(1, 20))
                    job.fail()
                    job.step(rng.randrange(1, 40))
            if last:
                source.push_all(rows)
                job.finish()
            else:
                snapshot = job.checkpoint()
            committed += out.committed
    assert Counter(tuple(row) for row in committed) == expected()
