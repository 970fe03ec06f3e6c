"""Internal. Base of operators with timers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

from wiesel.core.ids import MAX_TIMESTAMP
from wiesel.runtime.operator import StreamOperator
from wiesel.runtime.operators.function_operator import is_batch
from wiesel.runtime.timer_service import InternalTimerService
from wiesel.state.key_context import NO_KEY, KeyContext

__all__ = ["TimedOperator"]


class TimedOperator(StreamOperator):
    """Base of operators whose timers fire as watermark and clock advance. Opening them is left to the operator."""

    key_context: KeyContext
    timers: InternalTimerService

    @abstractmethod
    def _emit_fired(self) -> None:
        """Emit the results of fired timers."""

    def process_watermark(self, timestamp: int) -> None:
        """Fire event timers; their results go out before the watermark."""
        self._fire(self.timers.advance_watermark, timestamp)
        if timestamp == MAX_TIMESTAMP and is_batch(self.context):
            # In BATCH mode processing time ends with the input as well.
            self._fire(self.timers.advance_processing_time, timestamp)
        self.output.emit_watermark(timestamp)

    def on_processing_time(self, now_ms: int) -> None:
        """Fire processing timers."""
        self._fire(self.timers.advance_processing_time, now_ms)

    def finish(self) -> None:
        """Fire the processing timers that are due; later ones are dropped, as in Flink."""
        self._fire(self.timers.advance_processing_time, self.context.clock.now_ms())

    def _fire(self, advance: Callable[[int], None], time_ms: int) -> None:
        try:
            advance(time_ms)
        finally:
            # Also on failure: results of earlier timers are emitted first.
            self.key_context.key = NO_KEY
            self._emit_fired()
