"""Session windows: groups of elements of a key without a pause of the length of the gap."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable
from typing import Any, TypeAlias, TypeVar

from wiesel.core.durations import DurationLike, to_millis
from wiesel.core.errors import ProgramError
from wiesel.core.ids import MIN_TIMESTAMP
from wiesel.spi.functions import user_callable
from wiesel.spi.windows.assigner import MergingWindowAssigner, WindowAssigner
from wiesel.spi.windows.time_assigners import no_timestamp_error
from wiesel.spi.windows.trigger import Trigger
from wiesel.spi.windows.triggers import EventTimeTrigger, ProcessingTimeTrigger
from wiesel.spi.windows.window import TimeWindow, TimeWindowSerializer

__all__ = [
    "DynamicEventTimeSessionWindows",
    "DynamicProcessingTimeSessionWindows",
    "EventTimeSessionWindows",
    "ProcessingTimeSessionWindows",
    "SessionWindowTimeGapExtractor",
]

T = TypeVar("T")


class SessionWindowTimeGapExtractor(ABC):
    """Returns the session gap of an element. A callable with one argument is accepted as well."""

    @abstractmethod
    def extract(self, element: Any) -> int:
        """Return the gap in ms; positive."""


_GapExtractor: TypeAlias = SessionWindowTimeGapExtractor | Callable[[Any], int]


class _SessionWindows(MergingWindowAssigner[T, TimeWindow]):
    """Base of session windows: overlapping and touching windows are merged."""

    def merge_windows(self, windows: Iterable[TimeWindow], callback: MergingWindowAssigner.MergeCallback[TimeWindow]) -> None:
        """Have windows that overlap or touch become one."""
        TimeWindow.merge_windows(windows, callback)

    def get_window_serializer(self) -> TimeWindowSerializer:
        """Return the serializer of time windows."""
        return TimeWindowSerializer()


class _FixedGapSessionWindows(_SessionWindows[T]):
    def __init__(self, session_gap: int) -> None:
        if session_gap <= 0:
            raise ValueError(f"{type(self).__name__} parameters must satisfy 0 < gap, got {session_gap}")
        self._session_gap = session_gap

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._session_gap})"


class _DynamicGapSessionWindows(_SessionWindows[T]):
    def __init__(self, session_window_time_gap_extractor: _GapExtractor) -> None:
        extract = user_callable(session_window_time_gap_extractor, "extract")
        if isinstance(session_window_time_gap_extractor, type) or not callable(extract):
            raise ProgramError(
                f"{type(self).__name__} needs what tells the gap of an element, got {session_window_time_gap_extractor!r}",
                hint="give a SessionWindowTimeGapExtractor, or a function that returns milliseconds",
            )
        self._session_window_time_gap_extractor = session_window_time_gap_extractor

    def _gap_of(self, element: T) -> int:
        gap: int = user_callable(self._session_window_time_gap_extractor, "extract")(element)
        if gap <= 0:
            raise ProgramError(
                f"Dynamic session time gap must satisfy 0 < gap, got {gap!r} for {element!r:.200}",
                hint=f"let {type(self._session_window_time_gap_extractor).__name__} return a positive number of milliseconds",
            )
        return gap

    def __repr__(self) -> str:
        return f"{type(self).__name__}({type(self._session_window_time_gap_extractor).__name__})"


class EventTimeSessionWindows(_FixedGapSessionWindows[T]):
    """Event-time sessions that end after a gap of ``session_gap`` ms."""

    @staticmethod
    def with_gap(size: DurationLike) -> EventTimeSessionWindows[Any]:
        """Return the assigner of sessions that end after a gap of ``size``.

        Raises:
            ValueError: If the gap is not positive.
        """
        return EventTimeSessionWindows(to_millis(size))

    @staticmethod
    def with_dynamic_gap(extractor: _GapExtractor) -> DynamicEventTimeSessionWindows[Any]:
        """Return the assigner of sessions whose gap depends on the elements."""
        return DynamicEventTimeSessionWindows(extractor)

    def assign_windows(self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext) -> Collection[TimeWindow]:
        """Return the window from the timestamp to the end of the gap.

        Raises:
            ProgramError: If the element has no timestamp.
        """
        if timestamp <= MIN_TIMESTAMP:
            raise no_timestamp_error(self, element)
        return [TimeWindow(timestamp, timestamp + self._session_gap)]

    def get_default_trigger(self, env: Any) -> Trigger[T, TimeWindow]:
        """Return the trigger that fires at the end of the window."""
        return EventTimeTrigger()

    def is_event_time(self) -> bool:
        """Return True."""
        return True


class ProcessingTimeSessionWindows(_FixedGapSessionWindows[T]):
    """Processing-time sessions that end after a gap of ``session_gap`` ms."""

    @staticmethod
    def with_gap(size: DurationLike) -> ProcessingTimeSessionWindows[Any]:
        """Return the assigner of sessions that end after a gap of ``size``.

        Raises:
            ValueError: If the gap is not positive.
        """
        return ProcessingTimeSessionWindows(to_millis(size))

    @staticmethod
    def with_dynamic_gap(extractor: _GapExtractor) -> DynamicProcessingTimeSessionWindows[Any]:
        """Return the assigner of sessions whose gap depends on the elements."""
        return DynamicProcessingTimeSessionWindows(extractor)

    def assign_windows(self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext) -> Collection[TimeWindow]:
        """Return the window from the present time to the end of the gap."""
        now = context.get_current_processing_time()
        return [TimeWindow(now, now + self._session_gap)]

    def get_default_trigger(self, env: Any) -> Trigger[T, TimeWindow]:
        """Return the trigger that fires at the end of the window."""
        return ProcessingTimeTrigger()

    def is_event_time(self) -> bool:
        """Return False."""
        return False


class DynamicEventTimeSessionWindows(_DynamicGapSessionWindows[T]):
    """Sessions of event time whose gap depends on the elements."""

    @staticmethod
    def with_dynamic_gap(extractor: _GapExtractor) -> DynamicEventTimeSessionWindows[Any]:
        """Return the assigner of sessions whose gap depends on the elements."""
        return DynamicEventTimeSessionWindows(extractor)

    def assign_windows(self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext) -> Collection[TimeWindow]:
        """Return the window from the timestamp to the end of the element's gap.

        Raises:
            ProgramError: If the element has no timestamp or its gap is not positive.
        """
        if timestamp <= MIN_TIMESTAMP:
            raise no_timestamp_error(self, element)
        return [TimeWindow(timestamp, timestamp + self._gap_of(element))]

    def get_default_trigger(self, env: Any) -> Trigger[T, TimeWindow]:
        """Return the trigger that fires at the end of the window."""
        return EventTimeTrigger()

    def is_event_time(self) -> bool:
        """Return True."""
        return True


class DynamicProcessingTimeSessionWindows(_DynamicGapSessionWindows[T]):
    """Sessions of processing time whose gap depends on the elements."""

    @staticmethod
    def with_dynamic_gap(extractor: _GapExtractor) -> DynamicProcessingTimeSessionWindows[Any]:
        """Return the assigner of sessions whose gap depends on the elements."""
        return DynamicProcessingTimeSessionWindows(extractor)

    def assign_windows(self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext) -> Collection[TimeWindow]:
        """Return the window from the present time to the end of the element's gap.

        Raises:
            ProgramError: If the gap is not positive.
        """
        now = context.get_current_processing_time()
        return [TimeWindow(now, now + self._gap_of(element))]

    def get_default_trigger(self, env: Any) -> Trigger[T, TimeWindow]:
        """Return the trigger that fires at the end of the window."""
        return ProcessingTimeTrigger()

    def is_event_time(self) -> bool:
        """Return False."""
        return False
