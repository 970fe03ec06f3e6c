"""Internal. Durations and instants, and Flink's notation of durations in options (``5 s``, ``100ms``, ``1 min``)."""

from __future__ import annotations

import datetime
import functools
import re
from typing import TypeAlias

from wiesel.core.errors import ArgumentTypeError, ConfigurationError

__all__ = ["Duration", "DurationLike", "Instant", "Time", "format_duration", "parse_duration", "to_millis"]

_UNIT_NANOS: dict[str, int] = {
    label: nanos
    for labels, nanos in (
        ("d day days", 86_400_000_000_000),
        ("h hour hours", 3_600_000_000_000),
        ("min m minute minutes", 60_000_000_000),
        ("s sec secs second seconds", 1_000_000_000),
        ("ms milli millis millisecond milliseconds", 1_000_000),
        ("µs micro micros microsecond microseconds", 1_000),
        ("ns nano nanos nanosecond nanoseconds", 1),
    )
    for label in labels.split()
}
_HIGHEST_UNITS = (("d", "d"), ("h", "h"), ("min", "min"), ("s", "s"), ("ms", "ms"), ("µs", "µs"), ("ns", "ns"))
_NUMBER_AND_UNIT = re.compile(r"(\d+)\s*(.*)", re.DOTALL)
_ISO = re.compile(r"([+-]?)P(?:([+-]?\d+)D)?(?:T(?:([+-]?\d+)H)?(?:([+-]?\d+)M)?(?:([+-]?\d+)(?:[.,](\d{0,9}))?S)?)?", re.IGNORECASE)


def _number(number: float) -> float:
    """Reject strings, which a multiplication would repeat many times."""
    if not isinstance(number, int | float):
        raise ArgumentTypeError(f"a length of time is {number!r}", hint="give a number")
    return number


@functools.total_ordering
class Duration:
    """A duration with a resolution of one nanosecond (as ``java.time.Duration``).

    Immutable, hashable and ordered. Every method of the API that accepts one also accepts a :class:`datetime.timedelta`.

    >>> Duration.of_seconds(90).to_millis()
    90000
    >>> print(Duration.of_seconds(90))
    PT1M30S
    """

    __slots__ = ("_nanos",)

    def __init__(self, nanos: float = 0) -> None:
        self._nanos = int(nanos)

    @staticmethod
    def of_days(days: int) -> Duration:
        """Return a duration of ``days`` times 24 hours."""
        return Duration(_number(days) * _UNIT_NANOS["d"])

    @staticmethod
    def of_hours(hours: int) -> Duration:
        """Return a duration of ``hours`` hours."""
        return Duration(_number(hours) * _UNIT_NANOS["h"])

    @staticmethod
    def of_minutes(minutes: int) -> Duration:
        """Return a duration of ``minutes`` minutes."""
        return Duration(_number(minutes) * _UNIT_NANOS["min"])

    @staticmethod
    def of_seconds(seconds: int) -> Duration:
        """Return a duration of ``seconds`` seconds."""
        return Duration(_number(seconds) * _UNIT_NANOS["s"])

    @staticmethod
    def of_millis(millis: int) -> Duration:
        """Return a duration of ``millis`` milliseconds."""
        return Duration(_number(millis) * _UNIT_NANOS["ms"])

    @staticmethod
    def of_nanos(nanos: int) -> Duration:
        """Return a duration of ``nanos`` nanoseconds."""
        return Duration(_number(nanos))

    @staticmethod
    def of(value: Duration | Time | datetime.timedelta | int | str) -> Duration:
        """Return ``value`` as a duration; a bare ``int`` is milliseconds and a ``str`` is Flink's notation.

        Raises:
            ConfigurationError: If a string cannot be read.
            TypeError: If ``value`` is of another type.
        """
        if isinstance(value, Duration):
            return value
        if isinstance(value, Time):
            return Duration.of_millis(value.to_milliseconds())
        if isinstance(value, datetime.timedelta):
            return Duration((value.days * 86_400_000_000 + value.seconds * 1_000_000 + value.microseconds) * 1_000)
        if isinstance(value, str):
            return parse_duration(value)
        if type(value) is int:
            return Duration.of_millis(value)
        raise ArgumentTypeError(f"a duration is expected (Duration, timedelta, milliseconds or a string such as '5 s'), got {value!r}")

    def to_days(self) -> int:
        """Return whole days, rounded down."""
        return self._nanos // _UNIT_NANOS["d"]

    def to_seconds(self) -> int:
        """Return whole seconds, rounded down."""
        return self._nanos // _UNIT_NANOS["s"]

    def to_millis(self) -> int:
        """Return whole milliseconds, rounded down."""
        return self._nanos // _UNIT_NANOS["ms"]

    def to_nanos(self) -> int:
        """Return nanoseconds."""
        return self._nanos

    def to_timedelta(self) -> datetime.timedelta:
        """Return a :class:`datetime.timedelta`, truncated to microseconds."""
        return datetime.timedelta(microseconds=self._nanos // 1_000)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Duration) and self._nanos == other._nanos

    def __lt__(self, other: Duration) -> bool:
        if not isinstance(other, Duration):
            return NotImplemented
        return self._nanos < other._nanos

    def __hash__(self) -> int:
        return hash((Duration, self._nanos))

    def __str__(self) -> str:
        return _iso_text(self._nanos)

    def __repr__(self) -> str:
        return f"Duration({format_duration(self)!r})"


class Instant:
    """A point on the UTC time line: seconds since 1970-01-01T00:00:00Z and nanoseconds within the second."""

    __slots__ = ("nanos", "seconds")

    def __init__(self, seconds: int, nanos: int) -> None:
        self.seconds = seconds
        self.nanos = nanos

    def to_epoch_milli(self) -> int:
        """Return milliseconds since the epoch, rounded towards the past."""
        return self.seconds * 1000 + self.nanos // 1_000_000

    @staticmethod
    def of_epoch_milli(epoch_milli: int) -> Instant:
        """Return the instant ``epoch_milli`` milliseconds after the epoch."""
        seconds, millis = divmod(epoch_milli, 1000)
        return Instant(seconds, millis * 1_000_000)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Instant) and (self.seconds, self.nanos) == (other.seconds, other.nanos)

    def __hash__(self) -> int:
        return hash((self.seconds, self.nanos))

    def __repr__(self) -> str:
        return f"Instant<{self.seconds}, {self.nanos}>"


