"""Internal. Constructors and parts of rows, arrays and maps."""

from __future__ import annotations

import difflib
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.expressions import Call
from wiesel.columnar.functions import variants
from wiesel.columnar.functions.kernels import by_arrays, by_value, fail_where, numbers, valid_mask
from wiesel.columnar.functions.registry import Arguments, ScalarFunction, Signature, register
from wiesel.columnar.functions.signatures import ANY, BOOLEAN, nullable_if_any, returning_null, taking
from wiesel.columnar.type_rules import STRING, least_restrictive
from wiesel.core.errors import ProgramError
from wiesel.types import logical as t
from wiesel.types.logical_variant import VariantType

__all__: list[str] = []


# Rows


def _resolve_row(arguments: Arguments) -> Signature:
    fields = [t.RowField(f"EXPR${place}", of) for place, of in enumerate(arguments.types)]
    return Signature(arguments.types, t.RowType(fields, False))


def _row(call: Call, frame: Any, *columns: Any) -> Any:
    return pa.StructArray.from_arrays(list(columns), fields=list(arrow_type(call.data_type)))


register(ScalarFunction("ROW", _resolve_row, by_arrays(_row)))


def _resolve_field(arguments: Arguments) -> Signature:
    (of,), (name,) = arguments.types, arguments.options
    field = next((field for field in of.fields if field.name == name), None) if isinstance(of, t.RowType) else None
    if field is None:
        raise _no_field(of, str(name)) if isinstance(of, t.RowType) else arguments.refuse(f"a row with a field {name!r}")
    return Signature([of], field.data_type.nullable() if of.is_nullable else field.data_type)


def _no_field(of: t.RowType, name: str) -> ProgramError:
    near = difflib.get_close_matches(name, of.names, n=1)
    hint = f"did you mean {t.quoted(near[0])}?" if near else f"the fields are: {', '.join(map(t.quoted, of.names))}"
    return ProgramError(f"a row of type {of.as_summary_string()} has no field {t.quoted(name)}", hint=hint)


def _field(call: Call, frame: Any, operands: list[Any]) -> Any:
    row = operands[0]
    place = call.operands[0].data_type.names.index(call.options[0])  # type: ignore[attr-defined]
    if isinstance(row, pa.Scalar):
        return row[place] if row.is_valid else pa.scalar(None, arrow_type(call.data_type))
    return row.flatten()[place]


register(ScalarFunction("FIELD OF", _resolve_field, _field))


# Arrays and maps


def _resolve_array(arguments: Arguments) -> Signature:
    element = least_restrictive(arguments.types)
    if element is None or not arguments.types:
        raise arguments.refuse("ARRAY[<VALUE>, ...] with values of one type")
    return Signature([element] * len(arguments.types), t.ArrayType(element, False))


def _interleaved(columns: tuple[Any, ...]) -> Any:
    """Return the values row by row."""
    length, count = len(columns[0]), len(columns)
    places = np.arange(length * count).reshape(count, length).T.ravel()
    return pa.concat_arrays(columns).take(pa.array(places))


def _array(call: Call, frame: Any, *columns: Any) -> Any:
    offsets = pa.array(np.arange(0, len(columns) * len(columns[0]) + 1, len(columns), dtype=np.int32))
    return pa.ListArray.from_arrays(offsets, _interleaved(columns))


register(ScalarFunction("ARRAY", _resolve_array, by_arrays(_array)))


