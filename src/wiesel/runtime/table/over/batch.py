"""Internal. OVER in BATCH jobs: all rows are sorted at the end of the input, with arbitrary frames in their partition.

For unbounded jobs without a time order, see :mod:`wiesel.runtime.table.over.changes`.
"""

from __future__ import annotations

from collections.abc import Iterator

from wiesel.columnar.row_batch import RowBatch, concat
from wiesel.runtime.table.base import EmittingAtEnd
from wiesel.runtime.table.over.results import PartitionsSpec, sorted_with_results

__all__ = ["batch_over_operator"]

_ROWS_AT_ONCE = 10_000


class BatchOverOperator(EmittingAtEnd):
    """Collects all rows, and emits them in parts with their results at the end."""

    def __init__(self, spec: PartitionsSpec) -> None:
        self._spec = spec
        self._kept: list[RowBatch] = []

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Collect rows."""
        self._kept.append(rows)

    def _at_end(self) -> Iterator[RowBatch]:
        if self._kept:
            rows, self._kept = concat(self._kept).rows, []
            found = sorted_with_results(self._spec, rows)
            yield from (RowBatch(found.slice(start, _ROWS_AT_ONCE)) for start in range(0, len(found), _ROWS_AT_ONCE))


def batch_over_operator(params: dict[str, object], payload: PartitionsSpec) -> BatchOverOperator:
    """Return the operator of a spec."""
    return BatchOverOperator(payload)
