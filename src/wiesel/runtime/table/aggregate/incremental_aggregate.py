"""Internal. Incremental aggregation between the two phases of GROUP BY with split DISTINCT: deduplicates the values of a bucket.

It emits their contribution to the aggregates of their key, so that the global phase stores no values.

Retry semantics: state is the values by key and bucket; columnar data is written to it by each snapshot.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.columnar.aggregates.calls import BoundCall
from wiesel.columnar.grouping import group_by
from wiesel.columnar.keys import key_tuples
from wiesel.columnar.row_batch import RowBatch
from wiesel.runtime.table.aggregate.aggregation import Aggregation
from wiesel.runtime.table.aggregate.group_keys import GroupKeys
from wiesel.runtime.table.aggregate.partials import Partial, Partials
from wiesel.runtime.table.base import state_ttl
from wiesel.runtime.table.bundles import BundledOperator
from wiesel.runtime.table.mini_batch import MiniBatch

__all__ = ["IncrementalGroupAggregateOperator", "incremental_group_aggregate_operator", "without_distinct"]


def without_distinct(calls: Sequence[BoundCall]) -> tuple[BoundCall, ...]:
    """Return the calls for input of distinct values."""
    return tuple(replace(call, distinct=False) for call in calls)


class IncrementalGroupAggregateOperator(BundledOperator):
    """Takes partials by key and bucket and emits partials without values.

    Args:
        keys: Number of key columns; that of the bucket follows.
        calls: The aggregates.
        schema: That of the output: the key, and the columns of the partials of :func:`without_distinct` calls.
        ttl_ms: TTL of a value; 0 for never, None for that of the job.
        mini_batch: Settings of mini-batches; None for none.
    """

    def __init__(
        self, keys: int, calls: Sequence[BoundCall], schema: pa.Schema, ttl_ms: int | None = None, mini_batch: MiniBatch | None = None
    ) -> None:
        super().__init__(mini_batch)
        self._count_of_keys = keys
        self._aggregation = Aggregation(calls)
        self._partials = Partials(without_distinct(calls))
        self._schema = schema
        self._ttl_ms = ttl_ms
        self._places: defaultdict[Any, int] = defaultdict(lambda: len(self._places))
        self._keys: list[Any] = []

    def open(self) -> None:
        """Initialise the state."""
        super().open()
        ttl = state_ttl(self.context, self._ttl_ms)
        self._by_place = ttl is None and self.context.backend.in_memory
        self._aggregation.open(self.context.backend, ttl, by_place=self._by_place)
        self._aggregation.restore(self._places)
        self._keys = list(self._places)

    def process_bundle(self, rows: RowBatch) -> None:
        """Emit a row per key and bucket."""
        columns, width = rows.rows.columns, self._count_of_keys
        groups = group_by(columns[: width + 1], len(rows))
        firsts = rows.rows.select(range(width + 1)).take(pa.array(groups.first))
        partial = self._aggregation.partials.read(columns[width + 1 :], groups)
        slots = self._aggregation.new_slots(self._group_keys(key_tuples(firsts, range(width + 1))), partial)
        found = self._partials.columns(Partial(partial.added, slots, {}))
        self.emit_rows(RowBatch(pa.RecordBatch.from_arrays([*firsts.columns[:width], *found], schema=self._schema)))

    def _group_keys(self, keys: list[Any]) -> GroupKeys:
        if not self._by_place:
            return GroupKeys(keys)
        places = np.fromiter(map(self._places.__getitem__, keys), np.int64, len(keys))
        self._keys += islice(self._places, len(self._keys), None)
        return GroupKeys(keys, places)

    def snapshot_state(self, checkpoint_id: int, timestamp_ms: int = 0) -> None:
        """Write changes to keyed state."""
        self._aggregation.flush(self._keys)


def incremental_group_aggregate_operator(params: dict[str, Any], payload: dict[str, Any]) -> IncrementalGroupAggregateOperator:
    """Return the operator of a spec."""
    return IncrementalGroupAggregateOperator(**payload)
