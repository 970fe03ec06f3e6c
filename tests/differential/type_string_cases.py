"""Values and their declared types, for both PyFlink and Wiesel: how they print and what comes back from their serializer.

``cases`` is called with the module that has ``Types``, ``Row``, ``RowKind`` and ``Instant``: ``pyflink.common`` or ``wiesel.common``.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any, NamedTuple

FLOATS = [
    1e10, 1.0, 1e7, 9999999.0, 123456789.0, 0.001, 0.0001, 1e-5, 1.1, float("nan"), float("inf"), -0.0, 1e22, 3.4e38, 0.1 + 0.2, 100.0,
    2e-45, 4.9e-324, 1.7976931348623157e308, 2.2250738585072014e-308, 1e21, 2.0e-3, 12345.678, 9.999999e-4, 2.0**60 + 2**30, 1 / 3, -2.5e-7,
]  # fmt: skip
DAY = dt.date(2020, 1, 2)
TIME = dt.time(1, 2, 3, 456789)
STAMPS = [dt.datetime(2020, 1, 2, 3, 4, 5), dt.datetime(2020, 1, 2, 3, 4, 5, 123456), dt.datetime(2020, 1, 2, 3, 4, 5, 120000)]


class Case(NamedTuple):
    """One declared type and values of it.

    ``how``: ``print`` (declared at a map, then print), ``undeclared`` (no type, then print), ``in_tuple`` (inside a declared
    tuple, which Java prints), ``repr`` (declared at a map, ``repr`` in the next one, not chained), ``file`` (file sink with the
    simple string encoder).
    """

    name: str
    how: str
    type: Any
    values: list[Any]


def cases(api: Any) -> list[Case]:
    return [*_printed(api), *_in_tuples(api), *_returned(api), *_refused(api), *_files(api)]


def _printed(api: Any) -> list[Case]:
    t, row, kinds = api.Types, api.Row, api.RowKind
    named = t.ROW_NAMED(["a", "b"], [t.STRING(), t.INT()])
    plain = t.ROW([t.STRING(), t.INT()])
    instants = [api.Instant.of_epoch_milli(0), api.Instant.of_epoch_milli(1234567890123), api.Instant(1, 5000)]
    declared: dict[str, tuple[Any, list[Any]]] = {
        "double": (t.DOUBLE(), FLOATS),
        "float": (t.FLOAT(), FLOATS),
        "boolean": (t.BOOLEAN(), [True, False]),
        "string": (t.STRING(), ["a", "é", "", "x'y"]),
        "byte": (t.BYTE(), [5, -128]),
        "short": (t.SHORT(), [5, -(2**15)]),
        "int": (t.INT(), [5, -(2**31)]),
        "long": (t.LONG(), [5, -(2**63)]),
        "decimal": (t.BIG_DEC(), [Decimal("1.50"), Decimal("1E+5"), Decimal("1E-10"), Decimal("-0.00"), Decimal("0E-8")]),
        "date": (t.SQL_DATE(), [DAY, dt.date(1900, 1, 1)]),
        "time": (t.SQL_TIME(), [dt.time(1, 2, 3), TIME]),
        "timestamp": (t.SQL_TIMESTAMP(), STAMPS),
        "instant": (t.INSTANT(), instants),
        "tuple": (t.TUPLE([t.STRING(), t.INT()]), [("a", 1), ("b", 2)]),
        "tuple_nested": (t.TUPLE([t.STRING(), t.TUPLE([t.INT(), t.DOUBLE()])]), [("a", (1, 2.5))]),
        "list": (t.LIST(t.STRING()), [["a", "b c"], []]),
        "map": (t.MAP(t.STRING(), t.INT()), [{"a": 1, "b": 2}, {"a": None}]),
        "row": (plain, [row("x", 1), row("x", None), row.of_kind(kinds.DELETE, "x", 1), row.of_kind(kinds.UPDATE_BEFORE, "x", 1)]),
        "row_named": (named, [row("x", 1), row.of_kind(kinds.UPDATE_AFTER, "y", 2)]),
        "row_nested": (t.ROW([t.STRING(), t.ROW([t.INT(), t.DOUBLE()])]), [row("x", row(1, 2.5)), row("x", None)]),
        "row_python": (
            t.ROW([t.LIST(t.STRING()), t.MAP(t.STRING(), t.INT()), t.BOOLEAN(), t.DOUBLE()]),
            [row(["a"], {"k": 1}, True, 1e10)],
        ),
    }
    printed = [Case(f"print_{name}", "print", kind, values) for name, (kind, values) in declared.items()]
    anything = [1, 1.5, "a", ("a", 1), [1, "b"], {"k": 1}, True, None, row(1, "a"), row(f=1), DAY]
    return [*printed, Case("print_undeclared", "undeclared", None, anything)]


def _in_tuples(api: Any) -> list[Case]:
    t, row, kinds = api.Types, api.Row, api.RowKind
    inner = {
        "row": (t.ROW([t.STRING(), t.INT()]), row("x", 1)),
        "row_named": (t.ROW_NAMED(["a", "b"], [t.STRING(), t.INT()]), row("x", None)),
        "row_delete": (t.ROW([t.STRING(), t.BOOLEAN()]), row.of_kind(kinds.DELETE, "x", True)),
        "row_nested": (
            t.ROW([t.STRING(), t.ROW([t.DOUBLE(), t.LIST(t.STRING()), t.MAP(t.STRING(), t.INT())])]),
            row("x", row(1e10, ["a", "b"], {"k": 1})),
        ),
        "row_times": (
            t.ROW([t.SQL_DATE(), t.SQL_TIMESTAMP(), t.SQL_TIME(), t.BIG_DEC(), t.INSTANT(), t.FLOAT(), t.STRING()]),
            row(DAY, STAMPS[0], dt.time(1, 2, 3), Decimal("1.50"), api.Instant(0, 0), 1.5, "q"),
        ),
        "row_arrays": (
            t.ROW([t.PRIMITIVE_ARRAY(t.INT()), t.BASIC_ARRAY(t.STRING()), t.PRIMITIVE_ARRAY(t.BYTE())]),
            row([1, 2], ["a"], b"xy"),
        ),
        "ints": (t.PRIMITIVE_ARRAY(t.INT()), [1, 2]),
        "bytes": (t.PRIMITIVE_ARRAY(t.BYTE()), b"a\xff"),
        "doubles": (t.PRIMITIVE_ARRAY(t.DOUBLE()), [1.0, 1e10]),
        "booleans": (t.PRIMITIVE_ARRAY(t.BOOLEAN()), [True]),
        "strings": (t.BASIC_ARRAY(t.STRING()), ["a", "b"]),
        "objects": (t.OBJECT_ARRAY(t.ROW([t.INT(), t.STRING()])), [row(1, "b")]),
        "lists_of_ints": (t.LIST(t.LIST(t.INT())), [[1, 2]]),
        "map_of_lists": (t.MAP(t.STRING(), t.LIST(t.INT())), {"a": [1]}),
        "boolean": (t.BOOLEAN(), True),
        "timestamp": (t.SQL_TIMESTAMP(), STAMPS[2]),
    }
    return [Case(f"tuple_{name}", "in_tuple", t.TUPLE([kind]), [(value,)]) for name, (kind, value) in inner.items()]


def _returned(api: Any) -> list[Case]:
    t, row = api.Types, api.Row
    declared: dict[str, tuple[Any, list[Any]]] = {
        "int": (t.INT(), [5, True, 1.9, -1.9]),
        "int_none": (t.INT(), [None]),
        "double": (t.DOUBLE(), [1, True, 1.5]),
        "boolean": (t.BOOLEAN(), [1, True, 0, 2]),
        "float": (t.FLOAT(), [0.1, 1e300, -1e300, 1, 123456789.0]),
        "timestamp": (t.SQL_TIMESTAMP(), STAMPS),
        "time": (t.SQL_TIME(), [TIME]),
        "date": (t.SQL_DATE(), [DAY, STAMPS[0]]),
        "instant": (t.INSTANT(), [api.Instant(1, 5000), api.Instant.of_epoch_milli(1500)]),
        "decimal": (t.BIG_DEC(), [Decimal("1.50"), Decimal("1E+5")]),
        "tuple": (t.TUPLE([t.STRING(), t.FLOAT()]), [("a", 0.1)]),
        "row": (t.ROW([t.STRING(), t.INT()]), [row("a", 1), row("a", None)]),
        "row_named": (t.ROW_NAMED(["a", "b"], [t.STRING(), t.INT()]), [row("x", 1), row(b=1, a="x"), row(b=2.9, a="y")]),
        "row_nested": (t.ROW([t.STRING(), t.ROW_NAMED(["p", "q"], [t.STRING(), t.INT()])]), [row("a", row("b", 2))]),
        "list": (t.LIST(t.FLOAT()), [[0.1, 2.0], []]),
        "map": (t.MAP(t.STRING(), t.INT()), [{"a": 1}]),
        "ints": (t.PRIMITIVE_ARRAY(t.INT()), [[1, 2]]),
        "bytes": (t.PRIMITIVE_ARRAY(t.BYTE()), [b"ab"]),
        "strings": (t.BASIC_ARRAY(t.STRING()), [["a", "b"]]),
        "objects": (t.OBJECT_ARRAY(t.ROW([t.INT(), t.STRING()])), [[row(1, "b")]]),
        "pickled": (t.PICKLED_BYTE_ARRAY(), [{"a": (1, 2)}]),
    }
    return [Case(f"repr_{name}", "repr", kind, values) for name, (kind, values) in declared.items()]


def _refused(api: Any) -> list[Case]:
    t = api.Types
    declared = {
        "byte_200": (t.BYTE(), 200),
        "short_40000": (t.SHORT(), 40000),
        "int_3e9": (t.INT(), 3_000_000_000),
        "long_2_70": (t.LONG(), 2**70),
        "int_text": (t.INT(), "7"),
        "double_text": (t.DOUBLE(), "1"),
        "boolean_text": (t.BOOLEAN(), "x"),
        "string_int": (t.STRING(), 5),
        "string_bytes": (t.STRING(), b"x"),
        "tuple_none": (t.TUPLE([t.STRING(), t.INT()]), ("b", None)),
    }
    return [Case(f"refused_{name}", "repr", kind, [value]) for name, (kind, value) in declared.items()]


def _files(api: Any) -> list[Case]:
    t = api.Types
    return [
        Case("file_string", "file", t.STRING(), ["a", "b"]),
        Case("file_row", "file", t.ROW([t.STRING(), t.INT()]), [api.Row("x", 1)]),
        Case("file_tuple", "file", t.TUPLE([t.STRING(), t.INT()]), [("x", 1)]),
        Case("file_double", "file", t.DOUBLE(), [1e10]),
    ]
