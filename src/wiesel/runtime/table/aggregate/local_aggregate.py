"""Internal. Local aggregation of GROUP BY: a task combines its rows of a key before the exchange.

Retry semantics: there is no state between mini-batches, which end before each checkpoint.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from wiesel.columnar.aggregates.calls import BoundCall, Input
from wiesel.columnar.row_batch import RowBatch
from wiesel.runtime.table.aggregate.partial_buckets import bucketed
from wiesel.runtime.table.aggregate.partials import Partials
from wiesel.runtime.table.aggregate.sampling import Reduction, Sampling
from wiesel.runtime.table.bundles import BundledOperator
from wiesel.runtime.table.mini_batch import MiniBatch
from wiesel.runtime.table.row_signs import row_signs

__all__ = ["LocalGroupAggregateOperator", "local_group_aggregate_operator"]


class LocalGroupAggregateOperator(BundledOperator):
    """Aggregates rows as far as possible without state.

    Args:
        keys: The columns of the key.
        calls: The aggregates.
        schema: That of the partials: the key, the bucket if there are any, and the columns of :class:`Partials`.
        mini_batch: Settings of mini-batches; None for none.
        buckets: Number of buckets for the DISTINCT values of a key; 0 for no split.
        sampling: Adaptive decision not to aggregate nearly distinct keys; None to aggregate always.
    """

    def __init__(
        self,
        keys: Sequence[int],
        calls: Sequence[BoundCall],
        schema: pa.Schema,
        mini_batch: MiniBatch | None = None,
        buckets: int = 0,
        sampling: Sampling | None = None,
    ) -> None:
        super().__init__(mini_batch)
        self._keys = list(keys)
        self._partials = Partials(calls)
        self._schema = schema
        self._buckets = buckets
        self._reduction = Reduction(sampling)

    def process_bundle(self, rows: RowBatch) -> None:
        """Emit a row per group, or per group and bucket; or per row, if that hardly reduces them."""
        columns = rows.rows.columns
        keys = [columns[index] for index in self._keys]
        groups = self._reduction.groups(keys, len(rows))
        partial = self._partials.of(Input(columns, groups, row_signs(rows)))
        places, more = groups.first, []
        if self._buckets:
            partial, of, bucket = bucketed(partial, self._partials, self._buckets)
            places, more = places[of], [pa.array(bucket)]
        if len(places) < len(rows) or more:
            taken = pa.array(places)
            keys = [key.take(taken) for key in keys]
        arrays = [*keys, *more, *self._partials.columns(partial)]
        self.emit_rows(RowBatch(pa.RecordBatch.from_arrays(arrays, schema=self._schema)))


def local_group_aggregate_operator(params: dict[str, Any], payload: dict[str, Any]) -> LocalGroupAggregateOperator:
    """Return the operator of a spec."""
    return LocalGroupAggregateOperator(**payload)
