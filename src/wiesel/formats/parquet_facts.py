"""Internal. Exact statistics from the metadata of a Parquet file."""

from __future__ import annotations

from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from wiesel.spi.table.statistics import ColumnFacts, Facts

__all__ = ["described"]


def described(stream: BinaryIO, wanted: pa.Schema) -> Facts | None:
    """Return what is certain of these columns of a file; None if it is no Parquet file."""
    try:
        file = pq.ParquetFile(pa.PythonFile(stream, "r"), pre_buffer=False)
    except pa.ArrowException:
        return None  # who reads the file tells what is wrong with it
    metadata, stored = file.metadata, file.schema_arrow
    groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
    columns = {}
    for column in wanted:
        place = stored.get_field_index(column.name)
        if place < 0:
            # Columns that a file lacks are NULL.
            columns[column.name] = ColumnFacts(metadata.num_rows, (None, None))
        elif stored.field(place).type == column.type and not column.type.num_fields:
            parts = [_of_group(group, column) for group in groups]
            columns[column.name] = Facts.of_all(Facts(0, {"": part}) for part in parts).columns.get("", ColumnFacts(0, (None, None)))
    return Facts(metadata.num_rows, columns)


def _of_group(group: Any, column: pa.Field) -> ColumnFacts:
    if not group.num_rows:
        return ColumnFacts(0, (None, None))
    found = next((group.column(i) for i in range(group.num_columns) if group.column(i).path_in_schema == column.name), None)
    statistics = None if found is None else found.statistics
    if statistics is None or not statistics.has_null_count:
        return ColumnFacts()
    if statistics.null_count == group.num_rows:
        return ColumnFacts(statistics.null_count, (None, None))
    if not statistics.has_min_max or not _has_exact_bounds(column.type):
        return ColumnFacts(statistics.null_count)
    return ColumnFacts(statistics.null_count, (statistics.min, statistics.max))


def _has_exact_bounds(kind: pa.DataType) -> bool:
    """Return whether bounds are values: those of strings may be cut off, those of floating numbers leave NaN out."""
    is_time = pa.types.is_timestamp(kind) and kind.unit != "ns"
    return bool(pa.types.is_integer(kind) or pa.types.is_decimal(kind) or pa.types.is_date(kind) or is_time)
