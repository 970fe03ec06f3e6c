"""Internal. Keys for grouping, joining, sorting and partitioning: fields of tuples and rows, or key selectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from wiesel.core.argument_checks import describe, require_function
from wiesel.core.user_location import program_error
from wiesel.dataset._builtin import FieldKey, WholeRecord
from wiesel.spi.functions import KeySelector
from wiesel.types.typeinfo import PickledBytesTypeInfo, RowTypeInfo, TupleTypeInfo, TypeInformation

__all__ = ["KeySpec", "key_spec", "whole_record"]


@dataclass(frozen=True)
class KeySpec:
    """A key.

    Attributes:
        selector: Returns the key of a record.
        key_type: The type of the keys, None if unknown.
        fields: The key fields, empty for a key selector.
        identity: Equal for keys with the same partitioning.
    """

    selector: Any
    key_type: TypeInformation | None
    fields: tuple[int | str, ...]
    identity: tuple[Any, ...]

    def __str__(self) -> str:
        if self.fields:
            return "(" + ", ".join(map(str, self.fields)) + ")"
        if isinstance(self.selector, WholeRecord):
            return "the whole record"
        return getattr(self.selector, "__name__", type(self.selector).__name__)


def whole_record(record_type: TypeInformation) -> KeySpec:
    """Return the key that is the record itself."""
    return KeySpec(WholeRecord(), declared(record_type), (), ("whole",))


def declared(kind: TypeInformation) -> TypeInformation | None:
    """Return the type, None if undeclared."""
    return None if isinstance(kind, PickledBytesTypeInfo) else kind


def key_spec(keys: tuple[Any, ...], record_type: TypeInformation, method: str, key_type: TypeInformation | None = None) -> KeySpec:
    """Return the key specified in a call.

    Args:
        keys: Positions or names of fields, or one function.
        record_type: The type of the records.
        method: The method, for messages.
        key_type: The type of the function's results, if declared.
    """
    if not keys:
        raise program_error(f"{method} needs a key", "give positions or names of fields, or a function that returns the key")
    if len(keys) == 1 and not isinstance(keys[0], int | str):
        require_function(keys[0], KeySelector, method)
        return KeySpec(keys[0], key_type, (), ("function", id(keys[0])))
    for field in keys:
        if isinstance(field, bool) or not isinstance(field, int | str):
            raise program_error(f"{method} got {describe(field)} as one of several keys", "give positions or names of fields")
    if isinstance(record_type, TupleTypeInfo | RowTypeInfo):
        types = [_field_type(field, record_type, method) for field in keys]
        key_type = types[0] if len(types) == 1 else TupleTypeInfo(types)
    elif not isinstance(record_type, PickledBytesTypeInfo):
        raise program_error(f"{method} names fields, but the records are of type {record_type}", "give a function that returns the key")
    return KeySpec(FieldKey(keys), key_type, keys, ("fields", *keys))


def _field_type(field: int | str, record_type: TupleTypeInfo | RowTypeInfo, method: str) -> TypeInformation:
    types = record_type.get_field_types()
    if isinstance(field, int):
        if not 0 <= field < len(types):
            raise program_error(f"{method} names field {field} of a type with {len(types)} fields: {record_type}", "count from 0")
        return types[field]
    names = record_type.get_field_names() if isinstance(record_type, RowTypeInfo) else []
    if field not in names:
        raise program_error(
            f"{method} names field {field!r}, but {record_type} has {names or 'no names'}", "use one of its names or positions"
        )
    return types[names.index(field)]
