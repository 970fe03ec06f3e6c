"""What the Table API refuses, it refuses in the line that asks for it, with what to do instead."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from typing import Any

import pytest

from wiesel.common import Configuration
from wiesel.core.errors import ProgramError
from wiesel.table import DataTypes, EnvironmentSettings, Schema, TableDescriptor, TableEnvironment
from wiesel.table.expressions import CURRENT_ROW, call, call_sql, col, lit, null_of, range_, row, row_interval, with_columns
from wiesel.table.udf import AggregateFunction, ScalarFunction, udaf, udf, udtf
from wiesel.table.window import Over, Tumble


def environment() -> TableEnvironment:
    configuration = Configuration().set("wiesel.engine", "local").set("table.local-time-zone", "UTC")
    return TableEnvironment.create(EnvironmentSettings.new_instance().with_configuration(configuration).build())


@pytest.fixture(scope="module")
def table() -> Any:
    return environment().from_elements([(1, "x", 2.5)], ["a", "b", "c"])


@pytest.fixture(scope="module")
def timed() -> Any:
    schema = Schema.new_builder().column("v", "INT").column("ts", "TIMESTAMP(3)").watermark("ts", "ts").build()
    return environment().from_descriptor(TableDescriptor.for_connector("datagen").schema(schema).build())


OVER = Over.order_by(col("ts")).preceding(row_interval(2)).following(CURRENT_ROW).alias("w")
WINDOW = Tumble.over(lit(1).hours).on(col("ts")).alias("w")


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda t: t.select(col("d")), "column `d` was not found"),
        (lambda t: t.select("a"), "'a' is no expression"),
        (lambda t: t.select(col("a"), col("b").alias("a")), "two columns are called `a`"),
        (lambda t: t.select(with_columns(range_("a", "z"))), "there is no column 'z'"),
        (lambda t: t.select(with_columns(4)), "there is no column 4"),
        (lambda t: t.select(col("a").start), "there is no window 'a' whose start this could be"),
        (lambda t: t.select(col("a").sum.over("w")), "there is no window 'w'"),
        (lambda t: t.select(row(col("a")).get(1)), "there is no field 1 in ROW<`f0` BIGINT>"),
        (lambda t: t.select(col("a").get("x")), "FIELD|field|row"),
        (lambda t: t.select(col("a").distinct), "DISTINCT cannot be used here"),
        (lambda t: t.select(call("nothing_known")), "there is no function 'NOTHING_KNOWN'"),
        (lambda t: t.select(call_sql("a +")), "a \\+|expect|end"),
        (lambda t: t.filter(col("a") + 1), "a condition must be BOOLEAN, this is BIGINT"),
        (lambda t: t.rename_columns(col("a")), "takes columns of the table under other names"),
        (lambda t: t.drop_columns(col("a") + 1), "takes columns of the table"),
        (lambda t: t.alias("w", "x", "y", "z"), "there are 3 columns, but 4 names"),
        (lambda t: t.limit(-1), "a number of rows is -1"),
        (lambda t: t.join(t), "both tables have columns `a`, `b`, `c`"),
        (lambda t: t.union(1), "takes a table"),
        (lambda t: t.join(environment().from_elements([(1,)], ["z"])), "belong to different environments"),
        (lambda t: t.join_lateral(udtf(sorted, result_types=["STRING"])), "columns of the table function have no names"),
        (lambda t: t.join_lateral(udtf(sorted, result_types=["STRING"])(col("b")).alias("b")), "has columns `b` already"),
        (lambda t: t.join_lateral(udf(len, result_type="INT")(col("b")).alias("n")), "is no table function"),
        (lambda t: t.select(udtf(sorted, result_types=["STRING"])(col("b"))), "returns tables"),
        (lambda t: t.map("a"), "'a' is no function"),
        (lambda t: t.flat_aggregate(col("a").sum), "takes a function that returns rows"),
        (lambda t: t.missing, "the table has no column 'missing'"),
        (lambda t: list(col("a")), "cannot be iterated over"),
        (lambda t: col("a").cast("INT"), "cast\\(\\) takes a data type"),
        (lambda t: null_of("INT"), "takes a data type"),
    ],
)
def test_operations(make: Callable[[Any], Any], problem: str, table: Any) -> None:
    with pytest.raises((ProgramError, AttributeError), match=problem):
        make(table)


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda t: t.window(WINDOW).group_by(col("v")), "does not name the window 'w'"),
        (lambda t: t.window(OVER), "takes a window"),
        (lambda t: t.over_window(WINDOW), "takes windows"),
        (lambda t: t.over_window(OVER).select(col("v").sum.over(col("x"))), "there is no window `x`"),
        (lambda t: t.window(Tumble.over(row_interval(2)).on(col("ts")).alias("w")).group_by(col("w")).select(
            col("v").sum), "number of rows"),
        (lambda t: t.over_window(Over.order_by(col("ts")).preceding(lit(1).hours).following(CURRENT_ROW).alias("w")).select(
            col("v").sum.over(col("w"))), "must both count rows"),
        (lambda t: t.over_window(Over.order_by(col("ts")).preceding(row_interval(2)).following(row_interval(1)).alias("w")).select(
            col("v").sum.over(col("w"))), "up to the current one only"),
        (lambda t: Tumble.over(5), "the size of a window"),
    ],
)  # fmt: skip
def test_windows(make: Callable[[Any], Any], problem: str, timed: Any) -> None:
    with pytest.raises(ProgramError, match=problem):
        make(timed)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (object(), "there are no literals of values such as"),
        ([1, 2], "is no single value"),
        (2**63, "too large for a BIGINT"),
        (decimal.Decimal("NaN"), "is no number of a DECIMAL"),
        (decimal.Decimal(10**40), "a DECIMAL has at most 38"),
        (datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc), "with a zone cannot be a literal"),
    ],
)
def test_literals(value: Any, problem: str) -> None:
    with pytest.raises(ProgramError, match=problem):
        lit(value)


def test_literals_of_a_type() -> None:
    for value, data_type in ((300, DataTypes.TINYINT()), (None, DataTypes.INT(False))):
        with pytest.raises(ProgramError, match="is no "):
            lit(value, data_type)


class Sums(AggregateFunction[int, list[int]]):
    def create_accumulator(self) -> list[int]:
        return [0]

    def accumulate(self, accumulator: list[int], *args: Any) -> None:
        accumulator[0] += args[0]

    def get_value(self, accumulator: list[int]) -> int:
        return accumulator[0]


def test_functions() -> None:
    with pytest.raises(ProgramError, match="is no function"):
        udf(1, result_type="INT")
    with pytest.raises(ProgramError, match="the kind of function is 'sql'"):
        udaf(Sums(), result_type="INT", func_type="sql")
    with pytest.raises(ProgramError, match="is no AggregateFunction"):
        udaf(len, result_type="INT")
    with pytest.raises(TypeError, match="abstract"):
        ScalarFunction()  # type: ignore[abstract]


def test_rows_that_are_taken_back_need_retract() -> None:
    table = environment().from_elements([(1, 2), (1, 3)], ["k", "v"])
    counts = table.group_by(col("k")).select(col("k"), col("v").sum.alias("s"))
    with pytest.raises(ProgramError, match=r"'Sums' has no retract\(\)"):
        counts.select(udaf(Sums(), result_type="BIGINT")(col("s")).alias("all")).execute()
