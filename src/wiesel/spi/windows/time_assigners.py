"""Tumbling and sliding time windows."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, TypeVar

from wiesel.core.durations import DurationLike, to_millis
from wiesel.core.errors import ProgramError
from wiesel.core.ids import MIN_TIMESTAMP
from wiesel.spi.windows.assigner import WindowAssigner
from wiesel.spi.windows.trigger import Trigger
from wiesel.spi.windows.triggers import EventTimeTrigger, ProcessingTimeTrigger
from wiesel.spi.windows.window import TimeWindow, TimeWindowSerializer

__all__ = [
    "SlidingEventTimeWindows",
    "SlidingProcessingTimeWindows",
    "TumblingEventTimeWindows",
    "TumblingProcessingTimeWindows",
    "no_timestamp_error",
]

T = TypeVar("T")


def no_timestamp_error(assigner: WindowAssigner[Any, Any], element: Any) -> ProgramError:
    """Return the error for an element without timestamp in event-time windows."""
    return ProgramError(
        f"{assigner!r} got an element that has no timestamp: {element!r:.200}",
        hint="call assign_timestamps_and_watermarks() with a strategy that has a timestamp assigner before the window, "
        "or use processing-time windows",
    )


class _TumblingWindows(WindowAssigner[T, TimeWindow]):
    """Adjacent windows. ``size`` and ``offset`` in ms; windows begin at multiples of ``size`` + ``offset``."""

    def __init__(self, size: int, offset: int) -> None:
        if size <= 0 or abs(offset) >= size:
            raise ValueError(
                f"{type(self).__name__} parameters must satisfy abs(offset) < size and size > 0, got size={size}, offset={offset}"
            )
        self._size = size
        self._offset = offset

    def _window_of(self, timestamp: int) -> list[TimeWindow]:
        start = timestamp - (timestamp - self._offset) % self._size
        return [TimeWindow(start, start + self._size)]

    def get_window_serializer(self) -> TimeWindowSerializer:
        """Return the serializer of time windows."""
        return TimeWindowSerializer()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._size}, {self._offset})"


class _SlidingWindows(WindowAssigner[T, TimeWindow]):
    """Windows of ``size`` that begin every ``slide`` (ms), at multiples of ``slide`` + ``offset``."""

    def __init__(self, size: int, slide: int, offset: int) -> None:
        if slide <= 0 or abs(offset) >= slide or size <= 0:
            raise ValueError(
                f"{type(self).__name__} parameters must satisfy abs(offset) < slide and size > 0, "
                f"got size={size}, slide={slide}, offset={offset}"
            )
        self._size = size
        self._slide = slide
        self._offset = offset

    def _windows_of(self, timestamp: int) -> list[TimeWindow]:
        size, slide = self._size, self._slide
        last_start = timestamp - (timestamp - self._offset) % slide
        return [TimeWindow(start, start + size) for start in range(last_start, timestamp - size, -slide)]

    def get_window_serializer(self) -> TimeWindowSerializer:
        """Return the serializer of time windows."""
        return TimeWindowSerializer()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._size}, {self._slide}, {self._offset})"


class TumblingEventTimeWindows(_TumblingWindows[T]):
    """Windows of event time, side by side: each element is in exactly one.

    >>> TumblingEventTimeWindows.of(Time.hours(1), Time.minutes(15))
    TumblingEventTimeWindows(3600000, 900000)
    """

    @staticmethod
    def of(size: DurationLike, offset: DurationLike | None = None) -> TumblingEventTimeWindows[Any]:
        """Return the assigner of windows of ``size``; ``offset`` moves their start, e.g. -8 h for days of UTC+8.

        Raises:
            ValueError: If the size is not positive or the offset not smaller than it.
        """
        return TumblingEventTimeWindows(to_millis(size), 0 if offset is None else to_millis(offset))

    def assign_windows(self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext) -> Collection[TimeWindow]:
        """Return the window of the timestamp.

        Raises:
            ProgramError: If the element has no timestamp.
        """
        if timestamp <= MIN_TIMESTAMP:
            raise no_timestamp_error(self, element)
        return self._window_of(timestamp)

    def get_default_trigger(self, env: Any) -> Trigger[T, TimeWindow]:
        """Return the trigger that fires at the end of the window."""
        return EventTimeTrigger()

    def is_event_time(self) -> bool:
        """Return True."""
        return True


class TumblingProcessingTimeWindows(_TumblingWindows[T]):
    """Windows of processing time, side by side: each element is in exactly one."""

    @staticmethod
    def of(size: DurationLike, offset: DurationLike | None = None) -> TumblingProcessingTimeWindows[Any]:
        """Return the assigner of windows of ``size``; ``offset`` moves their start.

        Raises:
            ValueError: If the size is not positive or the offset not smaller than it.
        """
        return TumblingProcessingTimeWindows(to_millis(size), 0 if offset is None else to_millis(offset))

    def assign_windows(self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext) -> Collection[TimeWindow]:
        """Return the window of the present time."""
        return self._window_of(context.get_current_processing_time())

    def get_default_trigger(self, env: Any) -> Trigger[T, TimeWindow]:
        """Return the trigger that fires at the end of the window."""
        return ProcessingTimeTrigger()

    def is_event_time(self) -> bool:
        """Return False."""
        return False


class SlidingEventTimeWindows(_SlidingWindows[T]):
    """Overlapping event-time windows: each element is in ``size / slide`` of them."""

    @staticmethod
    def of(size: DurationLike, slide: DurationLike, offset: DurationLike | None = None) -> SlidingEventTimeWindows[Any]:
        """Return the assigner of windows of ``size`` starting every ``slide``; ``offset`` shifts their start.

        Raises:
            ValueError: If size or slide are not positive, or the offset not smaller than the slide.
        """
        return SlidingEventTimeWindows(to_millis(size), to_millis(slide), 0 if offset is None else to_millis(offset))

    def assign_windows(self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext) -> Collection[TimeWindow]:
        """Return the windows of the timestamp, the latest first.

        Raises:
            ProgramError: If the element has no timestamp.
        """
        if timestamp <= MIN_TIMESTAMP:
            raise no_timestamp_error(self, element)
        return self._windows_of(timestamp)

    def get_default_trigger(self, env: Any) -> Trigger[T, TimeWindow]:
        """Return the trigger that fires at the end of the window."""
        return EventTimeTrigger()

    def is_event_time(self) -> bool:
        """Return True."""
        return True


class SlidingProcessingTimeWindows(_SlidingWindows[T]):
    """Overlapping processing-time windows: each element is in ``size / slide`` of them."""

    @staticmethod
    def of(size: DurationLike, slide: DurationLike, offset: DurationLike | None = None) -> SlidingProcessingTimeWindows[Any]:
        """Return the assigner of windows of ``size`` starting every ``slide``; ``offset`` shifts their start.

        Raises:
            ValueError: If size or slide are not positive, or the offset not smaller than the slide.
        """
        return SlidingProcessingTimeWindows(to_millis(size), to_millis(slide), 0 if offset is None else to_millis(offset))

    def assign_windows(self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext) -> Collection[TimeWindow]:
        """Return the windows of the present time, the latest first."""
        return self._windows_of(context.get_current_processing_time())

    def get_default_trigger(self, env: Any) -> Trigger[T, TimeWindow]:
        """Return the trigger that fires at the end of the window."""
        return ProcessingTimeTrigger()

    def is_event_time(self) -> bool:
        """Return False."""
        return False
