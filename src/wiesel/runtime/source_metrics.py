"""Internal. The metrics of a source subtask that the engine reports, with the names of FLIP-33 and FLIP-182."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wiesel.core.clock import Clock
from wiesel.core.ids import MIN_TIMESTAMP
from wiesel.core.metrics import MetricGroup
from wiesel.spi.source import SourceReaderMetricGroup
from wiesel.wire.batch import Batch

__all__ = ["SourceMetrics"]

_UNDEFINED = -1
"""The value of a lag before the first event time, as in Flink."""


class SourceMetrics:
    """Counts what a source emits, and compares its event time with the clock.

    Args:
        group: The metric group of the operator.
        clock: The clock of the task.
        watermark: Returns the watermark that was emitted last (ms).
    """

    def __init__(self, group: MetricGroup, clock: Clock, watermark: Callable[[], int]) -> None:
        self.group = SourceReaderMetricGroup(group)
        self._clock = clock
        self._records_in = self.group.num_records_in
        self._emit_lag_ms = _UNDEFINED
        self._idle_since_ms: int | None = clock.now_ms()
        self._watermark = watermark
        self._splits: dict[str, MetricGroup] = {}
        self.group.gauge("currentEmitEventTimeLag", lambda: self._emit_lag_ms)
        self.group.gauge("watermarkLag", self._watermark_lag_ms)
        self.group.gauge("sourceIdleTime", self._idle_ms)

    def emitted(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Count records that were emitted."""
        self._records_in.inc(Batch(values).records)
        self._idle_since_ms = None
        if timestamps and timestamps[-1] > MIN_TIMESTAMP:
            self._emit_lag_ms = self._clock.now_ms() - timestamps[-1]

    def idle(self) -> None:
        """Note that there was nothing to emit."""
        if self._idle_since_ms is None:
            self._idle_since_ms = self._clock.now_ms()

    def add_split(self, split_id: str, watermark: Callable[[], int]) -> None:
        """Report the watermark of a split, until it is removed."""
        if split_id:
            group = self._splits[split_id] = self.group.add_group("split", split_id)
            group.add_group("watermark").gauge("currentWatermark", watermark)

    def remove_split(self, split_id: str) -> None:
        """Remove the metrics of a split."""
        group = self._splits.pop(split_id, None)
        if group is not None:
            group.close()

    def _watermark_lag_ms(self) -> int:
        watermark = self._watermark()
        return _UNDEFINED if watermark == MIN_TIMESTAMP else self._clock.now_ms() - watermark

    def _idle_ms(self) -> int:
        return 0 if self._idle_since_ms is None else self._clock.now_ms() - self._idle_since_ms
