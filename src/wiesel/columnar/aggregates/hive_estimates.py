"""Internal. Aggregates that Hive estimates: n-grams, approximate percentiles and histograms. They store all values.

N-grams and percentiles are exact, unlike Hive's. Histograms equal Hive's for the values in order of arrival.

Their names cannot be used in queries: only Hive's dialect creates the calls.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from itertools import accumulate
from typing import Any

import pyarrow as pa

from wiesel.columnar.aggregates.lists import kept
from wiesel.columnar.aggregates.registry import AggregateFunction, Spec, register
from wiesel.columnar.aggregates.slots import Column
from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.functions.registry import Arguments, Signature
from wiesel.columnar.type_rules import STRING
from wiesel.core.errors import ExpressionError
from wiesel.types import logical as t

__all__: list[str] = []

_GRAM = t.RowType([t.RowField("ngram", t.ArrayType(STRING)), t.RowField("estfrequency", t.DoubleType())], False)


# n-grams


def _grams_type(arguments: Arguments, may_be_empty: bool) -> Signature:
    of, count = [*arguments.types, None, None][:2]
    if len(arguments.types) != 2 or not isinstance(of, t.ArrayType) or not isinstance(count, t.IntegralType):
        raise arguments.refuse("an ARRAY of n-grams and how many of them, an INT that is written out")
    return Signature([of, t.IntType()], t.ArrayType(_GRAM))


def _top(grams: list[tuple[str, ...]], count: int) -> list[dict[str, Any]] | None:
    """Return the most frequent n-grams; ties are in the order of the words."""
    counted = Counter(grams)
    if not counted or count <= 0:
        return None
    chosen = sorted(counted, key=lambda gram: (-counted[gram], gram))[:count]
    return [{"ngram": list(gram), "estfrequency": float(counted[gram])} for gram in chosen]


def _grams(spec: Spec, lists: Column) -> Column:
    count = int(spec.options[0])
    found = [_top([tuple(gram) for row in rows or () for gram in row], count) for rows in lists.to_pylist()]
    return pa.array(found, arrow_type(spec.result))


register(AggregateFunction("HIVE.NGRAMS", _grams_type, kept(_grams), literals=1))


# Histograms


class _JavaRandom:
    """The random numbers of Java's ``Random``."""

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ 0x5DEECE66D) & (1 << 48) - 1

    def _next(self, bits: int) -> int:
        self._state = (self._state * 0x5DEECE66D + 0xB) & (1 << 48) - 1
        return self._state >> (48 - bits)

    def next_double(self) -> float:
        return ((self._next(26) << 27) + self._next(27)) / (1 << 53)


_SEED = 31183
_FEWEST_BINS = 2


def _histogram(values: list[float], count: int) -> list[dict[str, float]]:
    """Return the bins of a histogram (Ben-Haim and Tom-Tov) with center and height: beyond the limit the nearest two are merged.

    Among equally near pairs one is chosen at random, as in Hive.
    """
    centers: list[float] = []
    heights: list[float] = []
    random = _JavaRandom(_SEED)
    for value in values:
        place = bisect_left(centers, value)
        if place < len(centers) and centers[place] == value:
            heights[place] += 1
            continue
        centers.insert(place, value)
        heights.insert(place, 1)
        if len(centers) > count:
            nearest, smallest, ties = 0, centers[1] - centers[0], 1
            for index in range(1, len(centers) - 1):
                distance = centers[index + 1] - centers[index]
                if distance < smallest:
                    nearest, smallest, ties = index, distance, 1
                elif distance == smallest:
                    ties += 1
                    if random.next_double() <= 1.0 / ties:
                        nearest = index
            both = heights[nearest] + heights[nearest + 1]
            centers[nearest] *= heights[nearest] / both
            centers[nearest] += centers[nearest + 1] / both * heights[nearest + 1]
            heights[nearest] = both
            del centers[nearest + 1], heights[nearest + 1]
    return [{"x": center, "y": height} for center, height in zip(centers, heights, strict=True)]


_BIN = t.RowType([t.RowField("x", t.DoubleType()), t.RowField("y", t.DoubleType())], False)


def _histogram_type(arguments: Arguments, may_be_empty: bool) -> Signature:
    of, count = [*arguments.types, None, None][:2]
    if len(arguments.types) != 2 or not isinstance(of, t.NumericType) or not isinstance(count, t.IntegralType):
        raise arguments.refuse("HISTOGRAM_NUMERIC(<NUMERIC>, <INTEGER>), where the number of bins is a literal")
    return Signature([t.DoubleType(), t.IntType()], t.ArrayType(_BIN))


def _histograms(spec: Spec, lists: Column) -> Column:
    count = int(spec.options[0])
    if count < _FEWEST_BINS:
        raise ExpressionError(f"HISTOGRAM_NUMERIC has at least {_FEWEST_BINS} bins, not {count}", hint="give a larger number")
    found = [_histogram(values, count) if values else None for values in lists.to_pylist()]
    return pa.array(found, arrow_type(spec.result))


register(AggregateFunction("HIVE.HISTOGRAM_NUMERIC", _histogram_type, kept(_histograms), literals=1))


# Percentiles


def _percentile_type(arguments: Arguments, may_be_empty: bool) -> Signature:
    value, part, *bins = [*arguments.types, None, None][: max(2, len(arguments.types))]
    several = isinstance(part, t.ArrayType)
    of_part = part.element_type if isinstance(part, t.ArrayType) else part
    fits = isinstance(value, t.NumericType) and isinstance(of_part, t.NumericType) and len(bins) <= 1
    if not fits or not all(isinstance(of, t.IntegralType) for of in bins):
        raise arguments.refuse("PERCENTILE_APPROX(<NUMERIC>, <NUMERIC>|<ARRAY OF NUMERIC>[, <INTEGER>])")
    result: t.DataType = t.ArrayType(t.DoubleType()) if several else t.DoubleType()
    return Signature([t.DoubleType(), result, *[t.IntType()] * len(bins)], result)


def _at(part: float, values: list[float], ends: list[int]) -> float:
    """Return the percentile of all values, interpolated between adjacent distinct values."""
    rank = part * ends[-1]
    place = min(bisect_left(ends, rank), len(values) - 1)
    if not place:
        return values[0]
    low, before = values[place - 1], ends[place - 1]
    return low + (rank - before) * (values[place] - low) / (ends[place] - before)


def _percentile(rows: list[dict[str, Any]]) -> Any:
    if not rows:
        return None
    counted = Counter(row["0"] for row in rows)
    values = sorted(counted)
    ends = list(accumulate(counted[value] for value in values))
    parts = rows[0]["1"]
    return [_at(part, values, ends) for part in parts] if isinstance(parts, list) else _at(parts, values, ends)


def _percentiles(spec: Spec, lists: Column) -> Column:
    return pa.array([_percentile(rows) for rows in lists.to_pylist()], arrow_type(spec.result))


register(AggregateFunction("HIVE.PERCENTILE_APPROX", _percentile_type, kept(_percentiles, together=True)))
