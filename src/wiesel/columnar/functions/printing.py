"""Internal. PRINTF, by the rules of Java's formatter."""

from __future__ import annotations

import decimal
import re
from functools import lru_cache
from typing import Any

from wiesel.columnar.expressions import Call
from wiesel.columnar.functions.kernels import by_value
from wiesel.columnar.functions.registry import Arguments, ScalarFunction, Signature, register
from wiesel.columnar.type_rules import STRING, is_text
from wiesel.types import logical as t
from wiesel.types.java_strings import double_to_string, float_to_string

__all__: list[str] = []

_PART = re.compile(r"%(?:(?P<place>\d+)\$)?(?P<flags>[-#+ 0,(<]*)(?P<width>\d+)?(?:\.(?P<precision>\d+))?(?P<kind>[a-zA-Z%])|%")
_Parts = tuple[str | re.Match[str], ...]


@lru_cache(maxsize=256)
def _parts(pattern: str) -> _Parts:
    found: list[str | re.Match[str]] = []
    end = 0
    for part in _PART.finditer(pattern):
        found += [pattern[end : part.start()], part]
        end = part.end()
    return (*found, pattern[end:])


def _resolve(arguments: Arguments) -> Signature:
    types = arguments.types
    if not types or not (is_text(types[0]) or isinstance(types[0], t.NullType)):
        raise arguments.refuse("PRINTF(<CHARACTER>, <VALUE>, ...)")
    return Signature([STRING, *types[1:]], STRING)


def _printed(call: Call, frame: Any, operands: list[Any]) -> Any:
    kinds = [operand.data_type for operand in call.operands[1:]]

    def compute(pattern: str | None, *values: Any) -> str | None:
        try:
            return None if pattern is None else _filled(_parts(pattern), values, kinds)
        except (ValueError, IndexError, TypeError):
            # If the pattern does not fit the values, Flink returns NULL.
            return None

    return by_value(compute, nulls=True)(call, frame, operands)


def _filled(parts: _Parts, values: tuple[Any, ...], kinds: list[t.DataType]) -> str:
    shown: list[str] = []
    following = last = 0
    for part in parts:
        if isinstance(part, str):
            shown.append(part)
            continue
        kind = part["kind"]
        if kind is None:
            raise ValueError("incomplete format specifier '%'")
        if kind in "%n":
            shown.append(_padded("%", part) if kind == "%" else "\n")
            continue
        if part["place"]:
            place = int(part["place"]) - 1
        elif "<" in part["flags"]:
            place = last
        else:
            place, following = following, following + 1
        last = place
        shown.append(_padded(_shown(values[place], kinds[place], part), part))
    return "".join(shown)


def _padded(text: str, part: re.Match[str]) -> str:
    width = int(part["width"] or 0)
    return text.ljust(width) if "-" in part["flags"] else text.rjust(width)


def _shown(value: Any, of: t.DataType, part: re.Match[str]) -> str:
    kind, precision = part["kind"], part["precision"]
    if kind in "bB":
        text = "false" if value is None else str(value).lower() if isinstance(value, bool) else "true"
    elif value is None:
        text = "null"
    elif kind in "sS":
        text = _text(value, of)
    elif kind in "cC":
        text = value if isinstance(value, str) and len(value) == 1 else chr(value)
    else:
        text = _number(value, of, part)
        return text.upper() if kind.isupper() else text
    text = text if precision is None else text[: int(precision)]
    return text.upper() if kind.isupper() else text


def _text(value: Any, of: t.DataType) -> str:
    if isinstance(of, t.DoubleType):
        return double_to_string(value)
    if isinstance(of, t.FloatType):
        return float_to_string(value)
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def _number(value: Any, of: t.DataType, part: re.Match[str]) -> str:
    kind, flags = part["kind"].lower(), part["flags"]
    whole = isinstance(of, t.IntegralType)
    if kind == "d" and whole:
        text = f"{abs(value):,d}" if "," in flags else str(abs(value))
    elif kind in "xo" and whole and isinstance(of, t.IntegralType):
        return _zeros(format(value & (2**of.bits - 1), kind), part)
    elif kind in "fe" and isinstance(of, t.FractionalType):
        text = _fraction(value, kind, int(part["precision"] or 6) if part["precision"] != "0" else 0, "," in flags)
    else:
        raise ValueError(f"%{kind} does not fit {of.as_summary_string()}")
    negative = value < 0 or str(value).startswith("-")
    sign = "-" if negative else "+" if "+" in flags else " " if " " in flags else ""
    if negative and "(" in flags:
        return f"({text})"
    return sign + _zeros(text, part, len(sign))


def _zeros(text: str, part: re.Match[str], before: int = 0) -> str:
    return text.zfill(int(part["width"] or 0) - before) if "0" in part["flags"] else text


def _fraction(value: Any, kind: str, digits: int, grouped: bool) -> str:
    number = abs(decimal.Decimal(repr(value) if isinstance(value, float) else value))
    if not number.is_finite():
        return "NaN" if number.is_nan() else "Infinity"
    if kind == "e":
        return f"{number:.{digits}e}"
    exact = number.quantize(decimal.Decimal(1).scaleb(-digits), decimal.ROUND_HALF_UP, decimal.Context(prec=800))
    return f"{exact:,f}" if grouped else f"{exact:f}"


register(ScalarFunction("PRINTF", _resolve, _printed))
