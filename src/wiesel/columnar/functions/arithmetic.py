"""Internal. Arithmetic of numbers: sums, differences, products, quotients and remainders. Integers wrap around, as in Java."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar import type_rules as rules
from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.expressions import Call, Literal
from wiesel.columnar.functions import decimals, intervals
from wiesel.columnar.functions.kernels import by_arrays, fail_where, from_numbers, numbers, valid_mask
from wiesel.columnar.functions.registry import Arguments, ScalarFunction, Signature, register
from wiesel.columnar.functions.signatures import NUMERIC_OR_INTERVAL, nullable_if_any, taking
from wiesel.types import logical as t

__all__: list[str] = []

_DECIMAL_TYPES = {"+": rules.sum_type, "-": rules.sum_type, "*": rules.product_type, "/": rules.division_type, "%": rules.modulo_type}
_KERNELS = {"+": pc.add, "-": pc.subtract, "*": pc.multiply}


def _resolve(arguments: Arguments) -> Signature:
    if len(arguments.types) == 2:
        times = intervals.resolve(arguments) if arguments.name in ("+", "-", "*", "/") else None
        if times is not None:
            return times
        signature = _of_numbers(arguments)
        if signature is not None:
            return Signature(signature.operand_types, nullable_if_any(signature.result, arguments))
    raise arguments.refuse(f"<NUMERIC> {arguments.name} <NUMERIC>")


def _of_numbers(arguments: Arguments) -> Signature | None:
    left, right = (of.nullable() for of in arguments.types)
    left, right = (other if isinstance(of, t.NullType) else of for of, other in ((left, right), (right, left)))
    if not isinstance(left, t.NumericType) or not isinstance(right, t.NumericType):
        return None
    if rules.is_approximate(left) or rules.is_approximate(right):
        wider = rules.least_restrictive([left, right])
        return None if wider is None or arguments.name == "%" else Signature([wider, wider], wider)
    if isinstance(left, t.DecimalType) or isinstance(right, t.DecimalType):
        one, other = rules.as_decimal(left), rules.as_decimal(right)
        return Signature([one, other], _DECIMAL_TYPES[arguments.name](one, other))
    wider = rules.least_restrictive([left, right])
    return None if wider is None else Signature([wider, wider], right if arguments.name == "%" else wider)


def _compute(name: str) -> Callable[..., Any]:
    def evaluate(call: Call, frame: Any, operands: list[Any]) -> Any:
        if intervals.is_about_time(call):
            return intervals.evaluate(call, frame, operands)
        if isinstance(call.data_type, t.DecimalType):
            return decimals.evaluate(name, call, operands)
        if name in _KERNELS:
            return _KERNELS[name](*operands)
        if rules.is_approximate(call.data_type):
            return pc.divide(*operands)
        return _whole(call, frame, operands)

    return evaluate


def _divided(call: Call, frame: Any, left: Any, right: Any) -> Any:
    """Divide integers, truncating towards zero; the remainder has the sign of the dividend, as in Java."""
    valid = valid_mask(left, right)
    divisor = numbers(right)
    zero = divisor == 0
    fail_where(call, [left, right], zero if valid is None else zero & valid, "division by zero")
    dividend, divisor = numbers(left).astype(np.int64), np.where(zero, 1, divisor).astype(np.int64)
    # The minimum divided by -1 overflows; it is its own negative.
    opposite = divisor == -1
    divisor = np.where(opposite, 1, divisor)
    with np.errstate(all="ignore"):
        found = np.fmod(dividend, divisor)
        if call.function != "%":
            found = np.where(opposite, -dividend, (dividend - found) // divisor)
    wanted = arrow_type(call.data_type)
    return from_numbers(found.astype(wanted.to_pandas_dtype()), valid, wanted)


_whole = by_arrays(_divided)


def _division_may_fail(call: Call) -> bool:
    if rules.is_approximate(call.data_type):
        return False
    divisor = call.operands[1]
    while isinstance(divisor, Call) and divisor.function == "CAST":
        divisor = divisor.operands[0]
    return not (isinstance(divisor, Literal) and divisor.value not in (None, 0))


for _sign in ("+", "-", "*"):
    register(ScalarFunction(_sign, _resolve, _compute(_sign)))
for _sign in ("/", "%"):
    register(ScalarFunction(_sign, _resolve, _compute(_sign), may_fail=_division_may_fail))


def _negated(call: Call, frame: Any, operands: list[Any]) -> Any:
    return pc.negate(operands[0])


register(ScalarFunction("NEGATE", taking(lambda arguments: arguments.types[0], NUMERIC_OR_INTERVAL), _negated))


def _absolute(call: Call, frame: Any, operands: list[Any]) -> Any:
    return pc.abs(operands[0])


register(ScalarFunction("ABS", taking(lambda arguments: arguments.types[0], NUMERIC_OR_INTERVAL), _absolute))


def _sign_of(call: Call, frame: Any, operands: list[Any]) -> Any:
    if rules.is_approximate(call.data_type):
        return pc.if_else(pc.equal(operands[0], 0), operands[0], pc.sign(operands[0]).cast(operands[0].type))
    signs = pc.sign(operands[0])
    return (
        signs.cast(pa.decimal128(19, 0)).cast(arrow_type(call.data_type))
        if isinstance(call.data_type, t.DecimalType)
        else signs.cast(arrow_type(call.data_type))
    )


register(ScalarFunction("SIGN", taking(lambda arguments: arguments.types[0], NUMERIC_OR_INTERVAL), _sign_of))
