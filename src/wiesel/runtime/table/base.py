"""Internal. Base of the operators of queries."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

from wiesel.columnar.evaluation import Session
from wiesel.columnar.functions.async_calls import async_calls
from wiesel.columnar.functions.user_contexts import FunctionContext, current_context
from wiesel.columnar.row_batch import RowBatch, concat
from wiesel.core.durations import to_millis
from wiesel.runtime.operator import OperatorContext, StreamOperator
from wiesel.runtime.operators.function_operator import is_batch
from wiesel.state.ttl import TtlSettings
from wiesel.wire.batch import Batch

__all__ = ["EmittingAtEnd", "TableOperator", "session_of", "state_ttl"]


def session_of(context: OperatorContext) -> Session:
    """Return the evaluation context of an operator's expressions."""
    zone = context.config.get("table.local-time-zone", "default")
    time_zone = "UTC" if zone == "default" else str(zone)
    return Session(time_zone, context.clock, watermark=lambda: context.watermark, async_calls=async_calls(context.config))


def state_ttl(context: OperatorContext, ttl_ms: int | None = None) -> TtlSettings | None:
    """Return the TTL of state in ms (0 for never), by default ``table.exec.state.ttl``; None if it does not expire.

    State does not expire in BATCH mode, as the result is computed from it at the end.
    """
    if is_batch(context):
        return None
    if ttl_ms is None:
        ttl_ms = to_millis(context.config.get("table.exec.state.ttl", 0))
    return TtlSettings(ttl_ms) if ttl_ms > 0 else None


class TableOperator(StreamOperator):
    """Combines the batches of a buffer into one, as small ones cost nearly as much as large ones."""

    session = Session()
    _functions: FunctionContext | None = None

    def open(self) -> None:
        """Initialise the time zone of the session."""
        self.session = session_of(self.context)
        self._functions = FunctionContext.of_operator(self.context)
        current_context.set(self._functions)

    def close(self) -> None:
        """Release the user functions."""
        if self._functions is not None:
            self._functions.close_functions()

    def process_batch(self, batch: Batch, input_index: int = 0) -> None:
        """Process the rows of one input."""
        if batch.values:
            current_context.set(self._functions)
            rows = concat(batch.values)
            if len(rows):
                self.process_rows(rows, input_index)

    @abstractmethod
    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Process rows (at least one) of one input."""

    def emit_rows(self, rows: RowBatch) -> None:
        """Hand on rows."""
        if len(rows):
            self.output.emit(Batch([rows]))


class EmittingAtEnd(TableOperator):
    """Emits results in parts at the end of the input, and in BATCH mode the final watermark after them, so that none of them is late."""

    _parts: Iterator[RowBatch] | None = None
    _last_watermark: int | None = None

    def process_watermark(self, timestamp: int) -> None:
        """Forward the watermark, in BATCH mode at the end."""
        if is_batch(self.context):
            self._last_watermark = timestamp
        else:
            super().process_watermark(timestamp)

    @property
    def has_more(self) -> bool:
        """Return whether there are pending results."""
        return self._parts is not None

    def finish(self) -> None:
        """Emit the next part."""
        if self._parts is None:
            self._parts = self._at_end()
        part = next(self._parts, None)
        if part is None:
            self._parts = None
            if self._last_watermark is not None:
                self.output.emit_watermark(self._last_watermark)
        else:
            self.emit_rows(part)

    @abstractmethod
    def _at_end(self) -> Iterator[RowBatch]:
        """Yield the results."""
