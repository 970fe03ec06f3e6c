"""Internal. JSON functions: paths into strings, predicates, and constructors."""

from __future__ import annotations

import base64
import decimal
import json
import re
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from wiesel.columnar.expressions import Call
from wiesel.columnar.functions.json_paths import Path, Raw, compile_path, in_order, parse_json, to_json
from wiesel.columnar.functions.kernels import by_arrays, by_value
from wiesel.columnar.functions.registry import Arguments, ScalarFunction, Signature, register
from wiesel.columnar.functions.signatures import TEXT_OR_NULL, never_null, nullable_if_any, taking
from wiesel.columnar.type_rules import STRING, is_text
from wiesel.core.errors import ProgramError
from wiesel.types import logical as t
from wiesel.types.java_strings import double_to_string
from wiesel.types.logical_variant import VariantType

__all__: list[str] = []

_MADE_OF_JSON = frozenset({"JSON_OBJECT", "JSON_ARRAY", "JSON"})


def _words(options: tuple[Any, ...]) -> tuple[str, ...]:
    return options[0] if options else ()


def _behaviour(words: tuple[str, ...], kind: str, default: str) -> tuple[str, int]:
    """Return the behaviour ON EMPTY or ON ERROR and, for DEFAULT, the index of the default."""
    defaults = 0
    for place, word in enumerate(words):
        following = words[place + 1] if place + 1 < len(words) else ""
        if word == "DEFAULT":
            if following == f"ON {kind}":
                return "DEFAULT", defaults
            defaults += 1
        elif word.endswith(f" ON {kind}"):
            return word.removesuffix(f" ON {kind}"), -1
    return default, -1


def _found(text: str, path: Path) -> Any:
    """Return the value at a path, None if there is none; ValueError if the string is no JSON and the path is strict.

    As in Flink null counts as no value, and a lax path has no value in invalid JSON.
    """
    try:
        document = parse_json(text)
    except ValueError:
        if path.strict:
            raise
        return None
    return path.find(document)


def _resolve_path(result: Callable[[Arguments], t.DataType]) -> Callable[[Arguments], Signature]:
    def resolve(arguments: Arguments) -> Signature:
        defaults = arguments.options[2] if len(arguments.options) > 2 else 0
        types = arguments.types
        given = types[0] if len(types) - defaults == 2 else None
        is_variant = isinstance(given, VariantType)
        if given is None or not is_text(types[1]) or not (is_variant or TEXT_OR_NULL.fit(given)):
            raise arguments.refuse(f"{arguments.name}(<CHARACTER>, <PATH>)")
        path = arguments.literal(1)
        if path is not None:
            _checked_path(path)
        returned = result(arguments)
        return Signature([given if is_variant else STRING, STRING, *([returned.nullable()] * defaults)], returned)

    return resolve


def _checked_path(path: str) -> None:
    try:
        compile_path(path)
    except ValueError as error:
        raise ProgramError(str(error), hint="write a path such as '$.a.b[0]'") from error


def _returned(arguments: Arguments) -> t.DataType:
    kind = arguments.options[1] if len(arguments.options) > 1 and arguments.options[1] is not None else STRING
    fits = is_text(kind) or isinstance(kind, t.BooleanType | t.IntType | t.DoubleType)
    if not fits:
        raise ProgramError(f"JSON_VALUE cannot return {kind.as_summary_string()}", hint="RETURNING takes STRING, BOOLEAN, INT and DOUBLE")
    return kind.nullable()


# JSON_VALUE


def _value(call: Call, frame: Any, operands: list[Any]) -> Any:
    words, wanted = _words(call.options), call.data_type
    on_empty, on_error = _behaviour(words, "EMPTY", "NULL"), _behaviour(words, "ERROR", "NULL")

    def compute(text: str | None, path_text: str | None, *defaults: Any) -> Any:
        if text is None or path_text is None:
            return None
        try:
            path = compile_path(path_text)
            value = _found(text, path)
            if path.strict and isinstance(value, dict | list):
                raise ValueError("what is found is no single value")
        except (ValueError, LookupError) as error:
            return _instead(on_error, defaults, str(error))
        if value is None or isinstance(value, dict | list):
            return _instead(on_empty, defaults, "there is nothing at the path")
        return _converted(value, wanted)

    return by_value(compute, nulls=True)(call, frame, operands)


def _instead(behaviour: tuple[str, int], defaults: tuple[Any, ...], why: str) -> Any:
    name, place = behaviour
    if name == "ERROR":
        raise ValueError(why)
    return defaults[place] if name == "DEFAULT" else None


def _converted(value: Any, wanted: t.DataType) -> Any:
    if is_text(wanted):
        return value if isinstance(value, str) else to_json(value)
    is_number = isinstance(value, int | decimal.Decimal) and not isinstance(value, bool)
    if isinstance(wanted, t.BooleanType) and isinstance(value, bool):
        return value
    if isinstance(wanted, t.IntType) and is_number and isinstance(value, int):
        return value
    if isinstance(wanted, t.DoubleType) and is_number:
        return float(value)
    raise ValueError(f"{to_json(value)} is no {wanted.nullable().as_summary_string()}")


