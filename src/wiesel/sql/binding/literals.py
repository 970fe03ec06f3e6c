"""Internal. Binds literals: numbers, strings, bytes, dates, times and intervals."""

from __future__ import annotations

import datetime
import decimal
import math
import re
from typing import Any

from wiesel.columnar.expressions import Literal
from wiesel.columnar.functions.intervals import DAY_TIME, UNIT_MONTHS, UNIT_MS, YEAR_MONTH
from wiesel.columnar.functions.reading import read_date, read_timestamp
from wiesel.columnar.type_rules import text_type
from wiesel.core.errors import ProgramError
from wiesel.sql.language.dialect import CHARACTER_SETS
from wiesel.types import logical as t

__all__ = ["bytes_of", "interval", "negated", "number_or_text", "temporal", "text_literal", "text_of_set", "unicode_text"]

_ESCAPES = re.compile(r"\\([0-9a-fA-F]{4}|\+[0-9a-fA-F]{6}|\\)")
_TIME = re.compile(r"(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,9}))?")
_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_UNITS = ("DAY", "HOUR", "MINUTE", "SECOND")


def number_or_text(node: Any) -> Literal:
    """Return the value of a number or of a text between quotes."""
    text = node.this
    if node.is_string:
        return text_literal(text)
    if not _NUMBER.fullmatch(text):
        raise ProgramError(f"{text} is not a number", hint="for example 12, 1.5 or 1.5E0")
    if any(letter in text for letter in "eE"):
        number = float(text)
        if math.isinf(number):
            raise ProgramError(f"{text} is out of the range of DOUBLE", hint="CAST('Infinity' AS DOUBLE) is infinite")
        return Literal(t.DoubleType(False), number)
    if "." in text.rstrip("."):
        digits, scale = len(text) - 1, len(text) - text.index(".") - 1
        _check_digits(digits, text)
        return Literal(t.DecimalType(digits, scale, False), decimal.Decimal(text))
    return _whole(int(text.rstrip(".")))


def _whole(value: int) -> Literal:
    if abs(value) < 2**31:
        return Literal(t.IntType(False), value)
    if abs(value) < 2**63:
        return Literal(t.BigIntType(False), value)
    raise ProgramError(f"the number {value} is too large for a BIGINT", hint=f"write it as a decimal: {value}.0")


def _check_digits(digits: int, text: str) -> None:
    if digits > 38:
        raise ProgramError(f"the number {text} has {digits} digits, a DECIMAL has at most 38", hint="write it as a DOUBLE: 1.5E0")


def negated(literal: Literal) -> Literal | None:
    """Return a number with the other sign; None if it is no number."""
    if literal.value is None or not isinstance(literal.data_type, t.NumericType):
        return None
    return Literal(literal.data_type, -literal.value)


def unicode_text(node: Any) -> Literal:
    """Return a text with characters that are written by their numbers."""
    text = _ESCAPES.sub(lambda found: "\\" if found[1] == "\\" else chr(int(found[1].lstrip("+"), 16)), node.this)
    return text_literal(text)


def text_of_set(node: Any) -> Literal:
    """Return a text that tells its set of characters: ``_UTF8'a'``."""
    name, text = node.this.upper().removeprefix("_"), node.expression.this
    try:
        text.encode(CHARACTER_SETS[name])
    except UnicodeEncodeError:
        raise ProgramError(f"{text!r} has characters that {name} does not have", hint=f"write _UTF8'{text}', or no set in front") from None
    return text_literal(text)


