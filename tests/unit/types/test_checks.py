"""Which values a declared type takes, and what is said about others."""

from __future__ import annotations

import array
import datetime as dt
import decimal
from types import SimpleNamespace
from typing import Any

import pytest

from wiesel.core.durations import Instant
from wiesel.core.errors import TypeMismatchError
from wiesel.types.checks import check_all
from wiesel.types.row import Row
from wiesel.types.types import Types as T

ROW = T.ROW_NAMED(["a", "b"], [T.STRING(), T.LIST(T.INT())])
NOW = dt.datetime(2020, 1, 2, 3, 4, 5)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (T.STRING(), ["", "a"]),
        (T.BOOLEAN(), [True, False]),
        (T.BYTE(), [-128, 127]),
        (T.SHORT(), [-(2**15), 2**15 - 1]),
        (T.INT(), [-(2**31), 2**31 - 1]),
        (T.LONG(), [-(2**63), 2**63 - 1]),
        (T.BIG_INT(), [2**70, -1]),
        (T.DOUBLE(), [1.5, 1, float("nan")]),
        (T.FLOAT(), [1.5, 1]),
        (T.CHAR(), ["a"]),
        (T.BIG_DEC(), [decimal.Decimal("1.5"), 1]),
        (T.INSTANT(), [Instant(1, 0)]),
        (T.SQL_DATE(), [NOW.date(), NOW]),
        (T.SQL_TIME(), [NOW.time()]),
        (T.SQL_TIMESTAMP(), [NOW]),
        (T.LOCAL_DATE(), [NOW.date()]),
        (T.LOCAL_TIME(), [NOW.time()]),
        (T.LOCAL_DATE_TIME(), [NOW]),
        (T.PICKLED_BYTE_ARRAY(), [None, object()]),
        (T.TUPLE([T.STRING(), T.INT()]), [("a", 1), ["a", 1], Row("a", 1)]),
        (ROW, [Row("a", [1]), ("a", [1]), {"a": "x"}, Row(b=[1], a="x"), (None, None), SimpleNamespace(a="x", b=[]), ["a", None]]),
        (T.LIST(T.STRING()), [[], ["a", None], ("a",)]),
        (T.PRIMITIVE_ARRAY(T.BYTE()), [b"ab", bytearray(b"ab"), [1, -1]]),
        (T.PRIMITIVE_ARRAY(T.INT()), [[1], array.array("i", [1, 2])]),
        (T.BASIC_ARRAY(T.INT()), [[1, None]]),
        (T.OBJECT_ARRAY(ROW), [[Row("a", []), None]]),
        (T.MAP(T.STRING(), T.INT()), [{}, {"a": 1, "b": None}]),
    ],
    ids=lambda x: str(x)[:40] if not isinstance(x, list) else "",
)
def test_values_of_the_type_pass(kind: Any, values: list[Any]) -> None:
    check = kind.compile_checker()
    assert [check(value) for value in values] == [True] * len(values)


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (T.INT(), 2**31, "value is 2147483648 (int), which is not an Integer"),
        (T.INT(), 1.0, "value is 1.0 (float), which is not an Integer"),
        (T.INT(), True, "value is True (bool), which is not an Integer"),
        (T.LONG(), "7", "value is '7' (str), which is not a Long"),
        (T.BYTE(), -129, "which is not a Byte"),
        (T.STRING(), 5, "value is 5 (int), which is not a String"),
        (T.STRING(), None, "value is None (NoneType), which is not a String"),
        (T.DOUBLE(), "1", "which is not a Double"),
        (T.DOUBLE(), True, "which is not a Double"),
        (T.BOOLEAN(), 1, "which is not a Boolean"),
        (T.CHAR(), "ab", "which is not a Char"),
        (T.SQL_TIMESTAMP(), NOW.date(), "which is not a TimestampTypeInfo"),
        (T.INSTANT(), NOW, "which is not an Instant"),
        (T.TUPLE([T.STRING(), T.INT()]), ("a",), "which is not a TupleTypeInfo(String, Integer)"),
        (T.TUPLE([T.STRING(), T.INT()]), ("a", None), "value[1] is None (NoneType), which is not an Integer"),
        (ROW, ("a",), "value is ('a',) (tuple), which is not a RowTypeInfo"),
        (ROW, 5, "value is 5 (int), which is not a RowTypeInfo"),
        (ROW, Row("a", [1, "x"]), "value.b[1] is 'x' (str), which is not an Integer"),
        (ROW, {"a": 1}, "value.a is 1 (int), which is not a String"),
        (T.ROW([T.ROW([T.INT()])]), (("x",),), "value.f0.f0 is 'x' (str), which is not an Integer"),
        (T.ROW([T.ROW([T.INT()])]), ("x",), "value.f0 is 'x' (str), which is not a RowTypeInfo(Integer)"),
        (T.MAP(T.STRING(), T.INT()), {1: 2}, "key 1 of value is 1 (int), which is not a String"),
        (T.MAP(T.STRING(), T.INT()), {"k": "v"}, "value['k'] is 'v' (str), which is not an Integer"),
        (T.PRIMITIVE_ARRAY(T.INT()), [1, None], "value[1] is None (NoneType), which is not an Integer"),
        (T.LIST(T.INT()), "ab", "value is 'ab' (str), which is not a ListTypeInfo<Integer>"),
    ],
)
def test_other_values_are_refused_with_place_and_way_out(kind: Any, value: Any, message: str) -> None:
    with pytest.raises(TypeMismatchError) as e:
        kind.check(value)
    assert message in e.value.message
    assert e.value.hint


def test_a_collection_names_the_element() -> None:
    check_all(T.INT(), [1, 2], "collection")
    with pytest.raises(TypeMismatchError, match=r"collection\[2\]\.b\[0\] is 'x' \(str\)"):
        check_all(ROW, [Row("a", []), ("b", None), ("c", ["x"])], "collection")


def test_long_values_are_shortened() -> None:
    with pytest.raises(TypeMismatchError) as e:
        T.INT().check("x" * 10_000)
    assert len(str(e.value)) < 600