register(ScalarFunction("JSON_VALUE", _resolve_path(_returned), _value, may_fail=True))


# JSON_QUERY and JSON_EXISTS


def _query_type(arguments: Arguments) -> t.DataType:
    kind = arguments.options[1] if len(arguments.options) > 1 and arguments.options[1] is not None else STRING
    if not is_text(kind) and not (isinstance(kind, t.ArrayType) and is_text(kind.element_type)):
        raise ProgramError(f"JSON_QUERY cannot return {kind.as_summary_string()}", hint="RETURNING takes STRING and ARRAY<STRING>")
    return kind.nullable()


def _query(call: Call, frame: Any, operands: list[Any]) -> Any:
    words = _words(call.options)
    wrapper = next((word for word in words if word.endswith("WRAPPER")), "WITHOUT WRAPPER")
    on_empty, on_error = _behaviour(words, "EMPTY", "NULL"), _behaviour(words, "ERROR", "NULL")
    as_array = isinstance(call.data_type, t.ArrayType)

    def compute(text: str | None, path_text: str | None) -> Any:
        if text is None or path_text is None:
            return None
        try:
            path = compile_path(path_text)
            value = _wrapped(_found(text, path), wrapper)
            if path.strict and value is not None and not isinstance(value, dict | list):
                raise ValueError("what is found is neither an object nor an array")
            if isinstance(value, dict | list):
                return _shown(in_order(value), as_array)
        except (ValueError, LookupError) as error:
            return _constant(on_error, as_array, str(error))
        return _constant(on_empty, as_array, "there is nothing at the path")

    return by_value(compute, nulls=True)(call, frame, operands)


def _wrapped(value: Any, wrapper: str) -> Any:
    if value is None or wrapper.startswith("WITHOUT"):
        return value
    return value if "CONDITIONAL" in wrapper.split() and isinstance(value, list) else [value]


def _shown(value: Any, as_array: bool) -> Any:
    if not as_array:
        return to_json(value)
    if not isinstance(value, list):
        raise ValueError("what is found is no array")
    return [None if part is None else part if isinstance(part, str) else to_json(part) for part in value]


def _constant(behaviour: tuple[str, int], as_array: bool, why: str) -> Any:
    name = behaviour[0]
    if name == "ERROR":
        raise ValueError(why)
    if name == "EMPTY ARRAY":
        return [] if as_array else "[]"
    return "{}" if name == "EMPTY OBJECT" and not as_array else None


register(ScalarFunction("JSON_QUERY", _resolve_path(_query_type), _query, may_fail=True))


def _exists(call: Call, frame: Any, operands: list[Any]) -> Any:
    on_error = _behaviour(_words(call.options), "ERROR", "FALSE")[0]

    def compute(text: str, path_text: str) -> bool | None:
        try:
            return _found(text, compile_path(path_text)) is not None
        except (ValueError, LookupError) as error:
            if on_error == "ERROR":
                raise ValueError(str(error)) from error
            return None if on_error == "UNKNOWN" else on_error == "TRUE"

    return by_value(compute)(call, frame, operands)


register(ScalarFunction("JSON_EXISTS", _resolve_path(lambda arguments: t.BooleanType()), _exists, may_fail=True))


# Tests and quotes

_KINDS: dict[str, tuple[type, ...]] = {
    "VALUE": (object,),
    "OBJECT": (dict,),
    "ARRAY": (list,),
    "SCALAR": (str, int, decimal.Decimal, bool, type(None)),
}


def _is_json(call: Call, frame: Any, operands: list[Any]) -> Any:
    kinds = _KINDS[call.options[0]]

    def compute(text: str | None) -> bool:
        if text is None:
            return False
        try:
            return isinstance(parse_json(text), kinds)
        except ValueError:
            return False

    return by_value(compute, nulls=True)(call, frame, operands)


register(ScalarFunction("IS JSON", taking(never_null(t.BooleanType()), TEXT_OR_NULL), _is_json))


_NOT_PLAIN = re.compile(r'["\\/\b\f\n\r\t]|[^\x00-\x7f]')


def _quoted(text: str) -> str:
    """Return a quoted string as written by Flink: a slash is escaped, most control characters are not."""
    shown = _NOT_PLAIN.sub(lambda found: "\\/" if found[0] == "/" else json.dumps(found[0])[1:-1], text)
    return f'"{shown}"'


def _unquoted(text: str) -> str:
    if not re.fullmatch(r'".*"', text, re.DOTALL):
        return text
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return found if isinstance(found, str) else text


register(ScalarFunction("JSON_QUOTE", taking(STRING, TEXT_OR_NULL), by_value(_quoted)))
register(ScalarFunction("JSON_UNQUOTE", taking(STRING, TEXT_OR_NULL), by_value(_unquoted)))


