"""Internal. The type that a JSON schema describes, as Flink derives it."""

from __future__ import annotations

import json
from typing import Any

from wiesel.core.errors import ProgramError
from wiesel.types.typeinfo import (
    BasicArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TypeInformation,
)

__all__ = ["type_of_json_schema"]

_STRING = BasicTypeInfo(BasicType.STRING)


def type_of_json_schema(schema: str) -> TypeInformation:
    """Return the type of the values that a JSON schema (its text) describes; numbers are decimal numbers.

    Raises:
        ProgramError: If the text is no JSON schema, or says something that has no type.
    """
    try:
        root = json.loads(schema)
    except ValueError as error:
        raise ProgramError(f"Invalid JSON schema: {error}", hint="give the text of a JSON schema") from error
    return _convert(root, root, "<root>")


def _wrong(where: str, what: str) -> ProgramError:
    return ProgramError(f"JSON schema, {where}: {what}", hint="declare the type with type_info() instead")


def _convert(root: Any, node: Any, where: str) -> TypeInformation:
    if not isinstance(node, dict):
        raise _wrong(where, f"{node!r} is no schema")
    if "$ref" in node:
        return _convert(root, _referenced(root, str(node["$ref"]), where), where)
    kinds = node.get("type")
    if kinds is None:
        raise _wrong(where, "there is no 'type'")
    if isinstance(kinds, list):
        # A value that may be null has the type of the value.
        kinds = [kind for kind in kinds if kind != "null"]
        if len(kinds) != 1:
            raise _wrong(where, f"a union of {kinds} has no type")
        kinds = kinds[0]
    match kinds:
        case "object":
            fields = node.get("properties") or {}
            return RowTypeInfo([_convert(root, child, f"{where}.{name}") for name, child in fields.items()], list(fields))
        case "array":
            return _array(root, node, where)
        case "string":
            return _string(node)
        case "integer" | "number":
            return BasicTypeInfo(BasicType.BIG_DEC)
        case "boolean":
            return BasicTypeInfo(BasicType.BOOLEAN)
    raise _wrong(where, f"type {kinds!r} is not supported")


def _referenced(root: Any, reference: str, where: str) -> Any:
    if not reference.startswith("#/"):
        raise _wrong(where, f"only references inside the schema can be followed, not {reference!r}")
    node = root
    for name in reference[2:].split("/"):
        if not isinstance(node, dict) or name not in node:
            raise _wrong(where, f"{reference!r} points to nothing")
        node = node[name]
    return node


def _array(root: Any, node: dict[str, Any], where: str) -> TypeInformation:
    items = node.get("items")
    if isinstance(items, list):
        # A tuple: each place has its type.
        return RowTypeInfo([_convert(root, child, f"{where}[{i}]") for i, child in enumerate(items)], [f"f{i}" for i in range(len(items))])
    element = _convert(root, items, f"{where}[]")
    return BasicArrayTypeInfo(element) if element == _STRING else ObjectArrayTypeInfo(element)


def _string(node: dict[str, Any]) -> TypeInformation:
    if node.get("contentEncoding") == "base64":
        return PrimitiveArrayTypeInfo(BasicTypeInfo(BasicType.BYTE))
    formats: dict[str, TypeInformation] = {"date": DateTypeInfo(), "time": TimeTypeInfo(), "date-time": TimestampTypeInfo()}
    return formats.get(str(node.get("format")), _STRING)
