"""Internal. Processing-time windows that share slices.

A record belongs to the time at which its batch is processed. That time is monotonic, even if the clock is set back, or is behind that of
the machine that wrote the state: records are added to windows that have not fired.
"""

from __future__ import annotations

from typing import Any

from wiesel.runtime.windows.shared import SharedSlicesOperator
from wiesel.runtime.windows.slices import Slice
from wiesel.runtime.windows.spec import WindowSpec
from wiesel.wire.batch import Batch

__all__ = ["ProcessingTimeSlicesOperator"]


class ProcessingTimeSlicesOperator(SharedSlicesOperator):
    """The operator of processing-time windows that share slices."""

    def __init__(self, spec: WindowSpec) -> None:
        super().__init__(spec)
        # As in unshared windows: no record is late.
        self.lateness_ms = 0

    def _times(self, batch: Batch) -> list[Any] | None:
        # Timers up to and including the present millisecond have fired.
        now = max(self.timers.current_processing_time(), self._fired_before + 1)
        return [now] * len(batch.values)

    def _open_panes(self, start: int) -> list[Any]:
        piece = self._slices.slice_of(start)
        panes = self._panes[start] = [(self._touched.setdefault(piece, {}), piece)]
        return panes

    def set_timers(self, key: Any, namespace: Slice) -> None:
        """Set the timer of a new slice."""
        self._register(self._slices.first_end(namespace) - 1, key)

    def _register(self, timestamp: int, key: Any) -> None:
        self.key_context.key = key
        self.timers.register_processing_time_timer(timestamp)

    def _reached(self) -> int:
        return self._fired_before

    def on_processing_time(self, now_ms: int) -> None:
        """Fire windows."""
        self._fired_before = max(self._fired_before, now_ms)
        super().on_processing_time(now_ms)

    def finish(self) -> None:
        """Fire the windows that have ended; later ones are dropped, as in Flink."""
        self._fired_before = max(self._fired_before, self.context.clock.now_ms())
        super().finish()

    def _on_processing_time(self, timestamp: int, key: Any, namespace: Any) -> None:
        self._fire_next(key, timestamp + 1)
