"""Internal. Functions of maps."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.expressions import Call
from wiesel.columnar.functions.kernels import by_arrays, by_value
from wiesel.columnar.functions.registry import Arguments, ScalarFunction, Signature, register
from wiesel.columnar.functions.signatures import MAP, TEXT, nullable_if_any, returning_null, taking
from wiesel.columnar.grouping import with_one_zero
from wiesel.columnar.keys import key_values
from wiesel.columnar.type_rules import STRING, common_type
from wiesel.types import logical as t

__all__: list[str] = []

Pairs = list[tuple[Any, Any]]


def _keys_type(arguments: Arguments) -> t.DataType:
    return nullable_if_any(t.ArrayType(arguments.types[0].key_type), arguments)  # type: ignore[attr-defined]


def _values_type(arguments: Arguments) -> t.DataType:
    return nullable_if_any(t.ArrayType(arguments.types[0].value_type), arguments)  # type: ignore[attr-defined]


def _entries_type(arguments: Arguments) -> t.DataType:
    of: Any = arguments.types[0]
    return nullable_if_any(t.ArrayType(t.RowType([t.RowField("key", of.key_type), t.RowField("value", of.value_type)])), arguments)


register(ScalarFunction("MAP_KEYS", taking(_keys_type, MAP), by_value(lambda pairs: [key for key, _ in pairs])))
register(ScalarFunction("MAP_VALUES", taking(_values_type, MAP), by_value(lambda pairs: [value for _, value in pairs])))
register(ScalarFunction("MAP_ENTRIES", taking(_entries_type, MAP), by_value(lambda pairs: [{"key": k, "value": v} for k, v in pairs])))


def _resolve_union(arguments: Arguments) -> Signature:
    maps = all(isinstance(of, t.MapType) for of in arguments.types)
    common = common_type(arguments.types) if maps and arguments.types else None
    if common is None:
        raise arguments.refuse("MAP_UNION(<MAP>, ...), of keys of one type and values of one type")
    return Signature([common] * len(arguments.types), common)


def _union(*maps: Pairs) -> Pairs:
    found: dict[Any, Any] = {}
    for pairs in maps:
        found.update(pairs)
    return list(found.items())


register(ScalarFunction("MAP_UNION", _resolve_union, by_value(_union)))


def _resolve_from_arrays(arguments: Arguments) -> Signature:
    types = arguments.types
    if len(types) != 2 or not all(isinstance(of, t.ArrayType) for of in types):
        raise arguments.refuse("MAP_FROM_ARRAYS(<ARRAY>, <ARRAY>)")
    keys, values = (of.element_type for of in types)  # type: ignore[attr-defined]
    return Signature(types, nullable_if_any(t.MapType(keys, values), arguments))


def _from_arrays(keys: list[Any], values: list[Any]) -> Pairs:
    if len(keys) != len(values):
        raise ValueError(f"there are {len(keys)} keys and {len(values)} values")
    if None in keys:
        raise ValueError("a key is NULL, which maps of columns cannot hold")
    return list(dict(zip(keys, values, strict=True)).items())


register(ScalarFunction("MAP_FROM_ARRAYS", _resolve_from_arrays, by_value(_from_arrays), may_fail=True))


def _text_to_map(text: str, between: str = ",", within: str = "=") -> Pairs:
    if not text:
        return []
    # Both are regular expressions, as in Flink, where trailing empty parts are ignored.
    parts = re.split(between, text)
    while parts and not parts[-1]:
        parts.pop()
    found: dict[str, str | None] = {}
    for part in parts:
        key, *value = re.split(within, part, maxsplit=1)
        found[key if value else part] = value[0] if value else None
    return list(found.items())


register(
    ScalarFunction("STR_TO_MAP", taking(returning_null(t.MapType(STRING, STRING)), TEXT, TEXT, TEXT, optional=2), by_value(_text_to_map))
)


def _resolve_canonical(arguments: Arguments) -> Signature:
    return Signature(arguments.types, arguments.types[0])


def _canonical(column: Any) -> Any:
    """Return a column in which equal values are identical: map entries are sorted by key, and -0.0 is replaced by 0.0."""
    of = column.type
    if pa.types.is_struct(of):
        parts = [_canonical(part) for part in column.flatten()]
        return pa.StructArray.from_arrays(parts, fields=list(of), mask=column.is_null()) if parts else column
    if not (pa.types.is_map(of) or pa.types.is_list(of)):
        return with_one_zero(column)
    valid, bounds = column.is_valid().to_numpy(zero_copy_only=False), column.offsets.to_numpy()
    lengths = np.diff(bounds)
    entries = pa.array(np.flatnonzero(np.repeat(valid, lengths)) + (bounds[0] if len(bounds) else 0))  # without the entries of NULL rows
    lengths = np.where(valid, lengths, 0)
    offsets = pa.array(np.append(0, np.cumsum(lengths)).astype(np.int32), mask=np.append(~valid, False))
    if pa.types.is_list(of):
        return pa.ListArray.from_arrays(offsets, _canonical(column.values.take(entries)), of)
    keys, items = _canonical(column.keys.take(entries)), _canonical(column.items.take(entries))
    ranks = np.empty(len(entries), np.int64)
    sortable = pa.array(list(map(repr, key_values(keys))), pa.string()) if pa.types.is_nested(keys.type) else keys
    ranks[pc.array_sort_indices(sortable).to_numpy()] = np.arange(len(entries))
    places = pa.array(np.lexsort((ranks, np.repeat(np.arange(len(column)), lengths))))
    return pa.MapArray.from_arrays(offsets, keys.take(places), items.take(places), of)


def _canonical_values(call: Call, frame: Any, column: Any) -> Any:
    return _canonical(column)


register(ScalarFunction("CANONICAL VALUE OF", _resolve_canonical, by_arrays(_canonical_values)))
