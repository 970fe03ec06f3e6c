"""Internal. Reads tables and streams as batches of rows."""

from __future__ import annotations

from wiesel.datastream import DataStream
from wiesel.datastream._transformations import Transformation
from wiesel.spi.watermark import WatermarkStrategy
from wiesel.sql.physical.translator import Translator
from wiesel.sql.plan import Relation, StreamScan, TableScan, Values
from wiesel.sql.stream_rows import ToRow, row_info, table_row_info
from wiesel.sql.table_factories import create_table_source
from wiesel.types import Types
from wiesel.types.typeinfo import ExternalTypeInfo

__all__ = ["scanned_rows", "stream_rows", "stream_scan", "table_scan", "values"]


def table_scan(translator: Translator, scan: TableScan) -> Transformation:
    """Return the rows of a table."""
    return _columns(translator, scan, scanned_rows(translator, scan))


def stream_scan(translator: Translator, scan: StreamScan) -> Transformation:
    """Return the records of a stream."""
    return _columns(translator, scan, stream_rows(scan))


def values(translator: Translator, relation: Values) -> Transformation:
    """Return rows that stand in the query."""
    once = translator.environment.from_collection([0], Types.INT())
    payload = {"rows": relation.rows, "schema": translator.schema(relation)}
    return translator.operator("Values", "table_values", payload, [once._transformation])


def _columns(translator: Translator, scan: Relation, rows: DataStream) -> Transformation:
    return translator.operator("ToColumns", "table_from_rows", {"schema": translator.schema(scan)}, [rows._transformation])


def scanned_rows(translator: Translator, scan: TableScan) -> DataStream:
    """Return the stream of a table's rows as objects."""
    rows = table_row_info(scan.row_type)
    made = create_table_source(scan.identifier, scan.table, rows)
    name = scan.identifier.object_name
    stream = translator.environment.from_source(made.source, WatermarkStrategy.no_watermarks(), name, ExternalTypeInfo(rows))
    return stream if made.parallelism is None else stream.set_parallelism(made.parallelism)


def stream_rows(scan: StreamScan) -> DataStream:
    """Return a stream's records as row objects."""
    info = scan.stream.get_type()
    return scan.stream.map(ToRow(info), output_type=row_info(info)).name("TableToDataStream")
