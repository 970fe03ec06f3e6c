"""Internal. Computes what does not depend on rows once, when the query is planned."""

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
    """Return an expression whose parts without columns are literals.

    What fails stays as it is, and fails for the first row; so does what may be another value at another time. Functions of users are
    called in tasks only, where they are told of their task and of the job's parameters; in Flink no function in Python is called ahead.
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
    except (OverflowError, ValueError):  # a date that Python has no object of
        return None


def _has_its_place(part: Expression) -> bool:
    return isinstance(part, InputRef) or (isinstance(part, Call) and is_user_call(part))


def _plain(scalar: Any) -> Any:
    """Return the value as a scalar of the type is made from; of times the number, as not all have an object of Python."""
    if not scalar.is_valid:
        return None
    return scalar.value if pa.types.is_timestamp(scalar.type) else scalar.as_py()
