"""Expressions of the Table API in schemas mean what they mean elsewhere."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import pytest

from wiesel.common import Configuration
from wiesel.core.errors import ProgramError
from wiesel.table import DataTypes, EnvironmentSettings, Schema, TableDescriptor, TableEnvironment
from wiesel.table.expressions import call_sql, col, concat, lit, source_watermark, to_timestamp
from wiesel.table.udf import udf

N, TEXT = col("n"), lit("it's")
EXPRESSIONS = {
    "sum": N * 2 + 1,
    "negative": -N,
    "wide": N + lit(2**40),
    "real": N / 4.5,
    "decimal": N * decimal.Decimal("1.25"),
    "text": concat(TEXT, N.cast(DataTypes.STRING())),
    "truth": (N > 1) & ~(N == 3) | N.is_null,
    "chosen": (N > 1).then("many", "few"),
    "nothing": lit(None, DataTypes.INT()),
    "day": lit(datetime.date(2024, 2, 29)),
    "later": to_timestamp("2024-02-29 00:00:00") + lit(1500).millis,
    "months": to_timestamp("2024-02-29 00:00:00") + lit(3).months,
    "written": call_sql("n + 1") * 2,
    "tried": TEXT.try_cast(DataTypes.INT()),
}


def environment() -> TableEnvironment:
    configuration = Configuration().set("wiesel.engine", "local").set("execution.runtime-mode", "BATCH")
    return TableEnvironment.create(EnvironmentSettings.new_instance().with_configuration(configuration).build())


def of_schema(add: Any) -> TableDescriptor:
    builder = Schema.new_builder().column("n", DataTypes.INT())
    add(builder)
    descriptor = TableDescriptor.for_connector("datagen").schema(builder.build())
    return descriptor.option("fields.n.kind", "sequence").option("fields.n.start", 1).option("fields.n.end", 3).build()


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_computed_columns_have_the_values_of_select(name: str) -> None:
    t_env = environment()
    table = t_env.from_descriptor(of_schema(lambda builder: builder.column_by_expression("x", EXPRESSIONS[name])))
    wanted = table.select(N, EXPRESSIONS[name].alias("x")).to_arrow().sort_by("n")
    assert table.to_arrow().sort_by("n").to_pylist() == wanted.to_pylist()


def test_the_watermark_is_an_expression_too() -> None:
    def add(builder: Schema.Builder) -> None:
        builder.column_by_expression("ts", to_timestamp("2024-01-01 00:00:00")).watermark("ts", col("ts") - lit(5).seconds)

    schema = environment().from_descriptor(of_schema(add)).select(col("ts")).get_resolved_schema()
    assert "`ts` TIMESTAMP(3)" in str(schema)
    shown = of_schema(add).get_schema()
    assert "WATERMARK FOR `ts` AS [(`ts` - INTERVAL '5' SECOND)]" in str(shown)
    assert "SOURCE_WATERMARK()" in str(Schema.new_builder().watermark("ts", source_watermark()).build())


def test_what_has_no_text_is_refused() -> None:
    with pytest.raises(ProgramError, match="an expression with UserCall cannot be kept with a table"):
        Schema.new_builder().column_by_expression("x", udf(abs, result_type="INT")(N))
