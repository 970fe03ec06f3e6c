"""Internal. Lazy evaluation of operands that may fail, for a selection of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.expressions import Expression

__all__ = ["evaluate_where"]


def evaluate_where(expression: Expression, mask: Any, frame: Any, evaluate: Callable[[Expression, Any], Any]) -> Any:
    """Return the values of an expression for the rows with a true mask (never NULL), NULL for the others."""
    wanted = arrow_type(expression.data_type)
    chosen = mask.true_count
    if chosen == len(mask):
        return evaluate(expression, frame)
    if not chosen:
        return pa.scalar(None, wanted)
    found = evaluate(expression, frame.filter(mask))
    if isinstance(found, pa.Scalar):
        return pc.if_else(mask, found, pa.scalar(None, wanted))
    places = pc.if_else(mask, pc.subtract(pc.cumulative_sum(mask.cast(pa.int64())), 1), pa.scalar(None, pa.int64()))
    return found.take(places)
