"""Avro: schemas, files as a source and as bulk output, (de)serialization schemas of rows. Needs the library fastavro.

Records of Avro's type record are dicts, in Python and in state; enumerations are strings, fixed values bytes, and values of logical types
Python's dates, times, timestamps with a time zone, decimals and UUIDs.
"""

from __future__ import annotations

import io
import json
from typing import Any

from wiesel.connectors.filesystem.enumeration import FileEnumeratorProvider
from wiesel.connectors.filesystem.source import FileSource
from wiesel.core.errors import ArgumentTypeError, ConnectorError, ProgramError, TypeMismatchError
from wiesel.formats.avro_files import AvroFileFormat, AvroWriterFactory
from wiesel.formats.avro_library import fastavro, read_errors, write_errors
from wiesel.formats.avro_rows import RowReader, RowWriter, row_reader, row_type, row_writer
from wiesel.spi.file_formats import BulkWriterFactory
from wiesel.spi.serialization import DeserializationSchema, SerializationSchema
from wiesel.types.row import Row
from wiesel.types.typeinfo import PickledBytesTypeInfo, RowTypeInfo, TypeInformation

__all__ = [
    "AvroBulkWriters",
    "AvroInputFormat",
    "AvroRowDeserializationSchema",
    "AvroRowSerializationSchema",
    "AvroSchema",
    "GenericRecordAvroTypeInfo",
]


class AvroSchema:
    """A schema of Avro.

    Args:
        schema: The schema as JSON.

    Raises:
        ProgramError: If the text is no schema.
    """

    def __init__(self, schema: str) -> None:
        library = fastavro()
        try:
            self._definition: Any = json.loads(schema)
            # Parsed once for the check; what is kept is plain data, as it travels to the workers.
            library.parse_schema(self._definition)
        except (ValueError, TypeError, LookupError, library.schema.SchemaParseException, library.schema.UnknownType) as error:
            raise ProgramError(
                f"this is no Avro schema: {type(error).__name__}: {error}: {str(schema)[:200]}", hint="correct the JSON of the schema"
            ) from error

    def __str__(self) -> str:
        return json.dumps(self._definition, separators=(",", ":"), ensure_ascii=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AvroSchema) and self._definition == other._definition

    def __hash__(self) -> int:
        return hash(str(self))

    def __repr__(self) -> str:
        return f"AvroSchema({str(self)!r})"

    @staticmethod
    def parse_string(json_schema: str) -> AvroSchema:
        """Return the schema that a text of JSON says.

        Raises:
            ProgramError: If the text is no schema.
        """
        return AvroSchema(json_schema)

    @staticmethod
    def parse_file(file_path: str) -> AvroSchema:
        """Return the schema in a file.

        Raises:
            ProgramError: If the file cannot be read or is no schema.
        """
        try:
            with open(file_path, encoding="utf-8") as file:
                text = file.read()
        except OSError as error:
            raise ProgramError(f"cannot read the Avro schema {file_path}: {error}", hint="check the path") from error
        return AvroSchema(text)


class GenericRecordAvroTypeInfo(PickledBytesTypeInfo):
    """The type of records of an Avro schema. Records are dicts.

    Args:
        schema: The schema of the records.
    """

    def __init__(self, schema: AvroSchema) -> None:
        self._schema = _require_schema(schema, "GenericRecordAvroTypeInfo")

    def _equality_key(self) -> Any:
        return str(self._schema)

    def __repr__(self) -> str:
        return f'GenericRecord("{self._schema}")'


class AvroInputFormat(FileSource):
    """Reads the records of Avro files as dicts; a source for :meth:`StreamExecutionEnvironment.create_input`.

    Large files are cut into pieces at the marks between Avro's blocks.

    Args:
        path: A file or folder, or a URI.
        schema: The schema to read with; files may have been written with another one that Avro can resolve to it.
    """

    def __init__(self, path: str, schema: AvroSchema) -> None:
        given: object = path
        if not isinstance(given, str) or not given:
            raise ProgramError(f"AvroInputFormat: {path!r} is not a path", hint="give a file or folder, local or as a URI")
        self._type_info = GenericRecordAvroTypeInfo(schema)
        file_format = AvroFileFormat(str(schema), self._type_info)
        super().__init__(file_format, [path], FileEnumeratorProvider.default_splittable_file_enumerator(), None)

    def get_produced_type(self) -> GenericRecordAvroTypeInfo:
        """Return the type of the records."""
        return self._type_info


