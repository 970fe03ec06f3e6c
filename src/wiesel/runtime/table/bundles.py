"""Internal. Mini-batches: rows are buffered, so that a group is updated once for many of them.

Buffered rows are processed when their number or age reaches the limit, before the barrier of a checkpoint is forwarded, and at the end of
the input: so they are never part of a snapshot. Watermarks are delayed with the rows before them.
"""

from __future__ import annotations

from abc import abstractmethod

from wiesel.columnar.row_batch import RowBatch, concat
from wiesel.core.ids import MAX_TIMESTAMP
from wiesel.runtime.operators.function_operator import is_batch
from wiesel.runtime.table.base import TableOperator
from wiesel.runtime.table.mini_batch import MiniBatch

__all__ = ["BundledOperator"]


class BundledOperator(TableOperator):
    """Processes rows in mini-batches, or without settings and in BATCH mode immediately."""

    def __init__(self, mini_batch: MiniBatch | None) -> None:
        self._mini_batch = mini_batch
        self._waiting: list[RowBatch] = []
        self._count = 0
        self._due_ms = 0
        self._watermark: int | None = None

    def open(self) -> None:
        """See ``StreamOperator``."""
        super().open()
        if is_batch(self.context):
            self._mini_batch = None

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Buffer or process rows."""
        if self._mini_batch is None:
            self.process_bundle(rows)
            return
        if not self._waiting:
            self._due_ms = self.context.clock.now_ms() + self._mini_batch.latency_ms
            self.context.register_processing_timer(self._due_ms)
        self._waiting.append(rows)
        self._count += len(rows)
        if self._count >= self._mini_batch.size:
            self._process_waiting()

    def _process_waiting(self) -> None:
        if self._waiting:
            rows, self._waiting, self._count = concat(self._waiting), [], 0
            self.process_bundle(rows)
        if self._watermark is not None:
            watermark, self._watermark = self._watermark, None
            self.output.emit_watermark(watermark)

    @abstractmethod
    def process_bundle(self, rows: RowBatch) -> None:
        """Process rows (at least one)."""

    def on_processing_time(self, now_ms: int) -> None:
        """Process rows whose delay has expired."""
        if now_ms >= self._due_ms:
            self._process_waiting()

    def process_watermark(self, timestamp: int) -> None:
        """Forward a watermark after the results of the rows before it."""
        if self._waiting:
            self._watermark = timestamp
            if timestamp >= MAX_TIMESTAMP:
                self._process_waiting()
        else:
            self.output.emit_watermark(timestamp)

    def prepare_snapshot(self, checkpoint_id: int) -> None:
        """Process buffered rows, as they are not part of snapshots."""
        self._process_waiting()

    def end_input(self, input_index: int = 0) -> None:
        """Process buffered rows."""
        self._process_waiting()