class Time:
    """A length of time in milliseconds, for windows."""

    __slots__ = ("_milliseconds",)

    def __init__(self, milliseconds: int) -> None:
        self._milliseconds = milliseconds

    def to_milliseconds(self) -> int:
        """Return the length in milliseconds."""
        return self._milliseconds

    @staticmethod
    def milliseconds(milliseconds: int) -> Time:
        """Return a length of ``milliseconds`` ms."""
        return Time(milliseconds)

    @staticmethod
    def seconds(seconds: int) -> Time:
        """Return a length of ``seconds`` s."""
        return Time(seconds * 1_000)

    @staticmethod
    def minutes(minutes: int) -> Time:
        """Return a length of ``minutes`` minutes."""
        return Time(minutes * 60_000)

    @staticmethod
    def hours(hours: int) -> Time:
        """Return a length of ``hours`` hours."""
        return Time(hours * 3_600_000)

    @staticmethod
    def days(days: int) -> Time:
        """Return a length of ``days`` times 24 hours."""
        return Time(days * 86_400_000)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Time) and self._milliseconds == other._milliseconds

    def __hash__(self) -> int:
        return hash((Time, self._milliseconds))

    def __str__(self) -> str:
        return f"{self._milliseconds} ms"

    def __repr__(self) -> str:
        return f"Time({self._milliseconds})"


DurationLike: TypeAlias = Duration | Time | datetime.timedelta | int | str
"""Accepted forms of a duration; ints are milliseconds, strings are in Flink's notation."""


def to_millis(value: DurationLike) -> int:
    """Convert any accepted form of a duration to whole milliseconds (see :meth:`Duration.of`)."""
    return Duration.of(value).to_millis()


def parse_duration(text: str) -> Duration:
    """Parse a duration in Flink's notation: a number and a unit (milliseconds without one), or ISO-8601 (``PT5S``).

    Args:
        text: Units are ``d``, ``h``, ``min``/``m``, ``s``, ``ms``, ``µs``, ``ns`` and their long names, case-insensitive.

    Raises:
        ConfigurationError: If the string is not of this form.
    """
    stripped = text.strip()
    match = _NUMBER_AND_UNIT.fullmatch(stripped)
    if match:
        nanos = _UNIT_NANOS.get(match[2].strip().lower()) if match[2] else _UNIT_NANOS["ms"]
        if nanos is not None:
            return Duration(int(match[1]) * nanos)
    elif (iso := _parse_iso(stripped)) and iso.to_nanos() >= 0:
        return iso
    raise ConfigurationError(
        f"{text!r} is not a duration", hint="write a whole number and a unit: '5 s', '100ms', '1 min', '2 h', '1 d' (no unit means ms)"
    )


def format_duration(value: Duration) -> str:
    """Return a length of time in the highest unit that divides it: ``5 s``, ``100 ms``."""
    nanos = value.to_nanos()
    if nanos == 0:
        return "0 ms"
    for unit, label in _HIGHEST_UNITS:
        if nanos % _UNIT_NANOS[unit] == 0:
            return f"{nanos // _UNIT_NANOS[unit]} {label}"
    return f"{nanos} ns"


def _parse_iso(text: str) -> Duration | None:
    match = _ISO.fullmatch(text)
    if not match or not any(match.groups()[1:]):
        return None
    sign, days, hours, minutes, seconds, fraction = match.groups()
    nanos = int(days or 0) * _UNIT_NANOS["d"] + int(hours or 0) * _UNIT_NANOS["h"] + int(minutes or 0) * _UNIT_NANOS["min"]
    nanos += int(seconds or 0) * _UNIT_NANOS["s"]
    if fraction:
        part = int(fraction.ljust(9, "0"))
        nanos += -part if (seconds or "").startswith("-") else part
    return Duration(-nanos if sign == "-" else nanos)


def _iso_text(nanos: int) -> str:
    """Return the string of ``java.time.Duration.toString`` (hours are its largest unit)."""
    if nanos == 0:
        return "PT0S"
    sign = -1 if nanos < 0 else 1
    whole, fraction = divmod(abs(nanos), 1_000_000_000)
    hours, rest = divmod(whole, 3600)
    minutes, seconds = divmod(rest, 60)
    text = "PT"
    if hours:
        text += f"{sign * hours}H"
    if minutes:
        text += f"{sign * minutes}M"
    if seconds or fraction:
        digits = f".{fraction:09d}".rstrip("0") if fraction else ""
        text += f"{'-' if sign < 0 else ''}{seconds}{digits}S"
    return text