class AvroBulkWriters:
    """Avro files as output of a file sink."""

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> BulkWriterFactory:
        """Return the factory of writers of records, which are dicts that match a schema.

        A field that a dict does not have gets its default. Values of a logical type ``timestamp-...`` must have a time zone.
        """
        return AvroWriterFactory(str(_require_schema(schema, "AvroBulkWriters.for_generic_record")))


def _require_schema(given: object, where: str) -> AvroSchema:
    if not isinstance(given, AvroSchema):
        raise ArgumentTypeError(f"{where} got {given!r}, not an AvroSchema", hint="use AvroSchema.parse_string(json)")
    return given


def _row_schema(record_class: str | None, avro_schema_string: str | None) -> str:
    if record_class is not None:
        raise ProgramError(
            f"record_class={record_class!r} names a Java class, and there is no JVM in the workers", hint="give avro_schema_string"
        )
    if avro_schema_string is None:
        raise TypeError("record_class or avro_schema_string should be specified.")
    return str(AvroSchema(avro_schema_string))


class AvroRowDeserializationSchema(DeserializationSchema):
    """Turns a record in Avro's binary form (without a header) into a row.

    Args:
        record_class: A Java class; not supported.
        avro_schema_string: The schema as JSON, of Avro's type record.

    Raises:
        TypeError: If nothing is given.
        ProgramError: If a Java class is given, or the schema is none of a record.
    """

    def __init__(self, record_class: str | None = None, avro_schema_string: str | None = None) -> None:
        self._schema = _row_schema(record_class, avro_schema_string)
        self._row_type: RowTypeInfo = row_type(json.loads(self._schema))
        self._tools: tuple[Any, RowReader, tuple[type[BaseException], ...]] | None = None

    def get_produced_type(self) -> TypeInformation:
        """Return the type of the rows."""
        return self._row_type

    def deserialize(self, message: bytes) -> Row | None:
        """Return the row; None for no message.

        Raises:
            ConnectorError: If the message is no such record.
        """
        given: object = message
        if given is None:
            return None
        library = fastavro()
        if self._tools is None:
            definition = json.loads(self._schema)
            self._tools = library.parse_schema(definition), row_reader(definition), read_errors()
        parsed, to_row, errors = self._tools
        stream = io.BytesIO(message)
        try:
            row: Row = to_row(library.schemaless_reader(stream, parsed, None))
        except errors as error:
            raise ConnectorError(
                f"Failed to deserialize the Avro record {message[:200]!r}: {type(error).__name__}: {error}",
                hint="the message must be a bare record of the schema, without the header of a file or of a registry",
            ) from error
        return row

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_tools": None}


class AvroRowSerializationSchema(SerializationSchema):
    """Turns a row into a record in Avro's binary form, without a header. The fields count by position.

    Args:
        record_class: A Java class; not supported.
        avro_schema_string: The schema as JSON, of Avro's type record.

    Raises:
        TypeError: If nothing is given.
        ProgramError: If a Java class is given, or the schema is none of a record.
    """

    def __init__(self, record_class: str | None = None, avro_schema_string: str | None = None) -> None:
        self._schema = _row_schema(record_class, avro_schema_string)
        row_type(json.loads(self._schema))
        self._tools: tuple[Any, RowWriter, tuple[type[BaseException], ...]] | None = None

    def serialize(self, element: Any) -> bytes:
        """Return the record as bytes.

        Raises:
            TypeMismatchError: If the element is no row of the schema.
        """
        library = fastavro()
        if self._tools is None:
            definition = json.loads(self._schema)
            self._tools = library.parse_schema(definition), row_writer(definition), write_errors()
        parsed, to_record, errors = self._tools
        stream = io.BytesIO()
        try:
            library.schemaless_writer(stream, parsed, to_record(element))
        except errors as error:
            raise TypeMismatchError(
                f"Failed to serialize {element!r} as Avro: {type(error).__name__}: {error}", hint=f"it must match {self._schema[:500]}"
            ) from error
        return stream.getvalue()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_tools": None}
