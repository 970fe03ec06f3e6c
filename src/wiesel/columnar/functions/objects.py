"""Internal. Structured objects: constructors and updates of fields."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.expressions import Call
from wiesel.columnar.functions.kernels import by_arrays
from wiesel.columnar.functions.registry import Arguments, ScalarFunction, Signature, register
from wiesel.core.errors import ProgramError
from wiesel.types import logical as t
from wiesel.types.logical_structured import StructuredType

__all__: list[str] = []


def _new_fields(arguments: Arguments) -> dict[str, t.DataType]:
    """Return the types of the values after the first operand by the names that precede them.

    Raises:
        ProgramError: If a name is no literal or occurs twice, or a value has no type.
    """
    if not arguments.operands or len(arguments.operands) % 2 == 0:
        raise arguments.refuse(f"{arguments.name}({'<OBJECT>' if arguments.name == 'OBJECT_UPDATE' else '<CLASS>'}, <NAME>, <VALUE>, ...)")
    found: dict[str, t.DataType] = {}
    for place in range(1, len(arguments.operands), 2):
        name, of = arguments.literal(place), arguments.types[place + 1]
        if not isinstance(name, str):
            message = f"argument {place + 1} of {arguments.name} must be the name of a field as a string literal"
            raise ProgramError(message, hint="write 'name'")
        if name in found:
            raise ProgramError(f"{arguments.name} has the field {t.quoted(name)} twice", hint="name it once")
        if isinstance(of, t.NullType):
            raise ProgramError(f"the field {t.quoted(name)} of {arguments.name} has no type", hint="cast NULL to one: CAST(NULL AS STRING)")
        found[name] = of
    return found


def _resolve_object(arguments: Arguments) -> Signature:
    fields = _new_fields(arguments)
    class_name = arguments.literal(0)
    if not isinstance(class_name, str):
        message = "the first argument of OBJECT_OF must be the name of a class as a string literal"
        raise ProgramError(message, hint="write 'com.example.User'")
    return Signature(arguments.types, StructuredType(class_name, [t.RowField(name, of) for name, of in fields.items()]))


def _object(call: Call, frame: Any, *columns: Any) -> Any:
    return _struct(call, len(columns[0]), list(columns[2::2]), None)


def _struct(call: Call, length: int, columns: list[Any], absent: Any) -> Any:
    of: Any = arrow_type(call.data_type)
    return pa.StructArray.from_arrays(columns, fields=list(of), mask=absent) if columns else pa.array([{}] * length, of)


register(ScalarFunction("OBJECT_OF", _resolve_object, by_arrays(_object)))


def _resolve_update(arguments: Arguments) -> Signature:
    fields, of = _new_fields(arguments), arguments.types[0]
    if not isinstance(of, StructuredType):
        message = f"OBJECT_UPDATE takes a structured object, not {of.as_summary_string()}"
        raise ProgramError(message, hint="make one with OBJECT_OF(...)")
    for name in fields:
        if name not in of.names:
            hint = f"the fields are: {', '.join(map(t.quoted, of.names))}"
            raise ProgramError(f"an object of type {of.as_summary_string()} has no field {t.quoted(name)}", hint=hint)
    updated = [t.RowField(field.name, fields.get(field.name, field.data_type)) for field in of]
    return Signature(arguments.types, StructuredType(of.class_name, updated, of.is_nullable))


def _update(call: Call, frame: Any, row: Any, *columns: Any) -> Any:
    names = [operand.value for operand in call.operands[1::2]]  # type: ignore[attr-defined]
    given = dict(zip(names, columns[1::2], strict=True))
    kept: Any = call.operands[0].data_type
    parts = [given.get(name, part) for name, part in zip(kept.names, row.flatten(), strict=True)]
    return _struct(call, len(row), parts, pc.is_null(row))


register(ScalarFunction("OBJECT_UPDATE", _resolve_update, by_arrays(_update)))
