"""Turns result records into JSON that keeps their types, and compares multisets of it.

Used on both sides: by the recorder, which sees the records of real Flink, and by the parity tests, which see Wiesel's. So it
imports neither; rows are recognised by their shape (a class called ``Row`` with values and, sometimes, field names).
"""

from __future__ import annotations

import datetime
import decimal
import enum
import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

MULTISET_LINES_SHOWN = 40


def canonical(value: Any) -> Any:
    """Returns a JSON-able form of ``value`` in which equal JSON means equal value and equal type.

    Raises:
        TypeError: ``value`` is of a type no program should emit, because its equality across engines is not defined.
    """
    if value is None or isinstance(value, bool | str) or type(value) is int:
        return value
    for types, name, encode in _SCALARS:
        if isinstance(value, types):
            return {name: encode(value)}
    if isinstance(value, tuple):
        return {"__tuple__": [canonical(item) for item in value]}
    if isinstance(value, list):
        return [canonical(item) for item in value]
    if isinstance(value, dict):
        return {"__dict__": sorted(([canonical(k), canonical(v)] for k, v in value.items()), key=encoded)}
    if isinstance(value, set | frozenset):
        return {"__set__": sorted((canonical(item) for item in value), key=encoded)}
    if type(value).__name__ == "Row":
        return _canonical_row(value)
    raise TypeError(f"A record of type {type(value).__qualname__} has no canonical form: {value!r}; emit plain values, tuples or rows.")


def _canonical_row(row: Any) -> dict[str, Any]:
    # PyFlink's Row looks unknown attributes up in its fields, so the names are taken from its __dict__; Wiesel's has slots instead.
    names = vars(row).get("_fields") if hasattr(row, "__dict__") else getattr(row, "_fields", None)
    result: dict[str, Any] = {"__row__": [canonical(item) for item in row], "names": list(names) if names is not None else None}
    kind = row.get_row_kind().name
    if kind != "INSERT":
        result["kind"] = kind
    return result


# datetime is a date, so it must come first.
_SCALARS: tuple[tuple[Any, str, Any], ...] = (
    (float, "__float__", repr),
    ((bytes, bytearray), "__bytes__", lambda v: bytes(v).hex()),
    (decimal.Decimal, "__decimal__", str),
    (datetime.datetime, "__datetime__", datetime.datetime.isoformat),
    (datetime.date, "__date__", datetime.date.isoformat),
    (datetime.time, "__time__", datetime.time.isoformat),
    (datetime.timedelta, "__timedelta_us__", lambda v: v // datetime.timedelta(microseconds=1)),
    (enum.Enum, "__enum__", lambda v: v.name),
)


def encoded(value: Any) -> str:
    """Returns one line of JSON for a canonical value; the order of keys is fixed."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))


def multiset(records: Iterable[Any]) -> list[Any]:
    """Returns the canonical forms of ``records`` in an order that depends on their content only."""
    return sorted((canonical(record) for record in records), key=encoded)


def difference(expected: Iterable[Any], actual: Iterable[Any]) -> str:
    """Returns a readable difference of two lists of canonical values taken as multisets; the empty string when they are equal."""
    wanted = Counter(encoded(item) for item in expected)
    got = Counter(encoded(item) for item in actual)
    lines = [f"{sum(wanted.values())} records expected, {sum(got.values())} came"]
    for title, sign, surplus in (("missing", "-", wanted - got), ("surplus", "+", got - wanted)):
        if not surplus:
            continue
        lines.append(f"{title} ({sum(surplus.values())}):")
        shown = sorted(surplus.items())[:MULTISET_LINES_SHOWN]
        lines.extend(f"  {sign} {count}x {item}" if count > 1 else f"  {sign} {item}" for item, count in shown)
        if len(surplus) > len(shown):
            lines.append(f"  ... and {len(surplus) - len(shown)} more")
    return "\n".join(lines) if len(lines) > 1 else ""
