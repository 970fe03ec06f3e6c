"""Internal. Conversion of state to plain values: dicts, lists, numbers and strings, where possible."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any

from wiesel.spi.windows.window import CountWindow, GlobalWindow, TimeWindow
from wiesel.types.row import Row

__all__ = ["plain"]


def plain(value: Any, as_map: bool = False) -> Any:
    """Return a value in Arrow's form: records as dicts, maps as lists of pairs."""
    if value is None or type(value) in (str, int, float, bool, bytes):
        return value
    if isinstance(value, dict):
        if as_map:
            return [(plain(key), plain(item)) for key, item in value.items()]
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Row):
        names = value._names or [f"f{i}" for i in range(len(value))]
        return {name: plain(item) for name, item in zip(names, value._values, strict=True)}
    if isinstance(value, tuple):
        names = getattr(value, "_fields", None) or [f"f{i}" for i in range(len(value))]
        return {name: plain(item) for name, item in zip(names, value, strict=True)}
    if isinstance(value, (list, set, frozenset)):
        return [plain(item) for item in value]
    return _plain_object(value)


def _plain_object(value: Any) -> Any:
    if isinstance(value, TimeWindow):
        return {"start": value.start, "end": value.end}
    if isinstance(value, CountWindow):
        return {"id": value.id}
    if isinstance(value, GlobalWindow):
        return "GlobalWindow"
    if isinstance(value, enum.Enum):
        return value.name
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return value
