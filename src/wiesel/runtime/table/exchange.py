"""Internal. Shares batches of rows out by the values of columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wiesel.columnar.keys import key_tuples
from wiesel.columnar.row_batch import concat
from wiesel.runtime.record_writer import Distributor
from wiesel.runtime.table.column_keys import ColumnKeys
from wiesel.state.key_groups import ChannelSelector
from wiesel.wire.batch import Batch

__all__ = ["ByColumns"]


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
        channels = np.array(self._selector.channels(key_tuples(rows.rows, self._columns)))
        for channel, target in enumerate(pending):
            places = np.flatnonzero(channels == channel)
            if len(places):
                target.add([rows if len(places) == len(rows) else rows.take(places)], None, None)
