"""Internal. Functions of arrays. NULL elements are equal to each other here, as in Flink."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import pyarrow as pa

from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.expressions import Call
from wiesel.columnar.functions.kernels import by_arrays, by_value
from wiesel.columnar.functions.registry import Arguments, ScalarFunction, Signature, register
from wiesel.columnar.functions.signatures import ARRAY, BOOLEAN, INTEGER, TEXT_OR_NULL, nullable_if_any, taking
from wiesel.columnar.type_rules import STRING, common_type, is_text
from wiesel.types import logical as t

__all__: list[str] = []


def _array_type(arguments: Arguments) -> t.ArrayType:
    of = arguments.types[0] if arguments.types else None
    if not isinstance(of, t.ArrayType):
        raise arguments.refuse(f"{arguments.name}(<ARRAY>, ...)")
    return of


def _same_array(arguments: Arguments) -> t.DataType:
    return nullable_if_any(arguments.types[0], arguments)


def _resolve_with_element(result: t.DataType | None) -> Callable[[Arguments], Signature]:
    """Resolve an array and a value of its element type; with no ``result`` the array type that can hold the value is returned."""

    def resolve(arguments: Arguments) -> Signature:
        array = _array_type(arguments)
        if len(arguments.types) != 2 or not _fits(arguments.types[1], array.element_type):
            raise arguments.refuse(f"{arguments.name}(<ARRAY>, <ELEMENT>)")
        element = array.element_type.nullable()
        if result is None:
            held = element if arguments.types[1].is_nullable else array.element_type
            return Signature([array, held], t.ArrayType(held, array.is_nullable))
        nullable = array.is_nullable or (arguments.types[1].is_nullable and arguments.name == "ARRAY_POSITION")
        return Signature([array, element], result.nullable() if nullable else result.not_null())

    return resolve


def _fits(value: t.DataType, element: t.DataType) -> bool:
    if isinstance(value, t.NullType) or value.nullable() == element.nullable():
        return True
    if is_text(value) and is_text(element):
        return value.length <= element.length  # type: ignore[attr-defined, no-any-return]
    common = common_type([value, element])
    return common is not None and common.nullable() == element.nullable()


def _key(value: Any) -> Hashable:
    if isinstance(value, list | dict):
        return repr(value)
    return value  # type: ignore[no-any-return]


def _distinct(values: Iterable[Any]) -> list[Any]:
    return list(_firsts(values).values())


def _firsts(values: Iterable[Any]) -> dict[Hashable, Any]:
    found: dict[Hashable, Any] = {}
    for value in values:
        found.setdefault(_key(value), value)
    return found


def _of_array_and_element(name: str, result: t.DataType | None, compute: Callable[[list[Any], Any], Any]) -> None:
    def evaluate(call: Call, frame: Any, arrays: Any, elements: Any) -> Any:
        rows = zip(arrays.to_pylist(), elements.to_pylist(), strict=True)
        found = [None if values is None else compute(values, element) for values, element in rows]
        return pa.array(found, arrow_type(call.data_type))

    register(ScalarFunction(name, _resolve_with_element(result), by_arrays(evaluate)))


def _place(values: list[Any], element: Any) -> int | None:
    return None if element is None else values.index(element) + 1 if element in values else 0


_of_array_and_element("ARRAY_CONTAINS", t.BooleanType(), lambda values, element: element in values)
_of_array_and_element("ARRAY_POSITION", t.IntType(), _place)
_of_array_and_element("ARRAY_APPEND", None, lambda values, element: [*values, element])
_of_array_and_element("ARRAY_PREPEND", None, lambda values, element: [element, *values])


def _resolve_remove(arguments: Arguments) -> Signature:
    signature = _resolve_with_element(t.IntType())(arguments)
    return Signature(signature.operand_types, arguments.types[0])


def _removed(call: Call, frame: Any, arrays: Any, elements: Any) -> Any:
    rows = zip(arrays.to_pylist(), elements.to_pylist(), strict=True)
    found = [None if values is None else [value for value in values if value != element] for values, element in rows]
    return pa.array(found, arrow_type(call.data_type))


register(ScalarFunction("ARRAY_REMOVE", _resolve_remove, by_arrays(_removed)))

register(ScalarFunction("ARRAY_DISTINCT", taking(_same_array, ARRAY), by_value(_distinct)))
register(ScalarFunction("ARRAY_REVERSE", taking(_same_array, ARRAY), by_value(lambda values: values[::-1])))


def _resolve_common(arguments: Arguments) -> Signature:
    if any(not isinstance(of, t.ArrayType) for of in arguments.types):
        raise arguments.refuse(f"{arguments.name}(<ARRAY>, <ARRAY>)")
    common = common_type(arguments.types) if arguments.types else None
    if common is None:
        raise arguments.refuse(f"{arguments.name}(<ARRAY>, <ARRAY>), of elements of one type")
    return Signature([common] * len(arguments.types), common)


def _resolve_two(arguments: Arguments) -> Signature:
    if len(arguments.types) != 2:
        raise arguments.refuse(f"{arguments.name}(<ARRAY>, <ARRAY>)")
    return _resolve_common(arguments)


def _union(first: list[Any], second: list[Any]) -> list[Any]:
    return _distinct([*first, *second])


def _except(first: list[Any], second: list[Any]) -> list[Any]:
    without = {_key(value) for value in second}
    return [value for key, value in _firsts(first).items() if key not in without]


def _intersection(first: list[Any], second: list[Any]) -> list[Any]:
    within = {_key(value) for value in second}
    return [value for key, value in _firsts(first).items() if key in within]


register(ScalarFunction("ARRAY_CONCAT", _resolve_common, by_value(lambda *arrays: [value for values in arrays for value in values])))
register(ScalarFunction("ARRAY_UNION", _resolve_two, by_value(_union)))
register(ScalarFunction("ARRAY_EXCEPT", _resolve_two, by_value(_except)))
register(ScalarFunction("ARRAY_INTERSECT", _resolve_two, by_value(_intersection)))


def _element_type(arguments: Arguments) -> t.DataType:
    return _array_type(arguments).element_type.nullable()


def _extreme(choose: Callable[[list[Any]], Any]) -> Callable[..., Any]:
    return by_value(lambda values: choose(known) if (known := [value for value in values if value is not None]) else None)


register(ScalarFunction("ARRAY_MAX", taking(_element_type, ARRAY), _extreme(max)))
register(ScalarFunction("ARRAY_MIN", taking(_element_type, ARRAY), _extreme(min)))


def _sorted(values: list[Any], ascending: bool = True, nulls_first: bool | None = None) -> list[Any]:
    known = sorted((value for value in values if value is not None), reverse=not ascending)
    missing: list[Any] = [None] * (len(values) - len(known))
    first = ascending if nulls_first is None else nulls_first
    return missing + known if first else known + missing


register(ScalarFunction("ARRAY_SORT", taking(_same_array, ARRAY, BOOLEAN, BOOLEAN, optional=2), by_value(_sorted)))


def _slice(values: list[Any], start: int, end: int | None = None) -> list[Any]:
    first = len(values) + start + 1 if start < 0 else max(start, 1)
    last = len(values) if end is None else len(values) + end + 1 if end < 0 else max(end, 1)
    return values[max(first, 1) - 1 : max(last, 0)] if first <= last else []


register(ScalarFunction("ARRAY_SLICE", taking(_same_array, ARRAY, INTEGER, INTEGER, optional=1), by_value(_slice)))


def _joined(values: list[Any], separator: str, instead: str | None = None) -> str:
    known = [instead if value is None else value for value in values]
    return separator.join(value for value in known if value is not None)


register(ScalarFunction("ARRAY_JOIN", taking(STRING, ARRAY, TEXT_OR_NULL, TEXT_OR_NULL, optional=1), by_value(_joined)))
