"""CSV: reading and writing files, and (de)serialization schemas of single rows."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from wiesel.core.errors import ArgumentTypeError, ConnectorError
from wiesel.formats.csv_fields import BadRow, CsvRows, CsvStrings
from wiesel.formats.csv_reading import CsvBulkWriters, CsvReaderFormat, RawRows
from wiesel.formats.csv_schema import CsvDialect, CsvSchema, CsvSchemaBuilder
from wiesel.formats.line_blocks import LineBlocks
from wiesel.spi.file_formats import FilePiece
from wiesel.spi.serialization import DeserializationSchema, SerializationSchema
from wiesel.types.row import Row
from wiesel.types.typeinfo import RowTypeInfo, TypeInformation

__all__ = ["CsvBulkWriters", "CsvReaderFormat", "CsvRowDeserializationSchema", "CsvRowSerializationSchema", "CsvSchema", "CsvSchemaBuilder"]


class _RowSchemaBuilder:
    """Base of the builders of both schemas."""

    def __init__(self, type_info: TypeInformation) -> None:
        given: object = type_info
        if given is None:
            raise TypeError("Type information must not be None")
        if not isinstance(given, RowTypeInfo):
            raise ArgumentTypeError(f"{given!r} is not the type of a row", hint="give Types.ROW_NAMED(names, types)")
        self._type: RowTypeInfo = given
        self._characters: dict[str, Any] = {}
        self._array_delimiter = ";"


class CsvRowSerializationSchema(SerializationSchema):
    """Turns a row into a line of CSV. Made by ``CsvRowSerializationSchema.Builder(type_info)...build()``."""

    def __init__(self, row_type: RowTypeInfo, dialect: CsvDialect, array_delimiter: str) -> None:
        self._row_type = row_type
        self._dialect = dialect
        self._array_delimiter = array_delimiter
        self._strings: CsvStrings | None = self._make_strings()

    def _make_strings(self) -> CsvStrings:
        return CsvStrings(self._row_type, self._dialect, [self._array_delimiter] * len(self._row_type.get_field_types()))

    def serialize(self, element: Any) -> bytes:
        """Return the line, with its end.

        Raises:
            TypeMismatchError: If the element is no row of the type.
        """
        return self._writer().write([element]).encode()

    def _writer(self) -> CsvStrings:
        if self._strings is None:
            self._strings = self._make_strings()
        return self._strings

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_strings": None}

    class Builder(_RowSchemaBuilder):
        """Builds a :class:`CsvRowSerializationSchema` for rows of a type."""

        def set_field_delimiter(self, c: str) -> CsvRowSerializationSchema.Builder:
            """Set the character between fields, ``,`` by default."""
            self._characters["separator"] = c
            return self

        def set_line_delimiter(self, delimiter: str) -> CsvRowSerializationSchema.Builder:
            r"""Set the end of the line, ``\n`` by default; may be empty."""
            self._characters["line_separator"] = delimiter
            return self

        def set_array_element_delimiter(self, delimiter: str) -> CsvRowSerializationSchema.Builder:
            """Set what is between elements of arrays and fields of nested rows, ``;`` by default."""
            self._array_delimiter = delimiter
            return self

        def disable_quote_character(self) -> CsvRowSerializationSchema.Builder:
            """Never quote."""
            self._characters["quote"] = None
            return self

        def set_quote_character(self, c: str) -> CsvRowSerializationSchema.Builder:
            """Set the quote, ``"`` by default."""
            self._characters["quote"] = c
            return self

        def set_escape_character(self, c: str) -> CsvRowSerializationSchema.Builder:
            """Set the escape character; none by default."""
            self._characters["escape"] = c
            return self

        def set_null_literal(self, s: str) -> CsvRowSerializationSchema.Builder:
            """Set what a missing value is written as; nothing by default."""
            self._characters["null_literal"] = s
            return self

        def build(self) -> CsvRowSerializationSchema:
            """Return the schema."""
            return CsvRowSerializationSchema(self._type, CsvDialect(**self._characters), self._array_delimiter)


