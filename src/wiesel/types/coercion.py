"""Internal. Conversions that Flink's serializers apply to values of declared types.

Recorded with PyFlink 2.3 (``tests/differential/record_type_strings.py``): a FLOAT is rounded to 32 bits, an int given for DOUBLE becomes a
float, a float given for an integer type is truncated, a truthy number given for BOOLEAN becomes a bool, a row gets the declared field names
(and its values in their order), a timestamp keeps milliseconds. Other values raise, as in Flink (where the error is an OverflowError or a
TypeError in the coder).

Chained Python operators in PyFlink exchange values unchanged; the conversions happen where a record leaves the Python process.
"""

from __future__ import annotations

import datetime
import decimal
import math
import numbers
import struct
from collections.abc import Callable
from typing import Any, TypeAlias, cast

from wiesel.core.durations import Instant
from wiesel.types.checks import INT_RANGES, may_be_none, mismatch, row_fields
from wiesel.types.row import Row, RowKind, make_row
from wiesel.types.typeinfo import (
    BasicArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    ExternalTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TupleTypeInfo,
    TypeInformation,
)

__all__ = ["batch_coercer_for", "batch_test_for", "coercer_for", "nullable", "quick_test_of", "round_to_float"]

Coercer: TypeAlias = Callable[[Any], Any]
_FLOAT = struct.Struct("<f")


def coercer_for(kind: TypeInformation) -> Coercer | None:
    """Return the function for a type, or ``None`` where values pass unchanged.

    The function raises :class:`~wiesel.core.errors.TypeMismatchError` for a value that the type cannot hold.
    """
    match kind:
        case BasicTypeInfo():
            return _basic(kind)
        case DateTypeInfo():
            return _date(kind)
        case TimestampTypeInfo():
            return _to_milliseconds(kind, datetime.datetime)
        case TimeTypeInfo():
            return _to_milliseconds(kind, datetime.time, lambda value: value.time() if isinstance(value, datetime.datetime) else value)
        case RowTypeInfo():
            return _row(kind)
        case TupleTypeInfo():
            return _tuple(kind)
        case PrimitiveArrayTypeInfo():
            return _bytes(kind) if kind.element_type == BasicTypeInfo(BasicType.BYTE) else _list(kind, kind.element_type, False)
        case BasicArrayTypeInfo() | ObjectArrayTypeInfo():
            return _list(kind, kind.element_type, True)
        case ListTypeInfo():
            return _list(kind, kind.elem_type, True)
        case MapTypeInfo():
            return _map(kind)
        case ExternalTypeInfo():
            return coercer_for(kind._type_info)
    return None


def nullable(coercer: Coercer | None) -> Coercer | None:
    """Return a coercer that passes ``None`` through."""
    return None if coercer is None else lambda value: None if value is None else coercer(value)


def batch_coercer_for(kind: TypeInformation) -> Callable[[list[Any]], list[Any]] | None:
    """Return the function for lists of values, which passes ``None`` through; ``None`` where values pass unchanged."""
    coercer = coercer_for(kind)
    if coercer is None:
        return None
    fit = batch_test_for(kind)

    def coerce(values: list[Any]) -> list[Any]:
        return values if fit(values) else [None if value is None else coercer(value) for value in values]

    return coerce


def batch_test_for(kind: TypeInformation) -> Callable[[list[Any]], bool]:
    """Return a quick test of a list of values: True if the coercer would leave all unchanged, False when in doubt."""
    match kind:
        case BasicTypeInfo():
            return _basics_fit(kind._basic_type)
        case RowTypeInfo():
            return _compiled(kind.get_field_types(), _ROWS_FIT, with_none=True, row=Row, names=kind.get_field_names())
        case TupleTypeInfo():
            return _compiled(kind.get_field_types(), _TUPLES_FIT, with_none=False)
    return _never


def _basics_fit(basic: BasicType) -> Callable[[list[Any]], bool]:
    if basic not in _EXACT:
        return _never
    only = {_EXACT[basic]}
    low, high = INT_RANGES.get(basic, (None, None))

    def fit(values: list[Any]) -> bool:
        return set(map(type, values)) == only and (low is None or (low <= min(values) and max(values) <= high))

    return fit


def quick_test_of(kind: TypeInformation) -> tuple[type | None, Any, Any]:
    """Return the class of values that pass unchanged, and their bounds if any; a FLOAT keeps its 64 bits in state.

    Flink's workers encode state when it leaves their cache, so running sums of FLOATs are sums of doubles.
    """
    if not isinstance(kind, BasicTypeInfo):
        return None, None, None
    basic = kind._basic_type
    return float if basic is BasicType.FLOAT else _EXACT.get(basic), *INT_RANGES.get(basic, (None, None))