def text_literal(text: str) -> Literal:
    """Return a text; its length is that of Java, which counts two for characters beyond the first 65536."""
    return Literal(text_type(len(text.encode("utf-16-le")) // 2).not_null(), text)


def bytes_of(node: Any) -> Literal:
    """Return the bytes of ``X'00ff'``."""
    try:
        value = bytes.fromhex(node.this)
    except ValueError:
        raise ProgramError(f"X'{node.this}' is not bytes", hint="write two hexadecimal digits for each byte") from None
    return Literal(t.BinaryType(max(len(value), 1), False), value)


def temporal(node: Any) -> Literal | None:
    """Return the value of ``DATE '2020-01-02'`` and its like; None for other types."""
    kind, text = node.args["to"].this.name, node.this.this
    if kind == "DATE":
        day = read_date(text)
        if day is not None and text.count("-") == 2:
            return Literal(t.DateType(False), datetime.date(1970, 1, 1) + datetime.timedelta(day))
    elif kind == "TIME":
        found = _TIME.fullmatch(text)
        if found and int(found[1]) < 24 and int(found[2]) < 60 and int(found[3]) < 60:
            fraction = found[4] or ""
            milliseconds = ((int(found[1]) * 60 + int(found[2])) * 60 + int(found[3])) * 1000 + int(fraction[:3].ljust(3, "0"))
            return Literal(t.TimeType(len(fraction), False), milliseconds)
    elif kind == "TIMESTAMP":
        nanoseconds = read_timestamp(text)
        if nanoseconds is not None and " " in text:
            precision = len(text.partition(".")[2])
            per = 1_000_000 if precision <= 3 else 1000 if precision <= 6 else 1
            return Literal(t.TimestampType(precision, False), nanoseconds // per)
    else:
        return None
    shape = {"DATE": "2020-12-31", "TIME": "23:59:59", "TIMESTAMP": "2020-12-31 23:59:59.999"}[kind]
    raise ProgramError(f"{text!r} is not a {kind}", hint=f"write {kind} '{shape}'")


def interval(text: str, unit: str, last: str | None) -> Literal:
    """Return the length of time of a text from one unit down to another.

    Raises:
        ProgramError: If the text does not have these parts.
    """
    sign = -1 if text.strip().startswith("-") else 1
    body = text.strip().lstrip("+-")
    by_months = unit in UNIT_MONTHS
    length = _months(body, unit, last) if by_months else _milliseconds(body, unit, last)
    if length >= 2 ** (31 if by_months else 63):
        raise ProgramError(f"an interval of {body} is too long", hint="it is held as a number of months, or of milliseconds")
    return Literal((YEAR_MONTH if by_months else DAY_TIME).not_null(), sign * length)


def _months(body: str, unit: str, last: str | None) -> int:
    if last == "MONTH" and unit == "YEAR":
        found = re.fullmatch(r"(\d+)-(\d{1,2})", body)
        if found and int(found[2]) < 12:
            return int(found[1]) * 12 + int(found[2])
    elif last is None and body.isdigit():
        return int(body) * UNIT_MONTHS[unit]
    raise _no_interval(body, unit, last)


def _milliseconds(body: str, unit: str, last: str | None) -> int:
    if unit == "WEEK" and last is None and body.isdigit():
        return int(body) * UNIT_MS["WEEK"]
    if unit not in _UNITS or (last is not None and (last not in _UNITS or _UNITS.index(last) <= _UNITS.index(unit))):
        raise _no_interval(body, unit, last)
    units = _UNITS[_UNITS.index(unit) : _UNITS.index(last or unit) + 1]
    numbers = re.split(r"[ :]", body.strip())
    whole, _, fraction = numbers[-1].partition(".")
    if len(numbers) != len(units) or (fraction and units[-1] != "SECOND") or not all(part.isdigit() for part in [*numbers[:-1], whole]):
        raise _no_interval(body, unit, last)
    total = sum(int(part) * UNIT_MS[name] for part, name in zip([*numbers[:-1], whole], units, strict=True))
    return total + int((fraction[:3] or "0").ljust(3, "0")) if fraction else total


def _no_interval(body: str, unit: str, last: str | None) -> ProgramError:
    return ProgramError(
        f"{body!r} is not an interval of {unit}{f' TO {last}' if last else ''}",
        hint="write INTERVAL '1' DAY, INTERVAL '1 02:03:04.5' DAY TO SECOND or INTERVAL '1-2' YEAR TO MONTH",
    )
