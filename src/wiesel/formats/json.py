"""JSON: (de)serialization schemas of rows, and files of JSON lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, BinaryIO

from wiesel.core.errors import ArgumentTypeError, ConnectorError, ProgramError, TypeMismatchError
from wiesel.formats.json_fields import json_reader, json_writer, parse_json, untyped_writer
from wiesel.formats.json_schema import type_of_json_schema
from wiesel.formats.line_blocks import LineBlocks, line_number, split_lines
from wiesel.spi.file_formats import BulkWriter, BulkWriterFactory, FilePiece, RecordReader, StreamFormat
from wiesel.spi.serialization import DeserializationSchema, Encoder, SerializationSchema
from wiesel.types.row import Row
from wiesel.types.typeinfo import RowTypeInfo, TypeInformation

__all__ = ["JsonBulkWriters", "JsonLinesEncoder", "JsonLinesFormat", "JsonRowDeserializationSchema", "JsonRowSerializationSchema"]

_READ_ERRORS = (ValueError, TypeError, KeyError, ArithmeticError, RecursionError)


def _row_type(type_info: object) -> RowTypeInfo:
    if not isinstance(type_info, RowTypeInfo):
        raise ArgumentTypeError(f"Only RowTypeInfo is supported, not {type_info!r}", hint="give Types.ROW_NAMED(names, types)")
    return type_info


class JsonRowDeserializationSchema(DeserializationSchema):
    """Turns a JSON object into a row. Made by :meth:`builder`."""

    def __init__(self, row_type: RowTypeInfo, *, fail_on_missing_field: bool = False, ignore_parse_errors: bool = False) -> None:
        if fail_on_missing_field and ignore_parse_errors:
            raise ProgramError("JSON format doesn't support failOnMissingField and ignoreParseErrors are both true", hint="choose one")
        self._row_type = row_type
        self._fail_on_missing = fail_on_missing_field
        self._ignore_errors = ignore_parse_errors
        self._read: Callable[[Any], Any] | None = self._reader()

    @staticmethod
    def builder() -> JsonRowDeserializationSchema.Builder:
        """Return a builder."""
        return JsonRowDeserializationSchema.Builder()

    def _reader(self) -> Callable[[Any], Any]:
        return json_reader(self._row_type, "row", fail_on_missing=self._fail_on_missing, ignore_errors=self._ignore_errors)

    def get_produced_type(self) -> TypeInformation:
        """Return the type of the rows."""
        return self._row_type

    def deserialize(self, message: bytes) -> Row | None:
        """Return the row; None for ``null``, and for what is no row if errors are ignored.

        Raises:
            ConnectorError: If the message is no such row and errors are not ignored.
        """
        return self.read_text(message)

    def read_text(self, message: bytes | str) -> Row | None:
        """Return the row of a message as bytes or text; see :meth:`deserialize`."""
        if self._read is None:
            self._read = self._reader()
        try:
            value = parse_json(message if isinstance(message, str) else message.decode())
            row: Row | None = None if value is None else self._read(value)
        except _READ_ERRORS as error:
            if self._ignore_errors:
                return None
            reason = error.args[0] if isinstance(error, KeyError) else error
            raise ConnectorError(
                f"Failed to deserialize JSON {message[:200]!r}: {reason}",
                hint="correct the sender or the type, or leave such messages out with ignore_parse_errors()",
            ) from error
        return row

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_read": None}

    class Builder:
        """Builds a :class:`JsonRowDeserializationSchema`."""

        def __init__(self) -> None:
            self._type_info: TypeInformation | None = None
            self._fail_on_missing_field = False
            self._ignore_parse_errors = False

        def type_info(self, type_info: TypeInformation) -> JsonRowDeserializationSchema.Builder:
            """Set the type of the rows; its field names are the names in the JSON objects."""
            self._type_info = type_info
            return self

        def json_schema(self, json_schema: str) -> JsonRowDeserializationSchema.Builder:
            """Set the type of the rows by a JSON schema.

            Raises:
                ProgramError: If the text is no JSON schema, or says something that has no type.
            """
            given: object = json_schema
            if given is None:
                raise TypeError("The json_schema must not be None.")
            self._type_info = type_of_json_schema(json_schema)
            return self

        def fail_on_missing_field(self) -> JsonRowDeserializationSchema.Builder:
            """Take an absent field for an error; it is None by default."""
            self._fail_on_missing_field = True
            return self

        def ignore_parse_errors(self) -> JsonRowDeserializationSchema.Builder:
            """Make fields that cannot be read None, and leave out messages that are no JSON objects."""
            self._ignore_parse_errors = True
            return self

        def build(self) -> JsonRowDeserializationSchema:
            """Return the schema.

            Raises:
                ProgramError: If no row type was given, or JSON has no values of a field's type.
            """
            return JsonRowDeserializationSchema(
                _row_type(self._type_info),
                fail_on_missing_field=self._fail_on_missing_field,
                ignore_parse_errors=self._ignore_parse_errors,
            )


class JsonRowSerializationSchema(SerializationSchema):
    """Turns a row into a JSON object. Made by :meth:`builder`."""

    def __init__(self, row_type: RowTypeInfo) -> None:
        self._row_type = row_type
        self._write: Callable[[Any], str] | None = json_writer(row_type, "row")

    @staticmethod
    def builder() -> JsonRowSerializationSchema.Builder:
        """Return a builder."""
        return JsonRowSerializationSchema.Builder()

    def serialize(self, element: Any) -> bytes:
        """Return the object as UTF-8.

        Raises:
            TypeMismatchError: If the element is no row of the type.
        """
        return self.write_text(element).encode()

    def write_text(self, element: Any) -> str:
        """Return the object as text; see :meth:`serialize`."""
        if self._write is None:
            self._write = json_writer(self._row_type, "row")
        try:
            return self._write(element)
        except (TypeError, ValueError, AttributeError) as error:
            raise TypeMismatchError(
                f"Could not serialize row {element!r}: {error}", hint=f"make sure that it matches {self._row_type}"
            ) from error

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_write": None}

    class Builder:
        """Builds a :class:`JsonRowSerializationSchema`."""

        def __init__(self) -> None:
            self._type_info: TypeInformation | None = None

        def with_type_info(self, type_info: TypeInformation) -> JsonRowSerializationSchema.Builder:
            """Set the type of the rows; its field names become those of the JSON objects."""
            self._type_info = type_info
            return self

        def build(self) -> JsonRowSerializationSchema:
            """Return the schema."""
            if self._type_info is None:
                raise TypeError("Typeinfo should be set.")
            return JsonRowSerializationSchema(_row_type(self._type_info))


class JsonLinesFormat(StreamFormat):
    """Reads files with one JSON value per line; empty lines are left out. Large files are split.

    Args:
        type_info: Type of rows to make of the objects; without it records are dicts, lists, strings and numbers as they come.
        ignore_parse_errors: Leave out lines that are no JSON (and make fields that cannot be read None); otherwise the job fails with
            the file and line.
    """

    def __init__(self, type_info: RowTypeInfo | None = None, *, ignore_parse_errors: bool = False) -> None:
        self._schema = (
            None if type_info is None else JsonRowDeserializationSchema(_row_type(type_info), ignore_parse_errors=ignore_parse_errors)
        )
        self._ignore_errors = ignore_parse_errors

    @property
    def produced_type(self) -> TypeInformation | None:
        """Return the declared type."""
        return None if self._schema is None else self._schema.get_produced_type()

    @property
    def splittable(self) -> bool:
        """Return True: a line end is never part of a value."""
        return True

    def create_reader(self, stream: BinaryIO, piece: FilePiece) -> RecordReader:
        """Create the reader of one piece."""
        parse = parse_json if self._schema is None else self._schema.read_text
        return _JsonLinesReader(stream, piece, parse, self._ignore_errors)


class _JsonLinesReader(RecordReader):
    def __init__(self, stream: BinaryIO, piece: FilePiece, parse: Callable[[str], Any], ignore_errors: bool) -> None:
        self._stream = stream
        self._path = piece.path
        self._blocks = LineBlocks(stream, piece)
        self._parse = parse
        self._ignore_errors = ignore_errors

    @property
    def position(self) -> int:
        return self._blocks.offset

    def read_block(self) -> list[Any] | None:
        at = self._blocks.offset
        block = self._blocks.next()
        if block is None:
            return None
        values: list[Any] = []
        lines: list[str] = []
        try:
            lines = split_lines(block.decode())
            if all(lines):
                values.extend(map(self._parse, lines))
                return values if not self._ignore_errors else [v for v in values if v is not None]
        except (ConnectorError, *_READ_ERRORS) as error:
            if not self._ignore_errors:
                raise self._failure(at, lines, len(values), error) from error
        return self._read_singly(at, split_lines(block.decode("utf-8", "replace")))

    def _read_singly(self, at: int, lines: list[str]) -> list[Any]:
        values = []
        for index, line in enumerate(lines):
            if not line or line.isspace():
                continue
            try:
                value = self._parse(line)
            except (ConnectorError, *_READ_ERRORS) as error:
                if not self._ignore_errors:
                    raise self._failure(at, lines, index, error) from error
                continue
            if value is not None or not self._ignore_errors:
                values.append(value)
        return values

    def _failure(self, at: int, lines: list[str], index: int, error: Exception) -> ConnectorError:
        first = line_number(self._stream, at)
        place = f"byte {at}" if first is None else f"line {first + index}"
        record = f" in {lines[index][:200]!r}" if index < len(lines) else ""
        reason = error.message if isinstance(error, ConnectorError) else f"{error}{record}"
        return ConnectorError(
            f"{self._path}, {place}: {reason}",
            hint="correct the file or the type, or leave such lines out: JsonLinesFormat(type_info, ignore_parse_errors=True)",
            path=self._path,
        )


class JsonLinesEncoder(Encoder):
    """Writes records as lines of JSON; for :meth:`FileSink.for_row_format`.

    Args:
        type_info: Type of rows; without it records are anything that JSON has: dicts, lists, strings, numbers, rows with names.
    """

    def __init__(self, type_info: RowTypeInfo | None = None) -> None:
        self._schema = None if type_info is None else JsonRowSerializationSchema(_row_type(type_info))
        self._untyped: Callable[[Sequence[Any]], str] | None = None

    def encode(self, element: Any, stream: BinaryIO) -> None:
        """Write one line."""
        stream.write(self.encode_many([element]))

    def encode_many(self, elements: Sequence[Any]) -> bytes:
        """Return the lines of several records.

        Raises:
            TypeMismatchError: If a record has no JSON.
        """
        if self._schema is not None:
            return "".join([f"{line}\n" for line in map(self._schema.write_text, elements)]).encode()
        if self._untyped is None:
            self._untyped = untyped_writer()
        try:
            return self._untyped(elements).encode()
        except (TypeError, ValueError) as error:
            raise TypeMismatchError(f"cannot write a record as JSON: {error}", hint="make dicts of plain values of the records") from error

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_untyped": None}


class JsonBulkWriters:
    """Files of JSON lines as bulk output of a file sink."""

    @staticmethod
    def for_type(type_info: RowTypeInfo | None = None) -> BulkWriterFactory:
        """Return the factory of writers; see :class:`JsonLinesEncoder`."""
        return _JsonWriterFactory(JsonLinesEncoder(type_info))


class _JsonWriterFactory(BulkWriterFactory):
    def __init__(self, encoder: JsonLinesEncoder) -> None:
        self._encoder = encoder

    def create(self, stream: BinaryIO) -> BulkWriter:
        return _JsonWriter(stream, self._encoder)


class _JsonWriter(BulkWriter):
    def __init__(self, stream: BinaryIO, encoder: JsonLinesEncoder) -> None:
        self._stream = stream
        self._encoder = encoder

    def add_batch(self, values: Sequence[Any]) -> None:
        self._stream.write(self._encoder.encode_many(values))

    def finish(self) -> None:
        # Every batch is written already.
        return