def round_to_float(value: float) -> float:
    """Return the nearest 32-bit float as a Python float; values out of range become infinite."""
    try:
        return _FLOAT.unpack(_FLOAT.pack(value))[0]  # type: ignore[no-any-return]
    except OverflowError:
        return math.copysign(math.inf, value)


def _basic(kind: BasicTypeInfo) -> Coercer | None:
    basic = kind._basic_type
    if basic in INT_RANGES:
        return _integer(kind, *INT_RANGES[basic])
    match basic:
        case BasicType.FLOAT:
            return _number(kind, round_to_float)
        case BasicType.DOUBLE:
            return _number(kind, float)
        case BasicType.BOOLEAN:
            return _boolean(kind)
        case BasicType.STRING | BasicType.CHAR:
            return _string(kind)
        case BasicType.BIG_INT:
            return _integer(kind, None, None)
        case BasicType.BIG_DEC:
            return _decimal(kind)
        case BasicType.INSTANT:
            return _instant(kind)
    return None


def _real(kind: BasicTypeInfo, value: Any) -> Any:
    """Convert a number, including numpy scalars and one-element arrays, to a Python number."""
    number = value.item() if getattr(value, "size", None) == 1 else value
    if not isinstance(number, numbers.Real | decimal.Decimal):
        raise mismatch(kind, value, "value")
    return number


def _integer(kind: BasicTypeInfo, low: int | None, high: int | None) -> Coercer:
    def coerce(value: Any) -> int:
        number = value
        if type(number) is not int:
            number = _real(kind, value)
            if not math.isfinite(number):
                raise mismatch(kind, value, "value")
            number = math.trunc(number)
        if low is not None and high is not None and not low <= number <= high:
            raise mismatch(kind, value, "value")
        return number  # type: ignore[no-any-return]

    return coerce


def _number(kind: BasicTypeInfo, convert: Callable[[Any], float]) -> Coercer:
    def coerce(value: Any) -> float:
        try:
            return convert(float(_real(kind, value)))
        except OverflowError as error:
            raise mismatch(kind, value, "value") from error

    return coerce


def _boolean(kind: BasicTypeInfo) -> Coercer:
    def coerce(value: Any) -> bool:
        if value is True or value is False:
            return value
        number = _real(kind, value)
        if not math.isfinite(number):
            raise mismatch(kind, value, "value")
        return bool(math.trunc(number))

    return coerce


def _string(kind: BasicTypeInfo) -> Coercer:
    def coerce(value: Any) -> str:
        if type(value) is str:
            return value
        if not isinstance(value, str):
            raise mismatch(kind, value, "value")
        return str.__str__(value)

    return coerce


def _decimal(kind: BasicTypeInfo) -> Coercer:
    def coerce(value: Any) -> decimal.Decimal:
        if isinstance(value, decimal.Decimal):
            return value
        try:
            number = decimal.Decimal(str(value))
        except decimal.InvalidOperation as error:
            raise mismatch(kind, value, "value") from error
        if not number.is_finite():
            raise mismatch(kind, value, "value")
        return number

    return coerce


def _instant(kind: BasicTypeInfo) -> Coercer:
    def coerce(value: Any) -> Instant:
        if not isinstance(value, Instant):
            raise mismatch(kind, value, "value")
        return value

    return coerce


def _date(kind: TypeInformation) -> Coercer:
    def coerce(value: Any) -> datetime.date:
        if type(value) is datetime.date:
            return value
        if not isinstance(value, datetime.date):
            raise mismatch(kind, value, "value")
        return datetime.date(value.year, value.month, value.day)

    return coerce


def _to_milliseconds(kind: TypeInformation, cls: type, convert: Coercer = lambda value: value) -> Coercer:
    """Return the function that drops microseconds and, as in Flink, the time zone and the subclass."""

    def coerce(value: Any) -> Any:
        at = convert(value)
        if not isinstance(at, cls):
            raise mismatch(kind, value, "value")
        extra = at.microsecond % 1000  # type: ignore[attr-defined]
        if extra or at.tzinfo:  # type: ignore[attr-defined]
            at = at.replace(microsecond=at.microsecond - extra, tzinfo=None)  # type: ignore[attr-defined]
        return at if type(at) is cls else _plain(at, cls)

    return coerce


def _plain(at: Any, cls: type) -> Any:
    """Convert a time of a subclass to the class itself."""
    time = (at.hour, at.minute, at.second, at.microsecond)
    return cls(*time) if cls is datetime.time else cls(at.year, at.month, at.day, *time)


