"""A schema and records for the tests of Avro; without imports, as ``record_avro.py`` uses it where Wiesel is not installed."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

SCHEMA: dict[str, Any] = {
    "type": "record",
    "name": "Order",
    "namespace": "shop.orders",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "note", "type": ["null", "string"], "default": None},
        {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["OPEN", "PAID"]}},
        {"name": "counts", "type": {"type": "map", "values": "int"}},
        {
            "name": "items",
            "type": {"type": "array", "items": {"type": "record", "name": "Item", "fields": [{"name": "x", "type": "double"}]}},
        },
        {"name": "gift", "type": ["null", "Item"]},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}},
        {"name": "code", "type": {"type": "fixed", "name": "Code", "size": 2}},
        {"name": "ratio", "type": "float"},
        {"name": "good", "type": "boolean"},
    ],
}


def record(i: int) -> dict[str, Any]:
    """Return the record of a number."""
    return {
        "id": i * 1_000_003 - 5_000_000,
        "note": None if i % 3 == 0 else f"nöte {i}",
        "state": ("OPEN", "PAID")[i % 2],
        "counts": {f"k{j}": i * j for j in range(i % 3)},
        "items": [{"x": i / 2}, {"x": -0.25}][: i % 3],
        "gift": {"x": 1.5} if i % 2 else None,
        "at": datetime.datetime(2024, 1, 2, 3, 4, 5, 6000, tzinfo=datetime.timezone.utc) + datetime.timedelta(seconds=i),
        "day": datetime.date(1960 + i % 100, 2, 28),
        "price": decimal.Decimal(i * 125 - 700).scaleb(-2),
        "code": bytes([i % 256, 255 - i % 256]),
        "ratio": i / 4,
        "good": i % 5 == 0,
    }
