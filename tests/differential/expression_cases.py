"""Programs of the Table API, for both PyFlink and Wiesel; what real Flink made of them is in ``goldens/table_programs.json``.

A case is a function of ``x``, which has the names of ``pyflink.table``, its expressions and windows, and of ``t``, which has the tables
that :func:`tables` makes. It returns a table.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

Case = Callable[[Any, Any], Any]

PEOPLE = [
    (1, "Ann", 30, 1.5, "Vienna", True),
    (2, "Bob", None, 2.25, "Graz", False),
    (3, "Cid", 41, None, None, None),
    (4, "Dea", 30, -3.5, "Vienna", True),
    (5, None, 25, 0.0, "Linz", False),
]
ORDERS = [(10, 1, "12.50"), (11, 1, "7.25"), (12, 4, "100.00"), (13, 9, "1.00"), (14, 2, None)]
EVENTS = [
    ("a", 1, "2024-01-01 00:00:01.000"),
    ("b", 2, "2024-01-01 00:00:02.000"),
    ("a", 3, "2024-01-01 00:00:03.500"),
    ("a", 4, "2024-01-01 00:00:04.000"),
    ("b", 5, "2024-01-01 00:00:09.000"),
    ("a", 6, "2024-01-01 00:00:11.000"),
    ("b", 7, "2024-01-01 00:00:20.000"),
]
_EVENTS_DDL = """
CREATE TEMPORARY TABLE events (k STRING, v INT, s STRING, ts AS TO_TIMESTAMP(s, 'yyyy-MM-dd HH:mm:ss.SSS'), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{path}')
"""


def tables(x: Any, env: Any, folder: str) -> Any:
    """Make the tables in an environment; ``folder`` is an empty one for files."""
    with open(f"{folder}/events.csv", "w", encoding="utf-8") as file:
        file.writelines(f"{k},{v},{s}\n" for k, v, s in EVENTS)
    env.execute_sql(_EVENTS_DDL.format(path=folder))
    d = x.DataTypes
    people = d.ROW(
        [
            d.FIELD("id", d.BIGINT()),
            d.FIELD("name", d.STRING()),
            d.FIELD("age", d.INT()),
            d.FIELD("score", d.DOUBLE()),
            d.FIELD("city", d.STRING()),
            d.FIELD("ok", d.BOOLEAN()),
        ]
    )
    orders = d.ROW([d.FIELD("oid", d.INT()), d.FIELD("pid", d.BIGINT()), d.FIELD("price", d.STRING())])
    return SimpleNamespace(
        people=env.from_elements(PEOPLE, people),
        orders=env.from_elements(ORDERS, orders),
        events=env.from_path("events"),
        one=env.from_elements([(1,)], d.ROW([d.FIELD("one", d.INT())])),
        env=env,
    )


CASES: dict[str, Case] = {}
ORDERED: set[str] = set()
"""Cases whose rows come in an order; these run in batch mode only."""


def case(function: Case) -> Case:
    CASES[function.__name__] = function
    return function


def ordered(function: Case) -> Case:
    ORDERED.add(function.__name__)
    return case(function)


STREAMING: set[str] = set()
"""Cases that Flink runs in streaming mode only."""
BATCH: set[str] = set()
"""Cases that Flink runs in batch mode only."""


def streaming(function: Case) -> Case:
    STREAMING.add(function.__name__)
    return case(function)


def batch(function: Case) -> Case:
    BATCH.add(function.__name__)
    return case(function)


# Columns


@case
def select_columns(x: Any, t: Any) -> Any:
    return t.people.select(x.col("name"), t.people.id, x.col("age").alias("years"))


@case
def select_unnamed(x: Any, t: Any) -> Any:
    c = x.col
    return t.people.select(c("id") + 1, c("name"), c("age") * 2, c("id").cast(x.DataTypes.STRING()), x.lit(7), c("name").upper_case)


@case
def select_ranges(x: Any, t: Any) -> Any:
    return t.people.select(x.with_columns(x.range_("name", "score")), x.col("id"))


@case
def select_ranges_by_place(x: Any, t: Any) -> Any:
    return t.people.select(x.with_columns(x.range_(2, 3), x.col("ok")))


@case
def select_without(x: Any, t: Any) -> Any:
    return t.people.select(x.without_columns(x.col("name"), x.range_("score", "ok")))


@case
def select_all(x: Any, t: Any) -> Any:
    return t.people.select(x.with_all_columns())


@case
def select_star(x: Any, t: Any) -> Any:
    return t.people.select(x.col("*"))


@case
def add_columns(x: Any, t: Any) -> Any:
    return t.people.add_columns((x.col("age") + 1).alias("next"), x.concat(x.col("name"), "!"))


@case
def add_or_replace(x: Any, t: Any) -> Any:
    return t.people.add_or_replace_columns((x.col("age") + 1).alias("age"), x.lit("x").alias("more"))


@case
def rename_columns(x: Any, t: Any) -> Any:
    return t.people.rename_columns(x.col("age").alias("years"), x.col("ok").alias("fine"))


@case
def drop_columns(x: Any, t: Any) -> Any:
    return t.people.drop_columns(x.col("age"), x.col("ok"))


@case
def alias_all(x: Any, t: Any) -> Any:
    return t.orders.alias("a", "b", "c")


@case
def alias_some(x: Any, t: Any) -> Any:
    return t.orders.alias("a", "b")


@case
def rows_and_flatten(x: Any, t: Any) -> Any:
    made = t.orders.select(x.row(x.col("oid"), x.col("price")).alias("r"), x.col("pid"))
    return made.select(x.col("r").flatten, x.col("pid"))


@case
def fields_of_rows(x: Any, t: Any) -> Any:
    d = x.DataTypes
    kind = d.ROW([d.FIELD("x", d.INT()), d.FIELD("y", d.STRING())])
    made = t.orders.select(x.row(x.col("oid"), x.col("price")).cast(kind).alias("r"))
    return made.select(x.col("r").get("x"), x.col("r").get(1), x.col("r").y.alias("again"))


# Operators


@case
def arithmetic(x: Any, t: Any) -> Any:
    a, s = x.col("age"), x.col("score")
    return t.people.select(
        x.col("id"), (a + 1).alias("a"), (1 + a).alias("b"), (a - 2).alias("c"), (100 - a).alias("d"), (a * 3).alias("e"),
        (a / 7).alias("f"), (100 / a).alias("g"), (a % 4).alias("h"), (-a).alias("i"), (s + a).alias("j"), (s / 2).alias("k"),
        (a**2).alias("l"), (2**a).alias("m"), abs(s).alias("n"), (a + 1.5).alias("o"), (1000 % a).alias("p"),
    )  # fmt: skip


@case
def comparisons(x: Any, t: Any) -> Any:
    a, s = x.col("age"), x.col("score")
    return t.people.select(
        x.col("id"), (a == 30).alias("a"), (a != 30).alias("b"), (a < s).alias("c"), (a <= 30).alias("d"), (a > 30).alias("e"),
        (a >= 30).alias("f"), a.between(26, 35).alias("g"), a.not_between(26, 35).alias("h"), a.is_null.alias("i"),
        a.is_not_null.alias("j"), x.col("city").in_("Vienna", "Linz").alias("k"),
    )  # fmt: skip


@case
def logic(x: Any, t: Any) -> Any:
    ok, old = x.col("ok"), x.col("age") > 28
    return t.people.select(
        x.col("id"), (ok & old).alias("a"), (ok | old).alias("b"), (~ok).alias("c"), ok.is_true.alias("d"), ok.is_false.alias("e"),
        ok.is_not_true.alias("f"), ok.is_not_false.alias("g"), x.and_(ok, old, x.col("id") < 4).alias("h"),
        x.or_(ok, old, x.col("id") < 4).alias("i"), x.not_(ok).alias("j"), (True & old).alias("k"),
    )  # fmt: skip


@case
def conditions(x: Any, t: Any) -> Any:
    a = x.col("age")
    return t.people.select(
        x.col("id"), (a > 28).then("old", "young").alias("a"), x.if_then_else(x.col("ok"), a, 0).alias("b"),
        x.coalesce(a, x.col("id"), 0).alias("c"), a.if_null(-1).alias("d"), x.null_of(x.DataTypes.INT()).alias("e"),
    )  # fmt: skip


@case
def literals(x: Any, t: Any) -> Any:
    d = x.DataTypes
    return t.one.select(
        x.lit(1).alias("a"), x.lit(2**40).alias("b"), x.lit(1.5).alias("c"), x.lit("text").alias("d"), x.lit(True).alias("e"),
        x.lit(decimal.Decimal("12.345")).alias("f"), x.lit(2**40, d.BIGINT(False)).alias("g"), x.lit(None, d.INT()).alias("h"),
        x.lit("a", d.STRING(False)).alias("i"),
    )  # fmt: skip


# Functions


@case
def strings(x: Any, t: Any) -> Any:
    n = x.col("name")
    return t.people.select(
        n.upper_case.alias("a"), n.lower_case.alias("b"), n.char_length.alias("c"), n.substring(2).alias("d"), n.substring(1, 2).alias("e"),
        n.trim("A").alias("f"), n.trim_leading("A").alias("g"), n.trim_trailing("n").alias("h"), n.replace("n", "m").alias("i"),
        n.like("A%").alias("j"), n.similar("[A-C].*").alias("k"), x.lit("n").position(n).alias("l"), n.lpad(5, "*").alias("m"),
        n.rpad(5, "*").alias("n"), n.overlay("XX", 2).alias("o"), n.overlay("XX", 2, 1).alias("p"), n.regexp_replace("n+", "_").alias("q"),
        n.regexp_extract("(.)(.)", 2).alias("r"), n.to_base64.alias("s"), n.to_base64.from_base64.alias("t"),
        n.left(2).alias("v"), n.right(2).alias("w"), n.instr("n").alias("x"), n.locate("n").alias("y"), n.ltrim().alias("z"),
        n.reverse.alias("aa"), n.repeat(2).alias("ab"), n.split_index("n", 0).alias("ac"), n.init_cap.alias("ad"), (n + "!").alias("ae"),
        (n + x.col("age")).alias("af"), x.concat(n, "-", n).alias("ag"), x.concat_ws("-", n, "x").alias("ah"), n.md5.alias("ai"),
        n.sha2(256).alias("aj"), n.starts_with("A").alias("ak"), n.ends_with("n").alias("al"), n.concat("z").alias("am"),
        n.regexp("A").alias("an"), n.encode("UTF-8").decode("UTF-8").alias("ao"), n.url_encode().alias("ap"),
        x.lit(2).elt("one", "two").alias("aq"), n.translate("A", "a").alias("ar"), n.btrim().alias("at"),
        n.parse_url("HOST").alias("av"), n.regexp_count("n").alias("aw"), n.regexp_substr("n").alias("ax"), n.like("A!%", "!").alias("ay"),
    )  # fmt: skip


@case
def mathematics(x: Any, t: Any) -> Any:
    a, s = x.col("age"), x.col("score")
    return t.people.select(
        a.exp.alias("a"), a.log10.alias("b"), a.log2.alias("c"), a.ln.alias("d"), a.log().alias("e"), a.log(2).alias("f"),
        a.sqrt.alias("g"), s.abs.alias("h"), s.sign.alias("i"), s.floor().alias("j"), s.ceil().alias("k"), s.round(1).alias("l"),
        s.sin.alias("m"), s.cos.alias("n"), s.tan.alias("o"), a.bin.alias("p"), a.hex.alias("q"), s.truncate(1).alias("r"),
        s.degrees.alias("s"), s.radians.alias("t"), x.pi().alias("u"), x.e().alias("v"), x.atan2(s, 2).alias("w"), s.sinh.alias("x"),
        s.tanh.alias("y"), x.log(a, 2).alias("z"), x.negative(a).alias("aa"), s.atan.alias("ab"), s.truncate().alias("ac"),
    )  # fmt: skip


@case
def collections(x: Any, t: Any) -> Any:
    a = x.array(3, 1, 2, 3)
    m = x.map_("k", 1, "l", 2)
    return t.one.select(
        a.alias("a"), a.at(1).alias("b"), a[2].alias("c"), a.cardinality.alias("d"), x.array(1).element.alias("e"), m.at("k").alias("f"),
        m.cardinality.alias("g"), m.map_keys.alias("h"), m.map_values.alias("i"), a.array_contains(2).alias("j"),
        a.array_position(2).alias("l"), a.array_append(9).alias("m"), a.array_prepend(9).alias("n"), a.array_remove(3).alias("o"),
        a.array_union(x.array(7)).alias("p"), a.array_max().alias("q"), a.array_min().alias("r"), a.array_except(x.array(3)).alias("s"),
        a.array_intersect(x.array(3)).alias("t"), x.map_from_arrays(x.array(1, 2), x.array("a", "b")).alias("u"), m.map_entries.alias("v"),
        x.lit("a,b").split(",").alias("w"),
    )  # fmt: skip


@case
def times(x: Any, t: Any) -> Any:
    ts, unit = x.col("ts"), x.expression.TimeIntervalUnit
    point = x.expression.TimePointUnit
    return t.events.select(
        x.col("v"), ts.extract(unit.MINUTE).alias("a"), ts.floor(unit.HOUR).alias("b"), ts.ceil(unit.DAY).alias("c"),
        (ts + x.lit(1).day).alias("d"), (ts - x.lit(2).hours).alias("e"), (ts + x.lit(3).months).alias("f"),
        x.date_format(ts, "yyyy/MM/dd").alias("g"), x.timestamp_diff(point.SECOND, x.lit("2024-01-01").to_date, ts).alias("h"),
        ts.cast(x.DataTypes.DATE()).alias("i"), (x.lit("2024-01-05").to_date - x.lit(1).week).alias("j"),
        x.lit("2024-01-01 00:00:00").to_timestamp.alias("ab"),
        x.convert_tz("2024-01-01 00:00:00", "UTC", "Europe/Vienna").alias("l"), x.to_date("2024-03-01").alias("m"),
        x.to_timestamp("2024-03-01 01:02:03").alias("n"), (ts + x.lit(90).seconds).alias("o"), (ts + x.lit(1500).millis).alias("p"),
        x.temporal_overlaps(ts, x.lit(1).hour, ts, x.lit(2).hours).alias("q"), ts.extract(unit.YEAR).alias("r"),
        (ts + x.lit(1).year).alias("s"), (ts + x.lit(1).quarter).alias("t"), (ts + x.lit(1).minute).alias("u"),
        x.from_unixtime(44).alias("w"), x.unix_timestamp("1970-01-01 00:00:44").alias("y"),
    )  # fmt: skip


@case
def json(x: Any, t: Any) -> Any:
    d, e = x.DataTypes, x.expression
    j = x.lit('{"a": 1, "b": [1, 2], "c": {"d": "x"}}')
    value = e.JsonValueOnEmptyOrError
    return t.one.select(
        j.json_value("$.a").alias("a"), j.json_value("$.a", d.INT()).alias("b"),
        j.json_value("$.z", d.INT(), value.DEFAULT, 7).alias("c"), j.json_query("$.b").alias("d"),
        j.json_query("$.c.d", e.JsonQueryWrapper.UNCONDITIONAL_ARRAY).alias("e"), j.json_exists("$.c").alias("f"),
        j.json_exists("$.x", e.JsonExistsOnError.TRUE).alias("g"), j.is_json().alias("h"), j.is_json(e.JsonType.ARRAY).alias("i"),
        x.json_string(x.lit(1.5)).alias("j"), x.lit('a"b').json_quote().alias("n"),
        j.json_query("$.z", on_empty=e.JsonQueryOnEmptyOrError.EMPTY_ARRAY).alias("p"),
    )  # fmt: skip


@case
def casts(x: Any, t: Any) -> Any:
    d = x.DataTypes
    p = x.col("price")
    return t.orders.select(
        p.cast(d.DECIMAL(10, 2)).alias("a"), p.try_cast(d.INT()).alias("b"), x.col("oid").cast(d.DOUBLE()).alias("c"),
        x.lit("x").try_cast(d.INT()).alias("e"), (p.cast(d.DECIMAL(10, 2)) * 2).alias("f"), (x.col("pid") / 2).alias("g"),
    )  # fmt: skip


@case
def calls_by_name(x: Any, t: Any) -> Any:
    return t.people.select(x.call("UPPER", x.col("name")), x.call_sql("age + 1").alias("n"), x.call("power", x.col("age"), 2).alias("p"))


@case
def types_without_length(x: Any, t: Any) -> Any:
    casts = ", ".join(f"CAST({value} AS {kind}) AS {kind.lower()}_" for value, kind in (
        ("'abc'", "VARCHAR"), ("X'010203'", "VARBINARY"), ("'abc'", "CHAR"), ("1.5", "DECIMAL"), ("'abc'", "STRING")))  # fmt: skip
    return t.env.sql_query(f"SELECT {casts}, CAST(NULL AS ARRAY<VARCHAR>) AS texts")


# Rows


@case
def filter_rows(x: Any, t: Any) -> Any:
    return t.people.filter(x.col("age") > 28).where(x.col("city") == "Vienna")


@case
def distinct_rows(x: Any, t: Any) -> Any:
    return t.people.select(x.col("city"), x.col("ok")).distinct()


@case
def in_table(x: Any, t: Any) -> Any:
    return t.people.filter(x.col("id").in_(t.orders.select(x.col("pid")))).select(x.col("id"))


@case
def join_inner(x: Any, t: Any) -> Any:
    return t.people.join(t.orders, x.col("id") == x.col("pid")).select(x.col("name"), x.col("oid"))


@case
def join_then_where(x: Any, t: Any) -> Any:
    return t.people.join(t.orders).where((x.col("id") == x.col("pid")) & (x.col("oid") > 10)).select(x.col("name"), x.col("oid"))


@case
def join_left(x: Any, t: Any) -> Any:
    return t.people.left_outer_join(t.orders, x.col("id") == x.col("pid")).select(x.col("name"), x.col("oid"), x.col("price"))


@case
def join_right(x: Any, t: Any) -> Any:
    return t.people.right_outer_join(t.orders, x.col("id") == x.col("pid")).select(x.col("name"), x.col("oid"))


@case
def join_full(x: Any, t: Any) -> Any:
    return t.people.full_outer_join(t.orders, x.col("id") == x.col("pid"))


@case
def set_union(x: Any, t: Any) -> Any:
    ids = t.people.select(x.col("id"))
    return ids.union(t.orders.select(x.col("pid")))


@case
def set_union_all(x: Any, t: Any) -> Any:
    return t.people.select(x.col("id")).union_all(t.orders.select(x.col("pid")))


@case
def set_intersect(x: Any, t: Any) -> Any:
    return t.people.select(x.col("id")).intersect(t.orders.select(x.col("pid")))


@case
def set_intersect_all(x: Any, t: Any) -> Any:
    return t.orders.select(x.col("pid")).intersect_all(t.orders.filter(x.col("oid") < 13).select(x.col("pid")))


@case
def set_minus_all(x: Any, t: Any) -> Any:
    return t.orders.select(x.col("pid")).minus_all(t.people.select(x.col("id")))


@case
def set_minus_all_in_sql(x: Any, t: Any) -> Any:
    return t.env.sql_query("(VALUES (1), (1), (1), (2), (3)) EXCEPT ALL (VALUES (1), (3), (3), (4))")


@case
def set_minus(x: Any, t: Any) -> Any:
    return t.people.select(x.col("id")).minus(t.orders.select(x.col("pid")))


@ordered
def sort(x: Any, t: Any) -> Any:
    return t.people.order_by(x.col("age").desc, x.col("name").asc).select(x.col("name"), x.col("age"))


@ordered
def sort_and_limit(x: Any, t: Any) -> Any:
    return t.people.order_by(x.col("score")).offset(1).fetch(3)


@ordered
def sort_and_limit_at_once(x: Any, t: Any) -> Any:
    return t.people.order_by(x.col("id").desc).limit(2, 1)


# Groups


@case
def group(x: Any, t: Any) -> Any:
    a = x.col("age")
    return t.people.group_by(x.col("city")).select(
        x.col("city"), a.sum, a.count.alias("n"), a.avg.alias("avg"), a.min.alias("lo"), a.max.alias("hi"), a.sum0.alias("s0"),
        x.lit(1).count.alias("rows"), (a.max - a.min).alias("span"), a.sum.distinct.alias("sd"), a.count.distinct.alias("cd"),
    )  # fmt: skip


@case
def group_unnamed(x: Any, t: Any) -> Any:
    a = x.col("age")
    return t.people.group_by(x.col("city")).select(x.col("city"), a.count, a.max + 1, a.min)


@case
def group_by_expression(x: Any, t: Any) -> Any:
    return t.people.group_by((x.col("age") % 2).alias("odd")).select(x.col("odd"), x.col("id").count.alias("n"))


@case
def group_of_all(x: Any, t: Any) -> Any:
    s = x.col("score")
    return t.people.select(s.sum.alias("a"), s.stddev_pop.alias("b"), s.var_samp.alias("c"), s.var_pop.alias("d"), s.stddev_samp.alias("e"))


@case
def group_collect(x: Any, t: Any) -> Any:
    return t.people.group_by(x.col("city")).select(x.col("city"), x.col("age").collect.alias("c"), x.col("id").array_agg.alias("ids"))


@case
def group_twice(x: Any, t: Any) -> Any:
    counts = t.people.group_by(x.col("city")).select(x.col("city"), x.col("id").count.alias("n"))
    return counts.group_by(x.col("n")).select(x.col("n"), x.col("city").count.alias("cities"))


# Windows


@case
def window_tumble(x: Any, t: Any) -> Any:
    windowed = t.events.window(x.Tumble.over(x.lit(5).seconds).on(x.col("ts")).alias("w"))
    w = x.col("w")
    return windowed.group_by(x.col("k"), w).select(x.col("k"), w.start, w.end, w.rowtime.alias("r"), x.col("v").sum.alias("s"))


@case
def window_slide(x: Any, t: Any) -> Any:
    windowed = t.events.window(x.Slide.over(x.lit(10).seconds).every(x.lit(5).seconds).on(x.col("ts")).alias("w"))
    return windowed.group_by(x.col("w"), x.col("k")).select(x.col("k"), x.col("w").end.alias("e"), x.col("v").count.alias("n"))


@case
def window_slide_uneven(x: Any, t: Any) -> Any:
    windowed = t.events.window(x.Slide.over(x.lit(5).seconds).every(x.lit(2).seconds).on(x.col("ts")).alias("w"))
    return windowed.group_by(x.col("w"), x.col("k")).select(x.col("k"), x.col("w").start.alias("e"), x.col("v").sum.alias("n"))


@streaming
def window_session(x: Any, t: Any) -> Any:
    windowed = t.events.window(x.Session.with_gap(x.lit(3).seconds).on(x.col("ts")).alias("w"))
    w = x.col("w")
    return windowed.group_by(x.col("k"), w).select(x.col("k"), w.start.alias("a"), w.end.alias("b"), x.col("v").max.alias("m"))


@case
def window_of_all(x: Any, t: Any) -> Any:
    windowed = t.events.window(x.Tumble.over(x.lit(1).minute).on(x.col("ts")).alias("w"))
    return windowed.group_by(x.col("w")).select(x.col("w").start.alias("a"), (x.col("v").sum * 2).alias("twice"))


@streaming
def over_rows(x: Any, t: Any) -> Any:
    over = x.Over.partition_by(x.col("k")).order_by(x.col("ts")).preceding(x.row_interval(1)).following(x.CURRENT_ROW).alias("w")
    return t.events.over_window(over).select(x.col("k"), x.col("v"), x.col("v").sum.over(x.col("w")).alias("s"))


@streaming
def over_range(x: Any, t: Any) -> Any:
    over = x.Over.partition_by(x.col("k")).order_by(x.col("ts")).preceding(x.lit(3).seconds).following(x.CURRENT_RANGE).alias("w")
    return t.events.over_window(over).select(x.col("k"), x.col("v"), x.col("v").count.over(x.col("w")))


@streaming
def over_unbounded(x: Any, t: Any) -> Any:
    over = x.Over.order_by(x.col("ts")).preceding(x.UNBOUNDED_ROW).alias("w")
    w = x.col("w")
    return t.events.over_window(over).select(x.col("v"), (x.col("v").max.over(w) + 1).alias("m"), x.col("v").avg.over(w).alias("a"))


@streaming
def over_default(x: Any, t: Any) -> Any:
    over = x.Over.partition_by(x.col("k")).order_by(x.col("ts")).alias("w")
    return t.events.over_window(over).select(x.col("v"), x.col("v").min.over(x.col("w")).alias("m"))


# Functions of users


def _functions(x: Any) -> Any:  # noqa: C901 - one function after the other
    d = x.DataTypes
    # Functions are sent to workers with all that they name.
    row_of, list_view, map_view = x.Row, x.ListView, x.MapView

    @x.udf(result_type=d.BIGINT())
    def twice(number: Any) -> Any:
        return None if number is None else 2 * number

    @x.udf(result_type=d.DOUBLE(), func_type="pandas")
    def halved(series: Any) -> Any:
        return series / 2

    @x.udf(result_type=d.ROW([d.FIELD("who", d.STRING()), d.FIELD("size", d.INT())]))
    def described(row: Any) -> Any:
        return row_of(f"{row.name}/{row.id}", None if row.name is None else len(row.name))

    @x.udtf(result_types=[d.STRING(), d.INT()])
    def letters(text: Any) -> Any:
        for place, letter in enumerate(text or ""):
            if letter != "b":
                yield letter, place

    @x.udtf(result_types=[d.STRING()])
    def one_or_none(row: Any) -> Any:
        if row.city == "Graz":
            return None
        return [row.city, row[1]] if row.id == 1 else row.city

    class WeightedAverage(x.AggregateFunction):  # type: ignore[misc]
        def create_accumulator(self) -> Any:
            return row_of(0, 0)

        def accumulate(self, accumulator: Any, value: Any, weight: Any) -> None:
            if value is not None:
                accumulator[0] += value * weight
                accumulator[1] += weight

        def retract(self, accumulator: Any, value: Any, weight: Any) -> None:
            if value is not None:
                accumulator[0] -= value * weight
                accumulator[1] -= weight

        def get_value(self, accumulator: Any) -> Any:
            return None if accumulator[1] == 0 else accumulator[0] // accumulator[1]

        def get_result_type(self) -> Any:
            return d.BIGINT()

        def get_accumulator_type(self) -> Any:
            return d.ROW([d.FIELD("f0", d.BIGINT()), d.FIELD("f1", d.BIGINT())])

    class CountAndSum(x.AggregateFunction):  # type: ignore[misc]
        def create_accumulator(self) -> Any:
            return row_of(0, 0)

        def accumulate(self, accumulator: Any, row: Any) -> None:
            accumulator[0] += 1
            accumulator[1] += row.age or 0

        def get_value(self, accumulator: Any) -> Any:
            return row_of(accumulator[0], accumulator[1])

        def get_result_type(self) -> Any:
            return d.ROW([d.FIELD("a", d.BIGINT()), d.FIELD("b", d.BIGINT())])

        def get_accumulator_type(self) -> Any:
            return d.ROW([d.FIELD("a", d.BIGINT()), d.FIELD("b", d.BIGINT())])

    class Distinct(x.AggregateFunction):  # type: ignore[misc]
        def create_accumulator(self) -> Any:
            return row_of(list_view(), map_view())

        def accumulate(self, accumulator: Any, value: Any) -> None:
            if value is not None:
                accumulator[0].add(value)
                accumulator[1][value] = accumulator[1][value] + 1 if value in accumulator[1] else 1

        def get_value(self, accumulator: Any) -> Any:
            counts = ",".join(f"{key}:{count}" for key, count in sorted(accumulator[1].items()))
            return f"{len(list(accumulator[0]))} {counts}"

        def get_result_type(self) -> Any:
            return d.STRING()

        def get_accumulator_type(self) -> Any:
            return d.ROW([d.FIELD("l", d.LIST_VIEW(d.INT())), d.FIELD("m", d.MAP_VIEW(d.INT(), d.INT()))])

    class Top2(x.TableAggregateFunction):  # type: ignore[misc]
        def create_accumulator(self) -> Any:
            return [None, None]

        def accumulate(self, accumulator: Any, value: Any) -> None:
            if value is None:
                return
            if accumulator[0] is None or value > accumulator[0]:
                accumulator[0], accumulator[1] = value, accumulator[0]
            elif accumulator[1] is None or value > accumulator[1]:
                accumulator[1] = value

        def emit_value(self, accumulator: Any) -> Any:
            for place, value in enumerate(accumulator):
                if value is not None:
                    yield row_of(value, place)

        def get_result_type(self) -> Any:
            return d.ROW([d.FIELD("top", d.BIGINT()), d.FIELD("place", d.INT())])

        def get_accumulator_type(self) -> Any:
            return d.ARRAY(d.BIGINT())

    @x.udaf(result_type=d.DOUBLE(), func_type="pandas")
    def mean(series: Any) -> Any:
        return series.mean()

    return SimpleNamespace(
        twice=twice, halved=halved, described=described, letters=letters, one_or_none=one_or_none, mean=mean,
        weighted=x.udaf(WeightedAverage()), count_sum=x.udaf(CountAndSum()), distinct=x.udaf(Distinct()), top2=x.udtaf(Top2()),
    )  # fmt: skip


@case
def udf_scalar(x: Any, t: Any) -> Any:
    f = _functions(x)
    return t.people.select(x.col("id"), f.twice(x.col("age")), f.twice(x.col("id") + 1).alias("b"), f.halved(x.col("score")).alias("c"))


@case
def udf_by_name(x: Any, t: Any) -> Any:
    t.env.create_temporary_function("doubled", _functions(x).twice)
    return t.people.select(x.call("doubled", x.col("id")).alias("d"), x.call_sql("doubled(id) + 1").alias("e"))


@case
def udf_in_filter(x: Any, t: Any) -> Any:
    return t.people.where(_functions(x).twice(x.col("id")) > 5).select(x.col("id"))


@case
def udf_map_rows(x: Any, t: Any) -> Any:
    return t.people.map(_functions(x).described)


@case
def udtf_lateral(x: Any, t: Any) -> Any:
    joined = t.people.join_lateral(_functions(x).letters(x.col("name")).alias("letter", "place"))
    return joined.select(x.col("id"), x.col("letter"), x.col("place"))


@case
def udtf_left_lateral(x: Any, t: Any) -> Any:
    joined = t.people.left_outer_join_lateral(_functions(x).letters(x.col("name")).alias("letter", "place"))
    return joined.select(x.col("id"), x.col("letter"), x.col("place"))


@case
def udtf_flat_map(x: Any, t: Any) -> Any:
    return t.people.flat_map(_functions(x).letters(x.col("city")))


@case
def udtf_of_rows(x: Any, t: Any) -> Any:
    return t.people.flat_map(_functions(x).one_or_none).alias("found")


@case
def udtf_in_sql(x: Any, t: Any) -> Any:
    t.env.create_temporary_function("letters", _functions(x).letters)
    return t.env.sql_query(f"SELECT id, l, p FROM {t.people}, LATERAL TABLE(letters(name)) AS t (l, p) WHERE p > 0")


@case
def udtf_in_sql_left(x: Any, t: Any) -> Any:
    t.env.create_temporary_function("letters", _functions(x).letters)
    return t.env.sql_query(f"SELECT id, l FROM {t.people} LEFT JOIN LATERAL TABLE(letters(name)) AS t (l, p) ON TRUE")


@streaming
def udaf_group(x: Any, t: Any) -> Any:
    f = _functions(x)
    a, grouped = x.col("age"), t.people.group_by(x.col("city"))
    return grouped.select(x.col("city"), f.weighted(a, x.col("id")), f.distinct(a).alias("d"), x.col("id").max.alias("m"))


@streaming
def udaf_over_changes(x: Any, t: Any) -> Any:
    counts = t.people.group_by(x.col("city")).select(x.col("city"), x.col("id").max.alias("n"), x.col("id").count.alias("c"))
    return counts.select(_functions(x).weighted(x.col("n"), x.col("c")).alias("all"))


@streaming
def udaf_in_sql(x: Any, t: Any) -> Any:
    t.env.create_temporary_function("weighted", _functions(x).weighted)
    return t.env.sql_query(f"SELECT city, weighted(age, id) AS w FROM {t.people} GROUP BY city HAVING weighted(age, id) > 26")


@streaming
def udaf_aggregate(x: Any, t: Any) -> Any:
    counted = t.people.group_by(x.col("city")).aggregate(_functions(x).count_sum.alias("cnt", "total"))
    return counted.select(x.col("city"), x.col("cnt"), x.col("total"))


@streaming
def udaf_aggregate_all(x: Any, t: Any) -> Any:
    return t.people.aggregate(_functions(x).count_sum.alias("cnt", "total")).select(x.col("cnt"), x.col("total"))


@streaming
def udtaf_group(x: Any, t: Any) -> Any:
    top = t.people.group_by(x.col("city")).flat_aggregate(_functions(x).top2(x.col("age").cast(x.DataTypes.BIGINT())).alias("v", "p"))
    return top.select(x.col("city"), x.col("v"), x.col("p"))


@streaming
def udtaf_all(x: Any, t: Any) -> Any:
    return t.people.flat_aggregate(_functions(x).top2(x.col("id"))).select(x.col("top"), x.col("place"))


@batch
def udaf_pandas_group(x: Any, t: Any) -> Any:
    return t.people.group_by(x.col("city")).select(x.col("city"), _functions(x).mean(x.col("id")).alias("m"))


@case
def udaf_pandas_window(x: Any, t: Any) -> Any:
    windowed = t.events.window(x.Tumble.over(x.lit(5).seconds).on(x.col("ts")).alias("w")).group_by(x.col("k"), x.col("w"))
    return windowed.select(x.col("k"), x.col("w").end.alias("e"), _functions(x).mean(x.col("v")).alias("m"))


@streaming
def udaf_window(x: Any, t: Any) -> Any:
    windowed = t.events.window(x.Tumble.over(x.lit(5).seconds).on(x.col("ts")).alias("w")).group_by(x.col("k"), x.col("w"))
    return windowed.select(x.col("k"), x.col("w").start.alias("e"), _functions(x).weighted(x.col("v"), x.col("v")).alias("m"))
