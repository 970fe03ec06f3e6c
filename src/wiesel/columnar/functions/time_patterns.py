"""Internal. Java's patterns of dates and times: ``yyyy-MM-dd HH:mm:ss``."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.functions.reading import seconds_of

__all__ = ["DEFAULT", "format_times", "parse_leniently", "parse_strictly"]

DEFAULT = "yyyy-MM-dd HH:mm:ss"

_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December")
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_STRFTIME = {"yyyy": "%Y", "uuuu": "%Y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}
"""Fields that Arrow can format; seconds are truncated first."""


@lru_cache(maxsize=256)
def tokens(pattern: str) -> tuple[tuple[str, bool], ...]:
    """Return the parts of a pattern: runs of one letter, and literal text (False).

    Raises:
        ValueError: If a quote is not closed.
    """
    found: list[tuple[str, bool]] = []
    for part in re.finditer(r"''|'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+|'", pattern):
        text = part[0]
        if text == "'":
            raise ValueError(f"the pattern {pattern!r} has an unclosed quote")
        if text == "''":
            found.append(("'", False))
        elif part[1] is not None:
            found.append((part[1].replace("''", "'"), False))
        else:
            found.append((text, part[2] is not None))
    return tuple(found)


# Formatting


@dataclass(frozen=True)
class _Moment:
    """One point of time, for letters that Arrow does not know."""

    time: datetime.datetime
    nanoseconds: int

    @property
    def week(self) -> tuple[int, int]:
        """The year and week of weeks that begin on Sunday, the first of which contains the first of January."""
        day = self.time.date()
        sunday = day - datetime.timedelta((day.weekday() + 1) % 7)
        year = (sunday + datetime.timedelta(6)).year
        first = datetime.date(year, 1, 1)
        first_sunday = first - datetime.timedelta((first.weekday() + 1) % 7)
        return year, (sunday - first_sunday).days // 7 + 1


def _number(value: Callable[[_Moment], int]) -> Callable[[_Moment, int], str]:
    return lambda moment, count: f"{value(moment):0{count}d}"


def _year(value: Callable[[_Moment], int]) -> Callable[[_Moment, int], str]:
    return lambda moment, count: f"{value(moment) % 100:02d}" if count == 2 else f"{value(moment):0{count}d}"


def _month(moment: _Moment, count: int) -> str:
    name = _MONTHS[moment.time.month - 1]
    return f"{moment.time.month:0{count}d}" if count < 3 else name[:3] if count == 3 else name if count == 4 else name[0]


def _weekday(moment: _Moment, count: int) -> str:
    name = _WEEKDAYS[moment.time.weekday()]
    return name[:3] if count <= 3 else name if count == 4 else name[0]


def _local_weekday(moment: _Moment, count: int) -> str:
    return str((moment.time.weekday() + 1) % 7 + 1).zfill(count) if count < 3 else _weekday(moment, count)


def _quarter(moment: _Moment, count: int) -> str:
    number = (moment.time.month + 2) // 3
    return f"{number:0{count}d}" if count < 3 else f"Q{number}" if count == 3 else f"{('1st', '2nd', '3rd', '4th')[number - 1]} quarter"


_LETTERS: dict[str, Callable[[_Moment, int], str]] = {
    "y": _year(lambda moment: moment.time.year),
    "u": _year(lambda moment: moment.time.year),
    "Y": _year(lambda moment: moment.week[0]),
    "M": _month,
    "L": _month,
    "d": _number(lambda moment: moment.time.day),
    "D": _number(lambda moment: moment.time.timetuple().tm_yday),
    "H": _number(lambda moment: moment.time.hour),
    "h": _number(lambda moment: moment.time.hour % 12 or 12),
    "K": _number(lambda moment: moment.time.hour % 12),
    "k": _number(lambda moment: moment.time.hour or 24),
    "m": _number(lambda moment: moment.time.minute),
    "s": _number(lambda moment: moment.time.second),
    "S": lambda moment, count: f"{moment.nanoseconds:09d}".ljust(count, "0")[:count],
    "n": _number(lambda moment: moment.nanoseconds),
    "N": _number(lambda moment: _of_day(moment) * 1_000_000_000 + moment.nanoseconds),
    "A": _number(lambda moment: _of_day(moment) * 1000 + moment.nanoseconds // 1_000_000),
    "a": lambda moment, count: "AM" if moment.time.hour < 12 else "PM",
    "E": _weekday,
    "e": _local_weekday,
    "c": _local_weekday,
    "w": _number(lambda moment: moment.week[1]),
    "Q": _quarter,
    "q": _quarter,
    "G": lambda moment, count: "AD" if count < 4 else "Anno Domini",
}


def _of_day(moment: _Moment) -> int:
    return (moment.time.hour * 60 + moment.time.minute) * 60 + moment.time.second


def format_times(times: Any, pattern: str) -> Any:
    """Return timestamps (without a zone) as strings.

    Raises:
        ValueError: If the pattern has unknown letters.
    """
    sliced = _sliced(times, pattern)
    if sliced is not None:
        return sliced
    parts = tokens(pattern)
    unknown = [text for text, is_letter in parts if is_letter and text[0] not in _LETTERS]
    if unknown:
        raise ValueError(f"{unknown[0]!r} of the pattern {pattern!r} is not supported")
    if all(not is_letter or text in _STRFTIME for text, is_letter in parts):
        layout = "".join(_STRFTIME[text] if is_letter else text.replace("%", "%%") for text, is_letter in parts)
        return pc.strftime(pc.floor_temporal(times, unit="second").cast(pa.timestamp("s")), layout)
    return pa.array([None if value is None else _formatted(value, parts) for value in _moments(times)], pa.string())


_LAYOUT = "yyyy-MM-dd HH:mm:ss"
_BOUNDS = frozenset((0, 4, 5, 7, 8, 10, 11, 13, 14, 16, 17, 19))


def _sliced(times: Any, pattern: str) -> Any:
    """Return slices of the string of Arrow's cast, much faster than formatting; None for other patterns, or years of five digits."""
    start = _LAYOUT.find(pattern)
    if not pattern or start not in _BOUNDS or start + len(pattern) not in _BOUNDS:
        return None
    strings = times.cast(pa.string())
    lengths = pc.min_max(pc.binary_length(strings)).as_py()
    usual = len(_LAYOUT) + {"s": 0, "ms": 4, "us": 7, "ns": 10}[times.type.unit]
    if lengths["min"] is not None and (lengths["min"] != usual or lengths["max"] != usual):
        return None
    return pc.utf8_slice_codeunits(strings, start, start + len(pattern))


