"""Internal. PERCENTILE: the value below which a fraction of the values of a group is, interpolated between adjacent values."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import Any

import pyarrow as pa

from wiesel.columnar.aggregates.lists import kept
from wiesel.columnar.aggregates.registry import AggregateFunction, Spec, register
from wiesel.columnar.aggregates.slots import Column
from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.functions.registry import Arguments, Signature
from wiesel.types import logical as t

__all__: list[str] = []


def _type(arguments: Arguments, may_be_empty: bool) -> Signature:
    value, part, *count = [*arguments.types, None, None][: max(2, len(arguments.types))]
    several = isinstance(part, t.ArrayType)
    fits = isinstance(value, t.NumericType) and isinstance(part.element_type if isinstance(part, t.ArrayType) else part, t.NumericType)
    if not fits or len(count) > 1 or not all(isinstance(of, t.IntegralType) for of in count):
        raise arguments.refuse("PERCENTILE(<NUMERIC>, <NUMERIC>|<ARRAY OF NUMERIC>[, <INTEGER>])")
    parts: t.DataType = t.ArrayType(t.DoubleType()) if several else t.DoubleType()
    return Signature([t.DoubleType(), parts, *[t.BigIntType()] * len(count)], t.ArrayType(t.DoubleType()) if several else t.DoubleType())


def _at(part: float, values: list[float], ends: list[int]) -> float:
    """Return the value at a fraction of sorted values with counts."""
    place = part * (ends[-1] - 1)
    low = int(place)
    before, behind = (values[bisect_right(ends, index)] for index in (low, min(low + 1, ends[-1] - 1)))
    return before + (behind - before) * (place - low)


def _percentile(rows: list[dict[str, Any]]) -> Any:
    counted = sorted((row["0"], row.get("2", 1)) for row in rows if row.get("2", 1) is not None and row.get("2", 1) > 0)
    if not counted:
        return None
    values, ends = [value for value, _ in counted], list(accumulate(count for _, count in counted))
    parts = rows[0]["1"]
    return [_at(part, values, ends) for part in parts] if isinstance(parts, list) else _at(parts, values, ends)


def _percentiles(spec: Spec, lists: Column) -> Column:
    return pa.array([_percentile(rows) for rows in lists.to_pylist()], arrow_type(spec.result))


register(AggregateFunction("PERCENTILE", _type, kept(_percentiles, together=True)))
