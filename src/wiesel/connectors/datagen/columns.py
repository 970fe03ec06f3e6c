"""Internal. Vectorised generation of columns. A value is a function of its row's index and of a seed.

Columns are plain picklable data; their parts (elements of arrays, fields of rows) are columns too, with an index for each part.
"""

from __future__ import annotations

import datetime
from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any

import numpy as np

from wiesel.connectors.datagen.indexed_random import Words, derived_seed, uniform_floats, uniform_integers, words
from wiesel.core.durations import Instant
from wiesel.types.row import make_row

__all__ = [
    "ArrayColumn",
    "BooleanColumn",
    "BytesColumn",
    "BytesSequence",
    "Column",
    "DateColumn",
    "DecimalColumn",
    "DecimalSequence",
    "FloatColumn",
    "FloatSequence",
    "InstantColumn",
    "IntegerColumn",
    "IntegerSequence",
    "MapColumn",
    "NullableColumn",
    "RowColumn",
    "Rows",
    "TextColumn",
    "TextSequence",
    "TimeColumn",
    "TimestampColumn",
]

_EPOCH = datetime.datetime(1970, 1, 1)
_DECIMALS = Context(prec=38)


@dataclass(frozen=True)
class Rows:
    """The rows to generate: their indexes, and the generation time."""

    indexes: Words
    now_ms: int

    def __len__(self) -> int:
        return len(self.indexes)

    def parts(self, count: int) -> Rows:
        """Return ``count`` parts of each row as separate rows."""
        firsts: Words = self.indexes * np.uint64(count)
        return Rows(np.add.outer(firsts, np.arange(count, dtype=np.uint64)).ravel(), self.now_ms)


class Column(ABC):
    """Makes the values of one column."""

    @abstractmethod
    def values(self, rows: Rows) -> list[Any]:
        """Return the value of each row."""


@dataclass(frozen=True)
class NullableColumn(Column):
    """Replaces a fraction of the values by ``None``."""

    column: Column
    null_rate: float
    seed: int

    def values(self, rows: Rows) -> list[Any]:
        nulls = (uniform_floats(self.seed, rows.indexes) < self.null_rate).tolist()
        return [None if null else value for null, value in zip(nulls, self.column.values(rows), strict=True)]


# Random values.


@dataclass(frozen=True)
class BooleanColumn(Column):
    """True and False, equally often."""

    seed: int

    def values(self, rows: Rows) -> list[Any]:
        return (words(self.seed, rows.indexes) < np.uint64(2**63)).tolist()  # type: ignore[no-any-return]


@dataclass(frozen=True)
class IntegerColumn(Column):
    """Integers between two inclusive bounds."""

    seed: int
    low: int
    high: int

    def values(self, rows: Rows) -> list[Any]:
        return uniform_integers(self.seed, rows.indexes, self.low, self.high).tolist()  # type: ignore[no-any-return]


@dataclass(frozen=True)
class FloatColumn(Column):
    """Numbers between two bounds; ``bits`` is 32 or 64."""

    seed: int
    low: float
    high: float
    bits: int

    def values(self, rows: Rows) -> list[Any]:
        share = uniform_floats(self.seed, rows.indexes)
        # Not low + share * (high - low): the difference of two numbers can be too large for a number.
        drawn = np.clip(share * self.high + (1 - share) * self.low, self.low, self.high)
        return (drawn if self.bits == 64 else drawn.astype(np.float32)).tolist()  # type: ignore[no-any-return]


@dataclass(frozen=True)
class DecimalColumn(Column):
    """Decimals: multiples of ``10 ** -scale``, from ``low`` to ``high`` times it."""

    seed: int
    low: int
    high: int
    scale: int

    def values(self, rows: Rows) -> list[Any]:
        if self.low >= -(2**63) and self.high < 2**63:
            unscaled = uniform_integers(self.seed, rows.indexes, self.low, self.high).tolist()
        else:
            # 128 random bits, as a fraction of the range.
            upper, lower = words(self.seed, rows.indexes).tolist(), words(derived_seed(self.seed, "lower"), rows.indexes).tolist()
            span = self.high - self.low + 1
            unscaled = [self.low + (((u << 64) | v) * span >> 128) for u, v in zip(upper, lower, strict=True)]
        return [_DECIMALS.scaleb(Decimal(number), -self.scale) for number in unscaled]


@dataclass(frozen=True)
class _LengthColumn(Column):
    seed: int
    length: int
    varying: bool

    def _cut(self, rows: Rows, joined: Any, width: int) -> list[Any]:
        """Split a string of fixed-width pieces into pieces of the requested lengths."""
        starts = range(0, len(rows) * width, width)
        if not self.varying:
            return [joined[at : at + self.length] for at in starts]
        lengths = uniform_integers(derived_seed(self.seed, "length"), rows.indexes, 1, self.length - 1).tolist()
        return [joined[at : at + length] for at, length in zip(starts, lengths, strict=True)]

    def _random_bytes(self, rows: Rows, words_per_row: int) -> bytes:
        return words(self.seed, rows.parts(words_per_row).indexes).astype("<u8").tobytes()


