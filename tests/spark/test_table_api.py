"""The Table API on Spark: functions of users reach the workers with all that they name, and tables become frames of Spark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.parity.conftest import time_limit
from wiesel.common import Configuration, Row
from wiesel.engine.spark.session import spark_session
from wiesel.table import DataTypes, EnvironmentSettings, TableEnvironment
from wiesel.table.expressions import col
from wiesel.table.udf import AggregateFunction, TableAggregateFunction, udaf, udf, udtaf, udtf

SETTINGS = {"wiesel.spark.master": "local[64]", "parallelism.default": "2"}


@pytest.fixture(autouse=True)
def limited() -> Iterator[None]:
    with time_limit(400):
        yield


def environment() -> TableEnvironment:
    return TableEnvironment.create(EnvironmentSettings.new_instance().with_configuration(Configuration.from_dict(SETTINGS)).build())


def test_functions_of_all_kinds_run_in_workers() -> None:
    class Sum(AggregateFunction[int, list[int]]):
        def create_accumulator(self) -> list[int]:
            return [0]

        def accumulate(self, accumulator: list[int], *args: Any) -> None:
            accumulator[0] += args[0]

        def get_value(self, accumulator: list[int]) -> int:
            return accumulator[0]

    class Last(TableAggregateFunction[Row, list[int]]):
        def create_accumulator(self) -> list[int]:
            return []

        def accumulate(self, accumulator: list[int], *args: Any) -> None:
            accumulator[:] = [max([*accumulator, args[0]])]

        def emit_value(self, accumulator: list[int]) -> list[Row]:
            return [Row(value) for value in accumulator]

    table = environment().from_elements([(1, "ab"), (2, "c"), (3, "ab")], ["n", "s"])
    letters = table.join_lateral(udtf(iter, result_types=["STRING"])(col("s")).alias("l")).select(col("n"), col("l"))
    twice = udf(lambda series: series * 2, result_type="BIGINT", func_type="pandas")
    sums = letters.group_by(col("l")).select(col("l"), udaf(Sum(), result_type="BIGINT")(twice(col("n"))).alias("sum"))
    assert sorted(map(tuple, (row.values() for row in sums.to_arrow().to_pylist()))) == [("a", 8), ("b", 8), ("c", 4)]
    last = udtaf(Last(), result_type=DataTypes.ROW([DataTypes.FIELD("last", DataTypes.BIGINT())]))
    tops = table.group_by(col("s")).flat_aggregate(last(col("n"))).select(col("s"), col("last"))
    assert sorted(map(tuple, (row.values() for row in tops.to_arrow().to_pylist()))) == [("ab", 3), ("c", 2)]


def test_frames_of_spark_become_tables_and_back() -> None:
    session = spark_session(Configuration.from_dict(SETTINGS), 2)
    frame = session.createDataFrame([(1, "a", 2.5), (2, None, None)], "n INT, s STRING, d DOUBLE")
    table = environment().from_spark(frame)
    assert [(field.name, str(field.data_type.as_summary_string())) for field in table.get_schema().to_row_data_type()] == [
        ("n", "INT"),
        ("s", "STRING"),
        ("d", "DOUBLE"),
    ]
    made = table.select(col("n"), (col("d") + col("n")).alias("sum")).to_spark(session)
    assert sorted(made.where("n > 0").collect()) == [(1, 3.5), (2, None)]
