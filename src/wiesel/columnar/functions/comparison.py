"""Internal. Comparisons, IN and BETWEEN."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar import type_rules as rules
from wiesel.columnar.expressions import Call
from wiesel.columnar.functions.kernels import by_arrays, by_kernel
from wiesel.columnar.functions.registry import Arguments, ScalarFunction, Signature, register
from wiesel.columnar.functions.signatures import never_null, nullable_if_any
from wiesel.types import logical as t
from wiesel.types.logical_raw import RawType
from wiesel.types.logical_variant import VariantType

__all__ = ["comparable", "equal"]

_STAMPS = (t.TimestampType, t.LocalZonedTimestampType)
_TIMES = (t.DateType, t.TimeType, *_STAMPS)


def comparable(types: Sequence[t.DataType], ordered: bool) -> t.DataType | None:
    """Return the common type for a comparison, None if there is none. Decimals are comparable whatever their precision and scale."""
    given = [of.nullable() for of in types if not isinstance(of, t.NullType)]
    if not given:
        return t.NullType()
    if all(isinstance(of, t.NumericType) for of in given):
        return _of_numbers(given)
    if all(rules.is_text(of) for of in given):
        return rules.STRING
    if all(rules.is_binary(of) for of in given):
        return rules.BYTES
    times = [of for of in given if isinstance(of, _TIMES)]
    if times and all(rules.is_text(of) for of in given if not isinstance(of, _TIMES)):
        return _of_times(times)
    if ordered and any(isinstance(of, t.ArrayType | t.MapType | t.RowType | t.MultisetType | RawType | VariantType) for of in given):
        return None
    return rules.common_type(given)


def _of_converted(types: Sequence[t.DataType]) -> t.DataType | None:
    """Return the type that strings are converted to when compared with one number or boolean, None for other operands.

    Flink converts so for ordering comparisons and within IN, and rejects it for ``=``. Exact numbers have all digits of a BIGINT then.
    """
    given = [of.nullable() for of in types if not rules.is_text(of) and not isinstance(of, t.NullType)]
    strings = any(rules.is_text(of) for of in types)
    if not strings or len(given) != 1 or not isinstance(given[0], t.NumericType | t.BooleanType):
        return None
    if isinstance(given[0], t.IntegralType | t.DecimalType):
        return rules.common_type([t.BigIntType(), given[0]])
    return given[0]


def _of_text_and_time(types: Sequence[t.DataType]) -> bool:
    """Return whether strings are compared with times. Unparsable ones are equal to nothing in Flink; ordering them fails."""
    return any(rules.is_text(of) for of in types) and any(isinstance(of, _TIMES) for of in types)


def _of_numbers(given: Sequence[t.DataType]) -> t.DataType | None:
    common = rules.common_type(given)
    if not isinstance(common, t.DecimalType):
        return common
    scale = max(rules.as_decimal(of).scale for of in given)
    whole = max((decimal := rules.as_decimal(of)).precision - decimal.scale for of in given)
    # The common decimal would have too many digits: the sides keep their types, Arrow compares them in 256 bits.
    return common if whole + scale <= 38 else t.DecimalType(38, min(scale, 38 - min(whole, 38)))


def _of_times(times: Sequence[t.DataType]) -> t.DataType | None:
    first = times[0]
    if all(isinstance(of, _STAMPS) for of in times):
        kind = t.TimestampType if all(isinstance(of, t.TimestampType) for of in times) else t.LocalZonedTimestampType
        return kind(max(of.precision for of in times))  # type: ignore[attr-defined]
    if all(isinstance(of, t.TimeType) for of in times):
        return first
    return first if all(of == first for of in times) else None


def _resolve(ordered: bool) -> Callable[[Arguments], Signature]:
    def resolve(arguments: Arguments) -> Signature:
        types = arguments.types
        kind = (ordered and _of_converted(types)) or comparable(types, ordered) if len(types) == 2 else None
        if kind is None:
            raise arguments.refuse(f"<COMPARABLE> {arguments.name} <COMPARABLE>")
        if not ordered and _of_text_and_time(types):
            return Signature([kind, kind], t.BooleanType(), tries=True)
        wide = isinstance(kind, t.DecimalType) and all(isinstance(of, t.DecimalType) for of in types)
        return Signature(types if wide else [kind, kind], nullable_if_any(t.BooleanType(), arguments))

    return resolve


def _evaluate(compute: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def evaluate(call: Call, frame: Any, operands: list[Any]) -> Any:
        of = operands[0].type
        if pa.types.is_nested(of):
            return _by_nested(call, frame, operands)
        if pa.types.is_null(of):
            return pa.scalar(None, pa.bool_())
        if pa.types.is_decimal(of):
            operands = _widened(operands)
        return compute(*operands)

    return evaluate


def _widened(operands: list[Any]) -> list[Any]:
    scale = max(operand.type.scale for operand in operands)
    if max(operand.type.precision - operand.type.scale for operand in operands) + scale <= 38:
        return operands
    return [operand.cast(pa.decimal256(operand.type.precision, operand.type.scale)) for operand in operands]


def _nested(call: Call, frame: Any, left: Any, right: Any) -> Any:
    same = [None if a is None or b is None else _plain(a) == _plain(b) for a, b in zip(left.to_pylist(), right.to_pylist(), strict=True)]
    found = pa.array(same, pa.bool_())
    return pc.invert(found) if call.function == "<>" else found


def _plain(value: Any) -> Any:
    """Return a value for positional comparison: names of row fields and the order of map entries are ignored."""
    if isinstance(value, dict):
        return [_plain(part) for part in value.values()]
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return {key: _plain(part) for key, part in value}
    return [_plain(part) for part in value] if isinstance(value, list) else value


_by_nested = by_arrays(_nested)

_SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "=": pc.equal,
    "<>": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}
for _sign, _compute in _SIGNS.items():
    register(ScalarFunction(_sign, _resolve(_sign not in ("=", "<>")), _evaluate(_compute)))

equal = _evaluate(pc.equal)


def _resolve_distinct(arguments: Arguments) -> Signature:
    kind = comparable(arguments.types, False) if len(arguments.types) == 2 else None
    if kind is None:
        raise arguments.refuse(f"<COMPARABLE> {arguments.name} <COMPARABLE>")
    return Signature([kind, kind], never_null(t.BooleanType())(arguments), tries=_of_text_and_time(arguments.types))


def _not_distinct(call: Call, frame: Any, operands: list[Any]) -> Any:
    left, right = operands
    left_null, right_null = pc.is_null(left), pc.is_null(right)
    same = equal(call, frame, [left, right])
    return pc.if_else(pc.or_(left_null, right_null), pc.and_(left_null, right_null), same)


register(ScalarFunction("IS NOT DISTINCT FROM", _resolve_distinct, _not_distinct))
register(
    ScalarFunction("IS DISTINCT FROM", _resolve_distinct, lambda call, frame, operands: pc.invert(_not_distinct(call, frame, operands)))
)


def _resolve_in(arguments: Arguments) -> Signature:
    types = arguments.types
    kind = None
    if len(types) > 1:
        as_strings = rules.is_text(types[0]) and all(isinstance(of, (t.NumericType, t.NullType, *_TIMES)) for of in types[1:])
        kind = rules.STRING if as_strings else _of_converted(types) or comparable(types, False)
    if kind is None:
        raise arguments.refuse("<COMPARABLE> IN (<COMPARABLE>, ...)")
    return Signature([kind] * len(types), nullable_if_any(t.BooleanType(), arguments))


def _in(call: Call, frame: Any, operands: list[Any]) -> Any:
    value, *items = operands
    if all(isinstance(item, pa.Scalar) for item in items) and not pa.types.is_nested(value.type):
        known = [item for item in items if item.is_valid]
        found = pc.is_in(value, value_set=pa.array([item.as_py() for item in known], value.type))
        keeps = pc.is_valid(value) if len(known) == len(items) else pc.and_(pc.is_valid(value), found)
        return pc.if_else(keeps, found, pa.scalar(None, pa.bool_()))
    found = equal(call, frame, [value, items[0]])
    for item in items[1:]:
        found = pc.or_kleene(found, equal(call, frame, [value, item]))
    return found


register(ScalarFunction("IN", _resolve_in, _in))


register(ScalarFunction("IS NULL", lambda arguments: Signature(arguments.types, t.BooleanType(False)), by_kernel(pc.is_null)))
register(ScalarFunction("IS NOT NULL", lambda arguments: Signature(arguments.types, t.BooleanType(False)), by_kernel(pc.is_valid)))
