"""Internal. Hive functions that Flink does not have, by Hive's rules. Days and months are strings where Hive uses strings.

They are registered as ``hive.NAME``, which queries cannot write: queries call them where the module is loaded.
"""

from __future__ import annotations

import base64
import binascii
import calendar
import datetime
import decimal
import functools
import math
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.expressions import Call
from wiesel.columnar.functions import fdlibm
from wiesel.columnar.functions.kernels import by_arrays, by_doubles, by_kernel, by_value
from wiesel.columnar.functions.reading import read_date, read_timestamp
from wiesel.columnar.functions.registry import Arguments, ScalarFunction, Signature, register
from wiesel.columnar.functions.signatures import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    INTEGER,
    NUMERIC,
    TEXT,
    TEXT_OR_BINARY,
    Kind,
    kind_of,
    nullable_if_any,
    returning_null,
    taking,
)
from wiesel.columnar.functions.string_casts import as_strings
from wiesel.columnar.functions.time_formats import zone_of
from wiesel.columnar.type_rules import BYTES, STRING, is_text
from wiesel.types import logical as t

__all__: list[str] = []

_DAY: Kind = kind_of("<DATE>|<TIMESTAMP>|<CHARACTER>", t.DateType, t.TimestampType, t.CharType, t.VarCharType)
_EPOCH = datetime.date(1970, 1, 1)
_WEEKDAYS = {name.upper()[:length]: day for day, name in enumerate(calendar.day_name) for length in (2, 3, len(name))}


def _register(name: str, resolve: Callable[[Arguments], Signature], evaluate: Callable[..., Any], may_fail: bool = False) -> None:
    register(ScalarFunction(f"hive.{name}", resolve, evaluate, may_fail=may_fail))


# Numbers


def _same(arguments: Arguments) -> t.DataType:
    return nullable_if_any(arguments.types[0], arguments)


def _factorial(number: int) -> int | None:
    return math.factorial(number) if 0 <= number <= 20 else None


def _modulo(dividend: Any, divisor: Any) -> Any:
    return None if not divisor else math.fmod(math.fmod(dividend, divisor) + divisor, divisor)


def _whole_modulo(dividend: int, divisor: int) -> int | None:
    return None if not divisor else dividend % abs(divisor) if divisor > 0 else -(-dividend % -divisor)


def _resolve_modulo(arguments: Arguments) -> Signature:
    whole = all(isinstance(of, t.IntegralType) for of in arguments.types)
    long = not whole or any(isinstance(of, t.BigIntType) for of in arguments.types)
    result: t.DataType = (t.BigIntType() if long else t.IntType()) if whole else t.DoubleType()
    return taking(returning_null(result), *([(BIGINT if long else INTEGER) if whole else DOUBLE] * 2))(arguments)


def _evaluate_modulo(call: Call, frame: Any, operands: list[Any]) -> Any:
    return by_value(_whole_modulo if isinstance(call.data_type, t.IntegralType) else _modulo)(call, frame, operands)


_register("CBRT", taking(t.DoubleType(), DOUBLE), by_doubles(fdlibm.cbrt))
_register("FACTORIAL", taking(returning_null(t.BigIntType()), INTEGER), by_value(_factorial))
_register("NEGATIVE", taking(_same, NUMERIC), by_kernel(pc.negate))
_register("POSITIVE", taking(_same, NUMERIC), by_kernel(lambda value: value))
_register("PMOD", _resolve_modulo, _evaluate_modulo)
_register("POW", taking(t.DoubleType(), DOUBLE, DOUBLE), by_kernel(pc.power))


def _resolve_shift(arguments: Arguments) -> Signature:
    long = bool(arguments.types) and isinstance(arguments.types[0], t.BigIntType)
    return taking(t.BigIntType() if long else t.IntType(), BIGINT if long else INTEGER, INTEGER)(arguments)


def _shifted(shift: Callable[[int, int, int], int]) -> Callable[..., Any]:
    """Return a shift function for the bits of the type: the distance is taken modulo the number of bits, as in Java."""

    def evaluate(call: Call, frame: Any, operands: list[Any]) -> Any:
        bits = 64 if isinstance(call.data_type, t.BigIntType) else 32

        def one(value: int, by: int) -> int:
            found = shift(value, by % bits, bits) % (1 << bits)
            return found - (1 << bits) if found >> (bits - 1) else found

        return by_value(one)(call, frame, operands)

    return evaluate


_register("SHIFTLEFT", _resolve_shift, _shifted(lambda value, by, bits: value << by))
_register("SHIFTRIGHT", _resolve_shift, _shifted(lambda value, by, bits: value >> by))
_register("SHIFTRIGHTUNSIGNED", _resolve_shift, _shifted(lambda value, by, bits: (value % (1 << bits)) >> by))


