"""Internal. AND, OR, NOT and the tests for NULL."""

from __future__ import annotations

import pyarrow.compute as pc

from wiesel.columnar.functions.registry import Arguments, ScalarFunction, Signature, register
from wiesel.types import logical as t

__all__: list[str] = []


def _booleans(arguments: Arguments) -> Signature:
    types = arguments.types
    if any(not isinstance(of, t.BooleanType | t.NullType) for of in types):
        raise arguments.refuse("<BOOLEAN>")
    return Signature([t.BooleanType()] * len(types), t.BooleanType(any(of.is_nullable for of in types)))


def _any_one(arguments: Arguments) -> Signature:
    return Signature(arguments.types, t.BooleanType(False))


register(ScalarFunction("AND", _booleans, lambda call, frame, operands: pc.and_kleene(*operands)))
register(ScalarFunction("OR", _booleans, lambda call, frame, operands: pc.or_kleene(*operands)))
register(ScalarFunction("NOT", _booleans, lambda call, frame, operands: pc.invert(*operands)))
register(ScalarFunction("IS NULL", _any_one, lambda call, frame, operands: pc.is_null(*operands)))
register(ScalarFunction("IS NOT NULL", _any_one, lambda call, frame, operands: pc.is_valid(*operands)))
