"""Internal. Sorting of rows within groups, by several columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.grouping import Places
from wiesel.runtime.table.rank.nested_order import ranks

__all__ = ["Keys", "ordered_places"]

Keys = tuple[tuple[int, bool, bool], ...]
"""Sort keys: index, whether ascending, whether NULLs are first."""


def ordered_places(ids: Places, columns: Sequence[pa.Array], keys: Keys, *, latest_first: bool = False) -> Places:
    """Return the indexes of rows sorted by group and keys; the sort of equal rows is stable, or reversed."""
    names, orders = ["id"], [("id", "ascending")]
    arrays: list[pa.Array] = [pa.array(ids)]
    for index, ascending, nulls_first in keys:
        column, direction = columns[index], "ascending" if ascending else "descending"
        if column.null_count:
            arrays.append(column.is_null())
            names.append(f"n{index}")
            orders.append((names[-1], "descending" if nulls_first else "ascending"))
        if not ascending and pa.types.is_floating(column.type):
            # NaN is larger than any number; Arrow puts it at the end in both directions.
            arrays.append(pc.is_nan(column))
            names.append(f"nan{index}")
            orders.append((names[-1], "descending"))
        arrays.append(ranks(column) if pa.types.is_nested(column.type) else column)
        names.append(f"k{index}")
        orders.append((names[-1], direction))
    arrays.append(pa.array(np.arange(len(ids))))
    orders.append(("seq", "descending" if latest_first else "ascending"))
    table = pa.RecordBatch.from_arrays(arrays, names=[*names, "seq"])
    return pc.sort_indices(table, sort_keys=orders).to_numpy().astype(np.int64)  # type: ignore[no-any-return]
