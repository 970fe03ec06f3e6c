"""CSV: the names of ``pyflink.datastream.formats.csv``."""

from wiesel.core.lazy_names import lazy_names

_NAMES = ("CsvBulkWriters", "CsvReaderFormat", "CsvRowDeserializationSchema", "CsvRowSerializationSchema", "CsvSchema", "CsvSchemaBuilder")

__getattr__, __dir__, __all__ = lazy_names(__name__, dict.fromkeys(_NAMES, "wiesel.formats.csv"))
