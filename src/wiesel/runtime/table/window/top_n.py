"""Internal. Window Top-N and window deduplication, computed at the end of the window."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.columnar.grouping import group_by
from wiesel.columnar.row_batch import RowBatch
from wiesel.runtime.table.rank.top_n import TopNSpec
from wiesel.runtime.table.window.waiting_rows import WindowedOperator, WindowSide

__all__ = ["window_top_n_operator"]

_ROWS = 1_000


class WindowTopNOperator(WindowedOperator):
    """Ranks the rows of a window at its end; rows beyond the limit are dropped periodically before."""

    def __init__(self, spec: TopNSpec, end: int, time: pa.DataType) -> None:
        super().__init__((WindowSide(spec.schema, spec.partition, end),), time)
        self._spec = spec
        self._limits: dict[int, int] = {}

    def _added(self, end: int, input_index: int) -> None:
        rows = self._rows[0]
        if rows.size(end) > self._limits.get(end, _ROWS):
            every = rows.of(end)
            assert every is not None  # noqa: S101 - for the type checker
            chosen, _ = self._ranked(every, 1)
            rows.replace(end, every.take(pa.array(np.sort(chosen))))
            self._limits[end] = max(_ROWS, 2 * len(chosen))

    def _ranked(self, rows: pa.RecordBatch, first: int) -> tuple[Any, Any]:
        """Return the ranked rows, sorted by partition and rank, and their ranks."""
        groups = group_by([rows.column(index) for index in self._spec.partition], rows.num_rows)
        order, places = self._spec.ranks(groups.ids, rows.columns)
        ordered = places[order]
        chosen = order[(ordered >= first) & (ordered <= (self._spec.last or rows.num_rows))]
        return chosen, places[chosen]

    def _fire(self, end: int, sides: list[pa.RecordBatch | None]) -> None:
        self._limits.pop(end, None)
        rows = sides[0]
        assert rows is not None  # noqa: S101 - for the type checker
        chosen, places = self._ranked(rows, self._spec.first)
        columns = rows.take(pa.array(chosen)).columns
        if self._spec.numbered:
            columns = [*columns, pa.array(places)]
        self.emit_rows(RowBatch(pa.RecordBatch.from_arrays(columns, schema=self._spec.results)))


def window_top_n_operator(params: dict[str, Any], payload: dict[str, Any]) -> WindowTopNOperator:
    """Return the operator of a spec."""
    return WindowTopNOperator(payload["spec"], payload["end"], payload["time"])
