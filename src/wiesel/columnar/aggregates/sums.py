"""Internal. COUNT, SUM and AVG."""

from __future__ import annotations

import decimal
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.aggregates.registry import Accumulator, AggregateFunction, Signs, Spec, nulled, register, valid_numbers
from wiesel.columnar.aggregates.slots import Column, Slot, numbers
from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.functions.registry import Arguments, Signature
from wiesel.types import logical as t

__all__ = ["COUNT_SLOT", "prepared_sum", "sum_slot"]

COUNT_SLOT = Slot("sum", pa.int64(), 0)
_DECIMALS = decimal.Context(prec=80)


# COUNT


def _count_signature(arguments: Arguments, may_be_empty: bool) -> Signature:
    return Signature(arguments.types, t.BigIntType(False))


def _count(spec: Spec) -> Accumulator:
    def prepare(columns: Sequence[Column], signs: Signs) -> list[Column]:
        return [pa.array(valid_numbers(columns, signs))]

    return Accumulator((COUNT_SLOT,), prepare, lambda slots: slots[0])


# SUM


def sum_slot(data_type: t.DataType) -> Slot:
    """Return the slot for the sum of numbers of a type."""
    if isinstance(data_type, t.DecimalType):
        return Slot("sum", pa.decimal128(38, data_type.scale), decimal.Decimal(0))
    kind = arrow_type(data_type)
    return Slot("sum", kind, 0.0) if pa.types.is_floating(kind) else COUNT_SLOT


def prepared_sum(slot: Slot, column: Column, signs: Signs) -> Column:
    """Return what each row adds to a sum."""
    if pa.types.is_decimal(slot.type):
        values = pc.fill_null(column.cast(slot.type), pa.scalar(decimal.Decimal(0), slot.type))
        return values if signs is None else pc.if_else(pa.array(signs > 0), values, pc.negate(values))
    filled = numbers(pc.fill_null(column, 0) if column.null_count else column).astype(slot.type.to_pandas_dtype())
    return pa.array(filled if signs is None else filled * signs.astype(filled.dtype), slot.type)


def _sum_type(of: t.DataType) -> t.DataType:
    return t.DecimalType(38, of.scale, of.is_nullable) if isinstance(of, t.DecimalType) else of


def _numeric(result: Callable[[t.DataType], t.DataType]) -> Callable[[Arguments, bool], Signature]:
    def resolve(arguments: Arguments, may_be_empty: bool) -> Signature:
        types = arguments.types
        if len(types) != 1 or not isinstance(types[0], t.NumericType):
            raise arguments.refuse(f"{arguments.name}(<NUMERIC>)")
        found = result(types[0])
        return Signature(types, found.nullable() if may_be_empty else found)

    return resolve


def _wrapped(values: Column, kind: pa.DataType) -> Column:
    """Return sums as values of a type, cut off where they are too large for it, as in Java."""
    return values if values.type == kind else pa.array(numbers(values).astype(kind.to_pandas_dtype()), kind)


def _sum(spec: Spec) -> Accumulator:
    slot, kind = sum_slot(spec.types[0]), arrow_type(spec.result)

    def prepare(columns: Sequence[Column], signs: Signs) -> list[Column]:
        return [prepared_sum(slot, columns[0], signs), pa.array(valid_numbers(columns, signs))]

    def finish(slots: Sequence[Column]) -> Column:
        return nulled(_wrapped(slots[0], kind), numbers(slots[1]) == 0)

    return Accumulator((slot, COUNT_SLOT), prepare, finish)


def _sum0(spec: Spec) -> Accumulator:
    slot, kind = sum_slot(spec.types[0]), arrow_type(spec.result)
    return Accumulator((slot,), lambda columns, signs: [prepared_sum(slot, columns[0], signs)], lambda slots: _wrapped(slots[0], kind))


def _sum0_signature(arguments: Arguments, may_be_empty: bool) -> Signature:
    found = _numeric(_sum_type)(arguments, may_be_empty)
    return Signature(found.operand_types, found.result.not_null())


# AVG


def _average_type(of: t.DataType) -> t.DataType:
    return t.DecimalType(38, max(6, of.scale), of.is_nullable) if isinstance(of, t.DecimalType) else of


def _average(spec: Spec) -> Accumulator:
    of = spec.types[0]
    slot = sum_slot(t.DoubleType() if isinstance(of, t.FloatType) else of)
    kind = arrow_type(spec.result)

    def prepare(columns: Sequence[Column], signs: Signs) -> list[Column]:
        column = columns[0].cast(pa.float64()) if isinstance(of, t.FloatType) else columns[0]
        return [prepared_sum(slot, column, signs), pa.array(valid_numbers(columns, signs))]

    def finish(slots: Sequence[Column]) -> Column:
        counts = numbers(slots[1])
        if isinstance(of, t.DecimalType):
            return _decimal_quotients(slots[0], counts, kind)
        return nulled(_quotients(numbers(slots[0]), counts, kind), counts == 0)

    return Accumulator((slot, COUNT_SLOT), prepare, finish)


def _quotients(sums: npt.NDArray[Any], counts: npt.NDArray[np.int64], kind: pa.DataType) -> Column:
    divisors = np.where(counts == 0, 1, counts)
    if pa.types.is_floating(kind):
        return pa.array((sums / divisors).astype(kind.to_pandas_dtype()), kind)
    quotients = np.sign(sums) * (np.abs(sums) // divisors)  # towards zero, as in Java
    return pa.array(quotients.astype(kind.to_pandas_dtype()), kind)


def _decimal_quotients(sums: Column, counts: npt.NDArray[np.int64], kind: Any) -> Column:
    unit = decimal.Decimal(1).scaleb(-kind.scale)

    def quotient(total: decimal.Decimal, count: int) -> decimal.Decimal | None:
        if count == 0:
            return None
        return _DECIMALS.divide(total, decimal.Decimal(count)).quantize(unit, decimal.ROUND_HALF_UP, _DECIMALS)

    return pa.array([quotient(*each) for each in zip(sums.to_pylist(), counts.tolist(), strict=True)], kind)


register(AggregateFunction("COUNT", _count_signature, _count))
register(AggregateFunction("SUM", _numeric(_sum_type), _sum))
register(AggregateFunction("SUM0", _sum0_signature, _sum0))
register(AggregateFunction("AVG", _numeric(_average_type), _average))
