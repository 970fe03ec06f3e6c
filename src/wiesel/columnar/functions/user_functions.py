"""Internal. User-defined scalar functions as calls in expressions: per row, or vectorised with pandas or Arrow."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import repeat, starmap
from typing import Any, Literal

import pyarrow as pa

from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.expressions import Call, Expression
from wiesel.columnar.functions.async_calls import AsyncCalls
from wiesel.columnar.functions.kernels import repeated
from wiesel.columnar.functions.registry import Arguments, ScalarFunction, Signature, call, register
from wiesel.columnar.functions.user_contexts import FunctionLife
from wiesel.columnar.rows import DECIMALS_OF_FUNCTIONS, column_array, column_values
from wiesel.core.errors import ProgramError, UserFunctionError
from wiesel.core.user_frames import error_location, function_location, user_traceback
from wiesel.types.logical import DataType

__all__ = [
    "ModuleFunction",
    "UserFunction",
    "call_failure",
    "is_user_call",
    "pandas_frame",
    "python_columns",
    "result_failure",
    "series_of",
    "user_call",
]

_NAME = "USER FUNCTION"
_TOGETHER = 1024
"""Number of rows converted to Python objects per chunk."""


@dataclass(frozen=True)
class UserFunction:
    """A user-defined function.

    Attributes:
        name: Its name in messages.
        compute: The function: of the values of a row (``general``; ``async`` if it returns an awaitable), of ``pandas.Series``
            (``pandas``) or of ``pyarrow.Array`` (``arrow``).
        result_type: The type of its results.
        input_types: The types of its arguments, to which they are cast; None for no casts.
        kind: How it is called.
        deterministic: It returns the same result for the same arguments.
        life: Opens and closes it.
        origin: Its origin, if it is defined by more than code.
        whole_row: Its only argument is the row of all columns, determined by the function's position and not by an expression.
    """

    name: str
    compute: Callable[..., Any]
    result_type: DataType
    input_types: tuple[DataType, ...] | None = None
    kind: Literal["general", "async", "pandas", "arrow"] = "general"
    deterministic: bool = True
    life: FunctionLife = field(default_factory=lambda: FunctionLife(None, None), compare=False)
    loops: list[asyncio.AbstractEventLoop] = field(default_factory=list, compare=False)
    origin: Any = field(default=None, compare=False, repr=False)
    whole_row: bool = False

    def prepared(self) -> Callable[..., Any]:
        """Return the function, opened."""
        self.life.begin()
        return self.compute

    def loop(self) -> asyncio.AbstractEventLoop:
        """Return the event loop of asynchronous calls; it is closed with the function."""
        if not self.loops:
            self.loops.append(asyncio.new_event_loop())
            weakref.finalize(self, self.loops[0].close)
        return self.loops[0]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "loops": []}


@dataclass(frozen=True)
class ModuleFunction:
    """The definition of a name by a module.

    Attributes:
        called: Returns the expression for operands, or raises if there is none.
        of_tables: The expression is an array of the rows of a table.
    """

    called: Callable[[Sequence[Expression]], Expression]
    of_tables: bool = False


def user_call(function: UserFunction | ModuleFunction, operands: Sequence[Expression]) -> Expression:
    """Return the call of a user-defined function, or the expression of a function of a module.

    Raises:
        ProgramError: If the number or the types of the arguments do not match.
    """
    if isinstance(function, ModuleFunction):
        return function.called(operands)
    return call(_NAME, operands, [function])


def is_user_call(call: Call) -> bool:
    """Return whether a call is one of a user-defined function."""
    return call.function == _NAME


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


def _evaluate(call: Call, frame: Any, operands: Sequence[Any]) -> Any:
    function: UserFunction = call.options[0]
    # One call is enough for identical rows, unless the function is non-deterministic.
    single = function.deterministic and all(isinstance(operand, pa.Scalar) for operand in operands)
    length = 1 if single else frame.num_rows
    columns = [repeated(operand, length) if isinstance(operand, pa.Scalar) else operand for operand in operands]
    if function.kind == "async":
        result = _at_once(call, function, length, columns, frame.session.async_calls)
    else:
        result = _KINDS[function.kind](call, function, length, columns)
    return result[0] if single else result


def _per_row(call: Call, function: UserFunction, length: int, columns: Sequence[Any]) -> Any:
    compute = function.prepared()
    found: list[Any] = []
    # Chunks are small, so that their objects replace the previous ones in the processor's caches.
    for start in range(0, length, _TOGETHER):
        rows = min(_TOGETHER, length - start)
        found += _results(function.name, compute, rows, [column.slice(start, rows) for column in columns])
    return _column(call, function, found)


def _results(name: str, compute: Callable[..., Any], length: int, columns: Sequence[Any]) -> list[Any]:
    values, found = python_columns(columns), list[Any]()
    try:
        # No Python loop around the calls; the number of results identifies a failed one.
        found.extend(map(compute, *values) if values else starmap(compute, repeat((), length)))
        if len(found) < length:
            raise StopIteration  # raised by the function, which ends the iteration
    except Exception as error:
        raise call_failure(name, error, repr(tuple(column[len(found)] for column in values))) from error
    return found


def _rows(columns: Sequence[Any], length: int) -> Any:
    return zip(*python_columns(columns), strict=True) if columns else iter([()] * length)


def python_columns(columns: Sequence[Any]) -> list[list[Any]]:
    """Return the values of columns as passed to functions: rows for structs, dicts for maps, objects for RAW."""
    return [column_values(column) if _has_objects(column.type) else column.to_pylist() for column in columns]


def _has_objects(kind: pa.DataType) -> bool:
    return bool(pa.types.is_nested(kind) or pa.types.is_large_binary(kind))


def _at_once(call: Call, function: UserFunction, length: int, columns: Sequence[Any], calls: AsyncCalls) -> Any:
    def failed(error: Exception, row: tuple[Any, ...]) -> UserFunctionError:
        return call_failure(function.name, error, repr(row))

    return _column(call, function, function.loop().run_until_complete(calls.results(function.prepared(), _rows(columns, length), failed)))


def series_of(column: Any, *, whole_row: bool = False) -> Any:
    """Return a column for functions of pandas: a ``Series``, or a ``DataFrame`` for a struct.

    For a ``whole_row`` nested rows are columns too, as in PyFlink.
    """
    if pa.types.is_large_binary(column.type):
        return _object_series(column)
    if not pa.types.is_struct(column.type):
        # Deduplicating strings takes longer than creating each of them.
        return column.to_pandas(deduplicate_objects=False)
    parts = list(zip([field.name for field in column.type], column.flatten(), strict=True))
    if whole_row:
        parts = [each for name, part in parts for each in _parts_of(name, part)]
    frame = pandas_frame(pa.table([part for _, part in parts], names=[str(place) for place in range(len(parts))]))
    frame.columns = [name for name, _ in parts]
    return frame


def pandas_frame(rows: Any) -> Any:
    """Return a table of Arrow as a ``DataFrame`` with the objects of RAW columns."""
    frame = rows.to_pandas()
    for place, column in enumerate(rows.columns):
        if pa.types.is_large_binary(column.type):
            frame.isetitem(place, _object_series(column.combine_chunks()))
    return frame


def _object_series(column: Any) -> Any:
    import pandas

    return pandas.Series(column_values(column), dtype=object)


def _parts_of(name: str, column: Any) -> list[tuple[str, Any]]:
    if not pa.types.is_struct(column.type):
        return [(name, column)]
    return list(zip([field.name for field in column.type], column.flatten(), strict=True))


def _with_pandas(call: Call, function: UserFunction, length: int, columns: Sequence[Any]) -> Any:
    series = [series_of(column, whole_row=function.whole_row) for column in columns]
    return _of_batch(call, function, length, series)


def _with_arrow(call: Call, function: UserFunction, length: int, columns: Sequence[Any]) -> Any:
    return _of_batch(call, function, length, columns)


def _of_batch(call: Call, function: UserFunction, length: int, arguments: Sequence[Any]) -> Any:
    try:
        found = function.prepared()(*arguments)
    except Exception as error:
        raise call_failure(function.name, error, f"a batch of {length} rows") from error
    column = _column(call, function, found)
    if len(column) != length:
        problem = f"returned {len(column)} values for {length} rows"
        raise result_failure(function.name, function.compute, problem, "return one value for each row")
    return column


def _column(call: Call, function: UserFunction, values: Any) -> Any:
    wanted = arrow_type(call.data_type)
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    try:
        if isinstance(values, pa.Array):
            return values if values.type == wanted else values.cast(wanted)
        if function.kind == "pandas":
            return _of_pandas(values, wanted)
        return column_array(values, wanted, DECIMALS_OF_FUNCTIONS)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        problem = f"returned a value that is no {call.data_type.as_summary_string()}: {error}"
        hint = "return values of its result type, or declare another one"
        raise result_failure(function.name, function.compute, problem, hint) from error


def _of_pandas(values: Any, wanted: pa.DataType) -> Any:
    if not pa.types.is_struct(wanted):
        return _pandas_array(values, wanted)
    fields = list(wanted)
    if len(values.columns) != len(fields):
        raise ValueError(f"a frame of {len(values.columns)} columns for {len(fields)} fields")
    parts = [_pandas_array(values.iloc[:, place], field.type) for place, field in enumerate(fields)]
    return pa.StructArray.from_arrays(parts, fields=fields)


def _pandas_array(values: Any, wanted: pa.DataType) -> Any:
    if pa.types.is_large_binary(wanted):
        return column_array(values.tolist(), wanted)
    try:
        return pa.array(values, wanted, from_pandas=True)
    except pa.ArrowInvalid:
        if not pa.types.is_decimal(wanted):
            raise
        return column_array(pa.array(values, from_pandas=True).to_pylist(), wanted, DECIMALS_OF_FUNCTIONS)


def call_failure(name: str, error: Exception, record: str) -> UserFunctionError:
    """Return the error for a function that raised; ``record`` shows the arguments."""
    shown = record if len(record) <= 200 else record[:200] + "..."
    place = error_location(error)
    return UserFunctionError(
        f"the function {name!r} raised {type(error).__name__}: {error} (for {shown})" + (f"\n  at {place}" if place else ""),
        hint="correct the function",
        record=shown,
        user_traceback=user_traceback(error),
        location=place,
    )


def result_failure(name: str, function: Any, problem: str, hint: str) -> UserFunctionError:
    """Return the error for a function with an invalid result; ``function`` is the user's code, which determines the location."""
    place = function_location(function)
    return UserFunctionError(f"the function {name!r} {problem}" + (f"\n  made at {place}" if place else ""), hint=hint, location=place)


_KINDS = {"general": _per_row, "pandas": _with_pandas, "arrow": _with_arrow}

register(ScalarFunction(_NAME, _resolve, _evaluate, may_fail=True, deterministic=_is_deterministic))
