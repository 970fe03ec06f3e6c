"""Internal. Functions whose semantics differ between Flink and Hive, and conversions of Hive's dialect, registered as ``hiveql.NAME``."""

from __future__ import annotations

import datetime
import decimal
import math
import re
from typing import Any

import pyarrow.compute as pc

from wiesel.columnar.expressions import Call
from wiesel.columnar.functions.java_regex import compiled
from wiesel.columnar.functions.kernels import by_kernel, by_value
from wiesel.columnar.functions.registry import Arguments, ScalarFunction, Signature, register
from wiesel.columnar.functions.signatures import ARRAY, BIGINT, DOUBLE, INTEGER, TEXT, kind_of, returning_null, taking
from wiesel.columnar.type_rules import STRING
from wiesel.types import logical as t

__all__: list[str] = []

_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?=$|[ T])")
_WORD = re.compile(r"\S+")
_WHOLE = re.compile(r"([+-]?\d+)(?:\.\d*)?")
_REPLACEMENT = re.compile(r"\\(.)|\$(\d)", re.DOTALL)


def _resolve_bits(arguments: Arguments) -> Signature:
    long = any(isinstance(of, t.BigIntType) for of in arguments.types)
    return taking(t.BigIntType() if long else t.IntType(), *([BIGINT if long else INTEGER] * len(arguments.types)))(arguments)


register(ScalarFunction("hiveql.REMAINDER", taking(t.DoubleType(), DOUBLE, DOUBLE), by_value(math.fmod)))
for _name, _kernel in (("AND", pc.bit_wise_and), ("OR", pc.bit_wise_or), ("XOR", pc.bit_wise_xor), ("NOT", pc.bit_wise_not)):
    register(ScalarFunction(f"hiveql.BIT_{_name}", _resolve_bits, by_kernel(_kernel)))


def _part(text: str, start: int, length: int | None = None) -> str:
    """Return the substring from a position, which counts from 1, or from the end if it is negative."""
    if (length is not None and length <= 0) or abs(start) > len(text):
        return ""
    begin = start - 1 if start > 0 else len(text) + start if start < 0 else 0
    return text[begin:] if length is None else text[begin : begin + length]


def _split(text: str, pattern: str) -> list[str]:
    """Return the parts between matches of a pattern; empty ones are kept, except before an empty match at the beginning."""
    parts, end = [], 0
    for found in compiled(pattern).finditer(text):
        if found.end() == 0:
            continue
        parts.append(text[end : found.start()])
        end = found.end()
    return [*parts, text[end:]]


def _extract(text: str, pattern: str, group: int = 1) -> str | None:
    found = compiled(pattern).search(text)
    return "" if found is None else found[group]


def _replaced(text: str, pattern: str, replacement: str) -> str:
    """Return a string with the matches of a pattern replaced; ``$1`` stands for a group, as in Java."""

    def new(found: re.Match[str]) -> str:
        return _REPLACEMENT.sub(lambda part: part[1] if part[1] is not None else found[int(part[2])] or "", replacement)

    return compiled(pattern).sub(new, text)


def _capitalized(text: str) -> str:
    """Return a string with the first letter of each blank-separated word in upper case."""
    return _WORD.sub(lambda word: word[0][0].upper() + word[0][1:].lower(), text)


def _same_array(arguments: Arguments) -> t.DataType:
    return arguments.types[0]


def _sorted_by_fields(call: Call, frame: Any, operands: list[Any]) -> Any:
    """Sort arrays of structs by the fields that the options name, NULL first and NaN last, all in one direction."""
    *fields, ascending = call.options

    def rank(value: Any) -> tuple[Any, ...]:
        return (0,) if value is None else (2,) if value != value else (1, value)

    def compute(structs: list[dict[str, Any] | None]) -> list[dict[str, Any] | None]:
        return sorted(structs, key=lambda each: [rank(each and each[field]) for field in fields], reverse=not ascending)

    return by_value(compute)(call, frame, operands)


