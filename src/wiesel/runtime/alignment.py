"""Internal. Watermark alignment at a source: how far it is goes out, how far it may go comes in.

As Flink's (FLIP-182): every so often each subtask tells the watermark that it has emitted, the coordinator answers with the lowest one of
the group and the drift that is allowed, and who is beyond that reads no more until the others have caught up. Idle subtasks, and those
that have ended, hold nobody back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wiesel.core.ids import MAX_TIMESTAMP, MIN_TIMESTAMP
from wiesel.spi.watermark import WatermarkAlignment

__all__ = ["AlignWatermark", "ReportWatermark", "SourceAlignment"]


@dataclass(frozen=True)
class ReportWatermark:
    """A subtask has come so far; ``max_drift_ms`` is what its source allows itself to be ahead."""

    watermark: int
    max_drift_ms: int


@dataclass(frozen=True)
class AlignWatermark:
    """A subtask whose watermark is beyond ``limit`` waits."""

    limit: int


class SourceAlignment:
    """What one subtask of a source has to know for it.

    Args:
        settings: Of the watermark strategy.
        send: Sends an event to the coordinator.
        now_ms: The processing time.
    """

    def __init__(self, settings: WatermarkAlignment, send: Callable[[Any], None], now_ms: int) -> None:
        self._settings = settings
        self._send = send
        self._limit = MAX_TIMESTAMP
        self.next_report_ms = now_ms + settings.update_interval_ms

    def holds(self, watermark: int) -> bool:
        """Return whether a subtask that has come so far has to wait."""
        return watermark > self._limit

    def set_limit(self, limit: int) -> None:
        """Take the coordinator's answer."""
        self._limit = limit

    def report(self, watermark: int, now_ms: int, *, free: bool) -> None:
        """Tell the coordinator, unless there is nothing to tell yet; ``free``: holds nobody back, as it is idle or has ended."""
        if free or watermark > MIN_TIMESTAMP:
            self._send(ReportWatermark(MAX_TIMESTAMP if free else watermark, self._settings.max_drift_ms))
        self.next_report_ms = now_ms + self._settings.update_interval_ms
