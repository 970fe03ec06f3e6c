"""Serialization schemas of connectors."""

from __future__ import annotations

import codecs
import io
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO

from wiesel.core.errors import ProgramError, TypeMismatchError
from wiesel.types.row import Row
from wiesel.types.typeinfo import BasicType, BasicTypeInfo, PrimitiveArrayTypeInfo, TypeInformation

__all__ = [
    "ByteArraySchema",
    "DeserializationSchema",
    "Encoder",
    "RowFieldExtractorSchema",
    "SerializationSchema",
    "SimpleStringEncoder",
    "SimpleStringSchema",
]


class SerializationSchema(ABC):
    """Serialises records. Picklable; used by one thread of one task at a time."""

    def open(self) -> None:
        """Initialise; called once in each task before the first record."""

    @abstractmethod
    def serialize(self, element: Any) -> bytes:
        """Return the record as bytes."""

    def serialize_many(self, elements: Sequence[Any]) -> list[bytes]:
        """Return each record as bytes; override it where batches are faster."""
        serialize = self.serialize
        return [serialize(element) for element in elements]


class DeserializationSchema(ABC):
    """Deserialises records. Picklable; used by one thread of one task at a time."""

    def open(self) -> None:
        """Initialise; called once in each task before the first record."""

    @abstractmethod
    def deserialize(self, message: bytes) -> Any:
        """Return the record; ``None`` skips the message."""

    def deserialize_many(self, messages: Sequence[bytes]) -> list[Any]:
        """Return the records of several messages, ``None`` for skipped ones."""
        deserialize = self.deserialize
        return [deserialize(message) for message in messages]

    def is_end_of_stream(self, next_element: Any) -> bool:
        """Return whether this record ends its split; it is not emitted."""
        return False

    @abstractmethod
    def get_produced_type(self) -> TypeInformation:
        """Return the type of the records."""


class SimpleStringSchema(SerializationSchema, DeserializationSchema):
    """Strings in a charset.

    Args:
        charset: Name of the charset, ``UTF-8`` by default. As in Java, invalid characters are replaced.

    Raises:
        ProgramError: If the charset is unknown.
    """

    def __init__(self, charset: str = "UTF-8") -> None:
        self._charset = _known_charset(charset)

    def serialize(self, element: Any) -> bytes:
        if not isinstance(element, str):
            raise TypeMismatchError(
                f"SimpleStringSchema got {element!r} ({type(element).__name__}), not a string",
                hint="turn the record into text before the sink, for example with map(str, Types.STRING())",
            )
        return element.encode(self._charset, "replace")

    def deserialize(self, message: bytes) -> str:
        return message.decode(self._charset, "replace")

    def deserialize_many(self, messages: Sequence[bytes]) -> list[Any]:
        charset = self._charset
        return [message.decode(charset, "replace") for message in messages]

    def get_produced_type(self) -> TypeInformation:
        return BasicTypeInfo(BasicType.STRING)


class ByteArraySchema(SerializationSchema, DeserializationSchema):
    """Bytes as they are."""

    def serialize(self, element: Any) -> bytes:
        return bytes(element)

    def deserialize(self, message: bytes) -> bytes:
        return message

    def deserialize_many(self, messages: Sequence[bytes]) -> list[Any]:
        return list(messages)

    def get_produced_type(self) -> TypeInformation:
        return PrimitiveArrayTypeInfo(BasicTypeInfo(BasicType.BYTE))


class RowFieldExtractorSchema(SerializationSchema):
    """Extracts one field of a row, which has bytes; for keys of messages. A missing value gives no bytes.

    Raises:
        ValueError: If ``field_index`` is negative.
    """

    def __init__(self, field_index: int) -> None:
        if field_index < 0:
            raise ValueError(f"Field index must be non-negative, got: {field_index}")
        self._field_index = field_index

    def serialize(self, element: Any) -> bytes:
        if not isinstance(element, Row) or self._field_index >= len(element):
            raise TypeMismatchError(
                f"RowFieldExtractorSchema({self._field_index}) got {element!r}",
                hint="the records must be rows with at least that many fields",
            )
        value = element[self._field_index]
        if value is None:
            return b""
        if not isinstance(value, bytes | bytearray):
            raise TypeMismatchError(
                f"field {self._field_index} of {element!r} is {type(value).__name__}, not bytes",
                hint="declare the field as Types.PRIMITIVE_ARRAY(Types.BYTE())",
            )
        return bytes(value)


class Encoder(ABC):
    """Encodes records for files."""

    @abstractmethod
    def encode(self, element: Any, stream: BinaryIO) -> None:
        """Write one record."""

    def encode_many(self, elements: Sequence[Any]) -> bytes:
        """Return the concatenated encodings of several records."""
        stream = io.BytesIO()
        for element in elements:
            self.encode(element, stream)
        return stream.getvalue()

    def bind(self, type_info: TypeInformation | None) -> Encoder:
        """Return the encoder for records of this type; called by the sink before the first record."""
        return self

    @staticmethod
    def simple_string_encoder(charset_name: str = "UTF-8") -> Encoder:
        """Return an encoder that writes each record as a line of text, in the form of Flink's ``toString``."""
        return SimpleStringEncoder(charset_name)


class SimpleStringEncoder(Encoder):
    """One line of text per record."""

    def __init__(self, charset_name: str = "UTF-8", type_info: TypeInformation | None = None) -> None:
        self._charset = _known_charset(charset_name)
        self._type_info = type_info
        self._to_text: Callable[[Any], str] | None = None

    def bind(self, type_info: TypeInformation | None) -> Encoder:
        return SimpleStringEncoder(self._charset, type_info)

    def _formatter(self) -> Callable[[Any], str]:
        if self._to_text is None:
            from wiesel.types.java_strings import java_formatter

            self._to_text = java_formatter(self._type_info)
        return self._to_text

    def encode(self, element: Any, stream: BinaryIO) -> None:
        stream.write((self._formatter()(element) + "\n").encode(self._charset, "replace"))

    def encode_many(self, elements: Sequence[Any]) -> bytes:
        if not elements:
            return b""
        return ("\n".join(map(self._formatter(), elements)) + "\n").encode(self._charset, "replace")

    def __getstate__(self) -> dict[str, Any]:
        return {"_charset": self._charset, "_type_info": self._type_info, "_to_text": None}


def _known_charset(name: str) -> str:
    try:
        codecs.lookup(name)
    except LookupError as e:
        raise ProgramError(f"unknown charset {name!r}", hint="use a name such as UTF-8, ISO-8859-1 or US-ASCII") from e
    return name