def _half_even(value: float, digits: int = 0) -> float:
    if not math.isfinite(value):
        return value
    unit = decimal.Decimal(1).scaleb(-digits)
    return float(decimal.Decimal(repr(value)).quantize(unit, decimal.ROUND_HALF_EVEN, decimal.Context(prec=800)))


def _grouped(value: float, digits: int) -> str | None:
    """Return a number with a comma between thousands."""
    return f"{value:,.{digits}f}" if digits >= 0 else None


def _bucket(value: float, low: float, high: float, count: int) -> int | None:
    """Return the index of the equal-width bucket of a value; 0 and the count plus one are for values outside."""
    if count <= 0 or low == high:
        return None
    place = (value - low) / (high - low)
    return 0 if place < 0 else count + 1 if place >= 1 else int(place * count) + 1


_register("BROUND", taking(t.DoubleType(), DOUBLE, INTEGER, optional=1), by_value(_half_even))
_register("FORMAT_NUMBER", taking(returning_null(STRING), DOUBLE, INTEGER), by_value(_grouped))
_register("WIDTH_BUCKET", taking(returning_null(t.IntType()), DOUBLE, DOUBLE, DOUBLE, INTEGER), by_value(_bucket))


def _in_base(text: str, source: int, target: int) -> str | None:
    if not 2 <= source <= 36 or not 2 <= abs(target) <= 36:
        return None
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    begin = re.match(f"[{digits[:source]}]+", text.strip().lstrip("-").lower())
    number = int(begin[0], source) if begin else 0
    number = min(number, 2**64 - 1)
    if text.strip().startswith("-"):
        number = -number if target < 0 else (-number) & (2**64 - 1)
    elif target < 0 and number >= 2**63:
        number -= 2**64
    sign, rest, shown = "-" if number < 0 else "", abs(number), ""
    while rest:
        rest, digit = divmod(rest, abs(target))
        shown = digits[digit] + shown
    return sign + (shown or "0").upper()


_register("CONV", taking(returning_null(STRING), TEXT, INTEGER, INTEGER), by_value(_in_base))


def _asserted(condition: bool | None) -> None:
    if not condition:
        raise ValueError("the assertion failed")


_register("ASSERT_TRUE", taking(returning_null(t.BooleanType()), BOOLEAN), by_value(_asserted, nulls=True), may_fail=True)


# Strings


def _find_in_set(text: str, strings: str) -> int:
    return 0 if "," in text or text not in strings.split(",") else strings.split(",").index(text) + 1


def _distance(left: str, right: str) -> int:
    row = list(range(len(right) + 1))
    for place, one in enumerate(left, 1):
        before, row[0] = row[0], place
        for at, other in enumerate(right, 1):
            before, row[at] = row[at], min(row[at] + 1, row[at - 1] + 1, before + (one != other))
    return row[-1]


_SOUNDS = {letter: str(sound) for sound, letters in enumerate(("BFPV", "CGJKQSXZ", "DT", "L", "MN", "R"), 1) for letter in letters}


def _soundex(text: str) -> str:
    word = re.sub("[^A-Z]", "", text.upper())
    if not word:
        return ""
    code, last = word[0], _SOUNDS.get(word[0], "")
    for letter in word[1:]:
        sound = _SOUNDS.get(letter, "")
        if sound and sound != last:
            code += sound
        # H and W do not separate letters of one sound.
        last = last if letter in "HW" else sound
    return (code + "000")[:4]


def _before_nth(text: str, separator: str, count: int) -> str:
    if not count or not separator:
        return ""
    parts = text.split(separator)
    return separator.join(parts[:count] if count > 0 else parts[count:])


def _field(sought: str | None, *strings: str | None) -> int:
    return 0 if sought is None or sought not in strings else strings.index(sought) + 1


def _length(call: Call, frame: Any, operands: list[Any]) -> Any:
    return (pc.utf8_length if is_text(call.operands[0].data_type) else pc.binary_length)(operands[0]).cast(pa.int32())


def _unbase64(text: str) -> bytes | None:
    try:
        return base64.b64decode(text)
    except binascii.Error:
        return None


def _masked(text: str, upper: str = "X", lower: str = "x", digit: str = "n") -> str:
    """Return a string with its letters and digits masked."""

    def hidden(letter: str) -> str:
        return upper[:1] if letter.isupper() else lower[:1] if letter.islower() else digit[:1] if letter.isdigit() else letter

    return "".join(map(hidden, text))


