"""Internal. The operator of a watermark strategy: assigns timestamps, and generates watermarks from them.

As in Flink the operator restarts event time: watermarks and idleness from upstream are dropped, except for the final watermark of a bounded
input. Periodic watermarks are emitted by the clock (``pipeline.auto-watermark-interval``) and once when the input ends; in BATCH mode there
are none before the end.

Retry semantics: generators are not part of checkpoints; after a restore they start with the first record.
"""

from __future__ import annotations

from itertools import repeat
from typing import Any

from wiesel.core.errors import WieselError
from wiesel.core.ids import MAX_TIMESTAMP, MIN_TIMESTAMP
from wiesel.core.logs import get_logger
from wiesel.runtime.operator import StreamOperator
from wiesel.runtime.operators.function_operator import auto_watermark_interval_ms, is_batch
from wiesel.runtime.user_code import UserCode, as_time, raise_failure, without
from wiesel.spi.watermark import NoWatermarksGenerator, WatermarkGenerator, WatermarkStrategy
from wiesel.wire.batch import Batch

__all__ = ["TimestampsOperator", "timestamps_operator"]

_log = get_logger("wiesel.runtime.timestamps")


class TimestampsOperator(StreamOperator):
    """Stamps records and generates watermarks; it is the generator's output itself."""

    def __init__(self, strategy: WatermarkStrategy) -> None:
        self._strategy = strategy
        self._watermark = MIN_TIMESTAMP
        self._idle = False
        self._next_emit_ms: int | None = None
        self._warned = False
        # During a batch with a punctuated generator: received records, and the number already emitted.
        self._pending: Batch | None = None
        self._seen = 0
        self._emitted = 0

    def open(self) -> None:
        """Create the generator and start the timer of periodic watermarks."""
        self.guard = UserCode(self.context, self.output)
        self._assigner = self._strategy.create_timestamp_assigner(self.context.clock)
        progressive = not is_batch(self.context)
        self._generator: WatermarkGenerator = (
            self._strategy.create_watermark_generator(self.context.clock) if progressive else NoWatermarksGenerator()
        )
        self._interval_ms = auto_watermark_interval_ms(self.context) if progressive else 0
        self._ask()

    def _ask(self) -> None:
        if self._interval_ms > 0:
            self._next_emit_ms = self.context.clock.now_ms() + self._interval_ms
            self.context.register_processing_timer(self._next_emit_ms)

    # Records

    def process_batch(self, batch: Batch, input_index: int = 0) -> None:
        """Assign timestamps, emit the records and pass them to the generator."""
        failure: WieselError | None = None
        error: Exception | None = None
        if self._assigner is not None:
            batch, failure, error = self._stamped(batch)
        if batch.values:
            if self._generator.emits_per_event:
                self._pass_singly(batch)
            else:
                self.output.emit(batch)
                times = batch.timestamps
                self._generator.on_events(batch.values, [MIN_TIMESTAMP] * len(batch) if times is None else _without_none(times), self)
        if failure is not None and error is not None:
            raise_failure(failure, error)

    def _stamped(self, batch: Batch) -> tuple[Batch, WieselError | None, Exception | None]:
        assigner = self._assigner
        values, before = batch.values, batch.timestamps
        if before is not None and not self._warned:
            self._warned = True
            _log.warning("operator %r replaces existing timestamps of records", self.context.name)

        def extract(value: Any, timestamp: int) -> int:
            return as_time(assigner.extract_timestamp(value, timestamp), "a timestamp")  # type: ignore[union-attr]

        times: list[Any] = []
        old = repeat(MIN_TIMESTAMP) if before is None else _without_none(before)
        skipped, failure, error = self.guard.map_batch(extract, values, before, times, old)
        if len(times) < len(values):
            values = without(values, skipped)[: len(times)]
        return Batch(values, times), failure, error

    def _pass_singly(self, batch: Batch) -> None:
        """Pass each record to a punctuated generator; the batch is split after a record that causes a watermark."""
        self._pending, self._seen, self._emitted = batch, 0, 0
        values, timestamps = batch.values, batch.timestamps
        on_event = self._generator.on_event
        failure: WieselError | None = None
        error: Exception | None = None
        try:
            for i, value in enumerate(values):
                timestamp = None if timestamps is None else timestamps[i]
                self._seen = i + 1
                try:
                    on_event(value, MIN_TIMESTAMP if timestamp is None else timestamp, self)
                except Exception as raised:  # noqa: BLE001 - whatever a user's generator raises is about its record
                    failure, error = self.guard.failed(raised, value, timestamp), raised
                    if failure is not None:
                        break
            self._hand_on_seen()
        finally:
            self._pending = None
        if failure is not None and error is not None:
            raise_failure(failure, error)

    def _hand_on_seen(self) -> None:
        batch, start, end = self._pending, self._emitted, self._seen
        if batch is None or start == end:
            return
        self._emitted = end
        if start == 0 and end == len(batch.values):
            self.output.emit(batch)
        else:
            self.output.emit(Batch(batch.values[start:end], None if batch.timestamps is None else batch.timestamps[start:end]))

    # WatermarkOutput

    def emit_watermark(self, timestamp: int) -> None:
        """Emit a watermark of the generator if it is higher than the last; ends idleness."""
        if timestamp <= self._watermark:
            return
        self._hand_on_seen()
        self._watermark = timestamp
        self.mark_active()
        self.output.emit_watermark(timestamp)

    def mark_idle(self) -> None:
        """Mark the output idle, as the generator receives no records."""
        if not self._idle:
            self._hand_on_seen()
            self._idle = True
            self.output.emit_status(True)

    def mark_active(self) -> None:
        """Mark the output active, as the generator receives records again."""
        if self._idle:
            self._hand_on_seen()
            self._idle = False
            self.output.emit_status(False)

    # Time

    def on_processing_time(self, now_ms: int) -> None:
        """Emit the generator's periodic watermark."""
        if self._next_emit_ms is None or now_ms < self._next_emit_ms:
            return
        self._emit_periodic()
        self._ask()

    def _emit_periodic(self) -> None:
        try:
            self._generator.on_periodic_emit(self)
        except WieselError:
            raise
        except Exception as error:
            # Not about a record, so it cannot be skipped: without watermarks the job would silently make no progress.
            raise self.guard.lifecycle_failure(error, f"{type(self._generator).__name__}.on_periodic_emit") from error

    def process_watermark(self, timestamp: int) -> None:
        """Drop watermarks from upstream except the final one, which ends a bounded input."""
        if timestamp == MAX_TIMESTAMP:
            self.emit_watermark(timestamp)

    def process_status(self, idle: bool) -> None:
        """Drop the status from upstream: the strategy determines idleness."""

    def finish(self) -> None:
        """Emit the generator's last watermark (only relevant if the input ended without a final watermark)."""
        self._emit_periodic()


def _without_none(timestamps: list[Any]) -> list[int]:
    return [MIN_TIMESTAMP if t is None else t for t in timestamps] if None in timestamps else timestamps


def timestamps_operator(params: dict[str, Any], payload: Any) -> TimestampsOperator:
    """Create the operator of ``assign_timestamps_and_watermarks``."""
    return TimestampsOperator(payload["strategy"])
