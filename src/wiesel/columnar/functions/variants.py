"""Internal. VARIANT: PARSE_JSON, TRY_PARSE_JSON, and the parts of values.

A value is its text as printed by Flink: JSON without blanks, with the keys of objects sorted like Java's strings, numbers as written by
Java. So printing, comparison and conversion to a string need no work, and a part of it is a slice of its text.
"""

from __future__ import annotations

import decimal
import json
from collections.abc import Callable
from typing import Any, NoReturn

from wiesel.columnar.functions.json_paths import Raw, in_order, to_json
from wiesel.columnar.functions.kernels import by_value
from wiesel.columnar.functions.registry import Arguments, ScalarFunction, Signature, register
from wiesel.columnar.functions.signatures import BOOLEAN, TEXT_OR_NULL, returning_null, taking
from wiesel.columnar.type_rules import STRING, is_text
from wiesel.types import logical as t
from wiesel.types.java_strings import double_to_string
from wiesel.types.logical_variant import VariantType

__all__ = ["item_signature", "part_of", "variant_text"]

_VARIANT = VariantType()
_BLANKS = " \t\n\r"
_MOST_DIGITS = 38
_LONGEST_NUMBER = 1000
"""Maximal number of characters of a number, as in Flink's parser."""


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _number(text: str) -> Any:
    """Return a number: integers and decimals of up to 38 digits are exact, all others are doubles, as in Flink."""
    if len(text) < 19 and text.lstrip("-").isdigit():
        return int(text)
    if len(text) > _LONGEST_NUMBER:
        raise ValueError(f"a number has more than {_LONGEST_NUMBER} characters")
    if "e" not in text and "E" not in text:
        exact = decimal.Decimal(text)
        _, digits, scale = exact.as_tuple()
        if len(digits) <= _MOST_DIGITS and -int(scale) <= _MOST_DIGITS:
            return Raw(_shortest(exact))
    return Raw(double_to_string(float(text)))


def _shortest(exact: decimal.Decimal) -> str:
    shown = format(exact, "f")
    shown = shown.rstrip("0").rstrip(".") if "." in shown else shown
    return "0" if shown == "-0" else shown


def _decoder(allow_duplicates: bool) -> json.JSONDecoder:
    def of_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs) and not allow_duplicates:
            raise ValueError("an object has a key twice; PARSE_JSON(json, TRUE) takes the last one")
        return found

    return json.JSONDecoder(object_pairs_hook=of_pairs, parse_int=_number, parse_float=_number, parse_constant=_refuse)


_STRICT, _LENIENT = _decoder(False), _decoder(True)


def variant_text(text: str, allow_duplicates: bool = False) -> str:
    """Return the value at the beginning of a JSON text; trailing text is ignored, as in Flink.

    Raises:
        ValueError: If it is no JSON, or an object has a duplicate key, which is not allowed.
    """
    start = len(text) - len(text.lstrip(_BLANKS))
    try:
        value, end = (_LENIENT if allow_duplicates else _STRICT).raw_decode(text, start)
        _check_end(value, text[end : end + 1])
        shown = to_json(in_order(value))
    except RecursionError:
        raise ValueError("the text of JSON is nested too deeply") from None
    # Halves of characters are question marks in Java's UTF-8.
    return shown if shown.isascii() else shown.encode("utf-8", "replace").decode()


def _check_end(value: Any, following: str) -> None:
    """Reject an invalid character directly after a number or a keyword; after all other values any character may follow."""
    is_word = value is None or isinstance(value, bool)
    is_number = not is_word and isinstance(value, int | Raw)
    if following and ((is_number and following not in _BLANKS) or (is_word and (following.isalnum() or following in "_$"))):
        raise ValueError(f"there is {following!r} behind the first value")


def _resolve_parse(tries: bool) -> Callable[[Arguments], Signature]:
    return taking(returning_null(_VARIANT) if tries else _VARIANT, TEXT_OR_NULL, BOOLEAN, optional=1)


def _tried(text: str, allow_duplicates: bool = False) -> str | None:
    try:
        return variant_text(text, allow_duplicates)
    except ValueError:
        return None


register(ScalarFunction("PARSE_JSON", _resolve_parse(False), by_value(variant_text), may_fail=True))
register(ScalarFunction("TRY_PARSE_JSON", _resolve_parse(True), by_value(_tried)))


# Parts

_SCANNER = json.JSONDecoder()
"""Scans the strings of values, including Infinity."""


def item_signature(of: VariantType, place: t.DataType) -> Signature | None:
    """Return how a part is accessed: a field of an object by a string, an element of an array by a number from 1; None for other types."""
    if is_text(place):
        return Signature([of, STRING], _VARIANT)
    return Signature([of, t.BigIntType()], _VARIANT) if isinstance(place, t.IntegralType) else None


def part_of(value: str, place: str | int) -> str | None:
    """Return a part of a value, None if it does not exist.

    Raises:
        ValueError: If a field is accessed in a value that is no object, or an element in one that is no array.
    """
    return _field(value, place) if isinstance(place, str) else _element(value, place)


def _field(value: str, name: str) -> str | None:
    if not value.startswith("{"):
        raise ValueError("a string accesses a field of an object, and this VARIANT is none")
    wanted, at = to_json(name) + ":", 1
    if wanted not in value:
        return None
    while value[at] != "}":
        if value.startswith(wanted, at):
            start = at + len(wanted)
            return value[start : _SCANNER.raw_decode(value, start)[1]]
        _, colon = _SCANNER.raw_decode(value, at)
        at = _behind(value, colon + 1)
    return None


def _element(value: str, place: int) -> str | None:
    if not value.startswith("["):
        raise ValueError("a number accesses an element of an array, and this VARIANT is none")
    at, before = 1, place - 1
    if before < 0:
        return None
    while value[at] != "]":
        if not before:
            return value[at : _SCANNER.raw_decode(value, at)[1]]
        at, before = _behind(value, at), before - 1
    return None


def _behind(value: str, at: int) -> int:
    """Return the offset of the next part, or of the closing bracket."""
    _, end = _SCANNER.raw_decode(value, at)
    return end + 1 if value[end] == "," else end
