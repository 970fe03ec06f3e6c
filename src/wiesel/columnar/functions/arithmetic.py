"""Internal. Sums, differences, products of numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow.compute as pc

from wiesel.columnar.functions.registry import Arguments, ScalarFunction, Signature, register
from wiesel.types import logical as t

__all__: list[str] = []

_ORDER: list[type[t.DataType]] = [t.TinyIntType, t.SmallIntType, t.IntType, t.BigIntType, t.FloatType, t.DoubleType]


def _wider(arguments: Arguments) -> Signature:
    types = arguments.types
    if len(types) != 2 or any(type(of) not in _ORDER for of in types):
        raise arguments.refuse(f"<NUMERIC> {arguments.name} <NUMERIC>")
    widest = max(types, key=lambda of: _ORDER.index(type(of))).nullable()
    return Signature([widest, widest], widest if any(of.is_nullable for of in types) else widest.not_null())


def _kernel(compute: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda call, frame, operands: compute(*operands)


for _sign, _compute in (("+", pc.add), ("-", pc.subtract), ("*", pc.multiply)):
    register(ScalarFunction(_sign, _wider, _kernel(_compute)))