class TextColumn(_LengthColumn):
    """Strings of hexadecimal digits, of fixed or varying length."""

    def values(self, rows: Rows) -> list[Any]:
        words_per_row = -(-self.length // 16)
        return self._cut(rows, self._random_bytes(rows, words_per_row).hex(), 16 * words_per_row)


class BytesColumn(_LengthColumn):
    """Bytes of fixed or varying length."""

    def values(self, rows: Rows) -> list[Any]:
        words_per_row = -(-self.length // 8)
        return self._cut(rows, self._random_bytes(rows, words_per_row), 8 * words_per_row)


# Times.


def _local_time(now_ms: int) -> datetime.datetime:
    seconds, millis = divmod(now_ms, 1000)
    return datetime.datetime.fromtimestamp(seconds).replace(microsecond=millis * 1000)


class DateColumn(Column):
    """Today's date, in the worker's time zone."""

    def values(self, rows: Rows) -> list[Any]:
        return [_local_time(rows.now_ms).date()] * len(rows)


class TimeColumn(Column):
    """The time of day, in the worker's time zone, to the millisecond."""

    def values(self, rows: Rows) -> list[Any]:
        return [_local_time(rows.now_ms).time()] * len(rows)


@dataclass(frozen=True)
class _PastColumn(Column):
    """Points of time between now and a length of time ago."""

    seed: int
    max_past_ms: int

    def _millis(self, rows: Rows) -> list[int]:
        if not self.max_past_ms:
            return [rows.now_ms] * len(rows)
        return (rows.now_ms - uniform_integers(self.seed, rows.indexes, 0, self.max_past_ms)).tolist()  # type: ignore[no-any-return]


class TimestampColumn(_PastColumn):
    """Timestamps in UTC."""

    def values(self, rows: Rows) -> list[Any]:
        return [_EPOCH + datetime.timedelta(milliseconds=millis) for millis in self._millis(rows)]


class InstantColumn(_PastColumn):
    """Points of time."""

    def values(self, rows: Rows) -> list[Any]:
        return [Instant.of_epoch_milli(millis) for millis in self._millis(rows)]


# Composite values


@dataclass(frozen=True)
class ArrayColumn(Column):
    """Lists of one length."""

    element: Column
    length: int

    def values(self, rows: Rows) -> list[Any]:
        if not self.length:
            return [[] for _ in range(len(rows))]
        elements = self.element.values(rows.parts(self.length))
        return [elements[at : at + self.length] for at in range(0, len(elements), self.length)]


@dataclass(frozen=True)
class MapColumn(Column):
    """Dicts with some keys; fewer if keys coincide."""

    keys: ArrayColumn
    entries: ArrayColumn

    def values(self, rows: Rows) -> list[Any]:
        pairs = zip(self.keys.values(rows), self.entries.values(rows), strict=True)
        return [dict(zip(keys, entries, strict=True)) for keys, entries in pairs]


@dataclass(frozen=True)
class RowColumn(Column):
    """Rows."""

    names: list[str]
    columns: tuple[Column, ...]

    def values(self, rows: Rows) -> list[Any]:
        names = self.names
        if not names:
            return [make_row(names, []) for _ in range(len(rows))]
        made = [column.values(rows) for column in self.columns]
        return [make_row(names, list(values)) for values in zip(*made, strict=True)]


# Sequences.


@dataclass(frozen=True)
class IntegerSequence(Column):
    """The integers from a start on."""

    start: int

    def values(self, rows: Rows) -> list[Any]:
        return (rows.indexes.astype(np.int64) + self.start).tolist()  # type: ignore[no-any-return]


class FloatSequence(IntegerSequence):
    """The same as floats."""

    def values(self, rows: Rows) -> list[Any]:
        return list(map(float, super().values(rows)))


class TextSequence(IntegerSequence):
    """The same in digits."""

    def values(self, rows: Rows) -> list[Any]:
        return list(map(str, super().values(rows)))


class BytesSequence(IntegerSequence):
    """The same in eight bytes, the highest first."""

    def values(self, rows: Rows) -> list[Any]:
        return [number.to_bytes(8, "big", signed=True) for number in super().values(rows)]


@dataclass(frozen=True)
class DecimalSequence(Column):
    """The same as decimals with a scale."""

    start: int
    scale: int

    def values(self, rows: Rows) -> list[Any]:
        unit = Decimal(1).scaleb(-self.scale)
        return [_DECIMALS.quantize(Decimal(number), unit) for number in (rows.indexes.astype(np.int64) + self.start).tolist()]
