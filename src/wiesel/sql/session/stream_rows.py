"""Internal. Records of streams as rows of tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wiesel.core.errors import ProgramError, UserFunctionError
from wiesel.spi.functions import MapFunction, RuntimeContext
from wiesel.types.logical import DataType, RowField, RowType, quoted
from wiesel.types.logical_conversion import field_of_tuple, to_data_type, to_type_info
from wiesel.types.row import Row, RowKind, make_row
from wiesel.types.typeinfo import ExternalTypeInfo, RowTypeInfo, TupleTypeInfo, TypeInformation

__all__ = ["ToRow", "row_info", "row_type", "table_row_info"]


def _fields(info: TypeInformation) -> tuple[list[str], list[TypeInformation]]:
    """Names and types of the columns that records become."""
    if isinstance(info, ExternalTypeInfo):
        return _fields(info.children()[0])
    if isinstance(info, RowTypeInfo):
        return info.get_field_names(), info.get_field_types()
    types = info.get_field_types() if isinstance(info, TupleTypeInfo) else [info]
    return [f"f{i}" for i in range(len(types))], types


def row_type(info: TypeInformation) -> RowType:
    """Return the type of the rows that records of a stream become: the fields of rows and tuples, else one column ``f0``.

    Raises:
        ProgramError: If a field cannot become a column.
    """
    in_row = isinstance(info, RowTypeInfo | ExternalTypeInfo)
    names, types = _fields(info)
    return RowType([RowField(name, _column_type(name, of, nullable=in_row)) for name, of in zip(names, types, strict=True)], nullable=False)


def _column_type(name: str, info: TypeInformation, *, nullable: bool) -> DataType:
    try:
        return to_data_type(info) if nullable else field_of_tuple(info)
    except ProgramError as error:
        raise ProgramError(f"field {name!r}: {error.message}", hint=error.hint) from error


def row_info(info: TypeInformation) -> TypeInformation:
    """Return the type of a stream of the rows that records of a stream become."""
    names, types = _fields(info)
    rows = RowTypeInfo(types, names)
    return rows if isinstance(info, RowTypeInfo) else ExternalTypeInfo(rows)


class ToRow(MapFunction):
    """Makes each record a row with the names of the columns."""

    def __init__(self, info: TypeInformation, kinds: frozenset[RowKind] = frozenset({RowKind.INSERT})) -> None:
        self._kinds = kinds
        self._info = info.children()[0] if isinstance(info, ExternalTypeInfo) else info

    def open(self, runtime_context: RuntimeContext) -> None:
        """Compile what makes the rows."""
        names, types = _fields(self._info)
        self._coerce = RowTypeInfo(types, names).compile_coercer() or _same
        self._row: Callable[[Any], Row]
        if isinstance(self._info, RowTypeInfo):
            self._row = self._checked
        elif isinstance(self._info, TupleTypeInfo):
            self._row = lambda value: make_row(names, list(value))
        else:
            self._row = lambda value: make_row(names, [value])

    def _checked(self, row: Row) -> Row:
        if row.get_row_kind() not in self._kinds:
            raise UserFunctionError(
                f"a table made of a stream takes new rows only, but a record is {row.get_row_kind()} {row!r}",
                hint="filter the stream for rows of RowKind.INSERT, or make the table with from_changelog_stream()",
            )
        return row

    def map(self, value: Any) -> Any:
        """Return the row of a record."""
        return self._coerce(self._row(value))


def _same(row: Row) -> Row:
    return row


def table_row_info(rows: RowType) -> RowTypeInfo:
    """Return the type of a stream of a table's rows.

    Raises:
        ProgramError: If the values of a column cannot become records of a stream; names the column.
    """
    return RowTypeInfo([_stream_type(field.name, field.data_type) for field in rows], rows.names)


def _stream_type(name: str, data_type: DataType) -> TypeInformation:
    try:
        return to_type_info(data_type)
    except ProgramError as error:
        raise ProgramError(f"column {quoted(name)}: {error.message}", hint=error.hint) from error
