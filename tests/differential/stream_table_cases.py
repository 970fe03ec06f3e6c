"""Programs that go from streams to tables and back, for both PyFlink and Wiesel; what real Flink made of them is in
``goldens/stream_tables.json``.

A case is a function of ``x``, which has the names of ``pyflink.table``, of its expressions and windows, and of the DataStream API, of a
stream environment and of a table environment on it. It returns a table or a stream.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Case = Callable[[Any, Any, Any], Any]
CASES: dict[str, Case] = {}


def case(function: Case) -> Case:
    CASES[function.__name__] = function
    return function


def prices(x: Any, env: Any, *, timed: bool = False) -> Any:
    names, times = ("Alice", "Bob", "Alice", "Bob", "Bob", "Alice"), (1000, 4000, 3000, 2000, 8000, 10000)
    rows = list(zip(times, names, (110.5, 30.25, 20.0, 53.0, 16.0, 2.0), strict=True))
    kind = x.Types.ROW_NAMED(["at", "name", "price"], [x.Types.LONG(), x.Types.STRING(), x.Types.DOUBLE()])
    stream = env.from_collection(rows, kind)
    if not timed:
        return stream

    class OfRow(x.TimestampAssigner):  # type: ignore[misc]
        def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
            return int(value[0])

    strategy = x.WatermarkStrategy.for_bounded_out_of_orderness(x.Duration.of_seconds(2)).with_timestamp_assigner(OfRow())
    return stream.assign_timestamps_and_watermarks(strategy)


def changes(x: Any, env: Any, rows: list[tuple[Any, ...]]) -> Any:
    def row(kind: Any, *values: Any) -> Any:
        made = x.Row(*values)
        made.set_row_kind(kind)
        return made

    return env.from_collection([row(*each) for each in rows], x.Types.ROW_NAMED(["k", "v"], [x.Types.STRING(), x.Types.INT()]))


def tumbled(x: Any, table: Any, time: str) -> Any:
    windowed = table.window(x.Tumble.over(x.lit(5).seconds).on(x.col(time)).alias("w")).group_by(x.col("name"), x.col("w"))
    return windowed.select(x.col("name"), x.col("w").end.alias("till"), x.col("price").sum.alias("sum"))


@case
def without_schema(x: Any, env: Any, t_env: Any) -> Any:
    return t_env.from_data_stream(prices(x, env))


@case
def computed_time(x: Any, env: Any, t_env: Any) -> Any:
    schema = (
        x.Schema.new_builder()
        .column_by_expression("ts", "TO_TIMESTAMP_LTZ(`at`, 3)")
        .column("name", "STRING")
        .column("price", x.DataTypes.DOUBLE())
        .watermark("ts", "ts - INTERVAL '2' SECOND")
        .build()
    )
    return tumbled(x, t_env.from_data_stream(prices(x, env), schema), "ts")


@case
def columns_of_a_schema(x: Any, env: Any, t_env: Any) -> Any:
    schema = x.Schema.new_builder().column("price", "DOUBLE NOT NULL").column_by_expression("twice", "`at` * 2").column("name", "STRING")
    return t_env.from_data_stream(prices(x, env), schema.build())


@case
def only_further_columns(x: Any, env: Any, t_env: Any) -> Any:
    return t_env.from_data_stream(prices(x, env), x.Schema.new_builder().column_by_expression("twice", "price * 2").build())


@case
def time_of_the_stream(x: Any, env: Any, t_env: Any) -> Any:
    schema = x.Schema.new_builder().column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)").watermark("rowtime", "SOURCE_WATERMARK()").build()
    return tumbled(x, t_env.from_data_stream(prices(x, env, timed=True), schema), "rowtime")


@case
def time_of_the_stream_as_a_column(x: Any, env: Any, t_env: Any) -> Any:
    schema = x.Schema.new_builder().column("name", "STRING").column_by_metadata("rt", "TIMESTAMP_LTZ(3)", "rowtime").build()
    return t_env.from_data_stream(prices(x, env, timed=True), schema).select(x.col("name"), x.col("rt").cast(x.DataTypes.STRING()))


@case
def fields_with_time(x: Any, env: Any, t_env: Any) -> Any:
    table = t_env.from_data_stream(prices(x, env, timed=True), x.col("name"), x.col("price"), x.col("rt").rowtime)
    return tumbled(x, table, "rt")


@case
def fields_renamed(x: Any, env: Any, t_env: Any) -> Any:
    return t_env.from_data_stream(prices(x, env), x.col("a"), x.col("b"), x.col("c"))


@case
def view_of_a_stream(x: Any, env: Any, t_env: Any) -> Any:
    t_env.create_temporary_view("prices", prices(x, env), x.Schema.new_builder().column("name", "STRING").column("price", "DOUBLE").build())
    return t_env.sql_query("SELECT name, SUM(price) AS s FROM prices GROUP BY name")


@case
def all_changes(x: Any, env: Any, t_env: Any) -> Any:
    kind = x.RowKind
    rows = [(kind.INSERT, "a", 1), (kind.INSERT, "b", 2), (kind.UPDATE_BEFORE, "a", 1), (kind.UPDATE_AFTER, "a", 5), (kind.DELETE, "b", 2)]
    return t_env.from_changelog_stream(changes(x, env, rows)).select(x.col("v").sum.alias("s"), x.col("k").count.alias("n"))


@case
def upserts(x: Any, env: Any, t_env: Any) -> Any:
    kind = x.RowKind
    new = kind.UPDATE_AFTER
    rows = [(kind.INSERT, "a", 1), (new, "b", 2), (new, "a", 5), (kind.DELETE, "b", None), (kind.INSERT, "c", 7)]
    schema = x.Schema.new_builder().column("k", "STRING NOT NULL").column("v", "INT").primary_key("k").build()
    return t_env.from_changelog_stream(changes(x, env, rows), schema, x.ChangelogMode.upsert())


@case
def rows_of_a_table(x: Any, env: Any, t_env: Any) -> Any:
    table = t_env.from_data_stream(prices(x, env)).select(x.col("name"), (x.col("price") * 2).alias("twice"))
    return t_env.to_data_stream(table)


@case
def rows_with_their_time(x: Any, env: Any, t_env: Any) -> Any:
    schema = (
        x.Schema.new_builder()
        .column("name", "STRING")
        .column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)")
        .watermark("rowtime", "SOURCE_WATERMARK()")
        .build()
    )
    table = t_env.from_data_stream(prices(x, env, timed=True), schema)

    class Time(x.ProcessFunction):  # type: ignore[misc]
        def process_element(self, value: Any, ctx: Any) -> Any:
            yield f"{value[0]} {ctx.timestamp()}"

    return t_env.to_data_stream(table).process(Time(), output_type=x.Types.STRING())


@case
def changes_of_a_table(x: Any, env: Any, t_env: Any) -> Any:
    table = t_env.from_data_stream(prices(x, env)).group_by(x.col("name")).select(x.col("name"), x.col("price").max.alias("m"))
    return t_env.to_changelog_stream(table)


@case
def changes_as_upserts(x: Any, env: Any, t_env: Any) -> Any:
    table = t_env.from_data_stream(prices(x, env)).group_by(x.col("name")).select(x.col("name"), x.col("price").sum.alias("s"))
    schema = x.Schema.new_builder().column("name", "STRING NOT NULL").column("s", "DOUBLE").primary_key("name").build()
    return t_env.to_changelog_stream(table, schema, x.ChangelogMode.upsert())


@case
def pairs_of_changes(x: Any, env: Any, t_env: Any) -> Any:
    table = t_env.from_data_stream(prices(x, env)).group_by(x.col("name")).select(x.col("name"), x.col("price").count.alias("n"))
    return t_env.to_retract_stream(table, x.Types.ROW([x.Types.STRING(), x.Types.LONG()]))


@case
def appended_tuples(x: Any, env: Any, t_env: Any) -> Any:
    table = t_env.from_data_stream(prices(x, env)).select(x.col("name"), x.col("price"))
    return t_env.to_append_stream(table, x.Types.TUPLE([x.Types.STRING(), x.Types.DOUBLE()]))


@case
def undeclared_values(x: Any, env: Any, t_env: Any) -> Any:
    return t_env.from_data_stream(env.from_collection([1, "a", 2.5, None, True]))


@case
def undeclared_tuples(x: Any, env: Any, t_env: Any) -> Any:
    return t_env.from_data_stream(env.from_collection([(1, "a"), (2, "b")]))


@case
def undeclared_rows(x: Any, env: Any, t_env: Any) -> Any:
    return t_env.from_data_stream(env.from_collection([x.Row(1, "a"), x.Row(name="b")]))


@case
def undeclared_results(x: Any, env: Any, t_env: Any) -> Any:
    stream = env.from_collection([1, 2], x.Types.INT()).map(lambda n: {"n": [n, str(n)]})
    return t_env.from_data_stream(stream, x.Schema.new_builder().column_by_expression("twice", "1 + 1").build())


@case
def undeclared_values_compared(x: Any, env: Any, t_env: Any) -> Any:
    t_env.create_temporary_view("values_of_any_type", env.from_collection([3, 1, "a", 3]))
    return t_env.sql_query(
        "SELECT a.f0, COUNT(*), TYPEOF(a.f0), ARRAY[a.f0], COALESCE(a.f0, a.f0), a.f0 = a.f0 "
        "FROM values_of_any_type AS a JOIN values_of_any_type AS b ON a.f0 = b.f0 GROUP BY a.f0"
    )


@case
def undeclared_fields(x: Any, env: Any, t_env: Any) -> Any:
    stream = env.from_collection([1, 2], x.Types.INT()).map(lambda n: n, x.Types.INT())
    fields = x.Types.TUPLE([x.Types.INT(), x.Types.PICKLED_BYTE_ARRAY()])
    return t_env.from_data_stream(stream.map(lambda n: (n, complex(n, 1)), fields))


@case
def tuples_in_tuples(x: Any, env: Any, t_env: Any) -> Any:
    kind = x.Types.TUPLE([x.Types.INT(), x.Types.TUPLE([x.Types.INT(), x.Types.STRING()])])
    table = t_env.from_data_stream(env.from_collection([(1, (2, "x")), (3, (4, None))], kind))
    return table.select(x.col("f1").get("f0").alias("n"), x.col("f1").get(1).alias("s"))


@case
def appended_rows(x: Any, env: Any, t_env: Any) -> Any:
    table = t_env.from_data_stream(prices(x, env)).select(x.col("name"), x.col("price"))
    rows = t_env.to_append_stream(table, x.Types.ROW([x.Types.STRING(), x.Types.DOUBLE()]))
    return rows.map(lambda row: f"{row.f0} {row.f1}", x.Types.STRING())


@case
def appended_rows_with_names(x: Any, env: Any, t_env: Any) -> Any:
    table = t_env.from_data_stream(prices(x, env)).select(x.col("name"), x.col("price"))
    rows = t_env.to_append_stream(table, x.Types.ROW_NAMED(["price", "n"], [x.Types.STRING(), x.Types.DOUBLE()]))
    return rows.map(lambda row: f"{row.price} {row.n}", x.Types.STRING())


@case
def floats(x: Any, env: Any, t_env: Any) -> Any:
    third = x.udf(lambda number: number / 3, result_type=x.DataTypes.FLOAT())
    t_env.create_temporary_function("third", third)
    values = (
        "CAST(1.23 AS FLOAT) AS f, ARRAY[CAST(1.23 AS FLOAT)] AS a, ROW(CAST(0.1 AS FLOAT)) AS r, "
        "MAP[CAST(0.1 AS FLOAT), CAST(1.23 AS FLOAT)] AS m"
    )
    t_env.create_temporary_view("of_floats", t_env.sql_query(f"SELECT {values}"))
    return t_env.sql_query(
        "SELECT f, a, r, m, CAST(16777217 AS FLOAT), CAST(1e-10 AS FLOAT), CAST(3.4e38 AS FLOAT), CAST(NULL AS FLOAT), CAST(f AS DOUBLE), "
        "CAST(f AS STRING), f + 1, f * 2, third(f), ARRAY[ROW(f)] FROM of_floats"
    )


@case
def time_of_fields(x: Any, env: Any, t_env: Any) -> Any:
    t_env.get_config().set("table.local-time-zone", "Asia/Tokyo")
    table = t_env.from_data_stream(prices(x, env, timed=True), x.col("name"), x.col("at").rowtime)
    return table.select(x.col("name"), x.col("at").cast(x.DataTypes.STRING()).alias("shown"), x.col("at").cast(x.DataTypes.TIMESTAMP(3)))
