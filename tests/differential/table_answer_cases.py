"""What programs get from tables: values as Python sees them, schemas and texts; for both PyFlink and Wiesel.

A case is a function of ``x``, which has the names of the Table and DataStream API, of a stream environment and of a table environment on
it; it returns strings. What real Flink returned is in ``goldens/table_answers.json``.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from typing import Any

Case = Callable[[Any, Any, Any], list[str]]
CASES: dict[str, Case] = {}


def case(function: Case) -> Case:
    CASES[function.__name__] = function
    return function


def told(table: Any) -> list[str]:
    """The rows of a table as text, in no order."""
    with table.execute().collect() as rows:
        return sorted(f"{row.get_row_kind().name} {row!r}" for row in rows)


def queried(t_env: Any, sql: str) -> list[str]:
    return told(t_env.sql_query(sql))


# Rows in rows


@case
def nested_rows(x: Any, env: Any, t_env: Any) -> list[str]:
    return queried(
        t_env,
        "SELECT ROW(1, 'x'), CAST(ROW(1, ROW('y', 2)) AS ROW<a INT, b ROW<c STRING, d INT>>), ARRAY[ROW(1, 2)], MAP['a', ROW(1, 'q')],"
        " CAST(NULL AS ROW<a INT>)",
    )


@case
def nested_rows_compared(x: Any, env: Any, t_env: Any) -> list[str]:
    with t_env.sql_query("SELECT CAST(ROW(1, 'x') AS ROW<a INT, b STRING>)").execute().collect() as rows:
        (row,) = (row[0] for row in rows)
    return [str(row == other) for other in (x.Row(1, "x"), x.Row(a=1, b="x"), x.Row(1, "y"))]


# Decimals


def decimal_row(x: Any, *types: Any) -> Any:
    return x.DataTypes.ROW([x.DataTypes.FIELD(f"f{place}", of) for place, of in enumerate(types)])


@case
def decimals_of_elements(x: Any, env: Any, t_env: Any) -> list[str]:
    texts = ("1.235", "-1.235", "1.225", "99999999.995", "99999999.994", "0.005", "-0.005", "0.004", "1", "1e3", "0")
    elements = [(Decimal(text),) for text in texts]
    return told(t_env.from_elements(elements, decimal_row(x, x.DataTypes.DECIMAL(10, 2))))


@case
def decimals_in_elements(x: Any, env: Any, t_env: Any) -> list[str]:
    short = x.DataTypes.DECIMAL(3, 2)
    kinds = (x.DataTypes.ARRAY(short), x.DataTypes.MAP(x.DataTypes.STRING(), short), decimal_row(x, short))
    element = ([Decimal("1.235"), Decimal("-1.225")], {"a": Decimal("1.245")}, x.Row(Decimal("7.775")))
    return told(t_env.from_elements([element], decimal_row(x, *kinds)))


@case
def decimals_of_functions(x: Any, env: Any, t_env: Any) -> list[str]:
    number = x.udf(lambda text: Decimal(text), result_type=x.DataTypes.DECIMAL(10, 2))
    row = x.Row  # a function that refers to ``x`` cannot be pickled
    rows = x.udf(
        lambda text: row(Decimal(text), [Decimal(text)]),
        result_type=decimal_row(x, x.DataTypes.DECIMAL(5, 1), x.DataTypes.ARRAY(x.DataTypes.DECIMAL(5, 1))),
    )
    texts = ("1.235", "-1.235", "1.225", "1.245", "1.2451", "0.005", "1e3", "1.25", "1.35")
    table = t_env.from_elements([(text,) for text in texts], ["s"])
    return told(table.select(x.col("s"), number(x.col("s")), rows(x.col("s"))))


@case
def decimals_of_table_functions(x: Any, env: Any, t_env: Any) -> list[str]:
    def numbers(text: str) -> Any:
        yield Decimal(text)

    function = x.udtf(numbers, result_types=[x.DataTypes.DECIMAL(5, 1)])
    texts = t_env.from_elements([("1.25",), ("1.35",)], ["s"])
    return told(texts.join_lateral(function(x.col("s")).alias("d")))


@case
def decimals_of_functions_too_large(x: Any, env: Any, t_env: Any) -> list[str]:
    number = x.udf(lambda text: Decimal(text), result_type=x.DataTypes.DECIMAL(10, 2))
    return told(t_env.from_elements([("123456789.129",)], ["s"]).select(number(x.col("s"))))


@case
def decimals_of_streams(x: Any, env: Any, t_env: Any) -> list[str]:
    kind = x.Types.ROW_NAMED(["f0"], [x.Types.BIG_DEC()])
    stream = env.from_collection([(Decimal("1.25"),), (Decimal("1.35"),), (Decimal("99999.99"),)], kind)
    return told(t_env.from_data_stream(stream, x.Schema.new_builder().column("f0", x.DataTypes.DECIMAL(5, 1)).build()))


# Elements and frames


@case
def elements_by_expressions(x: Any, env: Any, t_env: Any) -> list[str]:
    types = (x.DataTypes.INT(), x.DataTypes.STRING(), x.DataTypes.FLOAT())
    table = t_env.from_elements([x.row(1, "abc", 2.0), x.row(x.lit(1) + x.lit(1), x.lit("x").upper_case, 3.0)], decimal_row(x, *types))
    return [*told(table), *told(t_env.from_elements([x.row("1", 2)], decimal_row(x, x.DataTypes.INT(), x.DataTypes.STRING())))]


@case
def elements_of_both_kinds(x: Any, env: Any, t_env: Any) -> list[str]:
    return told(t_env.from_elements([x.row(1), (2,)], decimal_row(x, x.DataTypes.INT())))


def frame() -> Any:
    import pandas

    return pandas.DataFrame({"a": [1, 2], "b": ["x", "y"]})


@case
def frames_by_names(x: Any, env: Any, t_env: Any) -> list[str]:
    tables = [t_env.from_pandas(frame(), names) for names in (["p", "q"], ("p", "q"), ["p"])]
    return [line for table in tables for line in (*told(table), str(table.get_schema()))]


@case
def frames_by_types(x: Any, env: Any, t_env: Any) -> list[str]:
    table = t_env.from_pandas(frame(), [x.DataTypes.INT(), x.DataTypes.STRING()])
    return [*told(table), str(table.get_schema())]


@case
def frames_by_names_and_types(x: Any, env: Any, t_env: Any) -> list[str]:
    return told(t_env.from_pandas(frame(), ["p", x.DataTypes.STRING()]))


@case
def frames_by_one_type(x: Any, env: Any, t_env: Any) -> list[str]:
    return told(t_env.from_pandas(frame(), x.DataTypes.INT()))


def with_rows(x: Any, t_env: Any) -> Any:
    inner = x.DataTypes.ROW([x.DataTypes.FIELD("x", x.DataTypes.INT()), x.DataTypes.FIELD("y", x.DataTypes.STRING())])
    kind = x.DataTypes.ROW([x.DataTypes.FIELD("a", x.DataTypes.INT()), x.DataTypes.FIELD("b", inner)])
    return t_env.from_elements([(1, x.Row(5, "q")), (2, x.Row(6, "r"))], kind)


def columns_of(*arguments: Any) -> Any:
    import pandas

    shown = [list(each.columns) if hasattr(each, "columns") else type(each).__name__ for each in arguments]
    return pandas.Series([repr(shown)] * len(arguments[0]))


@case
def frames_of_rows_for_functions(x: Any, env: Any, t_env: Any) -> list[str]:
    function = x.udf(columns_of, result_type=x.DataTypes.STRING(), func_type="pandas")
    table = with_rows(x, t_env)
    return [*told(table.select(function(x.col("a"), x.col("b")))), *told(table.select(function(x.col("b"))))]


@case
def frames_of_whole_rows_for_map(x: Any, env: Any, t_env: Any) -> list[str]:
    def doubled(rows: Any) -> Any:
        import pandas

        return pandas.concat([rows.a, rows.x * 2], axis=1)

    row = x.DataTypes.ROW([x.DataTypes.FIELD("a", x.DataTypes.INT()), x.DataTypes.FIELD("b", x.DataTypes.INT())])
    return told(with_rows(x, t_env).map(x.udf(doubled, result_type=row, func_type="pandas")))


# Schemas


@case
def table_schema(x: Any, env: Any, t_env: Any) -> list[str]:
    kinds = (x.DataTypes.INT(False), x.DataTypes.STRING(), x.DataTypes.ARRAY(x.DataTypes.BIGINT()))
    table = t_env.from_elements([(1, "x", [1])], decimal_row(x, *kinds))
    schema = table.get_schema()
    values = [
        type(schema).__name__,
        schema,
        schema.to_row_data_type(),
        schema.to_row_data_type() == x.DataTypes.ROW([x.DataTypes.FIELD(f"f{place}", of) for place, of in enumerate(kinds)]),
        schema.to_row_data_type()
        == x.DataTypes.ROW([x.DataTypes.FIELD(f"f{place}", of) for place, of in enumerate(kinds)], nullable=False),
        schema.get_field_data_types(),
        schema.get_field_data_type("f0"),
        schema.get_field_data_type(1),
        schema.get_field_data_type("other"),
        schema.get_field_names(),
        schema.get_field_count(),
        schema.get_field_name(0),
        schema.get_field_name(9),
        schema == schema.copy(),
        schema == x.TableSchema(["f0", "f1", "f2"], list(kinds)),
        type(table.execute().get_table_schema()).__name__,
    ]
    return [str(value) for value in values]


@case
def table_schema_of_a_float(x: Any, env: Any, t_env: Any) -> list[str]:
    return [str(t_env.from_elements([(1,)], ["a"]).get_schema().get_field_data_type(1.5))]


# Windows of numbers in batch mode


def numbered(x: Any, batch: Any) -> Any:
    kinds = [("t", x.DataTypes.BIGINT()), ("v", x.DataTypes.INT()), ("k", x.DataTypes.STRING())]
    rows = [(1, 1, "a"), (2, 2, "a"), (4, 3, "b"), (11, 4, "a"), (-1, 7, "a")]
    return batch.from_elements(rows, x.DataTypes.ROW([x.DataTypes.FIELD(*each) for each in kinds]))


@case
def tumbling_windows_of_numbers(x: Any, env: Any, t_env: Any) -> list[str]:
    windowed = numbered(x, x.batch()).window(x.Tumble.over(x.lit(5).millis).on(x.col("t")).alias("w"))
    return [
        *told(windowed.group_by(x.col("w")).select(x.col("v").sum)),
        *told(windowed.group_by(x.col("w"), x.col("k")).select(x.col("k"), x.col("v").sum, x.col("v").count)),
    ]


@case
def sliding_windows_of_numbers(x: Any, env: Any, t_env: Any) -> list[str]:
    window = x.Slide.over(x.lit(5).millis).every(x.lit(2).millis).on(x.col("t")).alias("w")
    return told(numbered(x, x.batch()).window(window).group_by(x.col("w")).select(x.col("v").sum))


@case
def session_windows_of_numbers(x: Any, env: Any, t_env: Any) -> list[str]:
    window = x.Session.with_gap(x.lit(5).millis).on(x.col("t")).alias("w")
    return told(numbered(x, x.batch()).window(window).group_by(x.col("w")).select(x.col("v").sum))


@case
def windows_of_numbers_in_streams(x: Any, env: Any, t_env: Any) -> list[str]:
    windowed = numbered(x, t_env).window(x.Tumble.over(x.lit(5).millis).on(x.col("t")).alias("w"))
    return told(windowed.group_by(x.col("w")).select(x.col("v").sum))


# Tables and streams


def timed(x: Any, env: Any) -> Any:
    class OfRow(x.TimestampAssigner):  # type: ignore[misc]
        def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
            return int(value[2])

    kind = x.Types.ROW_NAMED(["id", "name", "ts"], [x.Types.INT(), x.Types.STRING(), x.Types.LONG()])
    strategy = x.WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(OfRow())
    return env.from_collection([(1, "a", 1000), (2, "b", 2000)], kind).assign_timestamps_and_watermarks(strategy)


def with_time(x: Any, t_env: Any, env: Any) -> Any:
    schema = x.Schema.new_builder().column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)").watermark("rowtime", "SOURCE_WATERMARK()").build()
    return t_env.from_data_stream(timed(x, env), schema)


def records(x: Any, stream: Any) -> list[str]:
    class Shown(x.ProcessFunction):  # type: ignore[misc]
        def process_element(self, value: Any, ctx: Any) -> Any:
            yield f"{value!r} at {ctx.timestamp()}"

    with stream.process(Shown(), x.Types.STRING()).execute_and_collect() as found:
        return sorted(found)


def target(x: Any) -> Any:
    return x.Schema.new_builder().column("id", "INT").column("name", "STRING").column("ts", "BIGINT")


@case
def records_with_time(x: Any, env: Any, t_env: Any) -> list[str]:
    return records(x, t_env.to_changelog_stream(with_time(x, t_env, env)))


@case
def records_with_time_as_metadata(x: Any, env: Any, t_env: Any) -> list[str]:
    schema = target(x).column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)").build()
    return records(x, t_env.to_changelog_stream(with_time(x, t_env, env), schema))


@case
def records_with_time_as_metadata_of_another_name(x: Any, env: Any, t_env: Any) -> list[str]:
    schema = target(x).column_by_metadata("tt", "TIMESTAMP_LTZ(3)", "rowtime").build()
    return records(x, t_env.to_changelog_stream(with_time(x, t_env, env), schema))


@case
def records_with_a_column_as_time(x: Any, env: Any, t_env: Any) -> list[str]:
    at = x.col("at").cast(x.DataTypes.TIMESTAMP_LTZ(3))
    table = t_env.from_elements([(1, "a", datetime.datetime(2020, 1, 1))], ["id", "name", "at"]).select(x.col("id"), x.col("name"), at)
    schema = x.Schema.new_builder().column("id", "BIGINT").column("name", "STRING").column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)")
    return records(x, t_env.to_changelog_stream(table, schema.build()))


@case
def records_with_unknown_metadata(x: Any, env: Any, t_env: Any) -> list[str]:
    schema = target(x).column_by_metadata("tt", "TIMESTAMP_LTZ(3)", "foo").build()
    return records(x, t_env.to_changelog_stream(with_time(x, t_env, env), schema))


# Schemas with time attributes and keys


def schemas_of(*tables: Any) -> list[str]:
    return [text for table in tables for text in (str(table.get_resolved_schema()), str(table.get_schema()))]


def untimed(x: Any, env: Any) -> Any:
    return env.from_collection([(1, "a")], x.Types.ROW_NAMED(["id", "name"], [x.Types.INT(), x.Types.STRING()]))


@case
def schemas_of_streams(x: Any, env: Any, t_env: Any) -> list[str]:
    def schema() -> Any:
        return x.Schema.new_builder()

    after = schema().column("id", "INT").column("ts", "BIGINT").column_by_expression("rt", "TO_TIMESTAMP_LTZ(ts, 3)")
    tables = (
        t_env.from_data_stream(untimed(x, env), schema().column("id", "INT").column_by_expression("p", "PROCTIME()").build()),
        t_env.from_data_stream(timed(x, env), after.watermark("rt", "rt - INTERVAL '5' SECOND").build()),
        t_env.from_data_stream(env.from_collection([1, 2], x.Types.INT())),
        t_env.from_data_stream(timed(x, env)),
    )
    with_watermark = schema().column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)").watermark("rowtime", "SOURCE_WATERMARK()").build()
    return [*schemas_of(*tables), str(t_env.from_data_stream(timed(x, env), with_watermark).get_resolved_schema())]


@case
def schemas_of_changelog_streams(x: Any, env: Any, t_env: Any) -> list[str]:
    def schema() -> Any:
        return x.Schema.new_builder()

    unnamed = env.from_collection([x.Row(1, "a")], x.Types.ROW([x.Types.INT(), x.Types.STRING()]))
    tables = (
        t_env.from_changelog_stream(untimed(x, env), schema().primary_key("id").build(), x.ChangelogMode.upsert()),
        t_env.from_changelog_stream(unnamed, schema().primary_key("f0").build(), x.ChangelogMode.upsert()),
    )
    timely = schema().column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)").watermark("rowtime", "SOURCE_WATERMARK()")
    others = (
        t_env.from_changelog_stream(timed(x, env), timely.build()),
        t_env.from_changelog_stream(timed(x, env), timely.primary_key("id").build(), x.ChangelogMode.upsert()),
    )
    return [*schemas_of(*tables), *(str(table.get_resolved_schema()) for table in others)]


@case
def upserts_with_a_primary_key_alone(x: Any, env: Any, t_env: Any) -> list[str]:
    rows = [("a", 1), ("b", 2), ("a", 3)]
    stream = env.from_collection([x.Row(*row) for row in rows], x.Types.ROW([x.Types.STRING(), x.Types.INT()]))
    return told(t_env.from_changelog_stream(stream, x.Schema.new_builder().primary_key("f0").build(), x.ChangelogMode.upsert()))


@case
def schemas_of_tables(x: Any, env: Any, t_env: Any) -> list[str]:
    t_env.execute_sql(
        "CREATE TEMPORARY TABLE generated (a INT NOT NULL, b STRING, ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS"
        " ts - INTERVAL '1' SECOND, PRIMARY KEY (a) NOT ENFORCED) WITH ('connector' = 'datagen')"
    )
    table = t_env.from_path("generated")
    t_env.create_temporary_view("selected", table.select(x.col("a"), x.col("ts"), x.col("p")))
    windows = t_env.sql_query(
        "SELECT window_start, window_end, window_time, SUM(a) AS s FROM TABLE(TUMBLE(TABLE generated, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
        " GROUP BY window_start, window_end, window_time"
    )
    return schemas_of(table, t_env.from_path("selected"), t_env.sql_query("SELECT * FROM generated"), windows)
