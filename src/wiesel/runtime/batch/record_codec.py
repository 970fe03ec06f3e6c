"""Internal. Binary encoding of single records for sorts, joins and buffers: compact for declared types.

The encoding of a tuple or row of basic types: a header of bits (one for "pickled instead", one per field for None, and one per boolean
field for its value), the fields of fixed size, then those of variable size, each after its length. A record that does not conform, such as
an integer beyond the declared size, is pickled, so that it is decoded unchanged. The data does not outlive the job; the format of state is
that of ``wiesel.types.serializers``.
"""

from __future__ import annotations

import pickle
import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from wiesel.types.row import Row, RowKind, make_row
from wiesel.types.serializers import dumps
from wiesel.types.typeinfo import (
    BasicType,
    BasicTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    TypeInformation,
)

__all__ = ["RecordCodec", "codec_for"]

_FIXED = {
    BasicType.BYTE: ("b", int),
    BasicType.SHORT: ("h", int),
    BasicType.INT: ("i", int),
    BasicType.LONG: ("q", int),
    BasicType.FLOAT: ("f", float),
    BasicType.DOUBLE: ("d", float),
}
_SHORT_LENGTH = 0xFF
_LENGTH = struct.Struct("<I")
_NOT_CONFORMING = (struct.error, TypeError, ValueError, AttributeError, OverflowError)


class RecordCodec(ABC):
    """Encodes and decodes records.

    Attributes:
        decoded: Number of records decoded so far.
    """

    decoded = 0

    @abstractmethod
    def encode(self, value: Any) -> bytes:
        """Return a record as bytes."""

    @abstractmethod
    def decode(self, data: bytes) -> Any:
        """Return the record."""


class _PickleCodec(RecordCodec):
    def encode(self, value: Any) -> bytes:
        return dumps(value)

    def decode(self, data: bytes) -> Any:
        self.decoded += 1
        return pickle.loads(data)


class _Fields:
    """The layout of the fields of a record."""

    def __init__(self, types: Sequence[TypeInformation]) -> None:
        self.count = len(types)
        kinds = [t._basic_type if isinstance(t, BasicTypeInfo) else None for t in types]
        self.booleans = [i for i, kind in enumerate(kinds) if kind is BasicType.BOOLEAN]
        fixed = [(i, _FIXED[kind]) for i, kind in enumerate(kinds) if kind in _FIXED]
        self.fixed = [i for i, _ in fixed]
        self._classes = [cls for _, (_, cls) in fixed]
        self.struct = struct.Struct("<" + "".join(code for _, (code, _) in fixed))
        strings = (BasicType.STRING, BasicType.CHAR)
        rest = [i for i in range(self.count) if i not in self.fixed and i not in self.booleans]
        self.variable = [(i, kinds[i] in strings) for i in rest]
        self.header_bytes = (1 + self.count + len(self.booleans) + 7) // 8

    def encode(self, values: Sequence[Any]) -> bytes:
        """Return the fields as bytes; one of the errors ``_NOT_CONFORMING`` if they do not conform."""
        if len(values) != self.count:
            raise ValueError
        bits = 0
        for i, value in enumerate(values):
            if value is None:
                bits |= 2 << i
        for place, i in enumerate(self.booleans):
            value = values[i]
            if value is True:
                bits |= 2 << (self.count + place)
            elif value is not False and value is not None:
                raise TypeError
        parts = [bits.to_bytes(self.header_bytes, "little"), self._pack_fixed(values)]
        for i, is_text in self.variable:
            if values[i] is None:
                continue
            if is_text and type(values[i]) is not str:
                raise TypeError
            data = values[i].encode("utf-8", "surrogatepass") if is_text else dumps(values[i])
            size = len(data)
            parts.append(bytes((size,)) if size < _SHORT_LENGTH else b"\xff" + _LENGTH.pack(size))
            parts.append(data)
        return b"".join(parts)

    def _pack_fixed(self, values: Sequence[Any]) -> bytes:
        fixed = []
        for i, cls in zip(self.fixed, self._classes, strict=True):
            value = values[i]
            if value is None:
                value = 0
            elif type(value) is not cls:  # True is packed as 1, and 1 as 1.0: the type would change
                raise TypeError
            fixed.append(value)
        return self.struct.pack(*fixed)

    def decode(self, data: bytes) -> list[Any]:
        """Return the fields."""
        bits = int.from_bytes(data[: self.header_bytes], "little") >> 1
        values: list[Any] = [None] * self.count
        at = self.header_bytes
        for i, value in zip(self.fixed, self.struct.unpack_from(data, at), strict=True):
            values[i] = value
        at += self.struct.size
        for place, i in enumerate(self.booleans):
            values[i] = bool(bits >> (self.count + place) & 1)
        nulls = bits & ((1 << self.count) - 1)
        for i, is_text in self.variable:
            if nulls >> i & 1:
                continue
            size = data[at]
            at += 1
            if size == _SHORT_LENGTH:
                size = _LENGTH.unpack_from(data, at)[0]
                at += 4
            part = data[at : at + size]
            values[i] = part.decode("utf-8", "surrogatepass") if is_text else pickle.loads(part)
            at += size
        while nulls:
            lowest = nulls & -nulls
            values[lowest.bit_length() - 1] = None
            nulls ^= lowest
        return values


class _FieldsCodec(RecordCodec):
    def __init__(self, types: Sequence[TypeInformation], take: Callable[[Any], Sequence[Any]], make: Callable[[list[Any]], Any]) -> None:
        self._fields = _Fields(types)
        self._take = take
        self._make = make

    def encode(self, value: Any) -> bytes:
        try:
            return self._fields.encode(self._take(value))
        except _NOT_CONFORMING:
            return b"\x01" + dumps(value)

    def decode(self, data: bytes) -> Any:
        self.decoded += 1
        return pickle.loads(data[1:]) if data[0] & 1 else self._make(self._fields.decode(data))


def _fields_of_tuple(value: Any) -> Sequence[Any]:
    if type(value) is not tuple:
        raise TypeError
    return value


def _fields_of_row(names: Any) -> Callable[[Any], Sequence[Any]]:
    def take(value: Any) -> Sequence[Any]:
        if type(value) is not Row or value._row_kind is not RowKind.INSERT or value._names != names:
            raise TypeError
        return value._values

    return take


def codec_for(declared: TypeInformation | None) -> RecordCodec:
    """Return a new codec (it has a counter) for records of a declared type; None for those of any type."""
    if isinstance(declared, TupleTypeInfo):
        return _FieldsCodec(declared.get_field_types(), _fields_of_tuple, tuple)
    if isinstance(declared, RowTypeInfo):
        names = declared.get_field_names()
        return _FieldsCodec(declared.get_field_types(), _fields_of_row(names), lambda values: make_row(names, values))
    if isinstance(declared, BasicTypeInfo) and declared._basic_type in (*_FIXED, BasicType.BOOLEAN, BasicType.STRING, BasicType.CHAR):
        return _FieldsCodec([declared], lambda value: (value,), lambda values: values[0])
    return _PickleCodec()
