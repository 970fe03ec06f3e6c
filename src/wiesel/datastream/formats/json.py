"""JSON lines: the names of ``pyflink.datastream.formats.json``."""

from wiesel.core.lazy_names import lazy_names

_NAMES = ("JsonBulkWriters", "JsonLinesEncoder", "JsonLinesFormat", "JsonRowDeserializationSchema", "JsonRowSerializationSchema")

__getattr__, __dir__, __all__ = lazy_names(__name__, dict.fromkeys(_NAMES, "wiesel.formats.json"))
