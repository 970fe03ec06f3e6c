"""Internal. Local window aggregation: a task combines its rows of a key and slice before the exchange.

The global phase determines late slices, and the processing time of rows. Retry semantics: there is no state.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.columnar.row_batch import RowBatch
from wiesel.columnar.window_zones import WindowZone
from wiesel.runtime.table.aggregate.sampling import Reduction, Sampling
from wiesel.runtime.table.base import TableOperator
from wiesel.runtime.table.window.partials import WindowPartials
from wiesel.runtime.table.window.spec import WindowSpec, slices_of

__all__ = ["LocalWindowAggregateOperator", "local_window_aggregate_operator"]


class LocalWindowAggregateOperator(TableOperator):
    """Aggregates the rows of a batch by key and slice; ``sampling`` decides adaptively, None for always."""

    def __init__(self, spec: WindowSpec, sampling: Sampling | None = None) -> None:
        self._spec = spec
        self._reduction = Reduction(sampling)
        self._partials = WindowPartials(spec)

    def open(self) -> None:
        """Initialise the time zone."""
        super().open()
        self._zone = WindowZone(self._spec.schema.types[-1], self.session.time_zone)

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Emit a row per key and slice, or per key in processing time; if that hardly reduces the rows, per row."""
        by_clock = self._spec.by_clock
        slices = np.zeros(len(rows), np.int64) if by_clock else slices_of(self._spec, self._zone, rows)
        groups = self._reduction.groups(self._partials.grouped(rows, slices), len(rows))
        columns = self._partials.columns(self._partials.of(rows, slices, groups))
        self.emit_rows(RowBatch(pa.RecordBatch.from_arrays(columns, schema=self._partials.schema)))


def local_window_aggregate_operator(params: dict[str, Any], payload: dict[str, Any]) -> LocalWindowAggregateOperator:
    """Return the operator of a spec."""
    return LocalWindowAggregateOperator(payload["spec"], payload.get("sampling"))
