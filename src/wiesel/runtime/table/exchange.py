"""Internal. Shares batches of rows out by the values of columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wiesel.columnar.grouping import FEW, group_by, grouped_column
from wiesel.columnar.keys import key_tuples
from wiesel.columnar.row_batch import RowBatch, concat
from wiesel.runtime.record_writer import Distributor
from wiesel.runtime.table.column_keys import ColumnKeys
from wiesel.state.key_groups import ChannelSelector
from wiesel.wire.batch import Batch

__all__ = ["ByColumns", "rows_of_channel"]


class ByColumns(Distributor):
    """Each row goes to the channel of its key: the subtask that has the key's group, by which its state is kept."""

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
    """Return the channel of each row; where few keys come often, values become objects once per key."""
    if rows.num_rows <= FEW:
        return np.array(selector.channels(key_tuples(rows, keys)), np.int64)
    columns = [rows.column(index) for index in keys]
    most_keys, few = 1, rows.num_rows // 2
    for column in columns:
        most_keys *= grouped_column(column).count
        if most_keys > few:
            return np.array(selector.channels(key_tuples(rows, keys)), np.int64)
    groups = group_by(columns, rows.num_rows)
    distinct = rows.select(list(keys)).take(pa.array(groups.first))
    return np.array(selector.channels(key_tuples(distinct, range(len(columns)))), np.int64)[groups.ids]
