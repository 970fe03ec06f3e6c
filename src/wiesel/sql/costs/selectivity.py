"""Internal. Selectivity of conditions.

Rules and guesses are those of Flink's ``SelectivityEstimator`` and Calcite's ``RelMdUtil.guessSelectivity``: values are spread evenly
between the least and the greatest one, conditions on different columns do not depend on each other.
"""

from __future__ import annotations

from collections.abc import Callable

from wiesel.columnar.expressions import Call, Expression, InputRef, Literal
from wiesel.spi.table.statistics import number_of
from wiesel.sql.costs.estimates import ColumnEstimate, Estimate
from wiesel.sql.rules.push_down import conjuncts

__all__ = ["part_left", "selectivity"]

_EQUAL, _COMPARED, _NULL, _LIKE, _OTHER = 0.15, 0.5, 0.1, 0.05, 0.25
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}


def selectivity(condition: Expression | None, estimate: Estimate) -> float:
    """Return the part of rows (0 to 1) for which a condition is true."""
    ranges: dict[int, list[tuple[str, float]]] = {}
    found = 1.0
    for part in conjuncts(condition):
        bound = _bound(part, estimate)
        if bound is None:
            found *= part_left(part, estimate)
        else:
            ranges.setdefault(bound[0], []).append(bound[1:])
    for index, bounds in ranges.items():
        found *= _between(estimate.columns[index], bounds)
    return min(max(found, 0.0), 1.0)


def part_left(part: Expression, estimate: Estimate) -> float:
    """Return the part of rows for which a single condition is true."""
    if isinstance(part, Literal):
        return 1.0 if part.value is True else 0.0
    if not isinstance(part, Call):
        return _of_boolean(part, estimate)
    rule = _RULES.get(part.function)
    return _OTHER if rule is None else rule(part, estimate)


def _of_boolean(part: Expression, estimate: Estimate) -> float:
    assert isinstance(part, InputRef)  # noqa: S101 - there is no other expression
    return _equals_one(estimate.columns[part.index])


def _column_and_number(call: Call) -> tuple[str, int, float] | None:
    """Return the comparison of a column with a number, the column in front; None for other calls."""
    one, other = (_uncast(each) for each in call.operands)
    function = call.function
    if isinstance(one, Literal) and isinstance(other, InputRef):
        function, one, other = _TURNED[function], other, one
    if not isinstance(one, InputRef) or not isinstance(other, Literal):
        return None
    number = number_of(other.value)
    return None if number is None else (function, one.index, float(number))


def _uncast(expression: Expression) -> Expression:
    """Return what a cast changes the type of: values stay where they are in the order."""
    while isinstance(expression, Call) and expression.function == "CAST":
        expression = expression.operands[0]
    return expression


def _bound(part: Expression, estimate: Estimate) -> tuple[int, str, float] | None:
    """Return the bound that a condition sets for a column of known extent; None if it sets none."""
    if not isinstance(part, Call) or part.function not in ("<", "<=", ">", ">="):
        return None
    found = _column_and_number(part)
    if found is None:
        return None
    function, index, number = found
    column = estimate.columns[index]
    return None if column.least is None or column.greatest is None else (index, function, number)


def _between(column: ColumnEstimate, bounds: list[tuple[str, float]]) -> float:
    """Return the part of rows whose value is within bounds, by the part of the column's extent that lies between them."""
    assert column.least is not None  # noqa: S101 - as _bound() has looked
    assert column.greatest is not None  # noqa: S101 - as above
    low, high, open_low, open_high = column.least, column.greatest, False, False
    for function, number in bounds:
        if function in (">", ">=") and (number > low or (number == low and function == ">")):
            low, open_low = number, function == ">"
        elif function in ("<", "<=") and (number < high or (number == high and function == "<")):
            high, open_high = number, function == "<"
    if low > high or (low == high and (open_low or open_high)):
        return 0.0
    one = 1.0 / max(column.distinct, 1.0) if column.distinct is not None else _COMPARED
    if column.least == column.greatest:
        return 1.0
    if low == high:
        return one
    if (low, high) == (column.least, column.greatest):
        # Only values at the ends are left out, if any.
        return max(1.0 - one * (open_low + open_high), 0.0)
    return (high - low) / (column.greatest - column.least)


def _equals(call: Call, estimate: Estimate) -> float:
    one, other = (_uncast(each) for each in call.operands)
    if isinstance(one, InputRef) and isinstance(other, InputRef):
        counts = [estimate.columns[each.index].distinct for each in (one, other)]
        return _EQUAL if None in counts else 1.0 / max(1.0, *(each for each in counts if each is not None))
    column, literal = (one, other) if isinstance(one, InputRef) else (other, one)
    if not isinstance(column, InputRef) or not isinstance(literal, Literal):
        return _EQUAL
    of, number = estimate.columns[column.index], number_of(literal.value)
    if number is not None and of.least is not None and of.greatest is not None and not of.least <= number <= of.greatest:
        return 0.0
    return _equals_one(of)


def _equals_one(column: ColumnEstimate) -> float:
    if column.distinct is None:
        return _EQUAL
    return 1.0 / max(column.distinct, 1.0)


def _compared(call: Call, estimate: Estimate) -> float:
    bound = _bound(call, estimate)
    return _COMPARED if bound is None else _between(estimate.columns[bound[0]], [bound[1:]])


def _is_null(call: Call, estimate: Estimate) -> float:
    operand = call.operands[0]
    nulls = estimate.columns[operand.index].nulls if isinstance(operand, InputRef) else None
    if not operand.data_type.is_nullable:
        return 0.0
    return _NULL if nulls is None else nulls


def _either(call: Call, estimate: Estimate) -> float:
    parts = [selectivity(each, estimate) for each in call.operands]
    return min(1.0, parts[0] + parts[1] - parts[0] * parts[1])


def _among(call: Call, estimate: Estimate) -> float:
    one = _uncast(call.operands[0])
    each = _equals_one(estimate.columns[one.index]) if isinstance(one, InputRef) else _EQUAL
    return min(1.0, each * (len(call.operands) - 1))


_RULES: dict[str, Callable[[Call, Estimate], float]] = {
    "=": _equals,
    "IS NOT DISTINCT FROM": _equals,
    "<>": lambda call, estimate: 1.0 - _equals(call, estimate),
    "<": _compared,
    "<=": _compared,
    ">": _compared,
    ">=": _compared,
    "IS NULL": _is_null,
    "IS NOT NULL": lambda call, estimate: 1.0 - _is_null(call, estimate),
    "IS TRUE": lambda call, estimate: selectivity(call.operands[0], estimate),
    "NOT": lambda call, estimate: 1.0 - selectivity(call.operands[0], estimate),
    "AND": lambda call, estimate: selectivity(call, estimate),
    "OR": _either,
    "IN": _among,
    "LIKE": lambda call, estimate: _LIKE,
}