_EXACT: dict[BasicType, type] = {
    BasicType.STRING: str,
    BasicType.BOOLEAN: bool,
    BasicType.DOUBLE: float,
    BasicType.BIG_INT: int,
    BasicType.BIG_DEC: decimal.Decimal,
    BasicType.INSTANT: Instant,
    **dict.fromkeys(INT_RANGES, int),
}


def _never(values: Any) -> bool:
    return False


# The quick tests are generated and compiled as sequences of comparisons: every record of a declared type passes one, and a loop over the
# fields takes five times as long.

_FIELDS_FIT = """
def test(values):
  if len(values) != {size}: return False
  {names}, = values
  return {fit}
"""

_TUPLES_FIT = """
def test(values):
  for value in values:
    if type(value) is not tuple or len(value) != {size}: return False
    {names}, = value
    if not ({fit}): return False
  return True
"""

_ROWS_FIT = """
def test(values):
  for value in values:
    if type(value) is not row or value._names is not names: return False
    fields = value._values
    if len(fields) != {size}: return False
    {names}, = fields
    if not ({fit}): return False
  return True
"""


def _compiled(kinds: list[TypeInformation], source: str, *, with_none: bool, **globals_: Any) -> Callable[[Any], bool]:
    """Return a quick test of fields that need no change."""
    basics = [kind._basic_type for kind in kinds if isinstance(kind, BasicTypeInfo)]
    if not kinds or len(basics) < len(kinds) or not all(basic in _EXACT for basic in basics):
        return _never
    tests = []
    for i, basic in enumerate(basics):
        test = f"type(v{i}) is c{i}"
        if basic in INT_RANGES:
            low, high = INT_RANGES[basic]
            test += f" and {low} <= v{i} <= {high}"
        tests.append(f"(v{i} is None or {test})" if with_none else test)
    names = ", ".join(f"v{i}" for i in range(len(basics)))
    namespace: dict[str, Any] = globals_ | {f"c{i}": _EXACT[basic] for i, basic in enumerate(basics)}
    exec(source.format(size=len(basics), names=names, fit=" and ".join(tests)), namespace)
    return cast(Callable[[Any], bool], namespace["test"])


def _row(kind: RowTypeInfo) -> Coercer:
    names = kind.get_field_names()
    size = len(names)
    changes = [(i, c) for i, c in enumerate(nullable(coercer_for(field)) for field in kind.get_field_types()) if c is not None]
    nothing_to_do = _compiled(kind.get_field_types(), _FIELDS_FIT, with_none=True)

    def coerce(value: Any) -> Row:
        if type(value) is Row and value._names is names and nothing_to_do(value._values):
            return value
        fields = row_fields(kind, value)
        if fields is None or len(fields) != size:
            raise mismatch(kind, value, "value")
        values = list(fields)
        if not nothing_to_do(values):
            for i, change in changes:
                values[i] = change(values[i])
        return make_row(names, values, value._row_kind if isinstance(value, Row) else RowKind.INSERT)

    return coerce


def _tuple(kind: TupleTypeInfo) -> Coercer:
    coercers = [nullable(coercer_for(field)) if may_be_none(field) else coercer_for(field) for field in kind.get_field_types()]
    size = len(coercers)
    nothing_to_do = _compiled(kind.get_field_types(), _FIELDS_FIT, with_none=False)

    def coerce(value: Any) -> tuple[Any, ...]:
        if type(value) is tuple and nothing_to_do(value):
            return value
        if not isinstance(value, tuple | list | Row) or len(value) != size:
            raise mismatch(kind, value, "value")
        return tuple(item if c is None else c(item) for item, c in zip(value, coercers, strict=True))

    return coerce


def _bytes(kind: PrimitiveArrayTypeInfo) -> Coercer:
    def coerce(value: Any) -> bytes:
        if isinstance(value, bytes):
            return value
        try:
            return bytes(b & 0xFF for b in value)
        except TypeError as e:
            raise mismatch(kind, value, "value") from e

    return coerce


def _list(kind: TypeInformation, element: TypeInformation, with_none: bool) -> Coercer:
    element_coercer = coercer_for(element)
    coercer = nullable(element_coercer) if with_none else element_coercer

    def coerce(value: Any) -> list[Any]:
        items = value.tolist() if hasattr(value, "tolist") else value
        if not isinstance(items, list | tuple):
            raise mismatch(kind, value, "value")
        return list(items) if coercer is None else list(map(coercer, items))

    return coerce


def _map(kind: MapTypeInfo) -> Coercer:
    key = coercer_for(kind._key_type_info)
    item = nullable(coercer_for(kind._value_type_info))

    def coerce(value: Any) -> dict[Any, Any]:
        if not isinstance(value, dict):
            raise mismatch(kind, value, "value")
        return {k if key is None else key(k): v if item is None else item(v) for k, v in value.items()}

    return coerce
