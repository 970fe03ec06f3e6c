"""Internal. Constant folding of expressions at planning time."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from wiesel.columnar.evaluation import Frame, Session, evaluate
from wiesel.columnar.expressions import Call, Expression, InputRef, Literal, transformed, walk
from wiesel.columnar.functions.registry import is_deterministic
from wiesel.columnar.functions.user_functions import is_user_call
from wiesel.core.errors import ExpressionError

__all__ = ["folded"]

_ONE_ROW = pa.RecordBatch.from_struct_array(pa.array([{}], pa.struct([])))


def folded(expression: Expression, session: Session) -> Expression:
    """Return an expression in which parts without columns are replaced by literals.

    Failing and non-deterministic parts stay unchanged; the former fail at the first row. User functions are only called in tasks, where
    they have their task's context and the job's parameters; Flink does not call Python functions during planning either.
    """
    return transformed(expression, lambda part: _folded(part, session))


def _folded(part: Expression, session: Session) -> Expression | None:
    if not isinstance(part, Call) or any(_has_its_place(inner) for inner in walk(part)) or not is_deterministic(part):
        return None
    try:
        found = evaluate(part, Frame(_ONE_ROW, session))
    except ExpressionError:
        return None
    scalar = found if isinstance(found, pa.Scalar) else found[0]
    try:
        return Literal(part.data_type, _plain(scalar))
    except (OverflowError, ValueError):  # a date outside the range of Python's objects
        return None


def _has_its_place(part: Expression) -> bool:
    return isinstance(part, InputRef) or (isinstance(part, Call) and is_user_call(part))


def _plain(scalar: Any) -> Any:
    """Return the value in the form that a scalar of the type is created from; times as numbers, as Python cannot represent all."""
    if not scalar.is_valid:
        return None
    return scalar.value if pa.types.is_timestamp(scalar.type) else scalar.as_py()
