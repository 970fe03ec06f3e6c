"""Types, schemas, descriptors and generated tables, for both PyFlink and Wiesel.

The functions are called with a module that has the names of ``pyflink.table``, and ``Types`` and ``ConfigOptions`` of ``pyflink.common``.
What real Flink made of the cases is in ``goldens/table_api.json``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

INT_MAX = 2**31 - 1


def data_types(d: Any) -> dict[str, Any]:
    """Every factory of ``DataTypes``, with and without null, and combinations of them."""
    plain = {
        "null": d.NULL(),
        "char": d.CHAR(3),
        "char_1": d.CHAR(1),
        "varchar": d.VARCHAR(7),
        "varchar_max": d.VARCHAR(INT_MAX),
        "string": d.STRING(),
        "boolean": d.BOOLEAN(),
        "binary": d.BINARY(4),
        "varbinary": d.VARBINARY(9),
        "bytes": d.BYTES(),
        "decimal": d.DECIMAL(10, 2),
        "decimal_38": d.DECIMAL(38, 18),
        "tinyint": d.TINYINT(),
        "smallint": d.SMALLINT(),
        "int": d.INT(),
        "bigint": d.BIGINT(),
        "float": d.FLOAT(),
        "double": d.DOUBLE(),
        "date": d.DATE(),
        "time": d.TIME(),
        "time_3": d.TIME(3),
        "timestamp": d.TIMESTAMP(),
        "timestamp_0": d.TIMESTAMP(0),
        "timestamp_9": d.TIMESTAMP(9),
        "timestamp_ltz": d.TIMESTAMP_LTZ(3),
        "timestamp_with_local_time_zone": d.TIMESTAMP_WITH_LOCAL_TIME_ZONE(),
        "array": d.ARRAY(d.INT()),
        "array_of_arrays": d.ARRAY(d.ARRAY(d.STRING(False)), False),
        "map": d.MAP(d.STRING(), d.DOUBLE()),
        "multiset": d.MULTISET(d.INT()),
        "row_empty": d.ROW(),
        "row": d.ROW([d.FIELD("a", d.INT()), d.FIELD("b c", d.ROW([d.FIELD("tick`s", d.DATE(False))]))]),
        "row_described": d.ROW([d.FIELD("a", d.INT(), "what it is")]),
        "row_wide": d.ROW([d.FIELD(f"field_{i}", d.VARCHAR(i + 1)) for i in range(12)]),
        "list_view": d.LIST_VIEW(d.INT()),
        "map_view": d.MAP_VIEW(d.STRING(), d.INT()),
    }
    return {**plain, **_not_null(d), **_intervals(d)}


def _not_null(d: Any) -> dict[str, Any]:
    return {
        "char_not_null": d.CHAR(2, nullable=False),
        "string_not_null": d.STRING(nullable=False),
        "bytes_not_null": d.BYTES(False),
        "boolean_not_null": d.BOOLEAN(False),
        "decimal_not_null": d.DECIMAL(5, 0, False),
        "int_not_null": d.INT(False),
        "int_not_null_later": d.INT().not_null(),
        "int_null_again": d.INT(False).nullable(),
        "timestamp_not_null": d.TIMESTAMP(3, False),
        "timestamp_ltz_not_null": d.TIMESTAMP_LTZ(3, False),
        "array_of_not_null": d.ARRAY(d.INT(False)),
        "map_not_null": d.MAP(d.STRING(False), d.INT(), False),
        "multiset_not_null": d.MULTISET(d.STRING(), False),
        "row_not_null": d.ROW([d.FIELD("a", d.INT(False))], False),
    }


def _intervals(d: Any) -> dict[str, Any]:
    second, minute, hour, day, month, year = d.SECOND(), d.MINUTE(), d.HOUR(), d.DAY(), d.MONTH(), d.YEAR()
    given = {
        "year": (year,),
        "year_4": (d.YEAR(4),),
        "month": (month,),
        "year_month": (year, month),
        "day": (day,),
        "day_6": (d.DAY(6),),
        "day_hour": (day, hour),
        "day_minute": (day, minute),
        "day_second": (day, second),
        "day_second_9": (d.DAY(3), d.SECOND(9)),
        "hour": (hour,),
        "hour_minute": (hour, minute),
        "hour_second": (hour, d.SECOND(3)),
        "minute": (minute,),
        "minute_second": (minute, second),
        "second": (second,),
        "second_3": (d.SECOND(3),),
    }
    return {f"interval_{name}": d.INTERVAL(*resolutions) for name, resolutions in given.items()}


TYPE_STRINGS = [
    "CHAR", "char(3)", "CHARACTER(4)", "VARCHAR", "VARCHAR(5)", "CHARACTER VARYING(6)", "STRING", "BOOLEAN", "BINARY", "BINARY(2)",
    "VARBINARY", "VARBINARY(3)", "BINARY VARYING(4)", "BYTES", "DECIMAL", "DECIMAL(5)", "DEC(5, 2)", "NUMERIC(38,18)", "TINYINT",
    "SMALLINT", "INT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "DOUBLE PRECISION", "DATE", "TIME", "TIME(3)",
    "TIME(3) WITHOUT TIME ZONE", "TIMESTAMP", "TIMESTAMP(3)", "TIMESTAMP WITHOUT TIME ZONE", "TIMESTAMP(3) WITH LOCAL TIME ZONE",
    "TIMESTAMP_LTZ", "TIMESTAMP_LTZ(3)", "INTERVAL YEAR", "INTERVAL YEAR(4)", "INTERVAL MONTH", "INTERVAL YEAR(3) TO MONTH",
    "INTERVAL DAY", "INTERVAL DAY(4) TO HOUR", "INTERVAL DAY TO MINUTE", "INTERVAL DAY(2) TO SECOND(3)", "INTERVAL HOUR",
    "INTERVAL HOUR TO MINUTE", "INTERVAL HOUR TO SECOND(9)", "INTERVAL MINUTE", "INTERVAL MINUTE TO SECOND", "INTERVAL SECOND",
    "INTERVAL SECOND(3)", "ARRAY<INT>", "ARRAY<INT NOT NULL> NOT NULL", "INT ARRAY", "INT NOT NULL ARRAY", "INT ARRAY ARRAY NOT NULL",
    "MULTISET<STRING>", "STRING MULTISET", "MAP<STRING, ARRAY<INT>>", "ROW<a INT, `b c` STRING NOT NULL>", "ROW(a INT, b STRING)",
    "ROW<INT, BOOLEAN>", "ROW<a INT 'what it is', b ROW<c DATE>>", "ROW<>", "ROW()", "NULL", "INT NULL", "int not null",
    "  BIGINT   NOT\tNULL ", "ROW<`tick``s` INT>",
]  # fmt: skip

BAD_TYPE_STRINGS = [
    "", "INTT", "ARRAY<INT", "INT INT", "CHAR(0)", "CHAR(x)", "DECIMAL(39)", "DECIMAL(5, 6)", "TIMESTAMP(10)", "TIME(-1)", "MAP<INT>",
    "ROW<a>", "ROW<a INT", "INTERVAL WEEK", "INTERVAL MONTH TO YEAR", "INTERVAL YEAR(5)", "VARCHAR(", "`INT", "INT NOT", "my.own.Type",
    "CHAR(99999999999)", "ROW<a INT, a INT>", "INTERVAL DAY(0)", "TIMESTAMP WITH", "<INT>",
]  # fmt: skip


def schemas(api: Any) -> dict[str, Callable[[], Any]]:
    """Schemas, to be printed."""
    d, new = api.DataTypes, api.Schema.new_builder
    one = new().column("a", "INT").build()
    return {
        "empty": lambda: new().build(),
        "columns": lambda: new().column("a", d.INT()).column("b c", "BIGINT NOT NULL").column("tick`s", d.STRING(False)).build(),
        "metadata": lambda: new().column_by_metadata("m", d.STRING()).column_by_metadata("n", "INT", "key", True).build(),
        "metadata_virtual": lambda: new().column_by_metadata("m", d.STRING(), is_virtual=True).build(),
        "primary_key": lambda: new().column("a", d.INT(False)).column("b", d.INT(False)).primary_key("b", "a").build(),
        "primary_key_named": lambda: new().column("a", d.INT(False)).primary_key_named("my key", "a").build(),
        "primary_key_twice": lambda: new().column("a", d.INT(False)).primary_key("a").primary_key("a"),
        "primary_key_of_nothing": lambda: new().column("a", d.INT(False)).primary_key(),
        "from_schema": lambda: new().from_schema(one).column("b", d.INT()).build(),
        "from_fields": lambda: new().from_fields(["a", "b"], [d.INT(), d.STRING(False)]).build(),
        "from_fields_mismatch": lambda: new().from_fields(["a", "b"], [d.INT()]),
        "from_row": lambda: new().from_row_data_type(d.ROW([d.FIELD("x", d.INT()), d.FIELD("y", d.ROW([d.FIELD("z", d.DATE())]))])).build(),
        "from_something_else": lambda: new().from_row_data_type(d.INT()),
        "column_without_name": lambda: new().column(None, d.INT()),
        "type_that_is_not_known_yet": lambda: new().column("a", "FOO BAR").build(),
    }


def descriptors(api: Any) -> dict[str, Callable[[], Any]]:
    """Descriptors of tables and formats, to be printed."""
    schema = api.Schema.new_builder().column("a", api.DataTypes.INT()).column("b", "STRING").build()
    table, fmt = api.TableDescriptor.for_connector, api.FormatDescriptor.for_format
    key = api.ConfigOptions.key
    return {
        "bare": lambda: table("datagen").build(),
        "schema": lambda: table("datagen").schema(schema).build(),
        "options": lambda: table("datagen").option("z", "1").option("a'b", "it's").option("z", "2").build(),
        "config_option": lambda: table("datagen").option(key("n").int_type().no_default_value(), 5).build(),
        "config_option_bool": lambda: table("datagen").option(key("n").boolean_type().default_value(False), True).build(),
        "partitioned": lambda: table("datagen").schema(schema).partitioned_by("b", "a").build(),
        "comment": lambda: table("datagen").schema(schema).comment("it's mine").build(),
        "everything": lambda: table("x").schema(schema).comment("c").partitioned_by("a").option("k", "v").format("json").build(),
        "format": lambda: table("x").format("json").build(),
        "format_descriptor": lambda: table("x").format(fmt("json").option("a.b", "c").build()).build(),
        "format_for_an_option": lambda: table("x").format(
            fmt("json").option("a", "b").build(), key("value.format").string_type().no_default_value()
        ).build(),
        "format_alone": lambda: fmt("json").option("b", "2").option("a", "1").build(),
        "format_bare": lambda: fmt("csv").build(),
        "option_without_value": lambda: table("x").option("a", None),
    }


class Table(NamedTuple):
    """A table that is generated: its columns and options. ``rows``: run it, and compare the rows."""

    columns: dict[str, Any]
    options: dict[str, str]
    rows: bool = False


def _fields(**fields: dict[str, str]) -> dict[str, str]:
    return {f"fields.{name}.{key.replace('_', '-')}": value for name, options in fields.items() for key, value in options.items()}


def _sequence(start: str, end: str) -> dict[str, str]:
    return {"kind": "sequence", "start": start, "end": end}


def generated(d: Any) -> dict[str, Table]:
    """Generated tables whose rows are known, and such as cannot be."""
    few = {"number-of-rows": "3"}
    numbers = {"t": d.TINYINT(), "s": d.SMALLINT(), "i": d.INT(), "b": d.BIGINT(), "f": d.FLOAT(), "d": d.DOUBLE()}
    same = {"min": "7", "max": "7"}
    nothing = {name: {"null_rate": "1"} for name in (*numbers, "c", "v", "bo", "ts", "dec")}
    row = d.ROW([d.FIELD("x", d.INT()), d.FIELD("y", d.ROW([d.FIELD("z", d.INT())]))])
    runs = {
        "sequences": Table(numbers, _fields(**{name: _sequence("-2", "3") for name in numbers}), rows=True),
        "sequence_of_text": Table(
            {"v": d.STRING(), "c": d.CHAR(2), "y": d.BYTES()},
            _fields(v=_sequence("9", "11"), c=_sequence("9", "11"), y=_sequence("-1", "1")),
            rows=True,
        ),
        "sequence_of_one": Table({"a": d.INT()}, _fields(a=_sequence("5", "5")), rows=True),
        "sequences_end_with_the_shortest": Table(
            {"a": d.INT(), "b": d.BIGINT()}, _fields(a=_sequence("1", "5"), b=_sequence("10", "12")), rows=True
        ),
        "sequence_and_number_of_rows": Table({"a": d.INT()}, {**_fields(a=_sequence("1", "5")), "number-of-rows": "2"}, rows=True),
        "sequence_and_more_rows": Table({"a": d.INT()}, {**_fields(a=_sequence("1", "3")), "number-of-rows": "9"}, rows=True),
        "one_value": Table({"i": d.INT()}, {**_fields(i=same), **few}, rows=True),
        "nulls": Table(
            {**numbers, "c": d.CHAR(2), "v": d.STRING(), "bo": d.BOOLEAN(), "ts": d.TIMESTAMP(3), "dec": d.DECIMAL(5, 2)},
            {**_fields(**nothing), **few}, rows=True,
        ),
        "no_rows": Table({"a": d.INT()}, {"number-of-rows": "0"}, rows=True),
        "no_columns": Table({}, few, rows=True),
        "nested": Table(
            {"arr": d.ARRAY(d.INT()), "empty": d.ARRAY(d.STRING()), "m": d.MAP(d.INT(), d.INT()), "r": row},
            {**_fields(arr={"length": "2", "element.min": "1", "element.max": "1"}, empty={"length": "0"}, m={"length": "3", "key.min": "4",
             "key.max": "4", "value.min": "6", "value.max": "6"}, r={"x.min": "1", "x.max": "1", "y.z.min": "2", "y.z.max": "2"}), **few},
            rows=True,
        ),
        "types_as_text": Table(
            {"a": "INT NOT NULL", "b": "ROW<x INT>"}, {**_fields(a=same, b={"x.min": "1", "x.max": "1"}), **few}, rows=True
        ),
    }  # fmt: skip
    return {**runs, **_refused(d, few)}


def _refused(d: Any, few: dict[str, str]) -> dict[str, Table]:
    one = {"a": d.INT()}

    def table(of: Any = None, **options: str) -> Table:
        return Table(one if of is None else {"a": of}, {**few, **_fields(a=options)})

    return {
        "unknown_option": Table(one, {"foo": "1", "zoo": "2", **few}),
        "unknown_field": Table(one, {**few, **_fields(b={"kind": "random"})}),
        "misspelt_option": table(lenght="3"),
        "start_of_random": table(start="3"),
        "minimum_of_a_sequence": table(min="1", **_sequence("1", "3")),
        "unknown_kind": table(kind="foo"),
        "sequence_without_start": Table(one, {**few, **_fields(a={"kind": "sequence"})}),
        "sequence_without_end": Table(one, {**few, **_fields(a={"kind": "sequence", "start": "1"})}),
        "not_a_number": table(min="x"),
        "number_too_large": table(min="3000000000"),
        "rate_not_a_number": Table(one, {"rows-per-second": "x", **few}),
        "parallelism_of_none": Table(one, {"scan.parallelism": "0", **few}),
        "length_of_char": table(d.CHAR(3), length="2"),
        "length_beyond_the_type": table(d.VARCHAR(3), length="5"),
        "varying_length_of_int": table(var_len="true"),
        "varying_length_of_char": table(d.CHAR(3), var_len="true"),
        "varying_length_not_boolean": table(d.STRING(), var_len="maybe"),
        "sequence_of_timestamps": table(d.TIMESTAMP(3), **_sequence("1", "3")),
        "sequence_of_dates": table(d.DATE(), **_sequence("1", "3")),
        "sequence_of_booleans": table(d.BOOLEAN(), **_sequence("1", "3")),
        "sequence_of_arrays": table(d.ARRAY(d.INT()), **_sequence("1", "3")),
        "past_not_a_duration": table(d.TIMESTAMP(3), max_past="5 parsecs"),
        "null_rate_not_a_number": table(null_rate="often"),
        "nulls_of_type_null": table(d.NULL()),
        "unknown_type": table("INTT"),
    }


def supported(d: Any) -> dict[str, tuple[Any, str]]:
    """Types and kinds of fields: which options has each?"""
    kinds = {
        "BOOLEAN": d.BOOLEAN(), "CHAR": d.CHAR(3), "VARCHAR": d.VARCHAR(3), "STRING": d.STRING(), "BINARY": d.BINARY(3),
        "VARBINARY": d.VARBINARY(3), "BYTES": d.BYTES(), "TINYINT": d.TINYINT(), "SMALLINT": d.SMALLINT(), "INT": d.INT(),
        "BIGINT": d.BIGINT(), "FLOAT": d.FLOAT(), "DOUBLE": d.DOUBLE(), "DECIMAL": d.DECIMAL(5, 2), "DATE": d.DATE(), "TIME": d.TIME(),
        "TIMESTAMP": d.TIMESTAMP(3), "TIMESTAMP_LTZ": d.TIMESTAMP_LTZ(3), "ARRAY": d.ARRAY(d.INT()), "MULTISET": d.MULTISET(d.STRING()),
        "MAP": d.MAP(d.STRING(), d.BYTES()), "ROW": d.ROW([d.FIELD("x", d.INT()), d.FIELD("y", d.ARRAY(d.DATE()))]),
    }  # fmt: skip
    without = {"BOOLEAN", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ", "ARRAY", "MULTISET", "MAP", "ROW"}
    return {
        **{f"random {name}": (kind, "random") for name, kind in kinds.items()},
        **{f"sequence {name}": (kind, "sequence") for name, kind in kinds.items() if name not in without},
    }


def stream_types(t: Any) -> dict[str, Any]:
    """Types of streams that become tables."""
    return {
        "row_named": t.ROW_NAMED(["x", "y"], [t.INT(), t.STRING()]),
        "row": t.ROW([t.LONG(), t.DOUBLE()]),
        "tuple": t.TUPLE([t.LONG(), t.BIG_DEC(), t.STRING()]),
        **{kind.lower(): getattr(t, kind)() for kind in ("STRING", "BYTE", "BOOLEAN", "SHORT", "INT", "LONG", "FLOAT", "DOUBLE")},
        **{kind.lower(): getattr(t, kind)() for kind in ("BIG_DEC", "INSTANT", "SQL_DATE", "SQL_TIME", "SQL_TIMESTAMP")},
        **{f"row_of_{kind.lower()}": t.ROW([getattr(t, kind)()]) for kind in ("BYTE", "BOOLEAN", "FLOAT", "INSTANT", "SQL_TIMESTAMP")},
        "ints": t.ROW([t.PRIMITIVE_ARRAY(t.INT())]),
        "bytes": t.ROW([t.PRIMITIVE_ARRAY(t.BYTE())]),
        "strings": t.ROW([t.BASIC_ARRAY(t.STRING())]),
        "longs": t.ROW([t.BASIC_ARRAY(t.LONG())]),
        "objects": t.ROW([t.OBJECT_ARRAY(t.ROW([t.INT()]))]),
        "map": t.ROW([t.MAP(t.STRING(), t.INT())]),
        "list": t.ROW([t.LIST(t.STRING())]),
        "row_in_row": t.ROW([t.ROW_NAMED(["a", "b"], [t.INT(), t.STRING()])]),
    }


PATHS = [
    "t", "T", "db.t", "c.db.t", "`my t.a`", "`a``b`.t", " t ", "a . b", "t1_$", "été", "select", "1a", "", "a b", "`a", "a.b.c.d", "a..b",
    ".a", "a.", "``", "a-b",
]  # fmt: skip
