"""Internal. Decimal arithmetic: exact in 256 bits, then rounded half up to the result type; NULL on overflow."""

from __future__ import annotations

import decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.expressions import Call
from wiesel.columnar.functions.kernels import fail_where, problem, repeated

__all__ = ["as_doubles", "evaluate", "fitted", "low_words", "rounded"]

_HALF_UP = "half_towards_infinity"
_WIDE = 76
_EXACT = decimal.Context(prec=120, rounding=decimal.ROUND_DOWN)


def evaluate(sign: str, call: Call, operands: list[Any]) -> Any:
    """Return sums, differences, products, quotients or remainders."""
    wanted = arrow_type(call.data_type)
    if sign in ("/", "%"):
        _refuse_zero(call, operands)
    left, right = (operand.type for operand in operands)
    if sign in ("+", "-"):
        if max(left.precision - left.scale, right.precision - right.scale) + max(left.scale, right.scale) < _WIDE:
            return fitted((pc.add if sign == "+" else pc.subtract)(*map(_wide, operands)), wanted)
        return _by_value(sign, operands, wanted)
    if sign == "*" and left.precision + right.precision + 1 <= _WIDE:
        return fitted(pc.multiply(*map(_wide, operands)), wanted)
    if sign == "/":
        quotient = _quotient(operands, wanted)
        if quotient is not None:
            return fitted(quotient, wanted)
    if sign == "%" and left.precision - left.scale + max(left.scale, right.scale) <= 18 >= right.precision - right.scale + left.scale:
        return _small_remainder(operands, wanted)
    return _by_value(sign, operands, wanted)


def _refuse_zero(call: Call, operands: list[Any]) -> None:
    divisor = operands[1]
    if isinstance(divisor, pa.Scalar):
        if divisor.is_valid and divisor.as_py() == 0 and (not isinstance(operands[0], pa.Scalar) or operands[0].is_valid):
            values = operands[0] if isinstance(operands[0], pa.Scalar) else operands[0].drop_null()
            if isinstance(values, pa.Scalar) or len(values):
                raise problem(call, (values if isinstance(values, pa.Scalar) else values[0], divisor), "division by zero")
        return
    zero = pc.equal(divisor, pa.scalar(decimal.Decimal(0)).cast(divisor.type)).fill_null(False)
    if zero.true_count:
        bad = pc.and_(zero, pc.is_valid(operands[0]))
        fail_where(call, operands, bad.to_numpy(zero_copy_only=False), "division by zero")
        # The remaining rows divide NULL, so any nonzero divisor will do.
        operands[1] = pc.if_else(zero, pa.scalar(None, divisor.type), divisor)


def _wide(operand: Any) -> Any:
    return operand.cast(pa.decimal256(operand.type.precision, operand.type.scale))


def _quotient(operands: list[Any], wanted: pa.DataType) -> Any:
    """Return quotients truncated with at least one more digit than wanted; None if 256 bits might be too few."""
    left, right = operands
    # Arrow's quotient has the scale max(4, s1 + p2 - s2 + 1).
    more = max(0, wanted.scale - left.type.scale - right.type.precision + right.type.scale)
    precision, scale = left.type.precision + more, left.type.scale + more
    behind = max(4, scale + right.type.precision - right.type.scale + 1)
    if precision - scale + right.type.scale + behind > _WIDE:
        return None
    return pc.divide(left.cast(pa.decimal256(precision, scale)), _wide(right))


def low_words(column: Any) -> npt.NDArray[np.int64]:
    """Return the lower 64 bits of each unscaled number, undefined for NULL."""
    words = np.frombuffer(column.buffers()[1], np.int64)
    return words[2 * column.offset : 2 * (column.offset + len(column)) : 2]


