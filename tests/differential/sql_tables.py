"""The tables that the queries of ``sql_joins.txt`` read: columns by name, and rows in their order."""

from __future__ import annotations

import datetime
from typing import Any

__all__ = ["TABLES", "WATERMARK"]

WATERMARK = "ts - INTERVAL '5' SECOND"


def _at(seconds: int) -> datetime.datetime:
    return datetime.datetime(2024, 5, 1, 10) + datetime.timedelta(seconds=seconds)


_ORDERS = [
    (1, "ann", "pen", 10, 1),
    (2, "bob", "ink", 25, 3),
    (3, "ann", "ink", 7, 6),
    (4, None, "pen", 10, 8),
    (5, "cid", None, None, 11),
    (6, "bob", "pen", 40, 14),
    (7, "eve", "cap", 5, 20),
    (8, "ann", "cap", 31, 24),
    (9, "dan", "ink", 12, 30),
    (10, "bob", "ink", 26, 41),
    (11, "ann", "pen", 11, 55),
    (12, None, "ink", None, 70),
]
_PEOPLE = [
    ("ann", "Rome", 31, 0),
    ("bob", "Oslo", None, 4),
    ("cid", None, 25, 9),
    ("bob", "Lima", 44, 22),
    (None, "Kiev", 50, 26),
    ("fay", "Rome", 19, 33),
    ("eve", "Oslo", 38, 47),
    ("ann", "Bern", 32, 50),
    ("zoe", "Rome", 70, 80),
]

# By name: columns and rows.
TABLES: dict[str, tuple[dict[str, str], list[tuple[Any, ...]]]] = {
    "orders": (
        {"id": "INT", "who": "STRING", "item": "STRING", "amount": "INT", "ts": "TIMESTAMP(3)"},
        [(*row[:-1], _at(row[-1])) for row in _ORDERS],
    ),
    "people": (
        {"name": "STRING", "city": "STRING", "age": "INT", "ts": "TIMESTAMP(3)"},
        [(*row[:-1], _at(row[-1])) for row in _PEOPLE],
    ),
}
