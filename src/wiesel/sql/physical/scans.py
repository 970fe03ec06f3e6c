"""Internal. Reads tables and streams as batches of rows."""

from __future__ import annotations

from wiesel.columnar.row_batch import RowBatch
from wiesel.connectors.collection import CollectionSource
from wiesel.datastream import DataStream
from wiesel.graph.transformations import OperatorTransformation, Transformation
from wiesel.spi.table.factory import INSERT_ONLY, ScanTableSource
from wiesel.spi.watermark import WatermarkStrategy
from wiesel.sql.catalog.table_factories import create_table_source
from wiesel.sql.physical.translator import Translator, runs_alone
from wiesel.sql.plan.relations import ArrowScan, Relation, StatisticsScan, StreamScan, TableScan, Values
from wiesel.sql.session.stream_rows import ToRow, row_info, table_row_info
from wiesel.types import Types
from wiesel.types.row import RowKind
from wiesel.types.typeinfo import ExternalTypeInfo, RowTypeInfo, TypeInformation

__all__ = ["arrow_scan", "scanned_rows", "statistics_scan", "stream_rows", "stream_scan", "table_scan", "values"]

_ROWS = 10_000


def table_scan(translator: Translator, scan: TableScan) -> Transformation:
    """Return the rows of a table."""
    rows = table_row_info(scan.row_type)
    parts = {field.name: field.data_type for field, whole in zip(scan.fields, scan.declared, strict=True) if field != whole}
    made = create_table_source(scan.identifier, scan.table, rows, scan.filters, scan.limit, parts)
    read = _read(translator, scan, made, rows)
    if RowKind.UPDATE_BEFORE not in made.kinds or translator.changes.sends_before(scan):
        return read
    return translator.operator("DropUpdateBefore", "table_drop_update_before", None, [read])


def _read(translator: Translator, scan: TableScan, made: ScanTableSource, rows: RowTypeInfo) -> Transformation:
    """Return what the source of a table reads, as batches."""
    if not made.is_columnar:
        return _columns(translator, scan, _stream(translator, scan, made, ExternalTypeInfo(rows)))
    batches = _stream(translator, scan, made, Types.PICKLED_BYTE_ARRAY())._transformation
    return batches if made.kinds == INSERT_ONLY or made.parallelism is None else translator.in_order(scan, batches)


def stream_scan(translator: Translator, scan: StreamScan) -> Transformation:
    """Return the records of a stream."""
    rows = stream_rows(scan)
    columns = _columns(translator, scan, rows)
    parallelism = _parallelism_of(rows._transformation)
    if scan.kinds == INSERT_ONLY or runs_alone(columns) or parallelism in (None, translator.environment.get_parallelism()):
        return columns
    columns.node.parallelism = parallelism
    return translator.in_order(scan, columns)


def _parallelism_of(stream: Transformation) -> int | None:
    return stream.node.parallelism if isinstance(stream, OperatorTransformation) else None


def values(translator: Translator, relation: Values) -> Transformation:
    """Return literal rows (VALUES)."""
    once = translator.environment.from_collection([0], Types.INT())
    payload = {"rows": relation.rows, "schema": translator.schema(relation)}
    return translator.operator("Values", "table_values", payload, [once._transformation])


def statistics_scan(translator: Translator, scan: StatisticsScan) -> Transformation:
    """Return what a connector knew of a table."""
    return values(translator, Values((scan.row,), scan.columns))


def arrow_scan(translator: Translator, scan: ArrowScan) -> Transformation:
    """Return the rows of a program."""
    batches = [RowBatch(batch) for batch in scan.rows.to_batches(max_chunksize=_ROWS) if batch.num_rows]
    source = CollectionSource(batches)
    strategy = WatermarkStrategy.no_watermarks()
    return translator.environment.from_source(source, strategy, "rows", Types.PICKLED_BYTE_ARRAY())._transformation


def _columns(translator: Translator, scan: Relation, rows: DataStream) -> OperatorTransformation:
    payload = {"schema": translator.schema(scan), "with_time": isinstance(scan, StreamScan) and scan.rowtime is not None}
    operator = translator.operator("ToColumns", "table_from_rows", payload, [rows._transformation])
    operator.node.description = "ToColumns"
    return operator


def scanned_rows(translator: Translator, scan: TableScan) -> DataStream:
    """Return the stream of a table's rows as objects."""
    rows = table_row_info(scan.row_type)
    made = create_table_source(scan.identifier, scan.table, rows)
    if not made.is_columnar:
        return _stream(translator, scan, made, ExternalTypeInfo(rows))
    batches = _stream(translator, scan, made, Types.PICKLED_BYTE_ARRAY())
    operator = translator.operator("ToRows", "table_to_rows", {}, [batches._transformation])
    operator.output_type = operator.node.output_type = ExternalTypeInfo(rows)
    return DataStream(translator.environment, operator)


def _stream(translator: Translator, scan: TableScan, made: ScanTableSource, records: TypeInformation) -> DataStream:
    name = scan.identifier.object_name
    strategy = translator.strategies.get(id(scan)) or WatermarkStrategy.no_watermarks()
    stream = translator.environment.from_source(made.source, strategy, name, records)
    stream.uid(translator.uids.unique(f"TableScan({scan.identifier})"))
    stream.set_description(translator.plan.part(scan, "TableSourceScan"))
    return stream if made.parallelism is None else stream.set_parallelism(made.parallelism)


def stream_rows(scan: StreamScan) -> DataStream:
    """Return a stream's records as row objects."""
    info = scan.stream.get_type()
    rows = scan.stream.map(ToRow(info, scan.kinds), output_type=row_info(info)).name("TableToDataStream")
    parallelism = _parallelism_of(scan.stream._transformation)
    if runs_alone(scan.stream._transformation):
        # As in Flink what reads one subtask runs in one, up to the next distribution by key: rows stay in their order.
        rows.force_non_parallel()
    elif scan.kinds != INSERT_ONLY and parallelism is not None:
        # Rows of a stream that is not parallel must not overtake each other on their way to a parallel operator.
        rows.set_parallelism(parallelism)
    return rows