def from_low_words(values: npt.NDArray[np.int64], mask: npt.NDArray[np.bool_] | None, wanted: pa.DataType) -> Any:
    """Return unscaled numbers of 64 bits as decimals, NULL where the mask is true."""
    words = np.empty((len(values), 2), np.int64)
    words[:, 0] = values
    words[:, 1] = values >> 63
    bitmap = None if mask is None else pa.array(~mask).buffers()[1]
    return pa.Array.from_buffers(wanted, len(values), [bitmap, pa.py_buffer(words)])


def _small_remainder(operands: list[Any], wanted: pa.DataType) -> Any:
    length = next((len(operand) for operand in operands if not isinstance(operand, pa.Scalar)), None)
    scale = max(operand.type.scale for operand in operands)
    columns = [repeated(operand, 1 if length is None else length) if isinstance(operand, pa.Scalar) else operand for operand in operands]
    left, right = (column.cast(pa.decimal128(18, scale)) for column in columns)
    mask = pc.or_(left.is_null(), right.is_null()).to_numpy(zero_copy_only=False)
    divisor = np.where(mask, 1, low_words(right))
    remainder = np.where(mask, 0, np.fmod(np.where(mask, 0, low_words(left)), divisor))
    result = from_low_words(remainder, mask, pa.decimal128(18, scale)).cast(wanted)
    return result if length is not None else result[0]


def _by_value(sign: str, operands: list[Any], wanted: pa.DataType) -> Any:
    length = next((len(operand) for operand in operands if not isinstance(operand, pa.Scalar)), None)
    count = 1 if length is None else length
    left, right = ((repeated(operand, count) if isinstance(operand, pa.Scalar) else operand).to_pylist() for operand in operands)
    compute = {"+": _EXACT.add, "-": _EXACT.subtract, "*": _EXACT.multiply, "/": _EXACT.divide, "%": _EXACT.remainder}[sign]
    found = [None if a is None or b is None else _fit(compute(a, b), wanted) for a, b in zip(left, right, strict=True)]
    result = pa.array(found, wanted)
    return result if length is not None else result[0]


def _fit(value: decimal.Decimal, wanted: pa.DataType) -> decimal.Decimal | None:
    exact = value.quantize(decimal.Decimal(1).scaleb(-wanted.scale), decimal.ROUND_HALF_UP, decimal.Context(prec=200))
    return exact if exact.is_zero() or exact.adjusted() < wanted.precision - wanted.scale else None


def rounded(column: Any, digits: int) -> Any:
    """Return decimals rounded half up to a scale, in the same type, with one more digit for a carry."""
    of = column.type
    if digits >= of.scale:
        return column
    return pc.round(column.cast(pa.decimal256(min(_WIDE, of.precision + 1), of.scale)), digits, _HALF_UP)


def fitted(column: Any, wanted: pa.DataType) -> Any:
    """Return decimals converted to another decimal type: rounded half up, NULL on overflow."""
    column = rounded(column, wanted.scale)
    of = column.type
    if of.precision - of.scale > wanted.precision - wanted.scale:
        limit = decimal.Decimal(10) ** (wanted.precision - wanted.scale)
        bound = pa.scalar(limit, pa.decimal256(_WIDE, 0)).cast(pa.decimal256(_WIDE, min(of.scale, 37)))
        inside = pc.less(pc.abs(column), bound)
        if not _all_true(inside):
            column = pc.if_else(inside, column, pa.scalar(None, of))
    return column.cast(wanted)


def as_doubles(column: Any) -> Any:
    """Return decimals as the nearest floating-point numbers, which Arrow's own cast sometimes misses."""
    of = column.type
    if of.precision > 15:
        return column.cast(pa.string()).cast(pa.float64())
    values = low_words(column).astype(np.float64) / 10.0**of.scale
    return pa.array(values, mask=None if not column.null_count else column.is_null().to_numpy(zero_copy_only=False))


def _all_true(mask: Any) -> bool:
    if isinstance(mask, pa.Scalar):
        return mask.as_py() is not False
    return mask.false_count == 0  # type: ignore[no-any-return]
