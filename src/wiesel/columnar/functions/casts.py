"""Internal. CAST and TRY_CAST."""

from __future__ import annotations

from typing import Any

from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.expressions import Call
from wiesel.columnar.functions.registry import Arguments, ScalarFunction, Signature, register

__all__: list[str] = []


def _resolve(arguments: Arguments) -> Signature:
    (wanted,) = arguments.options
    operand = arguments.types[0]
    return Signature([operand], wanted if not operand.is_nullable else wanted.nullable())


def _cast(call: Call, frame: Any, operands: list[Any]) -> Any:
    return operands[0].cast(arrow_type(call.data_type))


register(ScalarFunction("CAST", _resolve, _cast))
