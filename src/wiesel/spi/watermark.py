"""Watermark strategies: timestamp assigners and watermark generators.

A strategy is plain picklable data. In the tasks :meth:`WatermarkStrategy.create_watermark_generator` creates one
:class:`WatermarkGenerator` per split (or per subtask, if a strategy is applied to a stream). The built-in generators process whole batches
(:meth:`WatermarkGenerator.on_events`); a user's generator is called record by record.

A watermark ``t`` says that no more records with a timestamp ``<= t`` are expected. Flink therefore emits
``max_timestamp - bound - 1`` and not ``max_timestamp - bound``, which descriptions of the idea often give: a record with
exactly the timestamp ``max_timestamp - bound`` is not late.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from wiesel.core.clock import Clock, SystemClock
from wiesel.core.durations import DurationLike, to_millis
from wiesel.core.errors import ProgramError
from wiesel.core.ids import MIN_TIMESTAMP

__all__ = [
    "BoundedOutOfOrdernessWatermarks",
    "IngestionTimeAssigner",
    "NoWatermarksGenerator",
    "TimestampAssigner",
    "WatermarkAlignment",
    "WatermarkGenerator",
    "WatermarkOutput",
    "WatermarkStrategy",
    "WatermarksWithIdleness",
]


class WatermarkOutput(Protocol):
    """Receives the watermarks of a generator."""

    def emit_watermark(self, timestamp: int) -> None:
        """Emit a watermark: no record with a timestamp ``<= timestamp`` (ms) is expected any more; also ends idleness."""
        ...

    def mark_idle(self) -> None:
        """Mark this input idle; downstream operators do not wait for it."""
        ...

    def mark_active(self) -> None:
        """Mark this input active again."""
        ...


class WatermarkGenerator(ABC):
    """Observes the timestamps of records and emits watermarks, per record or periodically.

    All methods are called from the task's mailbox thread, never concurrently. A generator's state is not part of checkpoints: after a
    restore a new one is created.
    """

    @abstractmethod
    def on_event(self, event: Any, event_timestamp: int, output: WatermarkOutput) -> None:
        """Process one record and its timestamp (ms); a punctuated generator emits here. Called once per record, in order."""

    @abstractmethod
    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        """Emit a watermark if there is a new one. Called every ``pipeline.auto-watermark-interval``, with or without records."""

    def on_events(self, events: Sequence[Any], timestamps: Sequence[int], output: WatermarkOutput) -> None:
        """Process a batch of records, like :meth:`on_event` for each, in order."""
        on_event = self.on_event
        for event, timestamp in zip(events, timestamps, strict=True):
            on_event(event, timestamp, output)

    emits_per_event: bool = True
    """True if ``on_event`` may emit. If not, the engine may pass whole batches before forwarding them."""


class TimestampAssigner(ABC):
    """Extracts the event timestamp of a record."""

    @abstractmethod
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        """Return the timestamp of ``value`` in ms since the epoch.

        Args:
            value: The record.
            record_timestamp: The timestamp that it has already (from the source), ``MIN_TIMESTAMP`` if none.
        """


class _FunctionTimestampAssigner(TimestampAssigner):
    def __init__(self, function: Callable[[Any, int], int]) -> None:
        self._function = function

    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return self._function(value, record_timestamp)


class IngestionTimeAssigner(TimestampAssigner):
    """Assigns the processing time (ms) of records: with ``for_monotonous_timestamps``, Flink's ingestion time.

    Java's class, which PyFlink lacks. Timestamps do not decrease when the clock is set back.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock
        self._last_ms = MIN_TIMESTAMP

    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        """Return the time now."""
        self._last_ms = max(self._last_ms, (self._clock or SystemClock()).now_ms())
        return self._last_ms


class BoundedOutOfOrdernessWatermarks(WatermarkGenerator):
    """Records are at most ``max_out_of_orderness_ms`` behind the maximal timestamp; 0 means ascending timestamps."""

    emits_per_event = False

    def __init__(self, max_out_of_orderness_ms: int) -> None:
        self._bound_ms = max_out_of_orderness_ms
        # So that the first emission, before any record, is exactly MIN_TIMESTAMP and does not underflow.
        self._max_timestamp = MIN_TIMESTAMP + max_out_of_orderness_ms + 1

    def on_event(self, event: Any, event_timestamp: int, output: WatermarkOutput) -> None:
        if event_timestamp > self._max_timestamp:
            self._max_timestamp = event_timestamp

    def on_events(self, events: Sequence[Any], timestamps: Sequence[int], output: WatermarkOutput) -> None:
        if timestamps:
            self._max_timestamp = max(self._max_timestamp, max(timestamps))

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        output.emit_watermark(self._max_timestamp - self._bound_ms - 1)


