"""Internal. Constraint enforcer of sinks.

Constraints of columns are enforced here where the type of the query does not guarantee them: values of files, streams and functions may be
NULL, or longer than their type.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.functions.casts import fitted
from wiesel.columnar.row_batch import UPDATE_BEFORE, RowBatch
from wiesel.core.config import ConfigOption
from wiesel.core.errors import UserFunctionError
from wiesel.runtime.table.base import TableOperator
from wiesel.types import logical as t

__all__ = ["SinkRowsSpec", "has_constraints", "sink_rows_operator"]

_NOT_NULL = ConfigOption[str](
    "table.exec.sink.not-null-enforcer",
    "enum",
    "ERROR",
    "Handling of NULL values in NOT NULL columns.",
    choices=("ERROR", "DROP"),
)
_LENGTHS = ConfigOption[str](
    "table.exec.sink.type-length-enforcer",
    "enum",
    "IGNORE",
    "Handling of strings and bytes that violate the length of their column.",
    choices=("IGNORE", "TRIM_PAD", "ERROR"),
)
_NESTED = ConfigOption[str](
    "table.exec.sink.nested-constraint-enforcer",
    "enum",
    "IGNORE",
    "Whether NOT NULL is enforced within rows, arrays and maps.",
    choices=("IGNORE", "ROWS", "ROWS_AND_COLLECTIONS"),
)


@dataclass(frozen=True)
class SinkRowsSpec:
    """Enforced constraints.

    Attributes:
        table: The name of the table in messages.
        types: The types of the columns.
        keep_before: The sink consumes ``-U`` rows.
    """

    table: str
    types: tuple[t.DataType, ...]
    keep_before: bool


def has_constraints(of: t.DataType) -> bool:
    """Return whether values may violate the constraints of a type: NOT NULL, lengths, nested NOT NULL."""
    return not of.is_nullable or _is_bounded(of) or isinstance(of, t.RowType | t.ArrayType | t.MapType)


def _is_bounded(of: t.DataType) -> bool:
    return isinstance(of, t.CharType | t.VarCharType | t.BinaryType | t.VarBinaryType) and of.length < t.MAX_LENGTH


class SinkRowsOperator(TableOperator):
    """Enforces NOT NULL and lengths, and drops ``-U`` rows if the sink does not consume them."""

    def __init__(self, spec: SinkRowsSpec) -> None:
        self._spec = spec

    def open(self) -> None:
        """Determine the constraints and their handling."""
        super().open()

        def wanted(option: ConfigOption[str]) -> str:
            return option.parse(self.context.config.get(option.key, option.default))

        self._drops = wanted(_NOT_NULL) == "DROP"
        self._lengths, nested = wanted(_LENGTHS), wanted(_NESTED)
        types = list(enumerate(self._spec.types))
        self._not_null = [index for index, of in types if not of.is_nullable]
        self._bounded = [] if self._lengths == "IGNORE" else [index for index, of in types if _is_bounded(of)]
        inside = (t.RowType, t.ArrayType, t.MapType) if nested == "ROWS_AND_COLLECTIONS" else (t.RowType,)
        self._nested = [] if nested == "IGNORE" else [index for index, of in types if _inner(of, inside)]
        self._inside = inside

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Check and hand on."""
        if not self._spec.keep_before and rows.kinds is not None:
            rows = rows.take(np.flatnonzero(rows.kinds != UPDATE_BEFORE))
        for index in self._not_null:
            if rows.rows.column(index).null_count:
                rows = self._without(rows, pc.is_valid(rows.rows.column(index)), rows.rows.schema.names[index])
        for index in self._nested:
            rows = self._whole(rows, index)
        for index in self._bounded:
            rows = self._of_length(rows, index)
        self.emit_rows(rows)

    def _without(self, rows: RowBatch, valid: pa.BooleanArray, name: str) -> RowBatch:
        if not self._drops:
            raise UserFunctionError(
                f"column `{name}` of table {self._spec.table} is NOT NULL, but a null value is being written into it",
                hint=f"filter such rows out, or drop them: SET '{_NOT_NULL.key}' = 'DROP'",
            )
        return rows.filter(valid)

    def _whole(self, rows: RowBatch, index: int) -> RowBatch:
        of, name = self._spec.types[index], rows.rows.schema.names[index]
        broken = [_broken(value, of, name, self._inside) for value in rows.rows.column(index).to_pylist()]
        first = next(filter(None, broken), None)
        return rows if first is None else self._without(rows, pa.array([path is None for path in broken]), first)

    def _of_length(self, rows: RowBatch, index: int) -> RowBatch:
        column, of = rows.rows.column(index), self._spec.types[index]
        found = fitted(column, of)
        if self._lengths == "ERROR" and not found.equals(column):
            place = pc.index(pc.equal(found, column), False).as_py()
            name, wrong = rows.rows.schema.names[index], column[place].as_py()
            raise UserFunctionError(
                f"column `{name}` of table {self._spec.table} is {of.as_summary_string()}, but {wrong!r} has another length",
                hint=f"CAST it in the query, or have it fitted: SET '{_LENGTHS.key}' = 'TRIM_PAD'",
            )
        return rows.with_rows(rows.rows.set_column(index, rows.rows.schema.field(index), found))


def _inner(of: t.DataType, inside: tuple[type[t.DataType], ...]) -> list[tuple[str, t.DataType]]:
    """Return the nested parts to check with their names, if one of them is NOT NULL."""
    parts = _parts(of) if isinstance(of, inside) else []
    return [(name, part) for name, part in parts if not part.is_nullable or _inner(part, inside)]


def _parts(of: t.DataType) -> list[tuple[str, t.DataType]]:
    if isinstance(of, t.RowType):
        return [(f".{field.name}", field.data_type) for field in of]
    if isinstance(of, t.ArrayType):
        return [("[]", of.element_type)]
    return [("[key]", of.key_type), ("[value]", of.value_type)] if isinstance(of, t.MapType) else []


def _broken(value: object, of: t.DataType, path: str, inside: tuple[type[t.DataType], ...]) -> str | None:
    """Return the path of a NULL that violates a constraint; None if there is none."""
    if value is None:
        return None
    for name, part in _inner(of, inside):
        for each in _values(value, name):
            found = path + name if each is None and not part.is_nullable else _broken(each, part, path + name, inside)
            if found is not None:
                return found
    return None


def _values(value: object, name: str) -> list[object]:
    """Return the values of a part in Arrow's representation: rows are dicts, maps are lists of pairs."""
    if isinstance(value, dict):
        return [value[name[1:]]]
    assert isinstance(value, list)  # noqa: S101 - there is nothing else that has parts
    return value if name == "[]" else [pair[name == "[value]"] for pair in value]


def sink_rows_operator(params: dict[str, Any], payload: SinkRowsSpec) -> SinkRowsOperator:
    """Return the operator of a spec."""
    return SinkRowsOperator(payload)
