"""Internal. Functions that the facades add to graphs; here, so that workers need not import the facades."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from wiesel.core.errors import ProgramError
from wiesel.spi.functions import KeySelector, ReduceFunction, RuntimeContext
from wiesel.types.row import Row, make_row
from wiesel.types.typeinfo import TypeInformation

__all__ = ["FieldAggregation", "TypedKeySelector"]


class TypedKeySelector(KeySelector):
    """A key selector whose keys have a declared type that changes values, e.g. rounds floats.

    Args:
        selector: The user's key selector or callable.
        key_type: The declared type.
    """

    def __init__(self, selector: Callable[[Any], Any] | KeySelector, key_type: TypeInformation) -> None:
        self._selector = selector
        self._key_type = key_type
        self._compile()

    def _compile(self) -> None:
        selector = self._selector
        self.select: Callable[[Any], Any] = selector.get_key if isinstance(selector, KeySelector) else selector
        self._coerce = self._key_type.compile_coercer() or (lambda key: key)
        self._coerce_all = self._key_type.compile_batch_coercer() or (lambda keys: keys)

    def open(self, runtime_context: RuntimeContext) -> None:
        """Open the user's selector."""
        if isinstance(self._selector, KeySelector):
            self._selector.open(runtime_context)

    def close(self) -> None:
        """Close the user's selector."""
        if isinstance(self._selector, KeySelector):
            self._selector.close()

    def get_key(self, value: Any) -> Any:
        """Return the key of a record as its type has it."""
        return self._coerce(self.select(value))

    def coerce_all(self, keys: list[Any]) -> list[Any]:
        """Convert the selected values of many records to the declared type; the type is resolved once for all of them."""
        return self._coerce_all(keys)

    def __getstate__(self) -> tuple[Any, TypeInformation]:
        return self._selector, self._key_type

    def __setstate__(self, state: tuple[Any, TypeInformation]) -> None:
        self._selector, self._key_type = state
        self._compile()


class FieldAggregation(ReduceFunction):
    """``sum``, ``min``, ``max``, ``min_by`` and ``max_by`` over one field.

    ``min_by`` and ``max_by`` keep the whole record with the smallest or largest field, the earliest one of equal ones. The others keep the
    first record of the key with the field replaced. A record that is no tuple, list or row counts as its field 0.

    Args:
        kind: ``sum``, ``min``, ``max``, ``min_by`` or ``max_by``.
        position: Position or (for rows) name of the field.
    """

    def __init__(self, kind: str, position: int | str) -> None:
        self.kind = kind
        self.position = position
        # The builtins keep the first of equal values, as Flink does, and pickle by name.
        self._combine: Callable[[Any, Any], Any] = operator.add if kind == "sum" else min if kind == "min" else max
        self._whole = kind.endswith("_by")
        self._wins: Callable[[Any, Any], Any] = operator.lt if kind.startswith("min") else operator.gt

    def reduce(self, value1: Any, value2: Any) -> Any:
        """Return the aggregate of the records so far and the next one. Neither is changed, as others may reference them."""
        if not isinstance(value2, (tuple, list, Row)):
            return self._plain(value1, value2)
        at: Any = self.position
        if self._whole:
            return value2 if self._wins(value2[at], value1[at]) else value1
        if isinstance(value1, Row):
            row = make_row(value1._names, list(value1), value1.get_row_kind())
            row[at] = self._combine(value1[at], value2[at])
            return row
        fields = list(value1)
        fields[at] = self._combine(fields[at], value2[at])
        return tuple(fields) if isinstance(value1, tuple) else fields

    def _plain(self, value1: Any, value2: Any) -> Any:
        if self.position != 0:
            raise ProgramError(
                f"{self.kind}({self.position!r}) selects a field, but a record is {value2!r}, which has none",
                hint=f"use {self.kind}() or {self.kind}(0) for records that are plain values",
            )
        if self._whole:
            return value2 if self._wins(value2, value1) else value1
        return self._combine(value1, value2)
