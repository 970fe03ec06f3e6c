"""Q6: two streams joined in SQL within bounds of time: right under disorder, after failures and at another parallelism."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from wiesel.common import Row, Types, WatermarkStrategy
from wiesel.sql.session.translation import to_stream
from wiesel.table import Schema, StreamTableEnvironment
from wiesel.testing import ManualSource, local_environment

DISORDER_MS, WITHIN_MS = 3_000, 2_000
TYPES = Types.ROW_NAMED(["id", "k", "at"], [Types.INT(), Types.STRING(), Types.LONG()])
QUERY = """
SELECT c.id AS c, v.id AS v FROM clicks AS c {kind} JOIN views AS v
ON c.k = v.k AND v.ts BETWEEN c.ts - INTERVAL '2' SECOND AND c.ts + INTERVAL '2' SECOND
"""


def rows(rng: random.Random, count: int) -> list[Row]:
    """Return rows whose times are behind the latest one before them by no more than the disorder."""
    latest, found = 0, []
    for number in range(count):
        latest += rng.randrange(700)
        found.append(Row(number, rng.choice("abc"), max(0, latest - rng.randrange(DISORDER_MS))))
    return found


def expected(clicks: list[Row], views: list[Row], kind: str) -> Counter[tuple[int, int | None]]:
    pairs = [(c[0], v[0]) for c in clicks for v in views if c[1] == v[1] and abs(c[2] - v[2]) <= WITHIN_MS]
    alone = [(c[0], None) for c in clicks if c[0] not in {pair[0] for pair in pairs}] if kind == "LEFT" else []
    return Counter([*pairs, *alone])


def started(query: str, sources: dict[str, ManualSource], parallelism: int, restore_from: Any = None) -> Any:
    env = local_environment(parallelism=parallelism)
    t_env = StreamTableEnvironment.create(env)
    timed = (
        Schema.new_builder()
        .column("id", "INT")
        .column("k", "STRING")
        .column_by_expression("ts", "TO_TIMESTAMP_LTZ(`at`, 3)")
        .watermark("ts", "ts - INTERVAL '3' SECOND")
        .build()
    )
    for name, source in sources.items():
        stream = env.from_source(source, WatermarkStrategy.no_watermarks(), name, TYPES).uid(name)
        t_env.create_temporary_view(name, stream, timed)
    out = env.collect(to_stream(env, t_env.sql_query(query)._plan, changelog=True))
    return env.start(restore_from=restore_from), out


@pytest.mark.parametrize("kind", ["", "LEFT"])
def test_pairs_are_those_of_all_rows(kind: str) -> None:
    for seed in range(4):
        rng = random.Random(f"time join {kind} {seed}")
        given = {"clicks": rows(rng, 40), "views": rows(rng, 40)}
        sources = {name: ManualSource(type_info=TYPES) for name in given}
        left = {name: list(each) for name, each in given.items()}

        def push(share: int, sources: Any = sources, left: Any = left) -> None:
            for name, source in sources.items():
                source.push_all(left[name][:share])
                del left[name][:share]

        job, out = started(QUERY.format(kind=kind), sources, 2)
        with job:
            push(13)
            job.settle()
            job.checkpoint()
            push(9)
            job.settle()
            job.fail()
            job.settle()
            snapshot = job.checkpoint()
            before = list(out.committed)
        job, out = started(QUERY.format(kind=kind), sources, 3, snapshot)
        with job:
            push(18)
            job.settle()
            job.fail()
            job.finish()
        found = Counter(tuple(row) for row in [*before, *out.committed])
        assert found == expected(given["clicks"], given["views"], kind), f"seed {seed}"
        assert len(found) > 40, f"seed {seed}"