class NoWatermarksGenerator(WatermarkGenerator):
    """Never emits: event time does not advance until the input ends."""

    emits_per_event = False

    def on_event(self, event: Any, event_timestamp: int, output: WatermarkOutput) -> None:
        """Do nothing."""

    def on_events(self, events: Sequence[Any], timestamps: Sequence[int], output: WatermarkOutput) -> None:
        """Do nothing."""

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        """Do nothing."""


class WatermarksWithIdleness(WatermarkGenerator):
    """Wraps a generator and marks the output idle after ``idle_timeout_ms`` without records.

    Idleness is checked at every periodic emission. As in Flink the idle time starts at the first emission without new records, and the
    output is active again at the first emission after a record.
    """

    def __init__(self, generator: WatermarkGenerator, idle_timeout_ms: int, clock: Clock) -> None:
        self._generator = generator
        self._idle_timeout_s = idle_timeout_ms / 1000.0
        self._clock = clock
        self._saw_records = False
        self._quiet_since_s: float | None = None
        self._is_idle = False
        self.emits_per_event = generator.emits_per_event

    def on_event(self, event: Any, event_timestamp: int, output: WatermarkOutput) -> None:
        self._generator.on_event(event, event_timestamp, output)
        self._note_activity()

    def on_events(self, events: Sequence[Any], timestamps: Sequence[int], output: WatermarkOutput) -> None:
        if events:
            self._generator.on_events(events, timestamps, output)
            self._note_activity()

    def _note_activity(self) -> None:
        self._saw_records = True
        self._is_idle = False

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        if not self._idle_for_too_long():
            self._generator.on_periodic_emit(output)
        elif not self._is_idle:
            output.mark_idle()
            self._is_idle = True

    def _idle_for_too_long(self) -> bool:
        if self._saw_records:
            self._saw_records = False
            self._quiet_since_s = None
            return False
        now_s = self._clock.monotonic_s()
        if self._quiet_since_s is None:
            self._quiet_since_s = now_s
            return False
        return now_s - self._quiet_since_s > self._idle_timeout_s


@dataclass(frozen=True)
class WatermarkAlignment:
    """Watermark alignment of the sources of a group.

    Attributes:
        group: Name of the group.
        max_drift_ms: Maximal drift of a source ahead of the slowest one of the group.
        update_interval_ms: Interval of reports and updates of the sources.
    """

    group: str
    max_drift_ms: int
    update_interval_ms: int = 1_000