def _moments(times: Any) -> list[_Moment | None]:
    per = {"s": 1, "ms": 1000, "us": 1_000_000, "ns": 1_000_000_000}[times.type.unit]
    begin = datetime.datetime(1970, 1, 1)
    found: list[_Moment | None] = []
    for value in times.cast(pa.int64()).to_pylist():
        if value is None:
            found.append(None)
            continue
        seconds, rest = divmod(value, per)
        found.append(_Moment(begin + datetime.timedelta(seconds=seconds), rest * (1_000_000_000 // per)))
    return found


def _formatted(moment: _Moment, parts: tuple[tuple[str, bool], ...]) -> str:
    return "".join(_LETTERS[text[0]](moment, len(text)) if is_letter else text for text, is_letter in parts)


# Parsing

_FIELDS = {"y": "year", "u": "year", "M": "month", "L": "month", "d": "day", "H": "hour", "h": "hour12", "K": "hour12", "k": "hour24"}
_FIELDS.update({"m": "minute", "s": "second", "S": "fraction", "n": "nano", "D": "day_of_year"})


@lru_cache(maxsize=256)
def _reader(pattern: str, strict: bool) -> tuple[re.Pattern[str], tuple[str, ...]]:
    """Return the regular expression of a pattern, and the fields of its groups."""
    parts = tokens(pattern)
    shapes: list[str] = []
    fields: list[str] = []
    for place, (text, is_letter) in enumerate(parts):
        if not is_letter:
            shapes.append(re.escape(text))
            continue
        letter, count = text[0], len(text)
        followed = place + 1 < len(parts) and parts[place + 1][1] and parts[place + 1][0][0] in _FIELDS
        before = place > 0 and parts[place - 1][1]
        fields.append(_field_name(letter, count, pattern))
        shapes.append(_shape(letter, count, strict, followed or before))
    return re.compile("".join(shapes), re.IGNORECASE if not strict else 0), tuple(fields)


def _field_name(letter: str, count: int, pattern: str) -> str:
    if letter in "ML" and count >= 3:
        return "month_name"
    if letter == "a":
        return "half"
    if letter == "E":
        return "weekday"
    if letter in "yu" and count == 2:
        return "short_year"
    if letter not in _FIELDS:
        raise ValueError(f"{letter!r} of the pattern {pattern!r} is not supported for reading")
    return _FIELDS[letter]


def _shape(letter: str, count: int, strict: bool, adjacent: bool) -> str:
    if letter in "ML" and count >= 3:
        return f"({'|'.join(name[:3] if count == 3 else name for name in _MONTHS)})"
    if letter == "E":
        return f"({'|'.join(name[:3] if count <= 3 else name for name in _WEEKDAYS)})"
    if letter == "a":
        return "(AM|PM)"
    if letter == "S" or adjacent:
        return rf"(\d{{{count}}})"
    if strict:
        return r"(\d{1,19})" if count == 1 else rf"(\d{{{count}}})"
    return r"\s*(-?\d+)" if letter in "yu" else r"\s*(\d+)"


def parse_strictly(text: str, pattern: str) -> int | None:
    """Return the nanoseconds since 1970 of a string that matches a pattern completely; None for others."""
    reader, names = _reader(pattern, True)
    found = reader.fullmatch(text)
    if found is None:
        return None
    fields = _fields(names, found.groups())
    seconds = seconds_of(*(fields[name] for name in ("year", "month", "day", "hour", "minute", "second")))
    return None if seconds is None else seconds * 1_000_000_000 + fields["nano"]


def parse_leniently(text: str, pattern: str) -> int | None:
    """Return the milliseconds since 1970 of a string that starts with a pattern, as Java's SimpleDateFormat; None for others.

    Parts may be out of range: the 13th month is the first one of the next year.
    """
    reader, names = _reader(pattern, False)
    found = reader.match(text)
    if found is None:
        return None
    fields = _fields(names, found.groups())
    years, month = divmod(fields["month"] - 1, 12)
    try:
        days = datetime.date(fields["year"] + years, month + 1, 1).toordinal() - _EPOCH + fields["day"] - 1
    except (ValueError, OverflowError):
        return None
    seconds = days * 86400 + (fields["hour"] * 60 + fields["minute"]) * 60 + fields["second"]
    return seconds * 1000 + fields["nano"] // 1_000_000


_EPOCH = datetime.date(1970, 1, 1).toordinal()


def _fields(names: tuple[str, ...], strings: tuple[str, ...]) -> dict[str, int]:
    fields = {"year": 1970, "month": 1, "day": 1, "hour": 0, "minute": 0, "second": 0, "nano": 0}
    half: int | None = None
    for name, text in zip(names, strings, strict=True):
        if name == "month_name":
            fields["month"] = [known[:3].lower() for known in _MONTHS].index(text[:3].lower()) + 1
        elif name == "short_year":
            fields["year"] = 2000 + int(text)
        elif name == "fraction":
            fields["nano"] = int(text[:9].ljust(9, "0"))
        elif name == "half":
            half = 12 if text.upper() == "PM" else 0
        elif name in ("hour12", "hour24"):
            fields["hour"] = int(text) % (12 if name == "hour12" else 24)
        elif name == "day_of_year":
            fields["day"] = int(text)
        elif name != "weekday":
            fields[name] = int(text)
    fields["hour"] += half or 0
    return fields