def _hiding(part: Callable[[str, int], tuple[str, str, str]]) -> Callable[..., str]:
    """Return a function that masks the middle one of three parts."""

    def mask(text: str, count: int = 4) -> str:
        before, hidden, behind = part(text, max(count, 0))
        return before + _masked(hidden) + behind

    return mask


_PARTS: dict[str, Callable[[str, int], tuple[str, str, str]]] = {
    "MASK_FIRST_N": lambda text, count: ("", text[:count], text[count:]),
    "MASK_LAST_N": lambda text, count: (text[: max(len(text) - count, 0)], text[max(len(text) - count, 0) :], ""),
    "MASK_SHOW_FIRST_N": lambda text, count: (text[:count], text[count:], ""),
    "MASK_SHOW_LAST_N": lambda text, count: ("", text[: max(len(text) - count, 0)], text[max(len(text) - count, 0) :]),
}
for _name, _part in _PARTS.items():
    _register(_name, taking(STRING, TEXT, INTEGER, optional=1), by_value(_hiding(_part)))
_register("MASK", taking(STRING, TEXT, TEXT, TEXT, TEXT, optional=3), by_value(_masked))
_register("BASE64", taking(STRING, TEXT_OR_BINARY), by_value(lambda given: base64.b64encode(_bytes(given)).decode()))
_register("UNBASE64", taking(returning_null(BYTES), TEXT), by_value(_unbase64))


def _bytes(given: str | bytes) -> bytes:
    return given.encode() if isinstance(given, str) else given


_register("LENGTH", taking(t.IntType(), TEXT_OR_BINARY), _length)
_register("OCTET_LENGTH", taking(t.IntType(), TEXT_OR_BINARY), by_kernel(pc.binary_length))
_register("SPACE", taking(STRING, INTEGER), by_value(lambda count: " " * max(0, count)))
_register("FIND_IN_SET", taking(t.IntType(), TEXT, TEXT), by_value(_find_in_set))
_register("LEVENSHTEIN", taking(t.IntType(), TEXT, TEXT), by_value(_distance))
_register("SOUNDEX", taking(STRING, TEXT), by_value(_soundex))
_register("SUBSTRING_INDEX", taking(STRING, TEXT, TEXT, INTEGER), by_value(_before_nth))
_register("FIELD", lambda arguments: Signature([STRING] * len(arguments.types), t.IntType(False)), by_value(_field, nulls=True))
_register("CRC32", taking(t.BigIntType(), TEXT_OR_BINARY), by_value(lambda given: zlib.crc32(_bytes(given))))


# Days


def _days(call: Call, frame: Any, column: Any, place: int = 0) -> list[int | None]:
    of = call.operands[place].data_type
    strings = column if is_text(of) else as_strings(column, of, frame.session.time_zone)
    return [None if text is None else read_date(text[:10]) for text in strings.to_pylist()]


def _of_days(name: str, result: t.DataType, compute: Callable[..., Any], *kinds: Kind) -> None:
    """Register a function of a date and further arguments; if the string is no date, the result is NULL."""

    def evaluate(call: Call, frame: Any, *columns: Any) -> Any:
        days = _days(call, frame, columns[0])
        others = [_days(call, frame, column, i) if kinds[i - 1] is _DAY else column.to_pylist() for i, column in enumerate(columns[1:], 1)]
        rows = zip(days, *others, strict=True)
        found = [None if None in row else compute(_EPOCH + datetime.timedelta(row[0]), *row[1:]) for row in rows]
        return pa.array(found, arrow_type(result))

    _register(name, taking(returning_null(result), _DAY, *kinds), by_arrays(evaluate))


def _months_later(day: datetime.date, months: int) -> str:
    """Return the day that many months later; the last day of a month leads to a last day, as in Hive."""
    years, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    last = calendar.monthrange(years, month + 1)[1]
    at_end = day.day == calendar.monthrange(day.year, day.month)[1]
    return datetime.date(years, month + 1, last if at_end else min(day.day, last)).isoformat()


def _next_day(day: datetime.date, name: str) -> str | None:
    wanted = _WEEKDAYS.get(name.strip().upper())
    return None if wanted is None else (day + datetime.timedelta((wanted - day.weekday() - 1) % 7 + 1)).isoformat()


def _truncated(day: datetime.date, unit: str) -> str | None:
    if unit.upper() in ("MONTH", "MON", "MM"):
        return day.replace(day=1).isoformat()
    if unit.upper() in ("QUARTER", "Q"):
        return day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1).isoformat()
    return day.replace(month=1, day=1).isoformat() if unit.upper() in ("YEAR", "YYYY", "YY") else None


