"""Internal. Results of Hive's table functions, as an array of rows per input row, with Hive's column names."""

from __future__ import annotations

import decimal
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.expressions import Call
from wiesel.columnar.functions.encodings import part_of_url
from wiesel.columnar.functions.json_paths import parse_json, to_json
from wiesel.columnar.functions.kernels import by_arrays, by_value
from wiesel.columnar.functions.registry import Arguments, ScalarFunction, Signature, register
from wiesel.columnar.functions.signatures import TEXT_OR_NULL
from wiesel.columnar.type_rules import STRING
from wiesel.types import logical as t
from wiesel.types.java_strings import double_to_string

__all__: list[str] = []


# Arrays


def _resolve_elements(numbered: bool) -> Callable[[Arguments], Signature]:
    def resolve(arguments: Arguments) -> Signature:
        of = arguments.types[0] if len(arguments.types) == 1 else None
        if not isinstance(of, t.ArrayType):
            raise arguments.refuse("one ARRAY" if numbered else "one ARRAY or MAP")
        places = [t.RowField("pos", t.IntType(False))] if numbered else []
        element = t.RowField("val" if numbered else "col", of.element_type)
        return Signature([of], t.ArrayType(t.RowType([*places, element], False), False))

    return resolve


def _elements(call: Call, frame: Any, column: Any) -> Any:
    fields: Any = list(arrow_type(call.data_type).value_type)
    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    values = [column.flatten()]
    if len(fields) > 1:
        values.insert(0, pa.array(np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths), pa.int32()))
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.StructArray.from_arrays(values, fields=fields))


register(ScalarFunction("hive.EXPLODE", _resolve_elements(False), by_arrays(_elements)))
register(ScalarFunction("hive.POSEXPLODE", _resolve_elements(True), by_arrays(_elements)))


# Strings


def _resolve_parts(arguments: Arguments) -> Signature:
    types = [TEXT_OR_NULL.fit(of) for of in arguments.types]
    if len(types) < 2 or None in types:
        raise arguments.refuse("a string and the names of parts, which are strings")
    row = t.RowType([t.RowField(f"c{place}", STRING) for place in range(len(types) - 1)], False)
    return Signature([STRING] * len(types), t.ArrayType(row, False))


def _json_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return to_json(_with_doubles(value))


def _with_doubles(value: Any) -> Any:
    """Return a value whose fractions are shown as Java shows doubles."""
    if isinstance(value, dict):
        return {key: _with_doubles(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_with_doubles(part) for part in value]
    return _Double(value) if isinstance(value, decimal.Decimal) else value


class _Double(decimal.Decimal):
    def __str__(self) -> str:
        return double_to_string(float(self))


def _json_parts(text: str | None, *names: str | None) -> list[dict[str, str | None]]:
    try:
        value = parse_json(text) if text else None
    except ValueError:
        value = None
    known = value if isinstance(value, dict) else {}
    return [{f"c{place}": _json_text(known.get(name)) for place, name in enumerate(names)}]


def _url_parts(url: str | None, *names: str | None) -> list[dict[str, str | None]]:
    return [{f"c{place}": _url_part(url, name) for place, name in enumerate(names)}]


def _url_part(url: str | None, name: str | None) -> str | None:
    if url is None or name is None:
        return None
    part, colon, key = name.partition(":")
    return part_of_url(url, part, key if colon else None)


register(ScalarFunction("hive.JSON_TUPLE", _resolve_parts, by_value(_json_parts, nulls=True)))
register(ScalarFunction("hive.PARSE_URL_TUPLE", _resolve_parts, by_value(_url_parts, nulls=True)))
