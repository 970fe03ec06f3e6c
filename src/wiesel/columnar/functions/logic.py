"""Internal. AND, OR, NOT and predicates of booleans. An operand that can fail is evaluated only for the rows whose result depends on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.expressions import Call, Expression
from wiesel.columnar.functions.kernels import by_kernel
from wiesel.columnar.functions.lazily import evaluate_where
from wiesel.columnar.functions.registry import Arguments, ScalarFunction, Signature, can_fail, register
from wiesel.columnar.functions.signatures import nullable_if_any
from wiesel.types import logical as t

__all__: list[str] = []


def _booleans(arguments: Arguments) -> Signature:
    types = arguments.types
    if any(not isinstance(of, t.BooleanType | t.NullType) for of in types):
        raise arguments.refuse("<BOOLEAN>")
    return Signature([t.BooleanType(of.is_nullable) for of in types], nullable_if_any(t.BooleanType(), arguments))


def _lazily(combine: Callable[[Any, Any], Any], decided: bool) -> Callable[..., Any]:
    """Combine two operands, the first of which may determine the result."""

    def evaluate(call: Call, frame: Any, evaluate_operand: Callable[[Expression, Any], Any]) -> Any:
        left, right = call.operands
        first = evaluate_operand(left, frame)
        if not can_fail(right):
            return combine(first, evaluate_operand(right, frame))
        if isinstance(first, pa.Scalar):
            return first if first.as_py() is decided else combine(first, evaluate_operand(right, frame))
        undecided = pc.fill_null(pc.invert(first) if decided else first, True)
        return combine(first, evaluate_where(right, undecided, frame, evaluate_operand))

    return evaluate


for _name, _combine, _decided in (("AND", pc.and_kleene, False), ("OR", pc.or_kleene, True)):
    register(ScalarFunction(_name, _booleans, evaluate_lazily=_lazily(_combine, _decided)))
register(ScalarFunction("NOT", _booleans, by_kernel(pc.invert)))


def _test(compute: Callable[[Any], Any]) -> ScalarFunction:
    def resolve(arguments: Arguments) -> Signature:
        signature = _booleans(arguments)
        return Signature(signature.operand_types, t.BooleanType(False))

    return ScalarFunction(_name, resolve, by_kernel(compute))


for _name, _compute in (
    ("IS TRUE", lambda truth: pc.fill_null(truth, False)),
    ("IS NOT TRUE", lambda truth: pc.invert(pc.fill_null(truth, False))),
    ("IS FALSE", lambda truth: pc.invert(pc.fill_null(truth, True))),
    ("IS NOT FALSE", lambda truth: pc.fill_null(truth, True)),
):
    register(_test(_compute))
