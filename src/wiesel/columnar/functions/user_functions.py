"""Internal. Scalar functions of users as calls in expressions: per row, or per batch with pandas or Arrow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pyarrow as pa

from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.expressions import Call, Expression
from wiesel.columnar.functions.kernels import by_arrays
from wiesel.columnar.functions.registry import Arguments, ScalarFunction, Signature, call, register
from wiesel.core.errors import ProgramError, UserFunctionError
from wiesel.types.logical import DataType

__all__ = ["UserFunction", "user_call"]

_NAME = "USER FUNCTION"


@dataclass(frozen=True)
class UserFunction:
    """A function of the user.

    Attributes:
        name: What it is called in messages.
        compute: The function: of the values of a row (``general``), of ``pandas.Series`` (``pandas``) or of ``pyarrow.Array`` (``arrow``).
        result_type: The type of what it returns.
        input_types: The types of its arguments, to which they are cast; None if it takes what comes.
        kind: How it is called.
        deterministic: Whether it returns the same for the same arguments.
        open: Called once in each process before the first call.
    """

    name: str
    compute: Callable[..., Any]
    result_type: DataType
    input_types: tuple[DataType, ...] | None = None
    kind: Literal["general", "pandas", "arrow"] = "general"
    deterministic: bool = True
    open: Callable[[], None] | None = None
    opened: list[bool] = field(default_factory=list, compare=False)

    def prepared(self) -> Callable[..., Any]:
        """Return the function, opened."""
        if not self.opened:
            if self.open is not None:
                self.open()
            self.opened.append(True)
        return self.compute

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "opened": []}


def user_call(function: UserFunction, operands: Sequence[Expression]) -> Call:
    """Return the call of a function of the user.

    Raises:
        ProgramError: If it takes another number of arguments, or arguments of other types.
    """
    return call(_NAME, operands, [function])


def _resolve(arguments: Arguments) -> Signature:
    function: UserFunction = arguments.options[0]
    if function.input_types is None:
        return Signature(arguments.types, function.result_type)
    if len(function.input_types) != len(arguments.types):
        raise ProgramError(
            f"the function {function.name!r} takes {len(function.input_types)} arguments, not {len(arguments.types)}",
            hint=f"its arguments are: {', '.join(of.as_summary_string() for of in function.input_types)}",
        )
    return Signature(function.input_types, function.result_type)


def _is_deterministic(call: Call) -> bool:
    function: UserFunction = call.options[0]
    return function.deterministic


def _evaluate(call: Call, frame: Any, *columns: Any) -> Any:
    function: UserFunction = call.options[0]
    return _KINDS[function.kind](call, function, frame.rows.num_rows, columns)


def _per_row(call: Call, function: UserFunction, length: int, columns: Sequence[Any]) -> Any:
    compute, found = function.prepared(), []
    rows = zip(*(column.to_pylist() for column in columns), strict=True) if columns else iter([()] * length)
    for row in rows:
        try:
            found.append(compute(*row))
        except Exception as error:
            raise _failure(function, error, repr(row)) from error
    return _column(call, function, found)


def _with_pandas(call: Call, function: UserFunction, length: int, columns: Sequence[Any]) -> Any:
    series = [column.to_pandas() for column in columns]
    return _of_batch(call, function, len(columns[0]) if columns else length, series)


def _with_arrow(call: Call, function: UserFunction, length: int, columns: Sequence[Any]) -> Any:
    return _of_batch(call, function, len(columns[0]) if columns else length, columns)


def _of_batch(call: Call, function: UserFunction, length: int, arguments: Sequence[Any]) -> Any:
    try:
        found = function.prepared()(*arguments)
    except Exception as error:
        raise _failure(function, error, f"a batch of {length} rows") from error
    column = _column(call, function, found)
    if len(column) != length:
        raise UserFunctionError(
            f"the function {function.name!r} returned {len(column)} values for {length} rows", hint="return one value for each row"
        )
    return column


def _column(call: Call, function: UserFunction, values: Any) -> Any:
    wanted = arrow_type(call.data_type)
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    try:
        if isinstance(values, pa.Array):
            return values if values.type == wanted else values.cast(wanted)
        return pa.array(values, wanted, from_pandas=True) if function.kind == "pandas" else pa.array(values, wanted)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise UserFunctionError(
            f"the function {function.name!r} returned what is no {call.data_type.as_summary_string()}: {error}",
            hint="return values of its result type, or declare another one",
        ) from error


def _failure(function: UserFunction, error: Exception, record: str) -> UserFunctionError:
    shown = record if len(record) <= 200 else record[:200] + "..."
    return UserFunctionError(
        f"the function {function.name!r} raised {type(error).__name__}: {error} (for {shown})", hint="correct the function", record=shown
    )


_KINDS = {"general": _per_row, "pandas": _with_pandas, "arrow": _with_arrow}

register(ScalarFunction(_NAME, _resolve, by_arrays(_evaluate), may_fail=True, deterministic=_is_deterministic))
