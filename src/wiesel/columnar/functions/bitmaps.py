"""Internal. Bitmaps, i.e. sets of integers: BITMAP_BUILD and the functions of bitmaps.

A bitmap is a list of its numbers in the order of Flink's bitmaps, which treats them as unsigned: negative numbers are last.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.functions.kernels import by_value
from wiesel.columnar.functions.registry import Arguments, ScalarFunction, Signature, register
from wiesel.columnar.functions.signatures import BINARY, Kind, kind_of, taking
from wiesel.columnar.type_rules import BYTES, STRING
from wiesel.types import logical as t
from wiesel.types.logical_bitmap import BitmapType

__all__ = ["in_order"]

_BITMAP = BitmapType()
_SET: Kind = kind_of("<BITMAP>", BitmapType, default=_BITMAP)
_WITHOUT_RUNS, _WITH_RUNS = 12346, 12347
_MOST_IN_ARRAY = 4096


def _unsigned(number: int) -> int:
    return number & 0xFFFF_FFFF


def in_order(numbers: Iterable[int]) -> list[int]:
    """Return distinct numbers in the order of Flink's bitmaps."""
    return sorted(set(numbers), key=_unsigned)


def _resolve_build(arguments: Arguments) -> Signature:
    of = arguments.types[0] if len(arguments.types) == 1 else None
    if not isinstance(of, t.ArrayType) or not isinstance(of.element_type, t.IntType):
        raise arguments.refuse("BITMAP_BUILD(<ARRAY<INT>>)")
    return Signature([of], _BITMAP.nullable() if of.is_nullable else _BITMAP.not_null())


def _built(numbers: list[int | None]) -> list[int]:
    return in_order(number for number in numbers if number is not None)


register(ScalarFunction("BITMAP_BUILD", _resolve_build, by_value(_built)))


def _combine(name: str, compute: Callable[[set[int], set[int]], set[int]]) -> None:
    def evaluate(left: list[int], right: list[int]) -> list[int]:
        return in_order(compute(set(left), set(right)))

    register(ScalarFunction(name, taking(_BITMAP, _SET, _SET), by_value(evaluate)))


_combine("BITMAP_AND", set.intersection)
_combine("BITMAP_OR", set.union)
_combine("BITMAP_XOR", set.symmetric_difference)
_combine("BITMAP_ANDNOT", set.difference)


def _size(call: Any, frame: Any, operands: list[Any]) -> Any:
    return pc.list_value_length(operands[0]).cast(pa.int64())


register(ScalarFunction("BITMAP_CARDINALITY", taking(t.BigIntType(), _SET), _size))
register(ScalarFunction("BITMAP_TO_ARRAY", taking(t.ArrayType(t.IntType()), _SET), by_value(lambda numbers: numbers)))


def _shown(numbers: list[int]) -> str:
    return f"{{{','.join(str(_unsigned(number)) for number in numbers)}}}"


register(ScalarFunction("BITMAP_TO_STRING", taking(STRING, _SET), by_value(_shown)))


# The Roaring bitmap format: the upper 16 bits of the numbers select containers of the lower 16.


def _to_bytes(numbers: list[int]) -> bytes:
    parts = groupby(map(_unsigned, numbers), lambda number: number >> 16)
    containers = [(key, [number & 0xFFFF for number in part]) for key, part in parts]
    bodies = [_container(low) for _, low in containers]
    head = struct.pack("<II", _WITHOUT_RUNS, len(containers))
    keys = b"".join(struct.pack("<HH", key, len(low) - 1) for key, low in containers)
    offset = len(head) + len(keys) + 4 * len(containers)
    offsets = b""
    for body in bodies:
        offsets += struct.pack("<I", offset)
        offset += len(body)
    return head + keys + offsets + b"".join(bodies)


def _container(low: list[int]) -> bytes:
    if len(low) <= _MOST_IN_ARRAY:
        return struct.pack(f"<{len(low)}H", *low)
    bits = bytearray(8192)
    for number in low:
        bits[number >> 3] |= 1 << (number & 7)
    return bytes(bits)


def _from_bytes(data: bytes) -> list[int]:
    try:
        return _read(data)
    except (struct.error, IndexError) as error:
        raise ValueError("these bytes are no bitmap") from error


def _read(data: bytes) -> list[int]:
    (cookie,) = struct.unpack_from("<I", data)
    if cookie & 0xFFFF == _WITH_RUNS:
        count, place = (cookie >> 16) + 1, 4 + ((cookie >> 16) + 8) // 8
        is_run = [bool(data[4 + i // 8] >> (i % 8) & 1) for i in range(count)]
    elif cookie == _WITHOUT_RUNS:
        (count,) = struct.unpack_from("<I", data, 4)
        place, is_run = 8, [False] * count
    else:
        raise ValueError("these bytes are no bitmap")
    keys = [struct.unpack_from("<HH", data, place + 4 * i) for i in range(count)]
    place += 4 * count
    if cookie == _WITHOUT_RUNS or count >= 4:
        place += 4 * count
    found: list[int] = []
    for (key, last), runs in zip(keys, is_run, strict=True):
        low, place = _low_numbers(data, place, last + 1, runs)
        found += [_signed(key << 16 | number) for number in low]
    return found


def _signed(number: int) -> int:
    return number - 2**32 if number >= 2**31 else number


def _low_numbers(data: bytes, place: int, size: int, runs: bool) -> tuple[list[int], int]:
    """Return the numbers of one container, and the offset of the next one."""
    if runs:
        (count,) = struct.unpack_from("<H", data, place)
        pairs = [struct.unpack_from("<HH", data, place + 2 + 4 * i) for i in range(count)]
        return [number for start, more in pairs for number in range(start, start + more + 1)], place + 2 + 4 * count
    if size <= _MOST_IN_ARRAY:
        return list(struct.unpack_from(f"<{size}H", data, place)), place + 2 * size
    bits = int.from_bytes(data[place : place + 8192], "little")
    return [number for number in range(65536) if bits >> number & 1], place + 8192


register(ScalarFunction("BITMAP_TO_BYTES", taking(BYTES, _SET), by_value(_to_bytes)))
register(ScalarFunction("BITMAP_FROM_BYTES", taking(_BITMAP, BINARY), by_value(_from_bytes), may_fail=True))
