"""Internal. Evaluates expressions over batches of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import pyarrow as pa

from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.expressions import Call, Expression, InputRef, Literal
from wiesel.columnar.functions.registry import find_function
from wiesel.core.clock import Clock, SystemClock
from wiesel.core.errors import invariant

__all__ = ["Frame", "Session", "as_array", "evaluate", "evaluate_all"]

Datum: TypeAlias = Any
"""A column (``pyarrow.Array``), or one value for all rows (``pyarrow.Scalar``)."""


@dataclass(frozen=True)
class Session:
    """What expressions know of the world: the session's time zone (``table.local-time-zone``) and the clock."""

    time_zone: str = "UTC"
    clock: Clock = field(default_factory=SystemClock)
    is_batch: bool = False
    """Whether times such as CURRENT_TIMESTAMP stand still: they are ``started_ms`` then."""
    started_ms: int = 0
    generators: dict[int | None, Any] = field(default_factory=dict, compare=False)
    """Where seeded random numbers have come to, by their seed."""


@dataclass(frozen=True)
class Frame:
    """The rows over which expressions are evaluated.

    ``repeated``: ids of calls that come more than once in what is evaluated (:mod:`wiesel.columnar.common_parts`); their values are kept.
    """

    rows: pa.RecordBatch
    session: Session
    repeated: frozenset[int] = frozenset()
    kept: dict[int, Datum] = field(default_factory=dict, compare=False)

    def filter(self, mask: pa.BooleanArray) -> Frame:
        """Return the frame of some of the rows, for operands that are evaluated for those only."""
        return Frame(self.rows.filter(mask), self.session)


def evaluate(expression: Expression, frame: Frame) -> Datum:
    """Return the values of an expression, as a column or, where they are all the same, as one value.

    Raises:
        ExpressionError: If the values of a row cannot be computed with, as in Flink: a division by zero, a cast that fails.
    """
    if isinstance(expression, InputRef):
        return frame.rows.column(expression.index)
    if isinstance(expression, Literal):
        return pa.scalar(expression.value, arrow_type(expression.data_type))
    if id(expression) not in frame.repeated:
        return _called(expression, frame)
    if id(expression) not in frame.kept:
        frame.kept[id(expression)] = _called(expression, frame)
    return frame.kept[id(expression)]


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
    """Return a column of values, also where they are all the same."""
    if not isinstance(datum, pa.Scalar):
        return datum
    # pyarrow.repeat makes no empty columns of arrays.
    return pa.repeat(datum, length) if length else pa.nulls(0, datum.type)


def evaluate_all(expressions: Sequence[Expression], schema: pa.Schema, frame: Frame) -> pa.RecordBatch:
    """Return the values of several expressions as a batch of that schema."""
    length = frame.rows.num_rows
    columns: list[Any] = [as_array(evaluate(expression, frame), length) for expression in expressions]
    # A batch without columns must still know how many rows it has.
    return pa.RecordBatch.from_arrays(columns, schema=schema) if columns else frame.rows.select([])
