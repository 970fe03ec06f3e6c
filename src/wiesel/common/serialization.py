"""Schemas of connectors."""

from wiesel.spi.serialization import (
    ByteArraySchema,
    DeserializationSchema,
    Encoder,
    RowFieldExtractorSchema,
    SerializationSchema,
    SimpleStringSchema,
)

__all__ = [
    "ByteArraySchema",
    "DeserializationSchema",
    "Encoder",
    "RowFieldExtractorSchema",
    "SerializationSchema",
    "SimpleStringSchema",
]