# Values as JSON

Writer = Callable[[Any], Any]


def writer_of(of: t.DataType) -> Writer:
    """Return the function that converts a value of a column to JSON.

    Raises:
        ProgramError: If values of the type have no JSON form in Flink.
    """
    if isinstance(of, t.ArrayType):
        part = writer_of(of.element_type)
        return _unless_null(lambda values: [part(value) for value in values])
    if isinstance(of, t.MapType) and is_text(of.key_type):
        item = writer_of(of.value_type)
        return _unless_null(lambda pairs: {key: item(value) for key, value in pairs})
    if isinstance(of, t.RowType):
        parts = [(field.name, writer_of(field.data_type)) for field in of.fields]
        return _unless_null(lambda row: {name: part(value) for (name, part), value in zip(parts, row.values(), strict=True)})
    found = next((write for kinds, write in _WRITERS if isinstance(of, kinds)), None)
    if found is None:
        raise ProgramError(f"values of type {of.as_summary_string()} cannot be converted to JSON", hint="cast them to STRING")
    return _unless_null(found)


def _unless_null(write: Writer) -> Writer:
    return lambda value: None if value is None else write(value)


def _float(value: float) -> Any:
    # As Java's BigDecimal, which has no minus zero.
    return decimal.Decimal(double_to_string(value + 0.0)) if value == value and abs(value) != float("inf") else double_to_string(value)


def _moment(value: Any) -> str:
    return re.sub(r"(\.\d*?)0+$", r"\1", value.replace(tzinfo=None).isoformat()).removesuffix(".")


_WRITERS: tuple[tuple[Any, Writer], ...] = (
    ((t.CharType, t.VarCharType, t.BooleanType, t.IntegralType, t.DecimalType, t.NullType), lambda value: value),
    ((t.FloatType, t.DoubleType), _float),
    (t.TimestampType, _moment),
    (VariantType, Raw),
    (t.LocalZonedTimestampType, lambda value: _moment(value) + "Z"),
    ((t.BinaryType, t.VarBinaryType), lambda value: base64.b64encode(value).decode()),
)


def _resolve_text(arguments: Arguments) -> Signature:
    if len(arguments.types) != 1:
        raise arguments.refuse("JSON_STRING(<VALUE>)")
    writer_of(arguments.types[0])
    return Signature(arguments.types, nullable_if_any(STRING, arguments))


def _text(call: Call, frame: Any, operands: list[Any]) -> Any:
    write = writer_of(call.operands[0].data_type)
    return by_value(lambda value: to_json(write(value)))(call, frame, operands)


register(ScalarFunction("JSON_STRING", _resolve_text, _text))


def _resolve_object(arguments: Arguments) -> Signature:
    types = arguments.types
    if len(types) % 2 or not all(is_text(of) for of in types[::2]):
        raise arguments.refuse("JSON_OBJECT(<CHARACTER> VALUE <VALUE>, ...)")
    for of in types[1::2]:
        writer_of(of)
    return Signature(types, STRING.not_null())


def _writers(call: Call) -> list[Writer]:
    """Return the writer of each operand; JSON operands are not quoted."""
    return [_raw if isinstance(part, Call) and part.function in _MADE_OF_JSON else writer_of(part.data_type) for part in call.operands]


def _raw(text: Any) -> Any:
    return None if text is None else parse_json(text)


def _object(call: Call, frame: Any, *columns: Any) -> Any:
    absent, writers = "ABSENT ON NULL" in _words(call.options), _writers(call)
    if not columns:
        return pa.array(["{}"] * (frame.num_rows or 1))
    rows = zip(*(column.to_pylist() for column in columns), strict=True)
    found = []
    for row in rows:
        pairs = zip(row[::2], (write(value) for write, value in zip(writers[1::2], row[1::2], strict=True)), strict=True)
        found.append(to_json({key: value for key, value in pairs if value is not None or not absent}))
    return pa.array(found, pa.string())


register(ScalarFunction("JSON_OBJECT", _resolve_object, by_arrays(_object)))


def _resolve_list(arguments: Arguments) -> Signature:
    for of in arguments.types:
        writer_of(of)
    return Signature(arguments.types, STRING.not_null())


def _list(call: Call, frame: Any, *columns: Any) -> Any:
    absent, writers = "NULL ON NULL" not in _words(call.options), _writers(call)
    if not columns:
        return pa.array(["[]"] * (frame.num_rows or 1))
    found = []
    for row in zip(*(column.to_pylist() for column in columns), strict=True):
        values = [write(value) for write, value in zip(writers, row, strict=True)]
        found.append(to_json([value for value in values if value is not None or not absent]))
    return pa.array(found, pa.string())


register(ScalarFunction("JSON_ARRAY", _resolve_list, by_arrays(_list)))


def _checked(text: str) -> str:
    parse_json(text)
    return text


register(ScalarFunction("JSON", taking(STRING, TEXT_OR_NULL), by_value(_checked), may_fail=True))
