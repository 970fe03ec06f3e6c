"""Internal. Functions of strings. Positions and lengths count characters; positions start at 1."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.expressions import Call
from wiesel.columnar.functions.kernels import by_arrays, by_kernel, by_value
from wiesel.columnar.functions.registry import Arguments, ScalarFunction, Signature, register
from wiesel.columnar.functions.signatures import (
    BIGINT,
    INTEGER,
    TEXT,
    TEXT_OR_BINARY,
    TEXT_OR_NULL,
    Kind,
    never_null,
    nullable_if_any,
    returning_null,
    taking,
)
from wiesel.columnar.functions.string_casts import fitted_text
from wiesel.columnar.type_rules import STRING, common_type, is_text, text_type
from wiesel.types import logical as t

__all__: list[str] = []


def _same_type(arguments: Arguments) -> t.DataType:
    return nullable_if_any(arguments.types[0], arguments)


def _varying(arguments: Arguments) -> t.DataType:
    of = arguments.types[0]
    length = of.length if is_text(of) else t.MAX_LENGTH  # type: ignore[attr-defined]
    return nullable_if_any(text_type(length, t.VarCharType), arguments)


def _strings(name: str, resolve: Callable[[Arguments], Signature], evaluate: Callable[..., Any], may_fail: bool = False) -> None:
    register(ScalarFunction(name, resolve, evaluate, may_fail=may_fail))


# Capitals


def _changed_case(ascii_kernel: Callable[[Any], Any], change: Callable[[str], str]) -> Callable[..., Any]:
    def compute(call: Call, frame: Any, column: Any) -> Any:
        plain = pc.string_is_ascii(column)
        if not plain.false_count:
            return ascii_kernel(column)
        # Outside of ASCII one letter can become several, which Arrow's kernels do not support.
        changed = pa.array([None if text is None else change(text) for text in column.to_pylist()], pa.string())
        return fitted_text(changed, call.data_type)

    return by_arrays(compute)


for _name, _kernel, _change in (("UPPER", pc.ascii_upper, str.upper), ("LOWER", pc.ascii_lower, str.lower)):
    _strings(_name, taking(_same_type, TEXT), _changed_case(_kernel, _change))

_WORDS = re.compile(r"[0-9A-Za-z]+")


def _initial_capitals(text: str) -> str:
    return _WORDS.sub(lambda found: found[0][0].upper() + found[0][1:].lower(), text)


_strings("INITCAP", taking(_same_type, TEXT), by_value(_initial_capitals))
_strings("CHAR_LENGTH", taking(t.IntType(), TEXT), by_kernel(pc.utf8_length))


# Joining


def _joined_type(arguments: Arguments) -> t.DataType:
    lengths = sum(of.length for of in arguments.types)  # type: ignore[attr-defined]
    fixed = all(isinstance(of, t.CharType) for of in arguments.types)
    length = min(lengths, t.MAX_LENGTH)
    return nullable_if_any(text_type(length, t.CharType if fixed else t.VarCharType), arguments)


_strings("||", taking(_joined_type, TEXT, TEXT), lambda call, frame, operands: pc.binary_join_element_wise(*operands, ""))
_strings("CONCAT", taking(STRING, TEXT, rest=TEXT), lambda call, frame, operands: pc.binary_join_element_wise(*operands, ""))


def _joined_with(call: Call, frame: Any, operands: list[Any]) -> Any:
    separator, *parts = operands
    if not parts:
        return pc.if_else(pc.is_valid(separator), "", separator)
    first, *others = parts
    # The kernel omits rows whose parts are all NULL, instead of returning an empty string.
    first = pc.if_else(functools.reduce(pc.and_, map(pc.is_null, parts)), "", first)
    joined = pc.binary_join_element_wise(first, *others, pc.coalesce(separator, ""), null_handling="skip") if others else first
    return pc.if_else(pc.is_valid(separator), joined, pa.scalar(None, pa.string()))


_strings("CONCAT_WS", taking(STRING, TEXT, rest=TEXT), _joined_with)


def _repeated(call: Call, frame: Any, operands: list[Any]) -> Any:
    text, count = operands
    return pc.binary_repeat(text, pc.max_element_wise(count, pa.scalar(0, pa.int32()), skip_nulls=False))


_strings("REPEAT", taking(STRING, TEXT, INTEGER), _repeated)


# Trimming

_TRIMS = {"BOTH": pc.utf8_trim, "LEADING": pc.utf8_ltrim, "TRAILING": pc.utf8_rtrim}
_TRIMS_BY_VALUE: dict[str, Callable[[str, str], str]] = {"BOTH": str.strip, "LEADING": str.lstrip, "TRAILING": str.rstrip}


def _trimmed(side: str | None) -> Callable[..., Any]:
    def evaluate(call: Call, frame: Any, operands: list[Any]) -> Any:
        where = side or call.options[0]
        characters = operands[1] if len(operands) > 1 else pa.scalar(" ")
        if isinstance(characters, pa.Scalar) and characters.is_valid:
            removed = characters.as_py()
            return _TRIMS[where](operands[0], characters=removed) if removed else operands[0]
        cut = _TRIMS_BY_VALUE[where]
        return by_value(lambda text, removed: cut(text, removed) if removed else text)(call, frame, operands)

    return evaluate


_strings("TRIM", taking(_varying, TEXT, TEXT), _trimmed(None))
_strings("LTRIM", taking(_varying, TEXT, TEXT, optional=1), _trimmed("LEADING"))
_strings("RTRIM", taking(_varying, TEXT, TEXT, optional=1), _trimmed("TRAILING"))
_strings("BTRIM", taking(STRING, TEXT, TEXT, optional=1), _trimmed("BOTH"))


# Parts


def _part(text: str, start: int, length: int = t.MAX_LENGTH) -> str | None:
    if length < 0:
        return None
    begin = start - 1 if start > 0 else len(text) + start if start < 0 else 0
    return text[begin : begin + length] if 0 <= begin < len(text) else ""


def _substring(call: Call, frame: Any, operands: list[Any]) -> Any:
    constants: list[Any] = [operand.as_py() if isinstance(operand, pa.Scalar) else None for operand in operands[1:]]
    if None in constants or isinstance(operands[0], pa.Scalar):
        return by_value(_part)(call, frame, operands)
    start, length = constants[0], constants[1] if len(constants) > 1 else t.MAX_LENGTH
    if length < 0:
        return pa.scalar(None, pa.string())
    if start < 0:
        # A start before the string returns an empty string, unlike slices.
        found = pc.utf8_slice_codeunits(operands[0], start, start + length if start + length < 0 else None)
        return pc.if_else(pc.less(pc.utf8_length(operands[0]), -start), "", found)
    begin = max(start - 1, 0)
    return pc.utf8_slice_codeunits(operands[0], begin, min(begin + length, t.MAX_LENGTH))


_strings("SUBSTRING", taking(returning_null(_varying), TEXT, BIGINT, BIGINT, optional=1), _substring)


def _left(call: Call, frame: Any, operands: list[Any]) -> Any:
    text, length = operands
    if isinstance(length, pa.Scalar) and length.is_valid and not isinstance(text, pa.Scalar):
        return pc.utf8_slice_codeunits(text, 0, max(0, length.as_py()))
    return by_value(lambda value, count: value[: max(0, count)])(call, frame, operands)


def _right(call: Call, frame: Any, operands: list[Any]) -> Any:
    text, length = operands
    if isinstance(length, pa.Scalar) and length.is_valid and not isinstance(text, pa.Scalar) and length.as_py() > 0:
        return pc.utf8_slice_codeunits(text, -length.as_py())
    return by_value(lambda value, count: value[-count:] if count > 0 else "")(call, frame, operands)


_strings("LEFT", taking(returning_null(_varying), TEXT, INTEGER), _left)
_strings("RIGHT", taking(returning_null(_varying), TEXT, INTEGER), _right)
_strings("REVERSE", taking(returning_null(STRING), TEXT), by_kernel(pc.utf8_reverse))


def _overlaid(text: str, new: str, start: int, length: int | None = None) -> str:
    if start <= 0 or start > len(text):
        return text
    count = len(new) if length is None else length
    rest = text[start - 1 + count :] if start + count <= len(text) and count > 0 else ""
    return text[: start - 1] + new + rest


def _overlaid_type(arguments: Arguments) -> t.DataType:
    lengths = sum(of.length for of in arguments.types[:2])  # type: ignore[attr-defined]
    return nullable_if_any(text_type(min(lengths, t.MAX_LENGTH), t.VarCharType), arguments)


_strings("OVERLAY", taking(_overlaid_type, TEXT, TEXT, BIGINT, BIGINT, optional=1), by_value(_overlaid))


def _padded(left: bool) -> Callable[..., Any]:
    def compute(text: str, length: int, pad: str) -> str | None:
        if length < 0 or not pad:
            return None
        missing = max(0, length - len(text))
        filling = (pad * (missing // len(pad) + 1))[:missing]
        return (filling + text if left else text + filling)[:length]

    def evaluate(call: Call, frame: Any, operands: list[Any]) -> Any:
        text, length, pad = operands
        constant = isinstance(length, pa.Scalar) and isinstance(pad, pa.Scalar) and not isinstance(text, pa.Scalar)
        if constant and length.is_valid and pad.is_valid and length.as_py() >= 0 and len(pad.as_py()) == 1:
            kernel = pc.utf8_lpad if left else pc.utf8_rpad
            return pc.utf8_slice_codeunits(kernel(text, length.as_py(), pad.as_py()), 0, length.as_py())
        return by_value(compute)(call, frame, operands)

    return evaluate


_strings("LPAD", taking(STRING, TEXT, INTEGER, TEXT), _padded(True))
_strings("RPAD", taking(STRING, TEXT, INTEGER, TEXT), _padded(False))


# Searching


def _place(sought: str, text: str, start: int = 1) -> int:
    return text.find(sought, max(0, start - 1)) + 1 if sought else 1


def _position(call: Call, frame: Any, operands: list[Any]) -> Any:
    sought, text = operands[:2]
    if len(operands) == 2 and isinstance(sought, pa.Scalar) and not isinstance(text, pa.Scalar) and (sought.as_py() or "").isascii():
        plain = pc.string_is_ascii(text)
        if sought.as_py() and not plain.false_count:
            return pc.add(pc.find_substring(text, sought.as_py()), pa.scalar(1, pa.int32()))
    return by_value(_place)(call, frame, operands)


_strings("POSITION", taking(t.IntType(), TEXT, TEXT, INTEGER, optional=1), _position)
_strings("LOCATE", taking(t.IntType(), TEXT, TEXT, INTEGER, optional=1), _position)


def _nth_place(text: str, sought: str, start: int = 1, nth: int = 1) -> int:
    if nth <= 0:
        raise ValueError("the number of the occurrence must be positive")
    if start == 0:
        return 0
    if not sought and start > 0:
        return 1
    if start < 0:
        place = _nth_place(text[::-1], sought[::-1], -start, nth)
        return len(text) + 2 - place - len(sought) if place else 0
    place = 0
    for _ in range(nth):
        place = text.find(sought, start - 1) + 1
        if not place:
            return 0
        start = place + 1
    return place


def _instr(call: Call, frame: Any, operands: list[Any]) -> Any:
    if len(operands) == 2:
        return _position(call, frame, operands[::-1])
    return by_value(_nth_place)(call, frame, operands)


_strings("INSTR", taking(t.IntType(), TEXT, TEXT, INTEGER, INTEGER, optional=2), _instr, may_fail=True)


def _begins_or_ends(kernel: Callable[..., Any], by_one: Callable[[Any, Any], bool]) -> Callable[..., Any]:
    def evaluate(call: Call, frame: Any, operands: list[Any]) -> Any:
        text, sought = operands
        if isinstance(sought, pa.Scalar) and sought.is_valid:
            return kernel(text, sought.as_py())
        return by_value(by_one)(call, frame, operands)

    return evaluate


def _resolve_both(arguments: Arguments) -> Signature:
    signature = taking(t.BooleanType(), TEXT_OR_BINARY, TEXT_OR_BINARY)(arguments)
    first, second = signature.operand_types
    if is_text(first) != is_text(second):
        if not isinstance(arguments.types[1], t.NullType):
            raise arguments.refuse(f"{arguments.name}(<CHARACTER>, <CHARACTER>) or {arguments.name}(<BINARY>, <BINARY>)")
        return Signature([first, first], signature.result)
    return signature


_strings("STARTSWITH", _resolve_both, _begins_or_ends(pc.starts_with, lambda text, sought: text.startswith(sought)))
_strings("ENDSWITH", _resolve_both, _begins_or_ends(pc.ends_with, lambda text, sought: text.endswith(sought)))


# Replacing and splitting


def _replaced(call: Call, frame: Any, operands: list[Any]) -> Any:
    text, old, new = operands
    constant = isinstance(old, pa.Scalar) and isinstance(new, pa.Scalar) and old.is_valid and new.is_valid
    if constant and old.as_py() and not isinstance(text, pa.Scalar):
        return pc.replace_substring(text, old.as_py(), new.as_py())
    return by_value(lambda value, sought, instead: value.replace(sought, instead))(call, frame, operands)


_strings("REPLACE", taking(STRING, TEXT, TEXT, TEXT), _replaced)


def _translated(text: str, old: str, new: str) -> str:
    table: dict[int, str | None] = {}
    for place, character in enumerate(old):
        table.setdefault(ord(character), new[place] if place < len(new) else None)
    return text.translate(table)


for _name in ("TRANSLATE", "TRANSLATE3"):
    _strings(_name, taking(STRING, TEXT, TEXT, TEXT), by_value(_translated))


def _split(text: str, separator: str) -> list[str]:
    if not text:
        return []
    return text.split(separator) if separator else list(text)


_strings("SPLIT", taking(t.ArrayType(STRING), TEXT_OR_NULL, TEXT_OR_NULL), by_value(_split))


# Single characters and tests

_strings("ASCII", taking(t.IntType(), TEXT), by_value(lambda text: int.from_bytes(text.encode()[:1], "big", signed=True)))
_strings("CHR", taking(returning_null(STRING), BIGINT), by_value(lambda code: "" if code < 0 else chr(code & 255)))


def _resolve_elt(arguments: Arguments) -> Signature:
    types = arguments.types
    common = common_type(types[1:]) if len(types) > 1 else None
    index = INTEGER.fit(types[0]) if types else None
    if common is None or index is None:
        raise arguments.refuse("ELT(<INTEGER>, <CHARACTER>|<BINARY>, ...)")
    return Signature([index, *([common.nullable()] * (len(types) - 1))], common.nullable())


def _elt(index: int | None, *values: Any) -> Any:
    return None if index is None or not 1 <= index <= len(values) else values[index - 1]


_strings("ELT", _resolve_elt, by_value(_elt, nulls=True))

_NUMBER = re.compile(r"\s*[+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?)\s*")


def _test(text_test: Callable[[str], bool], *accepts: type[t.DataType]) -> Callable[..., Any]:
    def evaluate(call: Call, frame: Any, operands: list[Any]) -> Any:
        of = call.operands[0].data_type
        if is_text(of):
            return by_value(lambda text: text is not None and text_test(text), nulls=True)(call, frame, operands)
        return pa.scalar(isinstance(of, accepts))

    return evaluate


_TESTED = Kind("<CHARACTER>|<NUMERIC>", lambda of: of if is_text(of) or isinstance(of, t.NumericType) else None)

_strings("IS_DIGIT", taking(never_null(t.BooleanType()), _TESTED), _test(str.isdigit, t.IntegralType))
_strings("IS_ALPHA", taking(never_null(t.BooleanType()), _TESTED), _test(str.isalpha, t.NullType))
_is_number = _test(lambda text: _NUMBER.fullmatch(text) is not None, t.IntegralType, t.FloatType, t.DoubleType)
_strings("IS_DECIMAL", taking(never_null(t.BooleanType()), _TESTED), _is_number)
