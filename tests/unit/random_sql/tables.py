"""The tables that random queries read, and their rows."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa

from tests.unit.random_sql.choices import Choices
from wiesel.columnar.arrow_types import arrow_schema
from wiesel.types.logical_parser import parse_data_type

__all__ = ["COLUMNS", "EVENTS", "TABLES", "Data", "random_data", "tables_in"]

COLUMNS = {
    "k": "INT",
    "i": "INT",
    "l": "BIGINT",
    "d": "DOUBLE",
    "n": "DECIMAL(10, 2)",
    "s": "STRING",
    "b": "BOOLEAN",
    "dt": "DATE",
    "ts": "TIMESTAMP(3)",
}
TABLES = ("t", "u", "v")
EVENTS = ("e", "f")
"""Tables with another column, ``rt``: the time of the rows, another one in each row of a table."""

_TEXTS = ("a", "b", "ab", "", "B", "ba ", "é%", "x_y")
_DAY = datetime.date(2024, 2, 28)
_TIME = datetime.datetime(2024, 2, 28, 23, 58)
_VALUES: dict[str, Any] = {
    "k": lambda number: number % 4,
    "i": lambda number: number % 13 - 4,
    "l": lambda number: (number % 9 - 2) * 1_000_000_007,
    "d": lambda number: (number % 17 - 5) / 4,
    "n": lambda number: Decimal(number % 400 - 120) / 100,
    "s": lambda number: _TEXTS[number % len(_TEXTS)],
    "b": lambda number: number % 2 == 1,
    "dt": lambda number: _DAY + datetime.timedelta(days=number % 5),
    "ts": lambda number: _TIME + datetime.timedelta(seconds=number % 7 * 47, milliseconds=number % 3 * 250),
}
_NULL = 5
"""One in so many values is NULL."""

Rows = list[tuple[Any, ...]]


@dataclass
class Data:
    """Rows by table; and for the tables without times the changes that lead to these rows, as ``(kind, row)``."""

    rows: dict[str, Rows]
    changes: dict[str, list[tuple[str, tuple[Any, ...]]]]

    @property
    def arrow(self) -> dict[str, pa.Table]:
        """The rows as tables of Arrow."""
        return {name: arrow_rows(name, rows) for name, rows in self.rows.items()}


def columns_of(table: str) -> dict[str, str]:
    """Return the columns of a table with their types."""
    return COLUMNS | {"rt": "TIMESTAMP(3)"} if table in EVENTS else COLUMNS


def tables_in(sql: str) -> list[str]:
    """Return the tables that a query reads."""
    return [name for name in (*TABLES, *EVENTS) if re.search(rf"\b(FROM|JOIN|TABLE) {name}\b", sql)]


def arrow_rows(table: str, rows: Rows) -> pa.Table:
    """Return rows of a table as Arrow's."""
    schema = arrow_schema((name, parse_data_type(of)) for name, of in columns_of(table).items())
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    return pa.Table.from_arrays([pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)], schema=schema)


def _row(choices: Choices) -> tuple[Any, ...]:
    row = []
    for name in COLUMNS:
        number = choices.below(1000)
        row.append(None if number % _NULL == 1 else _VALUES[name](number // _NULL))
    return tuple(row)


def random_data(choices: Choices) -> Data:
    """Return rows for all tables."""
    rows: dict[str, Rows] = {}
    changes: dict[str, list[tuple[str, tuple[Any, ...]]]] = {}
    for table in TABLES:
        rows[table], changes[table] = _changing(choices)
    for table in EVENTS:
        count = choices.of((6, 9, 12, 4, 10, 8, 14, 0))
        seconds = [choices.below(5) + 60 * 7 * (choices.below(40) + 1) // 3 for _ in range(count)]
        times = [_TIME + datetime.timedelta(seconds=second, milliseconds=place) for place, second in enumerate(seconds)]
        rows[table] = [(*_row(choices), time) for time in times]
    return Data(rows, changes)


def _changing(choices: Choices) -> tuple[Rows, list[tuple[str, tuple[Any, ...]]]]:
    """Return rows, and changes that leave them."""
    rows: Rows = []
    changes = []
    for _ in range(choices.of((7, 13, 16, 3, 10, 20, 9, 12, 18, 0))):
        what = choices.below(4) if rows else 0
        if what < 2:
            rows.append(_row(choices))
            changes.append(("+I", rows[-1]))
            continue
        old = rows.pop(choices.below(len(rows)))
        if what == 2:
            changes.append(("-D", old))
        else:
            rows.append(_row(choices))
            changes += [("-U", old), ("+U", rows[-1])]
    return rows, changes
