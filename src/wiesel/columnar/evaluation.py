"""Internal. Evaluates expressions over batches of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import pyarrow as pa

from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.expressions import Call, Expression, InputRef, Literal
from wiesel.columnar.functions.async_calls import AsyncCalls
from wiesel.columnar.functions.registry import find_function
from wiesel.columnar.row_batch import rows_of
from wiesel.core.clock import Clock, SystemClock
from wiesel.core.errors import invariant
from wiesel.core.ids import MIN_TIMESTAMP

__all__ = ["Frame", "Session", "as_array", "evaluate", "evaluate_all"]

Datum: TypeAlias = Any
"""A column (``pyarrow.Array``), or one value for all rows (``pyarrow.Scalar``)."""


@dataclass(frozen=True)
class Session:
    """The evaluation context of expressions: the session's time zone (``table.local-time-zone``) and the clock."""

    time_zone: str = "UTC"
    clock: Clock = field(default_factory=SystemClock)
    is_batch: bool = False
    """True if times such as CURRENT_TIMESTAMP are constant: they are ``started_ms`` then."""
    started_ms: int = 0
    watermark: Callable[[], int] = field(default=lambda: MIN_TIMESTAMP, compare=False)
    """Returns the event time of the operator in ms."""
    generators: dict[int | None, Any] = field(default_factory=dict, compare=False)
    """States of seeded random number generators, by seed."""
    async_calls: AsyncCalls = field(default_factory=AsyncCalls)
    """Settings of calls of asynchronous functions (``table.exec.async-scalar.*``)."""


class Frame:
    """The rows over which expressions are evaluated.

    Args:
        rows: The rows.
        session: The evaluation context.
        repeated: Ids of calls that occur more than once (:mod:`wiesel.columnar.common_parts`); their values are cached.

    Attributes:
        num_rows: Number of rows.
        notes: Data cached by functions for their other calls over the rows.
    """

    def __init__(self, rows: pa.RecordBatch, session: Session, repeated: frozenset[int] = frozenset()) -> None:
        self._rows = rows
        self.num_rows: int = rows.num_rows
        self.session = session
        self.repeated = repeated
        self.notes: dict[Any, Any] = {}
        self._kept: dict[int, Datum] = {}

    def column(self, index: int) -> pa.Array:
        """Return a column."""
        return self._rows.column(index)

    def filter(self, mask: pa.BooleanArray) -> Frame:
        """Return the frame of the rows for which the mask is true (neither false nor null)."""
        return _ChosenRows(self, mask)

    def keep(self, call: Expression, value: Datum) -> None:
        """Cache the value of a call."""
        self._kept[id(call)] = value

    def kept(self, call: Expression) -> Datum | None:
        """Return the cached value of a call, None if there is none."""
        return self._kept.get(id(call))


class _ChosenRows(Frame):
    """A selection of rows of another frame: columns and cached values are filtered lazily."""

    def __init__(self, origin: Frame, mask: pa.BooleanArray) -> None:
        self._origin = origin
        self._mask = mask
        self.num_rows = mask.true_count
        self.session = origin.session
        self.repeated = origin.repeated
        self.notes = {}
        self._kept = {}
        self._columns: dict[int, pa.Array] = {}

    def column(self, index: int) -> pa.Array:
        if index not in self._columns:
            self._columns[index] = self._origin.column(index).filter(self._mask)
        return self._columns[index]

    def kept(self, call: Expression) -> Datum | None:
        if id(call) not in self._kept and (of_all := self._origin.kept(call)) is not None:
            self.keep(call, of_all if isinstance(of_all, pa.Scalar) else of_all.filter(self._mask))
        return self._kept.get(id(call))


def evaluate(expression: Expression, frame: Frame) -> Datum:
    """Return the values of an expression, as a column or, if constant, as one value.

    Raises:
        ExpressionError: If a row cannot be evaluated, as in Flink: a division by zero, a failing cast.
    """
    if isinstance(expression, InputRef):
        return frame.column(expression.index)
    if isinstance(expression, Literal):
        return pa.scalar(expression.value, arrow_type(expression.data_type))
    if id(expression) not in frame.repeated:
        return _called(expression, frame)
    found = frame.kept(expression)
    if found is None:
        found = _called(expression, frame)
        frame.keep(expression, found)
    return found


def _called(expression: Expression, frame: Frame) -> Datum:
    invariant(isinstance(expression, Call), "an expression that cannot be evaluated")
    assert isinstance(expression, Call)  # noqa: S101 - for the type checker
    function = find_function(expression.function)
    invariant(function is not None, f"there is no function {expression.function!r}")
    assert function is not None  # noqa: S101 - for the type checker
    if function.evaluate_lazily is not None:
        return function.evaluate_lazily(expression, frame, evaluate)
    assert function.evaluate is not None  # noqa: S101 - a function has the one or the other
    return function.evaluate(expression, frame, [evaluate(operand, frame) for operand in expression.operands])


def as_array(datum: Datum, length: int) -> pa.Array:
    """Return a column of values, repeating a constant."""
    if not isinstance(datum, pa.Scalar):
        return datum
    # pyarrow.repeat cannot create empty columns of arrays.
    return pa.repeat(datum, length) if length else pa.nulls(0, datum.type)


def evaluate_all(expressions: Sequence[Expression], schema: pa.Schema, frame: Frame) -> pa.RecordBatch:
    """Return the values of several expressions as a batch of that schema."""
    columns: list[Any] = [as_array(evaluate(expression, frame), frame.num_rows) for expression in expressions]
    return rows_of(columns, schema, frame.num_rows)
