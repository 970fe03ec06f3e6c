"""Internal. SPLIT_INDEX: the part of a string between two separators."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.expressions import Call
from wiesel.columnar.functions.kernels import by_value, valid_mask
from wiesel.columnar.functions.registry import Arguments, ScalarFunction, Signature, register
from wiesel.columnar.functions.signatures import INTEGER, TEXT, returning_null, taking
from wiesel.columnar.type_rules import STRING
from wiesel.types import logical as t

__all__: list[str] = []

_FEW = 32
"""Up to this number of strings, they are split one by one."""

Places = npt.NDArray[np.int64]


def _resolve(arguments: Arguments) -> Signature:
    second = INTEGER if len(arguments.types) > 1 and isinstance(arguments.types[1], t.IntegralType) else TEXT
    return taking(returning_null(STRING), TEXT, second, INTEGER)(arguments)


def _part(text: str, separator: str | int, index: int) -> str | None:
    if isinstance(separator, int):
        if not 1 <= separator <= 255:
            return None
        separator = chr(separator)
    if index < 0 or not text:
        return None
    # As in the library used by Flink: no separator stands for runs of white space.
    parts = text.split(separator) if separator else re.split(r"\s", text)
    return parts[index] if index < len(parts) else None


def _evaluate(call: Call, frame: Any, operands: list[Any]) -> Any:
    text, separator, index = (each.as_py() if isinstance(each, pa.Scalar) else each for each in operands)
    if not isinstance(text, pa.Array) or len(text) < _FEW or not isinstance(separator, str) or not isinstance(index, int):
        return by_value(_part)(call, frame, operands)
    if not separator or index < 0:
        return by_value(_part)(call, frame, operands)
    if len(separator) > 1 or not separator.isascii():
        return _by_splitting(text, separator, index)
    return _Separated.of(text, separator, frame.notes).part(index)


def _by_splitting(text: Any, separator: str, index: int) -> Any:
    parts = pc.split_pattern(text, separator, max_splits=index + 1)
    lengths = pc.list_value_length(parts).fill_null(0).to_numpy(zero_copy_only=False)
    found = (lengths > index) & pc.greater(pc.binary_length(text), 0).fill_null(False).to_numpy(zero_copy_only=False)
    starts = np.cumsum(lengths) - lengths
    return parts.flatten().take(pa.array(np.where(found, starts + index, 0), mask=~found))


@dataclass(frozen=True)
class _Separated:
    """Strings with the offsets of a one-byte separator, shared by several SPLIT_INDEX calls.

    Attributes:
        text: The strings, which must stay alive while their address identifies them.
        data: Their bytes.
        offsets: Offset of each string in the bytes, and the end of the last one.
        places: Offsets of the separator in the bytes, followed by padding for indexes that are out of range.
        bounds: Range of each string in ``places``, and the end of the last one.
    """

    text: pa.Array
    data: npt.NDArray[np.uint8]
    offsets: npt.NDArray[np.int32]
    places: Places
    bounds: Places

    @staticmethod
    def of(text: pa.Array, separator: str, notes: dict[Any, Any]) -> _Separated:
        """Return the split strings, cached for the next call."""
        _, offsets, data = text.buffers()
        # Strings in upper case and others share the offsets of their origin.
        name = (_Separated, separator, offsets.address, 0 if data is None else data.address, text.offset, len(text))
        if name not in notes:
            places = np.frombuffer(offsets, np.int32)[text.offset : text.offset + len(text) + 1]
            values = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
            notes[name] = _Separated._made(text, values, places, ord(separator))
        found: _Separated = notes[name]
        return found

    @staticmethod
    def _made(text: pa.Array, data: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int32], separator: int) -> _Separated:
        places = np.flatnonzero(data[offsets[0] : offsets[-1]] == separator) + offsets[0]
        return _Separated(text, data, offsets, places, np.searchsorted(places, offsets))

    def part(self, index: int) -> pa.Array:
        """Return the part of each string after a number of separators; NULL if it has fewer, is empty or NULL."""
        behind = self.bounds[:-1] + index
        found = (behind <= self.bounds[1:]) & (self.offsets[1:] > self.offsets[:-1])
        if (valid := valid_mask(self.text)) is not None:
            found &= valid
        begins = self._place(behind - 1) + 1 if index else self.offsets[:-1].astype(np.int64)
        ends = np.where(behind < self.bounds[1:], self._place(behind), self.offsets[1:])
        lengths = np.where(found, ends - begins, 0)
        offsets = np.zeros(len(lengths) + 1, np.int32)
        np.cumsum(lengths, out=offsets[1:])
        taken = np.repeat(begins - offsets[:-1], lengths) + np.arange(offsets[-1])
        missing = None if found.all() else pa.array(found).buffers()[1]
        return pa.Array.from_buffers(pa.string(), len(lengths), [missing, pa.py_buffer(offsets), pa.py_buffer(self.data[taken])])

    def _place(self, numbers: Places) -> Places:
        """Return the offsets of separators by their numbers; undefined if there is none."""
        return self.places.take(numbers, mode="clip") if len(self.places) else np.zeros(len(numbers), np.int64)


register(ScalarFunction("SPLIT_INDEX", _resolve, _evaluate))
