"""Aggregates in two phases, by mini-batches and with DISTINCT split: what is sent, how often groups change, what EXPLAIN shows."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from typing import Any

import pytest

from wiesel.common import Configuration, Types
from wiesel.core.errors import ConfigurationError
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.sql.rules.mini_batches import ALLOW_LATENCY, ENABLED, SIZE
from wiesel.sql.rules.split_distinct import BUCKETS, SPLIT
from wiesel.sql.rules.two_phases import ADAPTIVE, PHASES, RATE, SAMPLED
from wiesel.table import Schema, StreamTableEnvironment

KEYS, ROWS, TASKS = 7, 4_000, 3
WAITING = {ENABLED: "true", ALLOW_LATENCY: "1 h", SIZE: str(10 * ROWS)}
SPLITTING = {SPLIT: "true", BUCKETS: "16"}
QUERY = (
    "SELECT k, COUNT(*) AS n, SUM(v) AS s, MAX(v) AS m, COUNT(DISTINCT v) AS d, COUNT(DISTINCT v) FILTER (WHERE v > 50) AS f "
    "FROM t GROUP BY k"
)


class Orders:
    """A table environment with a table of random rows, shared out over the tasks."""

    def __init__(self, **options: str) -> None:
        seed = random.randrange(2**32)
        print("seed", seed)
        chance = random.Random(seed)
        self.rows = [(f"key {chance.randrange(KEYS)}", chance.choice([None, chance.randrange(100)])) for _ in range(ROWS)]
        config = Configuration().set("wiesel.engine", "local")
        for name, value in options.items():
            config.set(name, value)
        env = StreamExecutionEnvironment.get_execution_environment(config)
        env.set_parallelism(TASKS)
        self.t_env = StreamTableEnvironment.create(env)
        stream = env.from_collection(
            [(key, -1 if value is None else value) for key, value in self.rows], Types.TUPLE([Types.STRING(), Types.LONG()])
        ).rebalance()
        spread = stream.map(lambda row: row, Types.TUPLE([Types.STRING(), Types.LONG()]))
        self.t_env.create_temporary_view("spread", self.t_env.from_data_stream(spread).alias("k", "v"))
        self.t_env.execute_sql("CREATE TEMPORARY VIEW t AS SELECT k, NULLIF(v, -1) AS v FROM spread")

    def run(self, query: str = QUERY) -> tuple[list[Any], dict[str, int]]:
        """Return the changes, and how many records each kind of task has read."""
        result = self.t_env.execute_sql(query)
        with result.collect() as found:
            changes = list(found)
        client = result.get_job_client()
        assert client is not None
        read: Counter[str] = Counter()
        for task in client.get_job_metrics().result()["tasks"]:
            read[task["name"].partition(" ")[0]] += int(task["metrics"]["numRecordsIn"])
        return changes, read

    @property
    def expected(self) -> Counter[Any]:
        """The result, row by row."""
        groups: dict[str, list[int | None]] = defaultdict(list)
        for key, value in self.rows:
            groups[key].append(value)
        valid = {key: [value for value in values if value is not None] for key, values in groups.items()}
        return Counter(
            (key, len(groups[key]), sum(each), max(each), len(set(each)), len({value for value in each if value > 50}))
            for key, each in valid.items()
        )


def left(changes: list[Any]) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for row in changes:
        found[tuple(row)] += 1 if row.get_row_kind().name in ("INSERT", "UPDATE_AFTER") else -1
        assert min(found.values()) >= 0
    return +found


def test_what_is_sent_falls_from_the_rows_to_the_keys_of_each_task() -> None:
    orders = Orders(**{PHASES: "ONE_PHASE"})
    changes, read = orders.run()
    assert left(changes) == orders.expected
    assert read["GroupAggregate"] == ROWS
    orders = Orders(**WAITING)
    changes, read = orders.run()
    assert left(changes) == orders.expected
    assert read["GlobalGroupAggregate"] == TASKS * len(orders.expected)


@pytest.mark.parametrize(
    "table", ["TUMBLE(TABLE w, DESCRIPTOR(ts), INTERVAL '1' HOUR)", "SESSION(TABLE w PARTITION BY k, DESCRIPTOR(ts), INTERVAL '1' HOUR)"]
)
def test_windows_send_fewer_rows_than_they_read(table: str) -> None:
    read: dict[str, Counter[Any]] = {}
    for phases, name in (("ONE_PHASE", "WindowAggregate"), ("AUTO", "GlobalWindowAggregate")):
        orders = Orders(**{PHASES: phases})
        # All rows are of the same hour, which ends with the input.
        orders.t_env.execute_sql("CREATE TEMPORARY VIEW timed AS SELECT k, v, TO_TIMESTAMP_LTZ(COALESCE(v, 0) * 1000, 3) AS ts FROM t")
        schema = (
            Schema.new_builder()
            .column("k", "STRING")
            .column("v", "BIGINT")
            .column("ts", "TIMESTAMP_LTZ(3)")
            .watermark("ts", "ts - INTERVAL '1' HOUR")
            .build()
        )
        stream = orders.t_env.to_data_stream(orders.t_env.from_path("timed"))
        orders.t_env.create_temporary_view("w", orders.t_env.from_data_stream(stream, schema))
        windows = f"TABLE({table})"
        changes, read[phases] = orders.run(
            f"SELECT k, COUNT(*) AS n, SUM(v) AS s, MAX(v) AS m FROM {windows} GROUP BY k, window_start, window_end"
        )
        assert left(changes) == Counter({row[:4]: 1 for row in orders.expected})
        assert read[phases][name] == ROWS if phases == "ONE_PHASE" else 0 < read[phases][name] < ROWS / 2


def test_a_group_changes_once_per_mini_batch() -> None:
    orders = Orders(**WAITING)
    changes, _ = orders.run()
    assert len(changes) <= TASKS * len(orders.expected) * 2  # once for what each task has sent, and at most all of it apart
    orders = Orders(**{**WAITING, PHASES: "ONE_PHASE"})
    changes, _ = orders.run()
    assert left(changes) == orders.expected and len(changes) == len(orders.expected)
    assert all(row.get_row_kind().name == "INSERT" for row in changes)


@pytest.mark.parametrize("options", [SPLITTING, {**SPLITTING, **WAITING}, {**SPLITTING, "table.exec.state.ttl": "1 d"}])
def test_distinct_values_are_shared_out_over_tasks(options: dict[str, str]) -> None:
    orders = Orders(**options)
    changes, read = orders.run()
    assert left(changes) == orders.expected
    assert read["GlobalGroupAggregate"] > 0 and read["IncrementalGroupAggregate"] > 0


# Mini-batches of 100 rows with at most seven keys: less than a tenth of a sample are groups.
SAMPLING = {ENABLED: "true", ALLOW_LATENCY: "1 h", SIZE: "100", SAMPLED: "100"}


@pytest.mark.parametrize(
    ("options", "passes"),
    [
        ({}, False),
        ({RATE: "0.01"}, True),
        ({RATE: "0.01", ADAPTIVE: "false"}, False),
        ({RATE: "0.01", PHASES: "TWO_PHASE"}, False),
        ({RATE: "0.01", SAMPLED: str(2 * ROWS)}, False),
        ({RATE: "0.01", **SPLITTING}, True),
    ],
)
def test_rows_are_sent_as_they_are_where_a_sample_has_many_keys(options: dict[str, str], passes: bool) -> None:
    orders = Orders(**{**SAMPLING, **options})
    changes, read = orders.run()
    assert left(changes) == orders.expected
    sent = read["IncrementalGroupAggregate" if SPLIT in options else "GlobalGroupAggregate"]
    # Of ten mini-batches of a task one is aggregated.
    assert sent > ROWS * 0.7 if passes else sent <= ROWS / 100 * KEYS * 1.2


def names_in_plan(query: str, **options: str) -> list[str]:
    text = Orders(**options).t_env.explain_sql(query)
    executed = text[text.index("== Operators ==") :].partition("== Advice")[0]
    return [line.strip().removeprefix("+- ").partition("(")[0] for line in executed.splitlines()[1:] if "Aggregate(" in line]


RETRACTING = "SELECT n, {} FROM (SELECT k, COUNT(*) AS n, MAX(v) AS m FROM t GROUP BY k) AS g GROUP BY n"


def test_plans_name_the_phases_as_flink_does() -> None:
    assert names_in_plan(QUERY) == ["GlobalGroupAggregate", "LocalGroupAggregate"]
    assert names_in_plan(QUERY, **{PHASES: "ONE_PHASE"}) == ["Aggregate"]
    assert names_in_plan(QUERY, **SPLITTING) == ["GlobalGroupAggregate", "IncrementalGroupAggregate", "LocalGroupAggregate"]
    assert names_in_plan("SELECT k, COUNT(*) FROM t GROUP BY k", **SPLITTING) == ["GlobalGroupAggregate", "LocalGroupAggregate"]
    below = ["GlobalGroupAggregate", "LocalGroupAggregate"]
    assert names_in_plan(RETRACTING.format("SUM(m)")) == ["GlobalGroupAggregate", "LocalGroupAggregate", *below]
    assert names_in_plan(RETRACTING.format("MAX(m)")) == ["Aggregate", *below]  # the greatest may go: all values are needed


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({PHASES: "THREE"}, PHASES),
        ({RATE: "most"}, RATE),
        ({RATE: "2"}, RATE),
        ({SAMPLED: "some"}, SAMPLED),
        ({ENABLED: "true", SIZE: "5"}, ALLOW_LATENCY),
        ({ENABLED: "true", ALLOW_LATENCY: "1 s"}, SIZE),
        ({SPLIT: "true", BUCKETS: "none"}, BUCKETS),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, str], named: str) -> None:
    with pytest.raises(ConfigurationError, match=named):
        Orders(**options).run()
