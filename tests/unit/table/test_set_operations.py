"""INTERSECT ALL and EXCEPT ALL against counts of the rows, and tables written anew."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from wiesel.common import Configuration
from wiesel.table import EnvironmentSettings, TableEnvironment


@pytest.mark.parametrize("mode", ["BATCH", "STREAMING"])
def test_rows_come_as_often_as_counts_say(mode: str) -> None:
    seed = random.randrange(10**9)
    print(f"seed {seed}")
    rng = random.Random(seed)
    configuration = Configuration().set("wiesel.engine", "local").set("execution.runtime-mode", mode).set("parallelism.default", "2")
    t_env = TableEnvironment.create(EnvironmentSettings.new_instance().with_configuration(configuration).build())
    left, right = ([(rng.choice([None, 1, 2, 3]), rng.choice("xy")) for _ in range(rng.randint(1, 30))] for _ in range(2))
    first, second = t_env.from_elements([(0, "x"), *left], ["n", "s"]), t_env.from_elements([(0, "x"), *right], ["n", "s"])
    both, more = Counter([(0, "x"), *left]), Counter([(0, "x"), *right])
    for found, wanted in ((first.intersect_all(second), both & more), (first.minus_all(second), both - more)):
        assert Counter((row["n"], row["s"]) for row in found.to_arrow().to_pylist()) == wanted


def test_rows_of_a_table_replace_those_of_files(tmp_path: Path) -> None:
    configuration = Configuration().set("wiesel.engine", "local").set("execution.runtime-mode", "BATCH")
    t_env = TableEnvironment.create(EnvironmentSettings.new_instance().with_configuration(configuration).build())
    t_env.execute_sql(f"CREATE TABLE kept (n BIGINT, s STRING) WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{tmp_path}')")
    for element, overwrite in ((1, False), (2, False), (3, True), (4, False)):
        t_env.from_elements([(element, "x")], ["n", "s"]).execute_insert("kept", overwrite).wait()
    assert sorted(row["n"] for row in t_env.from_path("kept").to_arrow().to_pylist()) == [3, 4]
