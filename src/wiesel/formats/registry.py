"""Internal. Table formats by name: the built-in ones, and those that other packages offer as entry points."""

from __future__ import annotations

from wiesel.core.errors import ConfigurationError
from wiesel.core.plugins import load_plugin
from wiesel.spi.table.formats import TableFormatFactory

__all__ = ["find_format"]

_FORMATS = {
    "avro": "wiesel.formats.table.avro:AvroTableFormat",
    "canal-json": "wiesel.formats.table.changes:CanalTableFormat",
    "csv": "wiesel.formats.table.csv:CsvTableFormat",
    "debezium-json": "wiesel.formats.table.changes:DebeziumTableFormat",
    "json": "wiesel.formats.table.json:JsonTableFormat",
    "maxwell-json": "wiesel.formats.table.changes:MaxwellTableFormat",
    "ogg-json": "wiesel.formats.table.changes:OggTableFormat",
    "orc": "wiesel.formats.table.orc:OrcTableFormat",
    "parquet": "wiesel.formats.table.parquet:ParquetTableFormat",
    "raw": "wiesel.formats.table.raw:RawTableFormat",
}
_GROUP = "wiesel.table_formats"
"""The entry point group of formats in other packages; the entry's name is the identifier."""


def find_format(name: str) -> TableFormatFactory:
    """Return a format.

    Raises:
        ConfigurationError: If the name is unknown.
    """
    factory = load_plugin("format", _GROUP, _FORMATS, name)()
    if not isinstance(factory, TableFormatFactory):
        raise ConfigurationError(f"format {name!r} is a {type(factory).__name__}, not a TableFormatFactory", hint="see wiesel.spi.table")
    return factory
