"""Internal. Variances and standard deviations.

A group is remembered by three numbers: how many values there are, their mean, and the sum of the squares of their distances from it. That
is stable where the mean is large. Where rows may be retracted it is the number, the sum and the sum of the squares, as these can be
retracted in any order. Flink adds row by row, so that the last digits may differ from its; it cuts results off where the type of the values
is one of whole numbers, as is done here.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wiesel.columnar.aggregates.registry import Accumulator, AggregateFunction, Signs, Spec, nulled, register, valid_numbers
from wiesel.columnar.aggregates.slots import Column, Slot, numbers
from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.functions.registry import Arguments, Signature
from wiesel.types import logical as t

__all__: list[str] = []

_MOMENTS = Slot("moments", pa.list_(pa.float64(), 3), [0.0, 0.0, 0.0])
_SUM = Slot("sum", pa.float64(), 0.0)
_SIX_DIGITS = 6


def _signature(arguments: Arguments, may_be_empty: bool) -> Signature:
    types = arguments.types
    if len(types) != 1 or not isinstance(types[0], t.NumericType):
        raise arguments.refuse(f"{arguments.name}(<NUMERIC>)")
    found = types[0].nullable()
    return Signature(types, t.DecimalType(38, max(_SIX_DIGITS, found.scale)) if isinstance(found, t.DecimalType) else found)


def _values(columns: Sequence[Column]) -> npt.NDArray[np.float64]:
    return numbers(columns[0].cast(pa.float64()).fill_null(0.0))


def _prepare(columns: Sequence[Column], signs: Signs) -> list[Column]:
    counts = valid_numbers(columns, signs).astype(np.float64)
    values = _values(columns)
    moments = np.stack([counts, values, np.zeros(len(values))], axis=1)
    return [pa.FixedSizeListArray.from_arrays(pa.array(moments.ravel()), 3)]


def _prepare_sums(columns: Sequence[Column], signs: Signs) -> list[Column]:
    counts, values = valid_numbers(columns, signs), _values(columns)
    return [pa.array(counts), pa.array(counts * values), pa.array(counts * values * values)]


def _moments(slots: Sequence[Column]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the numbers of values, and the sums of their squared distances from the mean."""
    if len(slots) == 1:
        moments = numbers(slots[0].flatten()).reshape(-1, 3)
        return moments[:, 0], moments[:, 2]
    counts, sums, squares = map(numbers, slots)
    return counts.astype(np.float64), squares - sums * sums / np.where(counts == 0, 1, counts)


def _measure(sample: bool, root: bool) -> Callable[[Spec], Accumulator]:
    def make(spec: Spec) -> Accumulator:
        kind = arrow_type(spec.result)

        def finish(slots: Sequence[Column]) -> Column:
            counts, squares = _moments(slots)
            divisors = counts - sample
            none = divisors <= 0
            found = np.maximum(squares, 0.0) / np.where(none, 1.0, divisors)
            return nulled(_typed(np.sqrt(found) if root else found, kind), none)

        if spec.retracts:
            return Accumulator((Slot("sum", pa.int64(), 0), _SUM, _SUM), _prepare_sums, finish)
        return Accumulator((_MOMENTS,), _prepare, finish)

    return make


def _typed(values: npt.NDArray[np.float64], kind: Any) -> Column:
    """Return numbers as values of a type, as Java casts them: whole numbers are cut off, first to the widest that there are."""
    if pa.types.is_decimal(kind):
        unit = decimal.Decimal(1).scaleb(-kind.scale)
        return pa.array([decimal.Decimal(value).quantize(unit, decimal.ROUND_HALF_UP) for value in values.tolist()], kind)
    if not pa.types.is_integer(kind):
        return pa.array(values.astype(kind.to_pandas_dtype()), kind)
    bits = 64 if kind.bit_width == 64 else 32  # noqa: PLR2004 - Java's long and int
    whole = [max(min(int(value), 2 ** (bits - 1) - 1), -(2 ** (bits - 1))) for value in values.tolist()]
    return pa.array(np.array(whole, np.int64).astype(kind.to_pandas_dtype()), kind)


for _name, _sample, _root in (
    ("VAR_POP", False, False),
    ("VAR_SAMP", True, False),
    ("VARIANCE", True, False),
    ("STDDEV_POP", False, True),
    ("STDDEV_SAMP", True, True),
    ("STDDEV", True, True),
):
    register(AggregateFunction(_name, _signature, _measure(_sample, _root)))
