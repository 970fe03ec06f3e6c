"""Internal. Hash partitioning of row batches by columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wiesel.columnar.grouping import FEW, group_by, grouped_column
from wiesel.columnar.keys import key_tuples
from wiesel.columnar.row_batch import RowBatch, concat
from wiesel.graph.specs import ColumnKeys
from wiesel.runtime.record_writer import Distributor
from wiesel.state.key_groups import ChannelSelector
from wiesel.state.key_hashes import hashes_of_tuples, hashes_of_tuples_of_text
from wiesel.wire.batch import Batch

__all__ = ["ByColumns", "rows_of_channel"]


class ByColumns(Distributor):
    """Sends each row to the channel of its key: the subtask that owns the key's group, by which state is partitioned."""

    def __init__(self, keys: ColumnKeys, max_parallelism: int, channels: int) -> None:
        self._columns = keys.columns
        self._selector = ChannelSelector(max_parallelism, channels)

    def distribute(self, batch: Batch, pending: Sequence[Any]) -> None:
        """Split the rows by channel."""
        if len(pending) == 1:
            pending[0].add(batch.values, None, None)
            return
        rows = concat(batch.values)
        channels = _channels(rows.rows, self._columns, self._selector)
        for channel, target in enumerate(pending):
            places = np.flatnonzero(channels == channel)
            if len(places):
                target.add([rows if len(places) == len(rows) else rows.take(places)], None, None)


def rows_of_channel(batches: Sequence[RowBatch], columns: Sequence[int], channel: int, selector: ChannelSelector) -> list[RowBatch]:
    """Return the rows of batches that go to a channel."""
    found = []
    for rows in batches:
        places = np.flatnonzero(_channels(rows.rows, columns, selector) == channel)
        if len(places):
            found.append(rows.take(places))
    return found


def _channels(rows: pa.RecordBatch, keys: Sequence[int], selector: ChannelSelector) -> npt.NDArray[np.int64]:
    """Return the channel of each row; for few distinct keys, they are computed once per key."""
    of_rows = rows.select(list(keys))
    if rows.num_rows <= FEW or _are_integers(of_rows.columns):
        return _channels_of_keys(of_rows, selector)
    most_keys, few = 1, rows.num_rows // 2
    for column in of_rows.columns:
        most_keys *= grouped_column(column).count
        if most_keys > few:
            return _channels_of_keys(of_rows, selector)
    groups = group_by(of_rows.columns, rows.num_rows)
    return _channels_of_keys(of_rows.take(pa.array(groups.first)), selector)[groups.ids]


def _channels_of_keys(keys: pa.RecordBatch, selector: ChannelSelector) -> npt.NDArray[np.int64]:
    columns = keys.columns
    if keys.num_rows > FEW and _are_integers(columns):
        return selector.of_hashes(hashes_of_tuples([column.to_numpy() for column in columns]))  # type: ignore[no-any-return]
    if keys.num_rows > FEW and len(columns) == 1 and pa.types.is_string(columns[0].type) and not columns[0].null_count:
        strings = columns[0].cast(pa.binary()).to_pylist()
        return selector.of_hashes(hashes_of_tuples_of_text(strings))  # type: ignore[no-any-return]
    return np.array(selector.channels(key_tuples(keys, range(len(columns)))), np.int64)


def _are_integers(columns: Sequence[pa.Array]) -> bool:
    return bool(columns) and all(pa.types.is_signed_integer(column.type) and not column.null_count for column in columns)