class CsvRowDeserializationSchema(DeserializationSchema):
    """Turns a line of CSV into a row. Made by ``CsvRowDeserializationSchema.Builder(type_info)...build()``."""

    def __init__(self, row_type: RowTypeInfo, dialect: CsvDialect, array_delimiter: str, *, ignore_parse_errors: bool) -> None:
        self._row_type = row_type
        self._dialect = dialect
        self._array_delimiter = array_delimiter
        self._ignore_errors = ignore_parse_errors
        self._rows: CsvRows | None = self._make_rows()

    def _make_rows(self) -> CsvRows:
        width = len(self._row_type.get_field_types())
        return CsvRows(self._row_type, self._dialect.null_literal, [self._array_delimiter] * width, ignore_errors=self._ignore_errors)

    def get_produced_type(self) -> TypeInformation:
        """Return the type of the rows."""
        return self._row_type

    def deserialize(self, message: bytes) -> Row | None:
        """Return the row of the first line.

        Raises:
            ConnectorError: If the message is no such row and errors are not ignored.
        """
        try:
            strings = self._raw(message).next(1)
            if not strings:
                self._check_comment(message)
                return None
            rows = self._reader().read(strings)
            return rows[0] if rows else None
        except (csv.Error, UnicodeDecodeError, BadRow) as error:
            if self._ignore_errors:
                return None
            raise _failed(message, str(error)) from error

    def _check_comment(self, message: bytes) -> None:
        if not self._ignore_errors and not (self._dialect.comments and message.lstrip().startswith(b"#")):
            raise _failed(message, "no content")

    def _raw(self, message: bytes) -> RawRows:
        size = len(message)
        return RawRows(LineBlocks(io.BytesIO(message), FilePiece("", 0, size, size)), self._dialect, start=True)

    def _reader(self) -> CsvRows:
        if self._rows is None:
            self._rows = self._make_rows()
        return self._rows

    def deserialize_many(self, messages: Sequence[bytes]) -> list[Any]:
        """Return the rows of several messages; together if each is one plain line."""
        block = b"\n".join([message.rstrip(b"\r\n") for message in messages])
        if messages and not self._ignore_errors and not self._dialect.comments and block.count(b"\n") == len(messages) - 1:
            try:
                strings = self._raw(block).next(len(messages))
                if len(strings) == len(messages) and all(strings):
                    return list(self._reader().read(strings))
            except (csv.Error, UnicodeDecodeError, BadRow):
                # One by one, which names the message.
                pass
        return [self.deserialize(message) for message in messages]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_rows": None}

    class Builder(_RowSchemaBuilder):
        """Builds a :class:`CsvRowDeserializationSchema` for rows of a type."""

        def __init__(self, type_info: TypeInformation) -> None:
            super().__init__(type_info)
            self._ignore_errors = False

        def set_field_delimiter(self, delimiter: str) -> CsvRowDeserializationSchema.Builder:
            """Set the character between fields, ``,`` by default."""
            self._characters["separator"] = delimiter
            return self

        def set_allow_comments(self, allow_comments: bool) -> CsvRowDeserializationSchema.Builder:
            """Set whether messages that begin with ``#`` are left out."""
            self._characters["comments"] = allow_comments
            return self

        def set_array_element_delimiter(self, delimiter: str) -> CsvRowDeserializationSchema.Builder:
            """Set what is between elements of arrays and fields of nested rows, ``;`` by default."""
            self._array_delimiter = delimiter
            return self

        def set_quote_character(self, c: str) -> CsvRowDeserializationSchema.Builder:
            """Set the quote, ``"`` by default."""
            self._characters["quote"] = c
            return self

        def set_escape_character(self, c: str) -> CsvRowDeserializationSchema.Builder:
            """Set the escape character; none by default."""
            self._characters["escape"] = c
            return self

        def set_null_literal(self, null_literal: str) -> CsvRowDeserializationSchema.Builder:
            """Set the text of a missing value; there is none by default."""
            self._characters["null_literal"] = null_literal
            return self

        def set_ignore_parse_errors(self, ignore_parse_errors: bool) -> CsvRowDeserializationSchema.Builder:
            """Set whether fields that cannot be read become None, and messages that are no rows are left out."""
            self._ignore_errors = ignore_parse_errors
            return self

        def build(self) -> CsvRowDeserializationSchema:
            """Return the schema."""
            dialect = CsvDialect(**self._characters)
            return CsvRowDeserializationSchema(self._type, dialect, self._array_delimiter, ignore_parse_errors=self._ignore_errors)


def _failed(message: bytes, reason: str) -> ConnectorError:
    return ConnectorError(
        f"Failed to deserialize CSV row {message[:200]!r}: {reason}",
        hint="correct the sender or the type, or leave such messages out with set_ignore_parse_errors(True)",
    )