class WatermarkStrategy:
    """Timestamp assigner and watermark generator of a stream.

    Created by one of the ``for_...`` methods and refined by the ``with_...`` methods. ``with_timestamp_assigner`` changes the strategy
    itself and returns it, the others return a changed copy (which keeps the assigner); both as in PyFlink, except that PyFlink loses the
    assigner when ``with_idleness`` is called after it.
    """

    def __init__(
        self, generator_supplier: Callable[[], WatermarkGenerator] | None = None, *, max_out_of_orderness_ms: int | None = None
    ) -> None:
        self.generator_supplier = generator_supplier
        self.max_out_of_orderness_ms = max_out_of_orderness_ms
        self.timestamp_assigner: TimestampAssigner | None = None
        self.idle_timeout_ms: int | None = None
        self.alignment: WatermarkAlignment | None = None

    @staticmethod
    def for_monotonous_timestamps() -> WatermarkStrategy:
        """Return a strategy for ascending timestamps: bounded out-of-orderness with a bound of 0."""
        return WatermarkStrategy(max_out_of_orderness_ms=0)

    @staticmethod
    def for_bounded_out_of_orderness(max_out_of_orderness: DurationLike) -> WatermarkStrategy:
        """Return a strategy for records that are at most ``max_out_of_orderness`` behind the newest one.

        Raises:
            ProgramError: If the bound is negative.
        """
        bound_ms = to_millis(max_out_of_orderness)
        if bound_ms < 0:
            raise ProgramError(
                f"the bound of WatermarkStrategy.for_bounded_out_of_orderness is negative: {bound_ms} ms",
                hint="give zero or a positive duration, for example Duration.of_seconds(5)",
            )
        return WatermarkStrategy(max_out_of_orderness_ms=bound_ms)

    @staticmethod
    def no_watermarks() -> WatermarkStrategy:
        """Return a strategy without watermarks, for processing time."""
        return WatermarkStrategy()

    @staticmethod
    def for_generator(generator_supplier: Callable[[], WatermarkGenerator]) -> WatermarkStrategy:
        """Return a strategy with a custom generator.

        Args:
            generator_supplier: Called without arguments for each split or subtask; a class suffices. Shipped to the workers.

        Raises:
            ProgramError: If it cannot be called.
        """
        if not callable(generator_supplier):
            raise ProgramError(
                f"WatermarkStrategy.for_generator got {generator_supplier!r}, which cannot be called",
                hint="give the generator's class or a function that makes a generator, not a generator",
            )
        return WatermarkStrategy(generator_supplier)

    def with_timestamp_assigner(self, timestamp_assigner: TimestampAssigner | Callable[[Any, int], int]) -> WatermarkStrategy:
        """Set the timestamp assigner.

        Args:
            timestamp_assigner: A :class:`TimestampAssigner`, or a function of record and previous timestamp (ms).

        Raises:
            ProgramError: If it is neither.
        """
        if callable(getattr(timestamp_assigner, "extract_timestamp", None)):
            self.timestamp_assigner = timestamp_assigner  # type: ignore[assignment]
        elif callable(timestamp_assigner):
            self.timestamp_assigner = _FunctionTimestampAssigner(timestamp_assigner)
        else:
            raise ProgramError(
                f"WatermarkStrategy.with_timestamp_assigner got {timestamp_assigner!r}",
                hint="give a TimestampAssigner (an object with extract_timestamp(value, record_timestamp)) or such a function",
            )
        return self

    def with_idleness(self, idle_timeout: DurationLike) -> WatermarkStrategy:
        """Mark an input idle after ``idle_timeout`` without records.

        Raises:
            ProgramError: If the timeout is not positive.
        """
        timeout_ms = to_millis(idle_timeout)
        if timeout_ms <= 0:
            raise ProgramError(
                f"the idle timeout of WatermarkStrategy.with_idleness is not positive: {timeout_ms} ms",
                hint="give a positive duration, for example Duration.of_seconds(30)",
            )
        changed = self._copy()
        changed.idle_timeout_ms = timeout_ms
        return changed

    def with_watermark_alignment(
        self, watermark_group: str, max_allowed_watermark_drift: DurationLike, update_interval: DurationLike | None = None
    ) -> WatermarkStrategy:
        """Align sources of the same group (see :class:`WatermarkAlignment`; updates every second by default).

        A subtask whose watermark exceeds the lowest one of the group by more than the drift stops reading until the others have caught up.
        Idle and finished subtasks are ignored. As in Flink it only affects ``from_source``, and not BATCH mode; splits read concurrently by
        one subtask do not wait for each other.

        Raises:
            ProgramError: If the drift is negative, or the interval not positive.
        """
        drift_ms = to_millis(max_allowed_watermark_drift)
        interval_ms = 1_000 if update_interval is None else to_millis(update_interval)
        if drift_ms < 0 or interval_ms <= 0:
            raise ProgramError(
                f"watermark alignment needs a drift that is not negative and a positive interval: {drift_ms} ms, {interval_ms} ms",
                hint="give durations, for example Duration.of_seconds(20) and Duration.of_seconds(1)",
            )
        changed = self._copy()
        changed.alignment = WatermarkAlignment(watermark_group, drift_ms, interval_ms)
        return changed

    def _copy(self) -> WatermarkStrategy:
        other = WatermarkStrategy.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    @property
    def has_watermarks(self) -> bool:
        """Return whether the strategy can emit watermarks."""
        return self.generator_supplier is not None or self.max_out_of_orderness_ms is not None

    def create_timestamp_assigner(self, clock: Clock) -> TimestampAssigner | None:
        """Return the assigner for one task, or None if records keep their timestamps."""
        if type(self.timestamp_assigner) is IngestionTimeAssigner:
            return IngestionTimeAssigner(clock)
        return self.timestamp_assigner

    def create_watermark_generator(self, clock: Clock) -> WatermarkGenerator:
        """Return a new generator, with idleness if configured.

        Raises:
            ProgramError: If the user's supplier does not return a generator.
        """
        generator: WatermarkGenerator
        if self.generator_supplier is not None:
            generator = self.generator_supplier()
            if not isinstance(generator, WatermarkGenerator):
                raise ProgramError(
                    f"the supplier given to WatermarkStrategy.for_generator returned {generator!r}",
                    hint="it must return a WatermarkGenerator (subclass it and write on_event and on_periodic_emit)",
                )
        elif self.max_out_of_orderness_ms is not None:
            generator = BoundedOutOfOrdernessWatermarks(self.max_out_of_orderness_ms)
        else:
            generator = NoWatermarksGenerator()
        if self.idle_timeout_ms is not None:
            return WatermarksWithIdleness(generator, self.idle_timeout_ms, clock)
        return generator

    def describe(self) -> str:
        """Return one line for plans and messages."""
        if self.generator_supplier is not None:
            text = f"generator {getattr(self.generator_supplier, '__name__', repr(self.generator_supplier))}"
        elif self.max_out_of_orderness_ms is None:
            text = "no watermarks"
        elif self.max_out_of_orderness_ms == 0:
            text = "monotonous timestamps"
        else:
            text = f"bounded out-of-orderness {self.max_out_of_orderness_ms} ms"
        return text if self.idle_timeout_ms is None else f"{text}, idle after {self.idle_timeout_ms} ms"

    def __repr__(self) -> str:
        return f"WatermarkStrategy({self.describe()})"
