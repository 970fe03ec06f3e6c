"""The rows that the queries of ``sql_aggregates.txt`` read: columns by name, and what a row has of them in order.

Rows come in this order. Some are out of order in time by up to five seconds, which the watermark allows for, and three (``id`` 15, 27 and
33) by more.
"""

from __future__ import annotations

import datetime
import decimal
from typing import Any

__all__ = ["COLUMNS", "ROWS", "WATERMARK"]

COLUMNS = {
    "id": "INT",
    "k": "STRING",
    "v": "INT",
    "w": "BIGINT",
    "d": "DOUBLE",
    "f": "FLOAT",
    "m": "DECIMAL(10, 2)",
    "t": "TINYINT",
    "b": "BOOLEAN",
    "ts": "TIMESTAMP(3)",
}
WATERMARK = "ts - INTERVAL '5' SECOND"

_KEYS = ("a", "b", None, "a", "c", "b", "a")
# Seconds behind 10:00.
_TIMES = (
    *(1, 3, 2, 6, 4, 9, 12, 11, 8, 14, 19, 17, 22, 25, 9, 24, 31, 36, 33, 40),
    *(45, 44, 58, 61, 57, 66, 41, 70, 75, 72, 90, 95, 80, 103, 110, 108, 120, 150, 146, 185),
)


def _row(index: int) -> tuple[Any, ...]:
    number = (index * 37) % 23 - 7
    return (
        index + 1,
        _KEYS[index % 7],
        None if index % 5 == 3 else number,
        None if index % 11 == 4 else number * 1_000_000_007,
        None if index % 6 == 5 else number * 0.25,
        None if index % 8 == 1 else number * 0.5,
        None if index % 7 == 6 else decimal.Decimal(number * 125).scaleb(-2),
        number * 5,
        None if index % 9 == 2 else number % 2 == 0,
        datetime.datetime(2024, 1, 1, 10) + datetime.timedelta(seconds=_TIMES[index]),
    )


ROWS = [_row(index) for index in range(len(_TIMES))]