register(ScalarFunction("hiveql.SORT_ARRAY_BY", taking(_same_array, ARRAY), _sorted_by_fields))
register(ScalarFunction("hiveql.INITCAP", taking(STRING, TEXT), by_value(_capitalized)))
register(ScalarFunction("hiveql.SUBSTR", taking(STRING, TEXT, INTEGER, INTEGER, optional=1), by_value(_part)))
register(ScalarFunction("hiveql.SPLIT", taking(t.ArrayType(STRING), TEXT, TEXT), by_value(_split), may_fail=True))
register(
    ScalarFunction(
        "hiveql.REGEXP_EXTRACT", taking(returning_null(STRING), TEXT, TEXT, INTEGER, optional=1), by_value(_extract), may_fail=True
    )
)
register(ScalarFunction("hiveql.BOOLEAN_OF_TEXT", taking(t.BooleanType(), TEXT), by_value(bool)))


# Times


def _date(text: str) -> datetime.date | None:
    """Return the date at the beginning of a string; days past the end of a month are in the next one, as in Java."""
    found = _DATE.match(text)
    year, month, day = map(int, found.groups()) if found is not None else (0, 0, 0)
    if not (year and 1 <= month <= 12 and 1 <= day <= 31):
        return None
    return datetime.date(year, month, 1) + datetime.timedelta(day - 1)


def _whole(text: str) -> int | None:
    """Return the integral part of a number in decimal digits; blanks are not allowed."""
    found = _WHOLE.fullmatch(text)
    number = None if found is None else int(found[1])
    return number if number is not None and -(2**63) <= number < 2**63 else None


def _timestamp_text(time: datetime.datetime) -> str:
    """Return a time with as many digits of the second as it needs."""
    return time.isoformat(" ", "microseconds").rstrip("0").rstrip(".")


def _decimal_text(number: decimal.Decimal) -> str:
    """Return a number without trailing zeros in its fraction."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


_EPOCH = datetime.datetime(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)


def _seconds_of(time: datetime.datetime) -> float:
    return (time - _EPOCH) // _MICROSECOND / 1_000_000


def _time_of(seconds: float) -> datetime.datetime | None:
    try:
        return _EPOCH + datetime.timedelta(microseconds=round(seconds * 1_000_000))
    except OverflowError:
        return None


_DECIMAL = kind_of("<DECIMAL>", t.DecimalType)
_MICROSECONDS = kind_of("<TIMESTAMP>", t.TimestampType)
register(ScalarFunction("hiveql.DATE_OF_TEXT", taking(returning_null(t.DateType()), TEXT), by_value(_date)))
register(ScalarFunction("hiveql.TIMESTAMP_TEXT", taking(STRING, _MICROSECONDS), by_value(_timestamp_text)))
register(ScalarFunction("hiveql.DECIMAL_TEXT", taking(STRING, _DECIMAL), by_value(_decimal_text)))
register(ScalarFunction("hiveql.SECONDS", taking(t.DoubleType(), _MICROSECONDS), by_value(_seconds_of)))
register(ScalarFunction("hiveql.TIMESTAMP_OF_SECONDS", taking(returning_null(t.TimestampType(6)), DOUBLE), by_value(_time_of)))
register(ScalarFunction("hiveql.INTEGER_OF_TEXT", taking(returning_null(t.BigIntType()), TEXT), by_value(_whole)))
register(ScalarFunction("hiveql.REGEXP_REPLACE", taking(STRING, TEXT, TEXT, TEXT), by_value(_replaced), may_fail=True))


# n-grams


_SENTENCES = kind_of("<ARRAY OF ARRAYS OF CHARACTER>", t.ArrayType)
_GRAMS = returning_null(t.ArrayType(t.ArrayType(STRING)))


def _grams(sentences: list[list[str]], length: int) -> list[list[str]]:
    """Return the n-grams of sentences: sequences of consecutive words of a given length."""
    if length < 1:
        raise ValueError(f"an n-gram has at least one word, not {length}")
    return [words[start : start + length] for words in sentences if words for start in range(len(words) - length + 1)]


def _in_context(sentences: list[list[str]], context: list[str | None]) -> list[list[str]]:
    """Return the words at the open positions of a context, for each match of its other words."""
    if None not in context:
        raise ValueError("the context has no NULL for an open position")
    return [
        [word for word, wanted in zip(words, context, strict=True) if wanted is None]
        for words in _grams(sentences, len(context))
        if all(wanted in (None, word) for word, wanted in zip(words, context, strict=True))
    ]


register(ScalarFunction("hiveql.NGRAMS", taking(_GRAMS, _SENTENCES, INTEGER), by_value(_grams), may_fail=True))
register(ScalarFunction("hiveql.CONTEXT_NGRAMS", taking(_GRAMS, _SENTENCES, ARRAY), by_value(_in_context), may_fail=True))
