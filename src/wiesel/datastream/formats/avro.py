"""Avro: the names of ``pyflink.datastream.formats.avro``."""

from wiesel.core.lazy_names import lazy_names

_NAMES = (
    "AvroBulkWriters",
    "AvroInputFormat",
    "AvroRowDeserializationSchema",
    "AvroRowSerializationSchema",
    "AvroSchema",
    "GenericRecordAvroTypeInfo",
)

__getattr__, __dir__, __all__ = lazy_names(__name__, dict.fromkeys(_NAMES, "wiesel.formats.avro"))
