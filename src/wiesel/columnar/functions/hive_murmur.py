"""Internal. MURMUR_HASH, the bucketing hash of Hive 3: Murmur3 of the bytes of each value, combined as in Java's lists."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from wiesel.columnar.functions.hive_ciphers import hash_of, is_hashed
from wiesel.columnar.functions.kernels import by_value
from wiesel.columnar.functions.registry import Arguments, ScalarFunction, Signature, register
from wiesel.columnar.type_rules import is_text
from wiesel.types import logical as t

__all__: list[str] = []

_SEED = 104729
_MASK = 0xFFFFFFFF
_PACKED: dict[type[t.DataType], str] = {
    t.SmallIntType: ">h",
    t.IntType: ">i",
    t.BigIntType: ">q",
}
_FLOATS: dict[type[t.DataType], tuple[str, str]] = {t.FloatType: (">f", ">i"), t.DoubleType: (">d", ">q")}


def _rotated(number: int, by: int) -> int:
    return (number << by | number >> (32 - by)) & _MASK


def _mixed(part: int) -> int:
    return _rotated(part * 0xCC9E2D51 & _MASK, 15) * 0x1B873593 & _MASK


def _murmur(data: bytes) -> int:
    """Return the Murmur3 hash of bytes. Trailing bytes after the last four are sign-extended, as in Hive."""
    found, whole = _SEED, len(data) // 4 * 4
    for (part,) in struct.iter_unpack("<I", data[:whole]):
        found = (_rotated(found ^ _mixed(part), 13) * 5 + 0xE6546B64) & _MASK
    rest = 0
    for place, byte in enumerate(data[whole:]):
        rest ^= (byte - 256 if byte > 127 else byte) << 8 * place
    if len(data) > whole:
        found ^= _mixed(rest & _MASK)
    found ^= len(data)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        found = (found ^ found >> shift) * factor & _MASK
    return found ^ found >> 16


def _hasher(of: t.DataType) -> Callable[[Any], int] | None:
    """Return the hash function of non-NULL values of a type, None if there is none."""
    if isinstance(of, t.BooleanType | t.TinyIntType):
        return int
    if is_text(of):
        return lambda text: _murmur(text.encode())
    if isinstance(of, t.BinaryType | t.VarBinaryType):
        return _murmur
    if isinstance(of, t.ArrayType):
        element = _hasher(of.element_type)
        return None if element is None else lambda values: _joined((element, value) for value in values)
    if isinstance(of, t.RowType):
        fields = [_hasher(field.data_type) for field in of]
        known = [each for each in fields if each is not None]
        return None if len(known) < len(fields) else lambda row: _joined(zip(known, row.values(), strict=True))
    if isinstance(of, t.MapType):
        key, held = _hasher(of.key_type), of.value_type
        if key is None or not is_hashed(held):
            return None
        # Values of maps use Hive's older hash.
        return lambda pairs: sum(_of(key, one) ^ (hash_of(other, held) & _MASK) for one, other in pairs) & _MASK
    if isinstance(of, t.FloatType | t.DoubleType):
        written, read = _FLOATS[type(of)]
        # The bits are interpreted as an integer, which is converted to a floating-point number.
        return lambda number: _murmur(struct.pack(written, float(struct.unpack(read, struct.pack(written, number))[0])))
    packed = _PACKED.get(type(of))
    return None if packed is None else lambda number: _murmur(struct.pack(packed, number))


def _of(hasher: Callable[[Any], int], value: Any) -> int:
    return 0 if value is None else hasher(value)


def _joined(values: Any) -> int:
    found = 0
    for hasher, value in values:
        found = found * 31 + _of(hasher, value) & _MASK
    return found


def _resolve(arguments: Arguments) -> Signature:
    if not arguments.types or any(_hasher(of) is None for of in arguments.types):
        raise arguments.refuse("strings, bytes, booleans, numbers other than decimals, and arrays, maps and rows of these")
    return Signature(arguments.types, t.IntType(False))


def _evaluate(call: Any, frame: Any, operands: list[Any]) -> Any:
    hashers = [_hasher(operand.data_type) for operand in call.operands]

    def of_row(*values: Any) -> int:
        found = _joined(zip(hashers, values, strict=True))
        return found - (1 << 32) if found >> 31 else found

    return by_value(of_row, nulls=True)(call, frame, operands)


register(ScalarFunction("hive.MURMUR_HASH", _resolve, _evaluate))
