"""Internal. OVER in a BATCH job: all rows are sorted at the end of the input, and their frames may lie anywhere in their partition.

In a job whose input has no times to go by, see :mod:`wiesel.runtime.table.over_changes`.
"""

from __future__ import annotations

from collections.abc import Iterator

from wiesel.columnar.row_batch import RowBatch, concat
from wiesel.runtime.table.base import TableOperator
from wiesel.runtime.table.over_results import PartitionsSpec, sorted_with_results

__all__ = ["batch_over_operator"]

_ROWS_AT_ONCE = 10_000


class BatchOverOperator(TableOperator):
    """Keeps all rows, and emits them with their results at the end, a part at a time."""

    def __init__(self, spec: PartitionsSpec) -> None:
        self._spec = spec
        self._kept: list[RowBatch] = []
        self._left: Iterator[RowBatch] | None = None

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Keep them."""
        self._kept.append(rows)

    @property
    def has_more(self) -> bool:
        """Whether there are results left to emit."""
        return self._left is not None

    def finish(self) -> None:
        """Emit results."""
        if self._left is None:
            if not self._kept:
                return
            rows, self._kept = concat(self._kept).rows, []
            found = sorted_with_results(self._spec, rows)
            self._left = (RowBatch(found.slice(start, _ROWS_AT_ONCE)) for start in range(0, len(found), _ROWS_AT_ONCE))
        part = next(self._left, None)
        if part is None:
            self._left = None
        else:
            self.emit_rows(part)


def batch_over_operator(params: dict[str, object], payload: PartitionsSpec) -> BatchOverOperator:
    """Return the operator of a spec."""
    return BatchOverOperator(payload)
