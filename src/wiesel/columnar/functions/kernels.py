"""Internal. Adapters for functions evaluated over all rows of a batch."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.expressions import Call
from wiesel.core.errors import ExpressionError

__all__ = ["by_arrays", "by_kernel", "by_value", "fail", "fail_where", "from_numbers", "numbers", "problem", "repeated", "valid_mask"]

Evaluate = Callable[[Call, Any, list[Any]], Any]


def by_kernel(compute: Callable[..., Any]) -> Evaluate:
    """Evaluate by an Arrow function that accepts columns and scalars."""
    return lambda call, frame, operands: compute(*operands)


def by_arrays(compute: Callable[..., Any]) -> Evaluate:
    """Evaluate by a function of (call, frame, columns...): scalars become columns of one row, or of all rows next to columns."""

    def evaluate(call: Call, frame: Any, operands: list[Any]) -> Any:
        single = all(isinstance(operand, pa.Scalar) for operand in operands)
        length = 1 if single else frame.num_rows
        result = compute(call, frame, *(repeated(operand, length) if isinstance(operand, pa.Scalar) else operand for operand in operands))
        return result[0] if single else result

    return evaluate


def by_doubles(compute: Callable[[Any], Any]) -> Evaluate:
    """Evaluate by a function from an array of float64 to another."""

    def evaluate(call: Call, frame: Any, column: Any) -> Any:
        with np.errstate(all="ignore"):
            return from_numbers(compute(numbers(column)), valid_mask(column), pa.float64())

    return by_arrays(evaluate)


def repeated(scalar: Any, length: int) -> Any:
    """Return a column that repeats a scalar (``pyarrow.repeat`` cannot create empty columns of arrays)."""
    return pa.repeat(scalar, length) if length else pa.nulls(0, scalar.type)


def by_value(compute: Callable[..., Any], nulls: bool = False) -> Evaluate:
    """Evaluate by a function of the Python values of one row; NULL if one of them is NULL, unless the function takes ``nulls``.

    ValueError, OverflowError, LookupError and ArithmeticError are converted to errors with the expression and its values.
    """

    def evaluate(call: Call, frame: Any, operands: list[Any]) -> Any:
        single = all(isinstance(operand, pa.Scalar) for operand in operands)
        length = 1 if single else frame.num_rows
        rows = zip(*(_values(operand, length) for operand in operands), strict=False) if operands else itertools.repeat((), length)
        found = [None if not nulls and None in row else _one(call, compute, row) for row in rows]
        result = pa.array(found, arrow_type(call.data_type))
        return result[0] if single else result

    return evaluate


def _values(operand: Any, length: int) -> Iterator[Any]:
    return itertools.repeat(operand.as_py(), length) if isinstance(operand, pa.Scalar) else iter(operand.to_pylist())


def _one(call: Call, compute: Callable[..., Any], row: tuple[Any, ...]) -> Any:
    try:
        return compute(*row)
    except (ValueError, OverflowError, LookupError, ArithmeticError) as error:
        raise problem(call, row, str(error)) from error


def problem(call: Call, values: tuple[Any, ...], why: str) -> ExpressionError:
    """Return the error for the values that an expression cannot be computed for."""
    shown = ", ".join(f"{operand} = {value!r}" for operand, value in zip(call.operands, values, strict=False) if str(operand) != str(value))
    return ExpressionError(
        f"{call} has no value: {why}" + (f" (with {shown})" if shown else ""),
        hint="filter such rows out before, or compute it inside CASE WHEN; TRY_CAST gives NULL where CAST fails",
    )


def fail(call: Call, columns: list[Any], row: int, why: str) -> NoReturn:
    """Raise the error for one row."""
    raise problem(call, tuple(column.as_py() if isinstance(column, pa.Scalar) else column[row].as_py() for column in columns), why)


def fail_where(call: Call, columns: list[Any], bad: npt.NDArray[np.bool_], why: str) -> None:
    """Raise the error for the first row marked in ``bad``, if there is one."""
    if bad.any():
        fail(call, columns, int(bad.argmax()), why)


def valid_mask(*columns: Any) -> npt.NDArray[np.bool_] | None:
    """Return which rows have a value in all columns; None if all have."""
    masks = [column.is_valid().to_numpy(zero_copy_only=False) for column in columns if column.null_count]
    return np.logical_and.reduce(masks) if masks else None


def numbers(column: Any) -> npt.NDArray[Any]:
    """Return a column's numbers, undefined for NULL."""
    filled = pc.fill_null(column, _zero(column.type)) if column.null_count else column
    return filled.to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


def _zero(of: pa.DataType) -> pa.Scalar:
    return pa.scalar(0, pa.int64()).cast(of) if not pa.types.is_boolean(of) else pa.scalar(False)


def from_numbers(values: npt.NDArray[Any], valid: npt.NDArray[np.bool_] | None, of: pa.DataType) -> Any:
    """Return numbers as a column, NULL where they are invalid."""
    return pa.array(values, of, mask=None if valid is None else ~valid)
