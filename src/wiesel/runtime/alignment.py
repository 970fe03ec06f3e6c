"""Internal. Watermark alignment at a source: reports its watermark and receives the limit.

As in Flink (FLIP-182): each subtask reports its emitted watermark periodically, the coordinator answers with the lowest one of the group
plus the allowed drift, and a subtask beyond that limit stops reading until the others have caught up. Idle and finished subtasks are
ignored.
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
    """The watermark of a subtask; ``max_drift_ms`` is the drift allowed by its source."""

    watermark: int
    max_drift_ms: int


@dataclass(frozen=True)
class AlignWatermark:
    """A subtask whose watermark exceeds ``limit`` waits."""

    limit: int


class SourceAlignment:
    """Alignment state of one subtask of a source.

    Args:
        settings: Alignment settings of the watermark strategy.
        send: Sends an event to the coordinator.
        now_ms: The processing time.
    """

    def __init__(self, settings: WatermarkAlignment, send: Callable[[Any], None], now_ms: int) -> None:
        self._settings = settings
        self._send = send
        self._limit = MAX_TIMESTAMP
        self.next_report_ms = now_ms + settings.update_interval_ms

    def holds(self, watermark: int) -> bool:
        """Return whether a subtask with this watermark has to wait."""
        return watermark > self._limit

    def split_limit(self, watermark: int) -> int:
        """Return how far single splits of a subtask may go whose watermark, the minimum over them, has come so far."""
        own = MAX_TIMESTAMP if watermark == MIN_TIMESTAMP else min(watermark + self._settings.max_drift_ms, MAX_TIMESTAMP)
        return min(own, self._limit)

    def set_limit(self, limit: int) -> None:
        """Set the limit sent by the coordinator."""
        self._limit = limit

    def report(self, watermark: int, now_ms: int, *, free: bool) -> None:
        """Report the watermark to the coordinator, if there is one; ``free``: the subtask is idle or finished, and ignored."""
        if free or watermark > MIN_TIMESTAMP:
            self._send(ReportWatermark(MAX_TIMESTAMP if free else watermark, self._settings.max_drift_ms))
        self.next_report_ms = now_ms + self._settings.update_interval_ms
