"""The cells of the table of declared types and values: expressions that mean the same with PyFlink's names and with Wiesel's."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import importlib
from typing import Any

import numpy as np

BASIC = [
    "STRING",
    "BYTE",
    "BOOLEAN",
    "SHORT",
    "INT",
    "LONG",
    "FLOAT",
    "DOUBLE",
    "CHAR",
    "BIG_INT",
    "BIG_DEC",
    "SQL_DATE",
    "SQL_TIME",
    "SQL_TIMESTAMP",
    "INSTANT",
]

VALUES = [
    "None",
    "True",
    "False",
    "0",
    "5",
    "-5",
    "127",
    "128",
    "-129",
    "2**15",
    "2**31 - 1",
    "2**31",
    "-2**31",
    "2**63 - 1",
    "2**63",
    "1.5",
    "-1.5",
    "2.0",
    "1.23",
    "1e39",
    "float('nan')",
    "float('inf')",
    "-0.0",
    "D('1.5')",
    "D('1.50')",
    "D('1E+3')",
    "D(7)",
    "D('NaN')",
    "''",
    "'a'",
    "'ab'",
    "'5'",
    "b'ab'",
    "bytearray(b'ab')",
    "date",
    "time",
    "datetime_",
    "zoned",
    "Text('ab')",
    "Color.RED",
    "Level.LOW",
    "np.int32(5)",
    "np.int64(2**40)",
    "np.float32(1.23)",
    "np.float64(1.5)",
    "np.bool_(True)",
    "np.array([1, 2])",
    "[1, 2]",
    "(1, 2)",
    "Row(1, 2)",
    "Point(1, 2)",
    "Data(1, 2)",
    "{'a': 1}",
    "{1, 2}",
    "Whole(5)",
    "Real(1.5)",
    "Fraction(1, 2)",
    "np.str_('ab')",
    "np.array(5)",
    "np.array([1.5])",
    "np.datetime64('2024-01-02')",
    "Day(2024, 1, 2)",
    "At(2024, 1, 2, 3, 4, 5, 6000)",
    "Hour(3, 4, 5)",
    "utc",
    "zoned_time",
    "before",
    "datetime.date(1, 1, 1)",
    "datetime.date(9999, 12, 31)",
    "datetime.datetime(9999, 12, 31, 23, 59, 59, 999999)",
    "datetime.timedelta(days=1)",
    "instant",
]

CONTAINERS = {
    "{}": "{}",
    "TUPLE([Types.INT(), {}])": "(1, {})",
    "ROW([Types.INT(), {}])": "Row(1, {})",
    "LIST({})": "[{0}, {0}]",
    "OBJECT_ARRAY({})": "[{0}, None]",
    "MAP(Types.STRING(), {})": "{{'k': {}}}",
}

SHAPES = {
    "TUPLE([Types.INT(), Types.STRING()])": [
        "(1, 'a')",
        "[1, 'a']",
        "Row(1, 'a')",
        "Row(x=1, y='a')",
        "Pair(1, 'a')",
        "(1,)",
        "(1, 'a', 2)",
        "()",
        "None",
        "{'f0': 1, 'f1': 'a'}",
    ],
    "ROW([Types.INT(), Types.STRING()])": [
        "Row(1, 'a')",
        "Row(x=1, y='a')",
        "(1, 'a')",
        "[1, 'a']",
        "Pair(1, 'a')",
        "Row(1)",
        "Row(1, 'a', 2)",
        "(1,)",
        "None",
        "Row(None, None)",
    ],
    "ROW_NAMED(['x', 'y'], [Types.INT(), Types.STRING()])": [
        "Row(1, 'a')",
        "Row(x=1, y='a')",
        "Row(y='a', x=1)",
        "(1, 'a')",
        "[1, 'a']",
        "Pair(1, 'a')",
        "Row(1)",
        "Row(x=1)",
        "Row(1, 'a', 2)",
    ],
    "LIST(Types.INT())": ["[1]", "[]", "(1,)", "[None]", "[1, None]", "{1}", "range(2)", "'ab'", "np.array([1])", "None"],
    "BASIC_ARRAY(Types.INT())": ["[1]", "[]", "(1,)", "[None]", "[1, None]", "{1}", "range(2)", "'ab'", "np.array([1])"],
    "OBJECT_ARRAY(Types.INT())": ["[1]", "[]", "(1,)", "[None]", "[1, None]", "np.array([1])"],
    "PRIMITIVE_ARRAY(Types.INT())": ["[1]", "[]", "(1,)", "[None]", "[1, None]", "np.array([1])"],
    "PRIMITIVE_ARRAY(Types.BYTE())": ["b'ab'", "bytearray(b'ab')", "[1]", "[300]", "'ab'", "None"],
    "MAP(Types.STRING(), Types.INT())": ["{'a': 1}", "{}", "{'a': None}", "{None: 1}", "{1: 1}", "OrderedDict(a=1)", "[('a', 1)]"],
    "TUPLE([Types.TUPLE([Types.INT(), Types.STRING()]), Types.ROW([Types.INT()])])": [
        "((1, 'a'), Row(1))",
        "((1, None), Row(None))",
        "(None, Row(1))",
        "((1, 'a'), None)",
        "([1, 'a'], (1,))",
    ],
    "ROW([Types.TUPLE([Types.INT(), Types.STRING()]), Types.LIST(Types.INT())])": [
        "Row((1, 'a'), [1])",
        "Row(None, None)",
        "Row((1, None), [1])",
        "Row((1, 'a'), [None])",
        "Row([1, 'a'], (1,))",
    ],
}


class Text(str):
    """A subclass of str."""


class Color(enum.Enum):
    """A plain enum."""

    RED = 1


class Level(enum.IntEnum):
    """An enum of ints."""

    LOW = 1


class Whole(int):
    """A subclass of int."""


class Real(float):
    """A subclass of float."""


class Day(datetime.date):
    """A subclass of date."""


class At(datetime.datetime):
    """A subclass of datetime."""


class Hour(datetime.time):
    """A subclass of time."""


Pair = collections.namedtuple("Pair", ["x", "y"])
Point = collections.namedtuple("Point", ["x", "y"])


@dataclasses.dataclass
class Data:
    """A dataclass of two fields."""

    x: int
    y: int


def cells() -> dict[str, list[str]]:
    """Return the expressions of the values by the expression of their type."""
    table: dict[str, list[str]] = {}
    for declared, value in CONTAINERS.items():
        for basic in BASIC:
            name = declared.format(f"Types.{basic}()" if "(" in declared else f"{basic}()")
            table[name] = [value.format(expression) for expression in VALUES]
    for declared, values in SHAPES.items():
        table[declared] = table.get(declared, []) + values
    return table


def namespace(types: Any, row: Any) -> dict[str, Any]:
    """Return the names that the expressions use."""
    at = datetime.datetime(2024, 1, 2, 3, 4, 5, 678901)
    zone = datetime.timezone(datetime.timedelta(hours=2))
    common = importlib.import_module(f"{types.__module__.split('.')[0]}.common")
    return {
        "Types": types,
        "Row": row,
        "D": decimal.Decimal,
        "np": np,
        "Text": Text,
        "Color": Color,
        "Level": Level,
        "Pair": Pair,
        "Point": Point,
        "Data": Data,
        "OrderedDict": collections.OrderedDict,
        "date": at.date(),
        "time": at.time(),
        "datetime_": at,
        "zoned": at.replace(tzinfo=zone),
        "utc": at.replace(tzinfo=datetime.timezone.utc),
        "zoned_time": at.time().replace(tzinfo=zone),
        "before": datetime.datetime(1969, 12, 31, 23, 59, 59, 999999),
        "instant": common.Instant.of_epoch_milli(1_234_567_890_123),
        "datetime": datetime,
        "Fraction": fractions.Fraction,
        "Whole": Whole,
        "Real": Real,
        "Day": Day,
        "At": At,
        "Hour": Hour,
    }


def shown(value: Any) -> str:
    """Return the text by which results are compared: it shows the class of every part."""
    if isinstance(value, tuple | list) and type(value) in (tuple, list):
        return f"{type(value).__name__}({', '.join(map(shown, value))})"
    if type(value).__name__ == "Row":
        return f"Row({', '.join(map(shown, value))})"
    if type(value) is dict:
        return f"dict({', '.join(f'{shown(k)}: {shown(v)}' for k, v in value.items())})"
    return repr(value) if type(value).__module__ in ("builtins", "datetime", "decimal") else f"{type(value).__name__}: {value!r}"
