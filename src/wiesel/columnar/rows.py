"""Internal. From rows of Python values to columns and back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from wiesel.columnar.row_batch import RowBatch
from wiesel.types.row import Row, RowKind, make_row

__all__ = ["from_rows", "to_rows"]

_KINDS = list(RowKind)


def from_rows(rows: Sequence[Row], schema: pa.Schema) -> RowBatch:
    """Return rows as columns."""
    columns = zip(*(row._values for row in rows), strict=True) if rows else ([] for _ in schema)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    kinds = np.fromiter((row.get_row_kind().value for row in rows), np.uint8, len(rows))
    return RowBatch(pa.RecordBatch.from_arrays(arrays, schema=schema), kinds if kinds.any() else None)


def to_rows(batch: RowBatch) -> list[Row]:
    """Return the rows as objects with the names of the columns."""
    names = batch.rows.schema.names
    columns = [column.to_pylist() for column in batch.rows.columns]
    values = zip(*columns, strict=True) if columns else iter([()] * len(batch))
    if batch.kinds is None:
        return [make_row(names, list(row)) for row in values]
    return [make_row(names, list(row), _KINDS[kind]) for row, kind in zip(values, batch.kinds, strict=True)]
