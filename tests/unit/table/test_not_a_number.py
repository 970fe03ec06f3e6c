"""NaN is one key, also where it comes in several batches, within rows, and behind a checkpoint."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from wiesel.common import Row, Types, WatermarkStrategy
from wiesel.table import StreamTableEnvironment
from wiesel.testing import ManualSource, PipelineJob, local_environment

NAN = float("nan")
QUERIES = {
    "SELECT CAST(f AS STRING), COUNT(*) FROM z GROUP BY f": {("NaN", 4): 1, ("1.0", 2): 1},
    "SELECT CARDINALITY(a), n FROM (SELECT ARRAY[f] AS a, COUNT(*) AS n FROM z GROUP BY ARRAY[f])": {(1, 4): 1, (1, 2): 1},
    "SELECT COUNT(DISTINCT f), COUNT(DISTINCT ARRAY[f]) FROM z": {(2, 2): 1},
}


INFO = Types.ROW_NAMED(["f"], [Types.DOUBLE()])


def started(source: ManualSource, query: str, parallelism: int, snapshot: Any = None) -> tuple[PipelineJob, Any]:
    env = local_environment(parallelism=parallelism)
    t_env = StreamTableEnvironment.create(env)
    rows = env.from_source(source, WatermarkStrategy.no_watermarks(), "rows", INFO).set_parallelism(1)
    t_env.create_temporary_view("z", t_env.from_data_stream(rows))
    out = env.collect(t_env.to_changelog_stream(t_env.sql_query(query)))
    return env.start(restore_from=snapshot), out


def pushed(job: PipelineJob, source: ManualSource) -> None:
    for value in (NAN, 1.0, float("nan")):
        source.push(Row(value))
        job.settle()


@pytest.mark.parametrize("query", QUERIES)
def test_is_one_key(query: str) -> None:
    source = ManualSource(type_info=INFO)
    job, first = started(source, query, 2)
    with job:
        pushed(job, source)
        snapshot = job.checkpoint()
        changes = list(first.committed)
    job, second = started(source, query, 3, snapshot)
    with job:
        pushed(job, source)
        job.finish()
    found: Counter[tuple[Any, ...]] = Counter()
    for change in [*changes, *second.committed]:
        found[tuple(change)] += 1 if str(change.get_row_kind()) in ("+I", "+U") else -1
    assert +found == QUERIES[query]
    assert not -found
