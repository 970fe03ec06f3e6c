"""Internal. Keys of rows: tuples of the values of some columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

__all__ = ["key_tuples"]


def key_tuples(rows: pa.RecordBatch, columns: Sequence[int]) -> list[tuple[Any, ...]]:
    """Return the key of each row; the empty tuple where there are no columns."""
    if not columns:
        return [()] * rows.num_rows
    return list(zip(*(rows.column(index).to_pylist() for index in columns), strict=True))
