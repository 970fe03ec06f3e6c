"""Internal. How far apart in event time the rows of a pair can be, as the condition of a join says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wiesel.columnar.expressions import Call, Expression, InputRef, Literal
from wiesel.sql.plan import Join, TimeAttribute
from wiesel.sql.rules.push_down import conjuncts
from wiesel.types.logical_intervals import DayTimeIntervalType

__all__ = ["TimeBounds", "time_bounds"]


@dataclass(frozen=True)
class TimeBounds:
    """The time of the right row less that of the left one is from ``least`` to ``most`` milliseconds."""

    left: int
    right: int
    least: int
    most: int


def time_bounds(join: Join) -> TimeBounds | None:
    """Return the bounds of a join; None if they are open at an end."""
    width = len(join.left.fields)
    fields = (*join.left.fields, *join.right.fields)
    found: dict[tuple[int, int], tuple[list[int], list[int]]] = {}
    for part in conjuncts(join.condition):
        if not isinstance(part, Call) or part.function not in ("<", "<=", ">", ">=", "="):
            continue
        one, other = (_time(operand) for operand in part.operands)
        if one is None or other is None or (one[0] < width) == (other[0] < width):
            continue
        if any(fields[index].time is not TimeAttribute.ROWTIME for index in (one[0], other[0])):
            continue
        # one + a <sign> other + b: so one - other <sign> b - a
        shift = other[1] - one[1]
        is_least = part.function in (">", ">=", "=")
        is_most = part.function in ("<", "<=", "=")
        left, right = (other[0], one[0]) if other[0] < width else (one[0], other[0])
        if other[0] >= width:  # the difference is the other way round
            shift, is_least, is_most = -shift, is_most, is_least
        least, most = found.setdefault((left, right - width), ([], []))
        if is_least:
            least.append(shift)
        if is_most:
            most.append(shift)
    for (left, right), (least, most) in found.items():
        if least and most:
            return TimeBounds(left, right, max(least), min(most))
    return None


def _time(expression: Expression) -> tuple[int, int] | None:
    """Return the column of a time and how much is added to it, None if it is something else."""
    if isinstance(expression, InputRef):
        return expression.index, 0
    if not isinstance(expression, Call) or expression.function not in ("+", "-"):
        return None
    return _shifted(expression.function, expression.operands)


def _shifted(sign: str, operands: Sequence[Expression]) -> tuple[int, int] | None:
    time, by = operands
    if not isinstance(by, Literal) or not isinstance(by.data_type, DayTimeIntervalType) or by.value is None:
        return None
    found = _time(time)
    return None if found is None else (found[0], found[1] + (by.value if sign == "+" else -by.value))
