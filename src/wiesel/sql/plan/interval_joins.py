"""Internal. Joins of rows whose event times lie within bounds of each other: what the condition says of these."""

from __future__ import annotations

from dataclasses import dataclass

from wiesel.columnar.expressions import Call, Expression, InputRef, Literal, input_refs
from wiesel.sql.plan.relations import Fields, Join, JoinType, TimeAttribute
from wiesel.sql.rules.push_down import conjuncts
from wiesel.types.logical_intervals import DayTimeIntervalType

__all__ = ["Interval", "interval_of"]

_TURNED = {">=": "<=", "<=": ">=", ">": "<", "<": ">", "=": "="}


@dataclass(frozen=True)
class Interval:
    """Bounds of the time of the left side less that of the right side, in ms.

    Attributes:
        times: The columns with the event times of the left and of the right side.
        lower: The least difference.
        upper: The greatest one.
    """

    times: tuple[int, int]
    lower: int
    upper: int


def interval_of(join: Join) -> Interval | None:
    """Return the bounds within which rows are joined; None if there is none below or above, or nothing must be equal besides."""
    if join.type in (JoinType.SEMI, JoinType.ANTI):
        return None
    width = len(join.left.fields)
    fields = (*join.left.fields, *join.right.fields)
    bounds: dict[tuple[int, int], list[int | None]] = {}
    has_key = False
    for part in conjuncts(join.condition):
        if not isinstance(part, Call) or part.function not in _TURNED:
            continue
        one, other = (_time(operand, fields) for operand in part.operands)
        if one is None or other is None or (one[0] < width) == (other[0] < width):
            has_key |= part.function == "=" and _is_key(part, width)
            continue
        function = part.function
        if one[0] >= width:
            one, other, function = other, one, _TURNED[function]
        _narrow(bounds.setdefault((one[0], other[0] - width), [None, None]), function, other[1] - one[1])
    for times, (lower, upper) in sorted(bounds.items()):
        if has_key and lower is not None and upper is not None:
            return Interval(times, lower, upper)
    return None


def _narrow(found: list[int | None], function: str, limit: int) -> None:
    """Narrow bounds by ``left - right <function> limit``."""
    if function in (">=", ">", "="):
        lower = limit + (function == ">")
        found[0] = lower if found[0] is None else max(found[0], lower)
    if function in ("<=", "<", "="):
        upper = limit - (function == "<")
        found[1] = upper if found[1] is None else min(found[1], upper)


def _time(expression: Expression, fields: Fields) -> tuple[int, int] | None:
    """Return the column with event time that an expression is, and how many ms are added to it; None for other expressions."""
    if isinstance(expression, InputRef):
        return (expression.index, 0) if fields[expression.index].time is TimeAttribute.ROWTIME else None
    if not isinstance(expression, Call) or expression.function not in ("+", "-"):
        return None
    one, other = expression.operands
    if isinstance(one, Literal) and expression.function == "+":
        one, other = other, one
    found = _time(one, fields)
    if found is None or not isinstance(other, Literal) or not isinstance(other.data_type, DayTimeIntervalType) or other.value is None:
        return None
    shift = int(other.value)
    return found[0], found[1] + (shift if expression.function == "+" else -shift)


def _is_key(part: Call, width: int) -> bool:
    sides = [{ref < width for ref in input_refs(operand)} for operand in part.operands]
    return sorted(sides, key=str) == [{False}, {True}]
