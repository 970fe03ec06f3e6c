"""Parquet: the names of ``pyflink.datastream.formats.parquet``."""

from wiesel.core.lazy_names import lazy_names

_NAMES = ("AvroParquetReaders", "AvroParquetWriters", "ParquetBulkWriters", "ParquetColumnarRowInputFormat")

__getattr__, __dir__, __all__ = lazy_names(__name__, dict.fromkeys(_NAMES, "wiesel.formats.parquet"))
