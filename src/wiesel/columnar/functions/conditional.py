"""Internal. CASE, COALESCE and similar functions. A branch that can fail is evaluated only for the rows that take it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar import type_rules as rules
from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.expressions import Call, Expression
from wiesel.columnar.functions.kernels import by_kernel
from wiesel.columnar.functions.lazily import evaluate_where
from wiesel.columnar.functions.registry import Arguments, ScalarFunction, Signature, can_fail, register
from wiesel.columnar.functions.signatures import nullable_if_any
from wiesel.types import logical as t
from wiesel.types.logical_raw import RawType
from wiesel.types.logical_variant import VariantType

__all__: list[str] = []

Operand = Callable[[Expression, Any], Any]


def _resolve_case(arguments: Arguments) -> Signature:
    """Resolve the operands: condition, value, condition, value, ... value of ELSE."""
    types = arguments.types
    conditions, values = types[:-1:2], [*types[1::2], types[-1]]
    common = rules.least_restrictive(values)
    if any(not isinstance(of, t.BooleanType | t.NullType) for of in conditions) or common is None or isinstance(common, t.NullType):
        raise arguments.refuse("CASE WHEN <BOOLEAN> THEN <VALUE> ... ELSE <VALUE> END, with values of one type")
    operands: list[t.DataType] = []
    for _ in conditions:
        operands += [t.BooleanType(), common]
    return Signature([*operands, common], common)


def _case(call: Call, frame: Any, evaluate: Operand) -> Any:
    *pairs, otherwise = call.operands
    wanted = arrow_type(call.data_type)
    if not any(can_fail(operand) for operand in call.operands[1:]):
        return _eager_case(call, frame, evaluate)
    rest = pa.repeat(pa.scalar(True), frame.num_rows)
    taken: list[tuple[Any, Any]] = []

    def where(operand: Expression, mask: Any) -> Any:
        # Filtering rows costs more than evaluating most branches that cannot fail.
        return evaluate_where(operand, mask, frame, evaluate) if can_fail(operand) else evaluate(operand, frame)

    for condition, value in zip(pairs[::2], pairs[1::2], strict=True):
        truth = where(condition, rest)
        truth = pa.repeat(truth, len(rest)) if isinstance(truth, pa.Scalar) else truth
        chosen = pc.and_(rest, pc.fill_null(truth, False))
        taken.append((chosen, where(value, chosen)))
        rest = pc.and_(rest, pc.invert(chosen))
    found: Any = where(otherwise, rest)
    for chosen, value in reversed(taken):
        found = pc.if_else(chosen, value, found)
    return found if isinstance(found, pa.Scalar) else found.cast(wanted)


def _eager_case(call: Call, frame: Any, evaluate: Operand) -> Any:
    *pairs, otherwise = call.operands
    found = evaluate(otherwise, frame)
    for condition, value in reversed(list(zip(pairs[::2], pairs[1::2], strict=True))):
        found = pc.if_else(pc.fill_null(evaluate(condition, frame), False), evaluate(value, frame), found)
    return found


register(ScalarFunction("CASE", _resolve_case, evaluate_lazily=_case))


def _resolve_if(arguments: Arguments) -> Signature:
    types = arguments.types
    common = rules.least_restrictive(types[1:]) if len(types) == 3 else None
    if isinstance(common, t.TimestampType | t.LocalZonedTimestampType) and not isinstance(types[1], t.NullType):
        common = types[1].nullable() if common.is_nullable else types[1]
    bare = any(isinstance(of, t.NullType) for of in types)
    if common is None or bare or not isinstance(types[0], t.BooleanType):
        raise arguments.refuse("IF(<BOOLEAN>, <VALUE>, <VALUE>)")
    return Signature([t.BooleanType(), common, common], nullable_if_any(common, arguments))


register(ScalarFunction("IF", _resolve_if, evaluate_lazily=_case))


def _resolve_coalesce(arguments: Arguments) -> Signature:
    common = rules.common_type(arguments.types) if arguments.types else None
    if common is None or (arguments.name == "IFNULL" and len(arguments.types) != 2):
        raise arguments.refuse(f"{arguments.name}(<COMMON>, ...)")
    nullable = all(of.is_nullable for of in arguments.types)
    result = common.nullable() if nullable else common.not_null()
    return Signature([common.nullable()] * len(arguments.types), result)


def _coalesce(call: Call, frame: Any, evaluate: Operand) -> Any:
    found = evaluate(call.operands[0], frame)
    for operand in call.operands[1:]:
        missing = pc.is_null(found)
        if isinstance(found, pa.Scalar):
            if not missing.as_py():
                return found
            found = evaluate(operand, frame)
        elif missing.true_count:
            value = evaluate_where(operand, missing, frame, evaluate) if can_fail(operand) else evaluate(operand, frame)
            found = pc.coalesce(found, value)
    return found


for _name in ("COALESCE", "IFNULL"):
    register(ScalarFunction(_name, _resolve_coalesce, evaluate_lazily=_coalesce))


def _resolve_extreme(arguments: Arguments) -> Signature:
    common = rules.common_type(arguments.types) if arguments.types else None
    if common is None or isinstance(common, t.ArrayType | t.MapType | t.RowType | t.NullType | RawType | VariantType):
        raise arguments.refuse(f"{arguments.name}(<COMPARABLE>, ...)")
    return Signature([common] * len(arguments.types), nullable_if_any(common, arguments))


def _extreme(greatest: bool) -> Callable[..., Any]:
    def compute(*operands: Any) -> Any:
        found = operands[0]
        for operand in operands[1:]:
            first = pc.greater_equal(found, operand) if greatest else pc.less_equal(found, operand)
            if pa.types.is_floating(found.type):
                # NaN is larger than any number.
                first = pc.or_(first, pc.is_nan(found if greatest else operand))
            # If one is NULL, so is the comparison, and the result.
            found = pc.if_else(first, found, operand)
        return found

    return by_kernel(compute)


register(ScalarFunction("GREATEST", _resolve_extreme, _extreme(True)))
register(ScalarFunction("LEAST", _resolve_extreme, _extreme(False)))
