"""Internal. Conversion of state rows to Arrow columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import pyarrow as pa

from wiesel.core.errors import ProgramError, TypeMismatchError
from wiesel.core.user_location import program_error
from wiesel.formats.arrow_types import arrow_type
from wiesel.state_processor.plain_values import plain
from wiesel.types.typeinfo import TypeInformation

__all__ = ["Column", "batches", "schema_for"]

_SAMPLE_ROWS = 1000
_WAY_OUT = "give its type, e.g. types={{{name!r}: Types.STRING()}}, or make plain values of it with a KeyedStateReaderFunction or map()"


class Column(NamedTuple):
    """A column of rows.

    Attributes:
        name: Its name.
        type: Declared type: a ``TypeInformation``, an Arrow type or None.
        is_map: Whether the values are dicts that are maps, not records.
    """

    name: str
    type: Any = None
    is_map: bool = False


def schema_for(columns: Sequence[Column], given: Mapping[str, Any] | None, rows: Iterable[tuple[Any, ...]]) -> Any:
    """Return the Arrow schema: given or declared types, and types inferred from the first rows for the other columns.

    Args:
        columns: The columns.
        given: Types by column name: Wiesel's or Arrow's.
        rows: Rows for type inference; only as many are read as needed.

    Raises:
        ProgramError: If a type was given for an unknown column.
        TypeMismatchError: If Arrow has no type for the values of a column.
    """
    given = given or {}
    unknown = set(given) - {column.name for column in columns}
    if unknown:
        names = ", ".join(column.name for column in columns)
        raise program_error(f"there is no column {min(unknown)!r}", f"the columns are {names}")
    types = [_declared(column, given.get(column.name)) for column in columns]
    if any(kind is None for kind in types):
        sample = list(islice(rows, _SAMPLE_ROWS))
        types = [
            _inferred(column, [row[i] for row in sample]) if kind is None else kind
            for i, (column, kind) in enumerate(zip(columns, types, strict=True))
        ]
    return pa.schema([(column.name, kind) for column, kind in zip(columns, types, strict=True)])


def _declared(column: Column, given: Any) -> Any:
    """Return the Arrow type of a column; None if it must be inferred."""
    kind = column.type if given is None else given
    if isinstance(kind, TypeInformation):
        try:
            return arrow_type(kind, column.name)
        except ProgramError:
            if given is not None:
                raise
            return None  # of a type without an Arrow counterpart, as pickled objects: their values may have one
    return kind


def _inferred(column: Column, values: list[Any]) -> Any:
    made = [plain(value, column.is_map) for value in values]
    if column.is_map:
        entries = [entry for value in made if value is not None for entry in value]
        return pa.map_(_infer(column, [key for key, _ in entries]), _infer(column, [value for _, value in entries]))
    return _infer(column, made)


def _infer(column: Column, values: list[Any]) -> Any:
    try:
        return pa.array(values).type
    except (pa.ArrowException, TypeError, OverflowError) as error:
        raise TypeMismatchError(
            f"Arrow has no type for what column {column.name!r} holds: {error}", hint=_WAY_OUT.format(name=column.name)
        ) from error


def batches(rows: Iterable[tuple[Any, ...]], columns: Sequence[Column], schema: Any, size: int = 8192) -> Iterator[Any]:
    """Yield the rows as record batches.

    Raises:
        TypeMismatchError: A value does not fit its column.
    """
    rows = iter(rows)
    while chunk := list(islice(rows, size)):
        arrays = [
            _array(column, field.type, [row[i] for row in chunk]) for i, (column, field) in enumerate(zip(columns, schema, strict=True))
        ]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _array(column: Column, kind: Any, values: list[Any]) -> Any:
    as_map = column.is_map or pa.types.is_map(kind)
    try:
        return pa.array([plain(value, as_map) for value in values], kind)
    except (pa.ArrowException, TypeError, OverflowError) as error:
        raise TypeMismatchError(
            f"column {column.name!r} holds a value that is no {kind}: {error}", hint=_WAY_OUT.format(name=column.name)
        ) from error
