"""Internal. Parsing and formatting of option values, as in Flink."""

from __future__ import annotations

import datetime
import enum
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

from wiesel.core.durations import Duration, Time, format_duration
from wiesel.core.errors import ConfigurationError
from wiesel.core.memory_size import MemorySize

__all__ = ["OptionType", "convert", "to_text"]

OptionType: TypeAlias = Literal["int", "float", "bool", "str", "duration", "memory", "enum", "list", "map"]


def convert(value: Any, option_type: OptionType, choices: tuple[str, ...] = ()) -> Any:
    """Convert a value to the given type.

    Args:
        value: A string, or a value of the type or close to it.
        option_type: The type wanted.
        choices: For enumerations, the values; letter case and ``-`` or ``_`` are ignored.

    Raises:
        ConfigurationError: If the value cannot be parsed; the message lacks the key.
    """
    if option_type == "enum":
        return _to_choice(value, choices)
    return _CONVERTERS[option_type](value)


def to_text(value: Any) -> str:
    """Return a value as one writes it in a configuration."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Duration | Time | datetime.timedelta):
        return format_duration(Duration.of(value))
    if isinstance(value, enum.Enum):
        return str(value.name)
    if isinstance(value, bytes | bytearray):
        return value.hex()
    if isinstance(value, Mapping):
        return ",".join(f"{_quoted(str(k), ',:')}:{_quoted(to_text(v), ',:')}" for k, v in value.items())
    if isinstance(value, list | tuple | set | frozenset):
        return ";".join(_quoted(to_text(item), ";") for item in value)
    return str(value)


def _quoted(text: str, separators: str) -> str:
    if not any(c in text for c in separators + "'\""):
        return text
    return "'" + text.replace("'", "''") + "'"


def _to_int(value: Any) -> int:
    try:
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if isinstance(value, str):
            return int(value.strip())
        if isinstance(value, float) and value.is_integer():
            return int(value)
    except ValueError as e:
        raise ConfigurationError(f"{value!r} is not a whole number", hint="write digits only, for example 4") from e
    raise ConfigurationError(f"{value!r} is not a whole number", hint="write digits only, for example 4")


def _to_float(value: Any) -> float:
    try:
        if isinstance(value, int | float | str) and not isinstance(value, bool):
            return float(value)
    except ValueError as e:
        raise ConfigurationError(f"{value!r} is not a number", hint="write a number, for example 1.5") from e
    raise ConfigurationError(f"{value!r} is not a number", hint="write a number, for example 1.5")


def _to_bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    raise ConfigurationError(f"{value!r} is neither true nor false", hint="write true or false")


def _to_duration(value: Any) -> Duration:
    try:
        return Duration.of(value)
    except TypeError as e:
        raise ConfigurationError(f"{value!r} is not a duration", hint="write a number and a unit, for example '5 s'") from e


def _to_memory(value: Any) -> MemorySize:
    if isinstance(value, MemorySize):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return MemorySize(value)
    return MemorySize.parse(str(value))


def _to_choice(value: Any, choices: tuple[str, ...]) -> str:
    text = value.name if isinstance(value, enum.Enum) else str(value)
    wanted = text.strip().lower().replace("-", "_")
    for choice in choices:
        if choice.lower().replace("-", "_") == wanted:
            return choice
    raise ConfigurationError(f"{text!r} is not one of its values", hint=f"write one of: {', '.join(choices)}")


def _to_list(value: Any) -> list[str]:
    if isinstance(value, str):
        text = value.strip()
        if text.startswith("[") and text.endswith("]"):
            return [_unquoted(part) for part in _split(text[1:-1], ",")]
        return [_unquoted(part) for part in _split(text, ";")]
    if isinstance(value, list | tuple | set | frozenset):
        return [to_text(item) for item in value]
    raise ConfigurationError(f"{value!r} is not a list", hint="write the parts with ';' between them")


def _to_map(value: Any) -> dict[str, str]:
    if isinstance(value, Mapping):
        return {str(key): to_text(item) for key, item in value.items()}
    if not isinstance(value, str):
        raise ConfigurationError(f"{value!r} is not a map", hint="write key:value pairs with ',' between them")
    text = value.strip()
    if text.startswith("{") and text.endswith("}"):
        text = text[1:-1]
    result = {}
    for part in _split(text, ","):
        key, *rest = _split(part, ":", limit=1)
        if not rest:
            raise ConfigurationError(f"{part!r} is not a key:value pair", hint="write key:value pairs with ',' between them")
        result[_unquoted(key)] = _unquoted(rest[0])
    return result


def _split(text: str, separator: str, limit: int = -1) -> list[str]:
    """Split at separators outside of quotes; empty parts are omitted."""
    parts, start, quote = [], 0, ""
    for i, c in enumerate(text):
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c == separator and limit != 0:
            parts.append(text[start:i])
            start = i + 1
            limit -= 1
    parts.append(text[start:])
    return [part for part in parts if part.strip()]


def _unquoted(text: str) -> str:
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1].replace(text[0] * 2, text[0])
    return text


_CONVERTERS: dict[OptionType, Callable[[Any], Any]] = {
    "int": _to_int,
    "float": _to_float,
    "bool": _to_bool,
    "str": to_text,
    "duration": _to_duration,
    "memory": _to_memory,
    "list": _to_list,
    "map": _to_map,
}
