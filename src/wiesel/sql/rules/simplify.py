"""Internal. Constant folding during planning, and simplification of conditions.

A value that is compared with itself is equal to itself, even if it is NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from wiesel.columnar.evaluation import Session
from wiesel.columnar.expressions import Call, Expression, Literal, transformed
from wiesel.columnar.folding import folded
from wiesel.columnar.functions.registry import can_fail, is_deterministic
from wiesel.sql.plan.relations import Filter, Join, Project, Relation
from wiesel.sql.rules.push_down import all_of, conjuncts
from wiesel.types import logical as t

__all__ = ["simplified"]

_FOLDED = (t.BooleanType, t.NumericType, t.CharType, t.VarCharType, t.DateType, t.TimestampType)
"""Types whose values a literal holds as they are."""


def simplified(relation: Relation, session: Session) -> Relation:
    """Return a relation of the same fields with simpler expressions."""
    if relation.inputs:
        relation = relation.with_inputs(*(simplified(below, session) for below in relation.inputs))
    if isinstance(relation, Filter):
        condition = _condition(relation.condition, session)
        return relation.input if condition is None else replace(relation, condition=condition)
    if isinstance(relation, Project):
        return replace(relation, expressions=tuple(_simpler(each, session) for each in relation.expressions))
    if isinstance(relation, Join) and relation.condition is not None:
        return replace(relation, condition=_condition(relation.condition, session))
    return relation


def _condition(condition: Expression, session: Session) -> Expression | None:
    """Return a condition without parts that are always true or come twice; None if nothing is left."""
    kept: list[Expression] = []
    for part in conjuncts(_simpler(condition, session)):
        if not _is(part, True) and not (part in kept and is_deterministic(part)):
            kept.append(part)
    return all_of(kept)


def _simpler(expression: Expression, session: Session) -> Expression:
    return transformed(expression, lambda part: _step(part, session))


def _step(part: Expression, session: Session) -> Expression | None:
    """Return something simpler of the same value; None to look at the operands."""
    if not isinstance(part, Call):
        return None
    if isinstance(part.data_type, _FOLDED):
        known = folded(part, session)
        if isinstance(known, Literal):
            return known
    rule = _LOGIC.get(part.function)
    if rule is None:
        return None
    return rule(replace(part, operands=tuple(_simpler(each, session) for each in part.operands)))


def _is(expression: Expression, value: bool) -> bool:
    return isinstance(expression, Literal) and expression.value is value


def _decided(neutral: bool) -> Callable[[Call], Expression]:
    """AND and OR: an operand that never decides goes; one that always does is the result, unless the other could fail before it."""

    def simpler(call: Call) -> Expression:
        left, right = call.operands
        if _is(left, neutral) or (left == right and is_deterministic(left)):
            return right
        if _is(right, neutral) or _is(left, not neutral):
            return left
        return right if _is(right, not neutral) and not can_fail(left) else call

    return simpler


def _negated(call: Call) -> Expression:
    (operand,) = call.operands
    if isinstance(operand, Call) and operand.function == "NOT":
        return operand.operands[0]
    return call


_NULL = Literal(t.BooleanType(), None)


def _of_itself(result: bool) -> Callable[[Call], Expression]:
    """Comparison of a value with itself: always the same or NULL, also for NaN, as in Flink."""

    def simpler(call: Call) -> Expression:
        operand = call.operands[0]
        if operand not in call.operands[1:] or not is_deterministic(operand) or any(map(can_fail, call.operands)):
            return call
        if "DISTINCT" in call.function or not operand.data_type.is_nullable:
            return Literal(t.BooleanType(False), result)
        missing = Call(t.BooleanType(False), "IS NOT NULL" if result else "IS NULL", (operand,))
        return Call(t.BooleanType(), "OR" if result else "AND", (missing, _NULL))

    return simpler


_LOGIC: dict[str, Callable[[Call], Expression]] = {
    "AND": _decided(True),
    "OR": _decided(False),
    "NOT": _negated,
    **dict.fromkeys(("=", "<=", ">=", "IN", "IS NOT DISTINCT FROM"), _of_itself(True)),
    **dict.fromkeys(("<>", "<", ">", "IS DISTINCT FROM"), _of_itself(False)),
}