def _months_between(later: str, earlier: str) -> float | None:
    """Return the months between two times: integral between equal days or ends of months, else with 31 days per month."""
    read = [read_timestamp(text) for text in (later, earlier)]
    if None in read:
        return None
    one, other = (datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=(ns or 0) // 1000) for ns in read)
    months = (one.year - other.year) * 12 + one.month - other.month
    at_ends = all(calendar.monthrange(day.year, day.month)[1] == day.day for day in (one, other))
    if one.day == other.day or at_ends:
        return float(months)
    seconds = [day.day * 86400 + day.hour * 3600 + day.minute * 60 + day.second for day in (one, other)]
    return round(months + (seconds[0] - seconds[1]) / (31 * 86400), 8)


def _evaluate_months_between(call: Call, frame: Any, *columns: Any) -> Any:
    zone = frame.session.time_zone
    strings = [as_strings(column, operand.data_type, zone) for column, operand in zip(columns, call.operands, strict=True)]
    pairs = zip(*(column.to_pylist() for column in strings), strict=True)
    return pa.array([None if None in pair else _months_between(*pair) for pair in pairs], pa.float64())


_register("MONTHS_BETWEEN", taking(returning_null(t.DoubleType()), _DAY, _DAY), by_arrays(_evaluate_months_between))


def _between_zones(to_utc: bool) -> Callable[..., Any]:
    """Return the function that converts a time from UTC to a zone, or the reverse."""

    def compute(call: Call, frame: Any, times: Any, zones: Any) -> Any:
        strings = as_strings(times, call.operands[0].data_type, frame.session.time_zone).to_pylist()
        found = [None if None in row else _moved(*row, to_utc=to_utc) for row in zip(strings, zones.to_pylist(), strict=True)]
        return pa.array(found, pa.timestamp("us")).cast(arrow_type(call.data_type))

    return by_arrays(compute)


def _moved(text: str, zone: str, *, to_utc: bool) -> datetime.datetime | None:
    nanoseconds = read_timestamp(text)
    if nanoseconds is None:
        return None
    time = datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=nanoseconds // 1000)
    utc = datetime.timezone.utc
    source, target = (zone_of(zone), utc) if to_utc else (utc, zone_of(zone))
    return time.replace(tzinfo=source).astimezone(target).replace(tzinfo=None)


for _name in ("TO_UTC_TIMESTAMP", "FROM_UTC_TIMESTAMP"):
    _register(_name, taking(returning_null(t.TimestampType(6)), _DAY, TEXT), _between_zones(_name == "TO_UTC_TIMESTAMP"), may_fail=True)
_of_days("DAY", t.IntType(), lambda day: day.day)
_of_days("ADD_MONTHS", STRING, _months_later, INTEGER)
_of_days("DATE_ADD", t.DateType(), lambda day, count: day + datetime.timedelta(count), INTEGER)
_of_days("DATE_SUB", t.DateType(), lambda day, count: day - datetime.timedelta(count), INTEGER)
_of_days("DATEDIFF", t.IntType(), lambda day, other: (day - _EPOCH).days - other, _DAY)
_register(
    "FLOOR_WEEK",
    taking(lambda arguments: arguments.types[0], kind_of("<TIMESTAMP>", t.TimestampType)),
    by_kernel(lambda column: pc.floor_temporal(column, unit="week", week_starts_monday=True)),
)
_of_days("LAST_DAY", STRING, lambda day: day.replace(day=calendar.monthrange(day.year, day.month)[1]).isoformat())
_of_days("NEXT_DAY", STRING, _next_day, TEXT)
_of_days("TRUNC", STRING, _truncated, TEXT)
_of_days("WEEKOFYEAR", t.IntType(), lambda day: day.isocalendar()[1])


# Files


def _in_file(text: str, path: str) -> bool:
    """Return whether a string is a line of a file: one of this name in the working directory, or the one at the path."""
    name = Path(path).name
    file = Path(name) if name and Path(name).exists() else Path(path)
    try:
        facts = file.stat()
        return text in _lines(str(file), facts.st_mtime_ns, facts.st_size)
    except OSError as error:
        raise ValueError(f"the file cannot be read where the task runs: {error}") from error


@functools.lru_cache(maxsize=8)
def _lines(path: str, modified_ns: int, size: int) -> frozenset[str]:
    """Return the lines of a file, cached by its modification time and size."""
    return frozenset(Path(path).read_text(encoding="utf-8").splitlines())


register(ScalarFunction("hive.IN_FILE", taking(t.BooleanType(), TEXT, TEXT), by_value(_in_file), deterministic=False, may_fail=True))
