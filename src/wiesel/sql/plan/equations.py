"""Internal. Equi-join keys in the condition of a join."""

from __future__ import annotations

from dataclasses import dataclass

from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.expressions import Call, Expression, input_refs, shifted
from wiesel.columnar.type_rules import NESTED
from wiesel.sql.plan.key_forms import MAPS, holds
from wiesel.sql.rules.push_down import all_of, conjuncts
from wiesel.types.logical import DataType

__all__ = ["EQUALS", "EquiKeys", "equi_keys", "sides_of_equation"]

EQUALS = {"=": False, "IS NOT DISTINCT FROM": True}
"""Functions that compare a value of one side with one of the other, and whether NULL is equal to NULL for them."""


@dataclass(frozen=True)
class EquiKeys:
    """A condition split into pairs of equal values, by side and over the columns of that side, and the rest."""

    left: tuple[Expression, ...]
    right: tuple[Expression, ...]
    null_safe: tuple[bool, ...]
    rest: Expression | None


def equi_keys(condition: Expression | None, width: int) -> EquiKeys:
    """Take a condition over pairs apart; the left side has ``width`` columns."""
    left: list[Expression] = []
    right: list[Expression] = []
    null_safe, rest = [], []
    for part in conjuncts(condition):
        sides = sides_of_equation(part, width)
        if sides is None:
            rest.append(part)
        else:
            left.append(sides[0])
            right.append(shifted(sides[1], -width))
            null_safe.append(EQUALS[part.function])  # type: ignore[attr-defined]
    return EquiKeys(tuple(left), tuple(right), tuple(null_safe), all_of(rest))


def sides_of_equation(part: Expression, width: int) -> tuple[Expression, Expression] | None:
    """Return the sides of an equation between the left and the right side, in this order; None for other conditions."""
    if not isinstance(part, Call) or part.function not in EQUALS:
        return None
    one, other = part.operands
    if isinstance(one.data_type, NESTED) and not _are_keys(one.data_type, other.data_type):
        return None  # such pairs are compared one by one
    for left, right in ((one, other), (other, one)):
        refs, others = input_refs(left), input_refs(right)
        if refs and others and max(refs) < width <= min(others):
            return left, right
    return None


def _are_keys(one: DataType, other: DataType) -> bool:
    """Return whether rows and arrays are equal where they lie in columns alike: maps may have their entries in another order."""
    return not holds(one, MAPS) and arrow_type(one) == arrow_type(other)
