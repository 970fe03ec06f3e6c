"""Internal. Comparisons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow.compute as pc

from wiesel.columnar.functions.registry import Arguments, ScalarFunction, Signature, register
from wiesel.types import logical as t

__all__: list[str] = []


def _comparable(arguments: Arguments) -> Signature:
    types = arguments.types
    if len(types) != 2:
        raise arguments.refuse(f"<COMPARABLE> {arguments.name} <COMPARABLE>")
    common = _common(arguments)
    return Signature([common, common], t.BooleanType(any(of.is_nullable for of in types)))


def _common(arguments: Arguments) -> t.DataType:
    left, right = (of.nullable() for of in arguments.types)
    if left == right:
        return left
    if isinstance(left, t.IntegralType) and isinstance(right, t.IntegralType):
        return max(left, right, key=lambda of: of.bits)
    texts = (t.CharType, t.VarCharType)
    if isinstance(left, texts) and isinstance(right, texts):
        return t.VarCharType(t.MAX_LENGTH)
    raise arguments.refuse(f"<COMPARABLE> {arguments.name} <COMPARABLE>")


def _kernel(compute: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda call, frame, operands: compute(*operands)


_SIGNS = {"=": pc.equal, "<>": pc.not_equal, "<": pc.less, "<=": pc.less_equal, ">": pc.greater, ">=": pc.greater_equal}
for _sign, _compute in _SIGNS.items():
    register(ScalarFunction(_sign, _comparable, _kernel(_compute)))
