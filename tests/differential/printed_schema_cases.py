"""Tables whose schemas are printed, for both PyFlink and Wiesel; what real Flink printed is in ``goldens/printed_schemas.json``.

A case is a function of ``x``, which has the names of ``pyflink.table``, of its expressions and windows, and of the DataStream API, of a
stream environment and of a table environment on it. It returns a table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["CASES", "printed"]

Case = Callable[[Any, Any, Any], Any]


def printed(table: Any) -> list[str]:
    """Return what ``print_schema()`` prints, and the older form of the schema."""
    return [str(table.get_resolved_schema()), str(table.get_schema())]


def _row(x: Any, env: Any) -> Any:
    kind = x.Types.ROW_NAMED(["a", "b", "ts"], [x.Types.INT(), x.Types.STRING(), x.Types.LONG()])
    return env.from_collection([x.Row(1, "x", 1)], kind)


def _tuple(x: Any, env: Any) -> Any:
    return env.from_collection([(1, "x", 1)], x.Types.TUPLE([x.Types.INT(), x.Types.STRING(), x.Types.LONG()]))


def _stream(fields: Callable[[Any], list[Any]], source: Callable[[Any, Any], Any] = _row) -> Case:
    return lambda x, env, t_env: t_env.from_data_stream(source(x, env), *fields(x.col))


def _schema(build: Callable[[Any], Any]) -> Case:
    return lambda x, env, t_env: t_env.from_data_stream(_row(x, env), build(x.Schema.new_builder()).build())


def _created(columns: str) -> Case:
    def table(x: Any, env: Any, t_env: Any) -> Any:
        t_env.execute_sql(f"CREATE TEMPORARY TABLE created ({columns}) WITH ('connector' = 'datagen')")
        return t_env.from_path("created")

    return table


def _tumbled(x: Any, env: Any, t_env: Any) -> Any:
    windows = t_env.from_data_stream(_row(x, env), x.col("a"), x.col("rt").rowtime).window(
        x.Tumble.over(x.lit(5).seconds).on(x.col("rt")).alias("w")
    )
    return windows.group_by(x.col("w")).select(
        x.col("w").start.alias("ws"), x.col("w").end.alias("we"), x.col("w").rowtime.alias("wr"), x.col("a").sum.alias("s")
    )


def _windowed(x: Any, env: Any, t_env: Any) -> Any:
    t_env.create_temporary_view("timed", t_env.from_data_stream(_row(x, env), x.col("a"), x.col("rt").rowtime))
    return t_env.sql_query("SELECT * FROM TABLE(TUMBLE(TABLE timed, DESCRIPTOR(rt), INTERVAL '5' SECOND))")


def _selected(column: Callable[[Any], list[Any]], *names: str) -> Case:
    return lambda x, env, t_env: t_env.from_data_stream(_row(x, env), *column(x.col)).select(*(x.col(name) for name in names))


_ALL_TYPES = (
    "a INT NOT NULL, b ROW<x INT NOT NULL, y ARRAY<STRING>> NOT NULL, c MAP<STRING,INT>, d DECIMAL(10,2), e TIME, f DATE, g BINARY(3), "
    "h VARBINARY(5), i CHAR(2), j VARCHAR(7), k BYTES, l MULTISET<INT>, m TIMESTAMP_LTZ(6), n DOUBLE, o FLOAT, p BOOLEAN, q TINYINT, "
    "r SMALLINT"
)

CASES: dict[str, Case] = {
    "rows": _stream(lambda col: []),
    "tuples": _stream(lambda col: [], _tuple),
    "some fields": _stream(lambda col: [col("a"), col("b")]),
    "fields of tuples": _stream(lambda col: [col("x"), col("y"), col("z")], _tuple),
    "an alias": _stream(lambda col: [col("a").alias("q"), col("b")]),
    "time added": _stream(lambda col: [col("a"), col("rt").rowtime]),
    "time in the place of a field": _stream(lambda col: [col("a"), col("b"), col("ts").rowtime]),
    "clock": _stream(lambda col: [col("a"), col("pt").proctime]),
    "clock behind all fields": _stream(lambda col: [col("a"), col("b"), col("ts"), col("pt").proctime]),
    "time and clock": _stream(lambda col: [col("a"), col("rt").rowtime, col("pt").proctime]),
    "time of tuples": _stream(lambda col: [col("a"), col("b"), col("c").rowtime], _tuple),
    "clock of tuples": _stream(lambda col: [col("a"), col("b"), col("c"), col("p").proctime], _tuple),
    "time selected": _selected(lambda col: [col("a"), col("rt").rowtime], "rt", "a"),
    "clock selected": _selected(lambda col: [col("a"), col("pt").proctime], "pt", "a"),
    "computed columns": _schema(lambda s: s.column_by_expression("c", "a+1").column_by_expression("d", "CAST(b AS INT)*2")),
    "computed clock": _schema(lambda s: s.column_by_expression("p", "PROCTIME()")),
    "metadata": _schema(lambda s: s.column("a", "INT").column_by_metadata("rt", "TIMESTAMP_LTZ(3)", "rowtime")),
    "virtual metadata": _schema(lambda s: s.column("a", "INT").column_by_metadata("rt", "TIMESTAMP_LTZ(3)", "rowtime", True)),
    "watermark": _schema(lambda s: s.column_by_metadata("rowtime", "TIMESTAMP(3)").watermark("rowtime", "rowtime - INTERVAL '5' SECOND")),
    "key": _schema(lambda s: s.column("a", "INT NOT NULL").column("b", "STRING").primary_key("a")),
    "changes": lambda x, env, t_env: t_env.from_changelog_stream(_row(x, env)),
    "group window": _tumbled,
    "window of a query": _windowed,
    "elements": lambda x, env, t_env: t_env.from_elements([(1, "a")], ["x", "y"]),
    "table: spaces": _created("a INT, b AS a+1, c AS  a  *  2, d as cast( a as string ) || 'x'"),
    "table: time": _created("ts TIMESTAMP(3), watermark for ts as ts - interval '5' second"),
    "table: time computed": _created("t BIGINT, ts AS CAST(CURRENT_TIMESTAMP AS TIMESTAMP(3)), watermark for ts as ts-interval '5' second"),
    "table: clock": _created("a INT, p as proctime()"),
    "table: key": _created("a INT, b STRING, primary key (a) not enforced"),
    "table: named key": _created("a INT NOT NULL, b STRING, constraint ck primary key (a, b) not enforced"),
    "table: types": _created(_ALL_TYPES),
    "table: comments": _created("a INT COMMENT 'the a', b STRING comment 'it''s', c AS a+1 comment 'x'"),
    "table: conditions": _created(
        "a INT, c AS CASE WHEN a>1 THEN 'x' ELSE 'y' END, d AS a IN (1,2), e AS a BETWEEN 1 AND 2, f AS a IS NULL, g as not (a>=1 or a<>2)"
    ),
    "table: functions": _created(
        "a INT, s STRING, b AS UPPER(s), c AS coalesce(s,'x'), e AS DATE_FORMAT(CURRENT_TIMESTAMP,'yyyy'), f AS s LIKE 'a%', g AS -a, "
        "h AS a % 2, i AS 'it''s', j AS 1.50, k AS 1e3, l AS TRUE, m AS CAST(NULL AS INT), n AS a*(a+1)"
    ),
    "table: parts": _created(
        "a ROW<x INT, Y STRING>, b AS a.x, c AS a.Y || 'q', `d e` AS a.x + 1, f AS ARRAY[1,2], g AS MAP['a',1], h as ARRAY[1,2][1]"
    ),
    "table: times": _created(
        "a TIMESTAMP(3), b AS a + INTERVAL '1' DAY, c AS EXTRACT(YEAR FROM a), d AS CEIL(a TO HOUR), e AS TIMESTAMPADD(DAY, 1, a), "
        "f AS TIMESTAMP '2020-01-01 00:00:00', g AS CAST(a AS DATE)"
    ),
}