def _resolve_map(arguments: Arguments) -> Signature:
    types = arguments.types
    key, value = least_restrictive(types[::2]), least_restrictive(types[1::2])
    if not types or len(types) % 2 or key is None or value is None:
        raise arguments.refuse("MAP[<KEY>, <VALUE>, ...] with keys of one type and values of one type")
    return Signature([key, value] * (len(types) // 2), t.MapType(key, value, False))


def _map(call: Call, frame: Any, *columns: Any) -> Any:
    valid = valid_mask(*columns[::2])
    if valid is not None:
        fail_where(call, list(columns), ~valid, "a key is NULL, which maps of columns cannot hold")
    # The last value of a key counts.
    rows = zip(*(column.to_pylist() for column in columns), strict=True)
    return pa.array([list(dict(zip(row[::2], row[1::2], strict=True)).items()) for row in rows], arrow_type(call.data_type))


register(
    ScalarFunction("MAP", _resolve_map, by_arrays(_map), may_fail=lambda call: any(key.data_type.is_nullable for key in call.operands[::2]))
)


def _resolve_item(arguments: Arguments) -> Signature:
    if len(arguments.types) == 2:
        of, place = arguments.types
        before = isinstance(arguments.literal(1), int) and arguments.literal(1) < 1
        if isinstance(of, t.ArrayType) and isinstance(place, t.IntegralType) and not before:
            return Signature([of, t.IntType()], of.element_type.nullable())
        if isinstance(of, t.MapType):
            return Signature([of, of.key_type.nullable()], of.value_type.nullable())
        part = variants.item_signature(of, place) if isinstance(of, VariantType) else None
        if part is not None:
            return part
        if isinstance(of, t.RowType) and 0 < (arguments.literal(1) or 0) <= len(of.fields):
            return Signature([of, place], of.fields[arguments.literal(1) - 1].data_type.nullable())
    raise arguments.refuse("array[<INTEGER>], from 1 on, map[<KEY>], or variant[<CHARACTER>|<INTEGER>]")


def _item(call: Call, frame: Any, collection: Any, place: Any) -> Any:
    if pa.types.is_map(collection.type):
        entries = zip(collection.to_pylist(), place.to_pylist(), strict=True)
        found = [None if pairs is None else dict(pairs).get(key) for pairs, key in entries]
        return pa.array(found, arrow_type(call.data_type))
    if pa.types.is_struct(collection.type):
        return collection.flatten()[place[0].as_py() - 1]
    index, valid = numbers(place).astype(np.int64), valid_mask(collection, place)
    wrong = index < 1
    fail_where(call, [collection, place], wrong if valid is None else wrong & valid, "the first element of an array has the index 1")
    lengths = pc.fill_null(pc.list_value_length(collection), 0).to_numpy(zero_copy_only=False)
    starts = np.cumsum(lengths) - lengths
    inside = (index <= lengths) if valid is None else (index <= lengths) & valid
    return collection.flatten().take(pa.array(np.where(inside, starts + index - 1, 0), mask=~inside))


_collection_item, _variant_item = by_arrays(_item), by_value(variants.part_of)


def _item_of(call: Call, frame: Any, operands: list[Any]) -> Any:
    find = _variant_item if isinstance(call.operands[0].data_type, VariantType) else _collection_item
    return find(call, frame, operands)


register(
    ScalarFunction("ITEM", _resolve_item, _item_of, may_fail=lambda call: isinstance(call.operands[0].data_type, t.ArrayType | VariantType))
)


def _resolve_size(arguments: Arguments) -> Signature:
    if len(arguments.types) != 1 or not isinstance(arguments.types[0], t.ArrayType | t.MapType | t.MultisetType):
        raise arguments.refuse("CARDINALITY(<ARRAY>|<MAP>|<MULTISET>)")
    return Signature(arguments.types, nullable_if_any(t.IntType(), arguments))


def _size(call: Call, frame: Any, collection: Any) -> Any:
    if pa.types.is_map(collection.type):
        return pa.array([None if pairs is None else len(pairs) for pairs in collection.to_pylist()], pa.int32())
    return pc.list_value_length(collection)


register(ScalarFunction("CARDINALITY", _resolve_size, by_arrays(_size)))


def _resolve_element(arguments: Arguments) -> Signature:
    of = arguments.types[0] if len(arguments.types) == 1 else None
    if not isinstance(of, t.ArrayType | t.MultisetType):
        raise arguments.refuse("ELEMENT(<ARRAY>)")
    element = of.element_type
    return Signature([of], element.nullable() if of.is_nullable else element)


def _element(values: list[Any]) -> Any:
    if len(values) > 1:
        raise ValueError("the array has more than one element")
    return values[0] if values else None


register(ScalarFunction("ELEMENT", _resolve_element, by_value(_element), may_fail=True))


# Types


def _type_name(call: Call, frame: Any, operands: list[Any]) -> Any:
    of = call.operands[0].data_type
    return pa.scalar(of.as_summary_string())


register(ScalarFunction("TYPEOF", taking(returning_null(STRING), ANY, BOOLEAN, optional=1), _type_name))
