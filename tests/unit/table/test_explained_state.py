"""EXPLAIN says of each operator what it keeps and for how long, and what follows from that."""

from __future__ import annotations

import pytest

from wiesel.common import Configuration
from wiesel.table import TableEnvironment

DATAGEN = "WITH ('connector' = 'datagen')"


def plan(query: str, ttl: str | None = None) -> tuple[dict[str, str], list[str]]:
    """Return what operators keep, by their name, and the advice."""
    t_env = TableEnvironment.create(Configuration().set("wiesel.engine", "local"))
    if ttl is not None:
        t_env.execute_sql(f"SET 'table.exec.state.ttl' = '{ttl}'")
    for name in "ab":
        t_env.execute_sql(
            f"CREATE TABLE {name} (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (k) NOT ENFORCED) {DATAGEN}"
        )
    text = t_env.explain_sql(query)
    executed = text[text.index("== Operators ==") :].split("== Advice ==\n")
    kept = {}
    for line in executed[0].splitlines():
        name = line.strip().removeprefix("+- ").partition("(")[0]
        if ", state=[" in line:
            kept[name] = line.rpartition(", state=[")[2].removesuffix("])")
    return kept, executed[1].splitlines() if len(executed) > 1 else []


JOIN = "SELECT {hint} a.v FROM a JOIN b ON a.k = b.k"


def test_each_side_of_a_join_has_its_own_time() -> None:
    left, right = "the rows of the left side", "the rows of the right side"
    kept, advice = plan(JOIN.format(hint=""))
    assert kept == {"Join": f"{left}, for ever; {right}, for ever"}
    assert advice == [
        f"Join keeps {side} for ever: where keys go out of use, set 'table.exec.state.ttl' or the hint STATE_TTL." for side in (left, right)
    ]
    kept, advice = plan(JOIN.format(hint="/*+ STATE_TTL('b' = '2 h') */"), "1 d")
    assert kept == {"Join": f"{left}, for 1 d after it was last written; {right}, for 2 h after it was last written"}
    later = "a row that comes later to the other side finds no partner there"
    assert advice == [
        f"Join forgets {left} 1 d after it was last written: {later}.",
        f"Join forgets {right} 2 h after it was last written: {later}.",
    ]
    _, advice = plan(JOIN.format(hint="").replace("JOIN", "LEFT JOIN"), "1 d")
    assert advice[0].endswith(f"{later}, and comes out as one without.")


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("SELECT k, COUNT(*) FROM a GROUP BY k", "a row of accumulators per group"),
        ("SELECT k, COUNT(DISTINCT v) FROM a GROUP BY k", "a row of accumulators per group and the values of DISTINCT"),
        (
            "SELECT n, MAX(k) FROM (SELECT k, COUNT(*) AS n FROM a GROUP BY k) GROUP BY n",
            "a row of accumulators per group and all values of MIN and MAX",
        ),
    ],
)
def test_groups(query: str, kept: str) -> None:
    _, advice = plan(query)
    assert f"Aggregate keeps {kept} for ever: where keys go out of use, set 'table.exec.state.ttl' or the hint STATE_TTL." in advice
    found, advice = plan(query, "1 h")
    name = "Aggregate" if "MAX" in query else "GlobalGroupAggregate"
    assert found[name].endswith(", for 1 h after it was last written")
    expected = f"Aggregate forgets {kept} 1 h after it was last written: a group to which a row comes later begins anew, "
    assert f"{expected}as if none had come before." in advice


def test_state_that_does_not_grow_is_no_reason_for_advice() -> None:
    kept, advice = plan("SELECT COUNT(*) FROM a")
    assert kept == {"GlobalGroupAggregate": "one row of accumulators, for ever"} and advice == []
    kept, advice = plan("SELECT k FROM a ORDER BY v LIMIT 3")
    assert kept == {"TopN": "the first rows, for ever"} and advice == []
    assert plan("SELECT k FROM a WHERE v > 1") == ({}, [])


TOP = "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {by} ORDER BY {order}) AS rn FROM {table}) WHERE rn <= {last}"
WINDOWED = "TABLE(TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"


@pytest.mark.parametrize(
    ("query", "name", "kept"),
    [
        (TOP.format(by="k", order="v", table="a", last=3), "TopN", "the first rows of each partition, for ever"),
        (TOP.format(by="k", order="ts DESC", table="a", last=1), "TopN", "a row per key, for ever"),
        (
            TOP.format(by="v", order="k", table="(SELECT k, MAX(v) AS v FROM a GROUP BY k)", last=3),
            "TopN",
            "all rows of each partition, for ever",
        ),
        (
            TOP.format(by="window_start, window_end", order="v", table=WINDOWED, last=3),
            "WindowTopN",
            "the first rows of each partition, until their window is over",
        ),
        (
            f"SELECT a.v FROM (SELECT * FROM {WINDOWED}) AS a JOIN (SELECT * FROM {WINDOWED}) AS b "
            "ON a.window_start = b.window_start AND a.window_end = b.window_end",
            "WindowJoin",
            "the rows of both sides, until their window is over",
        ),
        (
            "SELECT a.v FROM a JOIN b ON a.k = b.k AND a.ts BETWEEN b.ts - INTERVAL '1' HOUR AND b.ts",
            "IntervalJoin",
            "the rows of both sides, until the watermark has passed the times of their partners",
        ),
        (
            f"SELECT COUNT(*) FROM {WINDOWED} GROUP BY window_start, window_end",
            "GlobalWindowAggregate",
            "a row of accumulators per key and part of a window, until the windows are over",
        ),
        (
            "SELECT v, window_end FROM TABLE(SESSION(TABLE a PARTITION BY k, DESCRIPTOR(ts), INTERVAL '1' MINUTE))",
            "WindowTable",
            "rows, until their session is over",
        ),
        (
            "SELECT a.v FROM a JOIN b FOR SYSTEM_TIME AS OF a.ts ON a.k = b.k",
            "TemporalJoin",
            "rows of the left side, until the watermark has passed them; "
            "versions of the right side, until the watermark has passed the next one",
        ),
        (
            "SELECT SUM(v) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) FROM a",
            "OverAggregate",
            "rows of which later ones may still come before, until the watermark has passed them; the last 3 rows per key, for ever",
        ),
        (
            "SELECT SUM(v) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW) FROM a",
            "OverAggregate",
            "rows of which later ones may still come before, until the watermark has passed them; "
            "the rows that frames still look back at, for 1 h of event time",
        ),
    ],
)
def test_what_operators_keep(query: str, name: str, kept: str) -> None:
    found, advice = plan(query)
    assert found[name] == kept
    assert bool(advice) == ("for ever" in kept or "MAX" in query)


def test_in_batch_mode_nothing_is_kept() -> None:
    t_env = TableEnvironment.create(Configuration().set("wiesel.engine", "local").set("execution.runtime-mode", "BATCH"))
    t_env.execute_sql("CREATE TABLE a (k STRING) WITH ('connector' = 'datagen', 'number-of-rows' = '3')")
    text = t_env.explain_sql("SELECT k, COUNT(*) FROM a GROUP BY k")
    assert "state=[" not in text and "Advice" not in text
