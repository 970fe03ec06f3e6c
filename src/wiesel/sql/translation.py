"""Internal. From plans of tables to streams."""

from __future__ import annotations

from wiesel.core.errors import InvariantError, ProgramError
from wiesel.datastream import DataStream, StreamExecutionEnvironment
from wiesel.spi.watermark import WatermarkStrategy
from wiesel.sql.logical import LogicalPlan, StreamScan, TableScan
from wiesel.sql.stream_rows import ToRow, row_info
from wiesel.sql.table_factories import create_table_source
from wiesel.types.logical import DataType, RowType, quoted
from wiesel.types.logical_conversion import to_type_info
from wiesel.types.typeinfo import ExternalTypeInfo, RowTypeInfo, TypeInformation

__all__ = ["to_stream"]


def to_stream(environment: StreamExecutionEnvironment, plan: LogicalPlan) -> DataStream:
    """Return the stream of a plan's rows.

    Raises:
        ProgramError: If a column's values cannot become records of a stream, or the table cannot be read.
        ConfigurationError: If the options of a table are wrong.
    """
    if isinstance(plan, TableScan):
        return _scanned(environment, plan)
    if isinstance(plan, StreamScan):
        info = plan.stream.get_type()
        return plan.stream.map(ToRow(info), output_type=row_info(info)).name("TableToDataStream")
    raise InvariantError(f"there is no translation of {type(plan).__name__}")


def _scanned(environment: StreamExecutionEnvironment, scan: TableScan) -> DataStream:
    rows = _rows(scan.schema.physical_row_type)
    made = create_table_source(scan.identifier, scan.table, rows)
    name = scan.identifier.object_name
    stream = environment.from_source(made.source, WatermarkStrategy.no_watermarks(), name, ExternalTypeInfo(rows))
    return stream if made.parallelism is None else stream.set_parallelism(made.parallelism)


def _rows(row_type: RowType) -> RowTypeInfo:
    return RowTypeInfo([_column(field.name, field.data_type) for field in row_type], row_type.names)


def _column(name: str, data_type: DataType) -> TypeInformation:
    try:
        return to_type_info(data_type)
    except ProgramError as error:
        raise ProgramError(f"column {quoted(name)}: {error.message}", hint=error.hint) from error
