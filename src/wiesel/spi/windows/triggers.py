"""Built-in triggers."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from wiesel.core.durations import to_millis
from wiesel.spi.state import ReducingStateDescriptor, ValueStateDescriptor
from wiesel.spi.windows.evictors import DeltaFunction, delta_callable
from wiesel.spi.windows.trigger import Trigger, TriggerResult
from wiesel.spi.windows.window import GlobalWindow, TimeWindow
from wiesel.types import Types

if TYPE_CHECKING:
    from wiesel.core.durations import DurationLike
    from wiesel.spi.state import ReducingState
    from wiesel.types.typeinfo import TypeInformation

__all__ = [
    "ContinuousEventTimeTrigger",
    "ContinuousProcessingTimeTrigger",
    "CountTrigger",
    "DeltaTrigger",
    "EventTimeTrigger",
    "NeverTrigger",
    "ProcessingTimeTrigger",
    "PurgingTrigger",
]

T = TypeVar("T")


class EventTimeTrigger(Trigger[T, TimeWindow]):
    """Fires when the watermark reaches the end of the window, and for each accepted late element."""

    def on_element(self, element: T, timestamp: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Fire immediately if the window has ended, else wait for its end."""
        if window.max_timestamp() <= ctx.get_current_watermark():
            return TriggerResult.FIRE
        ctx.register_event_time_timer(window.max_timestamp())
        return TriggerResult.CONTINUE

    def on_processing_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Fire at the end of the window."""
        return TriggerResult.FIRE if time == window.max_timestamp() else TriggerResult.CONTINUE

    def can_merge(self) -> bool:
        """Return True."""
        return True

    def on_merge(self, window: TimeWindow, ctx: Trigger.OnMergeContext) -> None:
        """Wait for the end of the new window unless it has been reached: then the present element fires it."""
        if window.max_timestamp() > ctx.get_current_watermark():
            ctx.register_event_time_timer(window.max_timestamp())

    def clear(self, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        """Remove the timer."""
        ctx.delete_event_time_timer(window.max_timestamp())

    @staticmethod
    def create() -> EventTimeTrigger[Any]:
        """Return the trigger."""
        return EventTimeTrigger()

    def __repr__(self) -> str:
        return "EventTimeTrigger()"


class ProcessingTimeTrigger(Trigger[T, TimeWindow]):
    """Fires when the clock reaches the end of the window."""

    def on_element(self, element: T, timestamp: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Wait for the end of the window."""
        ctx.register_processing_time_timer(window.max_timestamp())
        return TriggerResult.CONTINUE

    def on_processing_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Fire."""
        return TriggerResult.FIRE

    def on_event_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return TriggerResult.CONTINUE

    def can_merge(self) -> bool:
        """Return True."""
        return True

    def on_merge(self, window: TimeWindow, ctx: Trigger.OnMergeContext) -> None:
        """Wait for the end of the new window."""
        if window.max_timestamp() > ctx.get_current_processing_time():
            ctx.register_processing_time_timer(window.max_timestamp())

    def clear(self, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        """Remove the timer."""
        ctx.delete_processing_time_timer(window.max_timestamp())

    @staticmethod
    def create() -> ProcessingTimeTrigger[Any]:
        """Return the trigger."""
        return ProcessingTimeTrigger()

    def __repr__(self) -> str:
        return "ProcessingTimeTrigger()"


class _ContinuousTrigger(Trigger[T, TimeWindow]):
    """Base of the continuous triggers: store the next firing time per key and window.

    Args:
        interval: The interval in ms; firings fall on multiples of it.

    Raises:
        ValueError: If the interval is not positive.
    """

    def __init__(self, interval: int) -> None:
        if interval <= 0:
            raise ValueError(f"the interval of {type(self).__name__} must be positive, got {interval}")
        self.interval = interval
        self.state_desc = ReducingStateDescriptor("fire-time", min, Types.LONG())

    def _fire_time(self, ctx: Trigger.TriggerContext) -> ReducingState[int]:
        return ctx.get_partitioned_state(self.state_desc)

    def _next_fire(self, time: int, window: TimeWindow, state: ReducingState[int]) -> int:
        """Store and return the next firing after ``time``: an interval later, but not after the end of the window."""
        fire = min(time + self.interval, window.max_timestamp())
        state.add(fire)
        return fire

    def can_merge(self) -> bool:
        """Return True."""
        return True

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.interval})"


class ContinuousEventTimeTrigger(_ContinuousTrigger[T]):
    """Fires each time the watermark passes a multiple of the interval, and at the end of the window."""

    @staticmethod
    def of(interval: DurationLike) -> ContinuousEventTimeTrigger[Any]:
        """Return the trigger that fires every ``interval``.

        Raises:
            ValueError: If the interval is not positive.
        """
        return ContinuousEventTimeTrigger(to_millis(interval))

    def on_element(self, element: T, timestamp: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Fire immediately if the window has ended, else wait for its end and for the next multiple of the interval."""
        if window.max_timestamp() <= ctx.get_current_watermark():
            return TriggerResult.FIRE
        ctx.register_event_time_timer(window.max_timestamp())
        state = self._fire_time(ctx)
        if state.get() is None:
            ctx.register_event_time_timer(self._next_fire(timestamp - timestamp % self.interval, window, state))
        return TriggerResult.CONTINUE

    def on_processing_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Fire at the end of the window, and at the stored time."""
        if time == window.max_timestamp():
            return TriggerResult.FIRE
        state = self._fire_time(ctx)
        if state.get() != time:
            return TriggerResult.CONTINUE
        state.clear()
        ctx.register_event_time_timer(self._next_fire(time, window, state))
        return TriggerResult.FIRE

    def on_merge(self, window: TimeWindow, ctx: Trigger.OnMergeContext) -> None:
        """Fire next when the first of the merged windows would have."""
        ctx.merge_partitioned_state(self.state_desc)
        fire = self._fire_time(ctx).get()
        if fire is not None:
            ctx.register_event_time_timer(fire)

    def clear(self, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        """Remove timer and state."""
        state = self._fire_time(ctx)
        fire = state.get()
        if fire is not None:
            ctx.delete_event_time_timer(fire)
            state.clear()


class ContinuousProcessingTimeTrigger(_ContinuousTrigger[T]):
    """Fires each time the clock passes a multiple of the interval, as long as the window has elements."""

    @staticmethod
    def of(interval: DurationLike) -> ContinuousProcessingTimeTrigger[Any]:
        """Return the trigger that fires every ``interval``.

        Raises:
            ValueError: If the interval is not positive.
        """
        return ContinuousProcessingTimeTrigger(to_millis(interval))

    def on_element(self, element: T, timestamp: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Wait for the next multiple of the interval."""
        state = self._fire_time(ctx)
        if state.get() is None:
            now = ctx.get_current_processing_time()
            ctx.register_processing_time_timer(self._next_fire(now - now % self.interval, window, state))
        return TriggerResult.CONTINUE

    def on_processing_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Fire at the time waited for."""
        state = self._fire_time(ctx)
        if state.get() != time:
            return TriggerResult.CONTINUE
        state.clear()
        ctx.register_processing_time_timer(self._next_fire(time, window, state))
        return TriggerResult.FIRE

    def on_event_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return TriggerResult.CONTINUE

    def on_merge(self, window: TimeWindow, ctx: Trigger.OnMergeContext) -> None:
        """Fire next when the first of the merged windows would have."""
        ctx.merge_partitioned_state(self.state_desc)
        fire = self._fire_time(ctx).get()
        if fire is not None:
            ctx.register_processing_time_timer(fire)

    def clear(self, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        """Remove timer and state."""
        state = self._fire_time(ctx)
        fire = state.get()
        if fire is not None:
            ctx.delete_processing_time_timer(fire)
            state.clear()


class PurgingTrigger(Trigger[T, Any]):
    """Wraps a trigger so that the window is purged whenever it fires."""

    def __init__(self, nested_trigger: Trigger[T, Any]) -> None:
        self.nested_trigger = nested_trigger

    @staticmethod
    def of(nested_trigger: Trigger[T, Any]) -> PurgingTrigger[T]:
        """Return ``nested_trigger``, purging."""
        return PurgingTrigger(nested_trigger)

    @staticmethod
    def _purging(result: TriggerResult) -> TriggerResult:
        return TriggerResult.FIRE_AND_PURGE if result.is_fire() else result

    def on_element(self, element: T, timestamp: int, window: Any, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Purge if the nested trigger fires."""
        return self._purging(self.nested_trigger.on_element(element, timestamp, window, ctx))

    def on_processing_time(self, time: int, window: Any, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Purge if the nested trigger fires."""
        return self._purging(self.nested_trigger.on_processing_time(time, window, ctx))

    def on_event_time(self, time: int, window: Any, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Purge if the nested trigger fires."""
        return self._purging(self.nested_trigger.on_event_time(time, window, ctx))

    def can_merge(self) -> bool:
        """Return whether the nested trigger can merge."""
        return self.nested_trigger.can_merge()

    def on_merge(self, window: Any, ctx: Trigger.OnMergeContext) -> None:
        """Delegate to the nested trigger."""
        self.nested_trigger.on_merge(window, ctx)

    def clear(self, window: Any, ctx: Trigger.TriggerContext) -> None:
        """Delegate to the nested trigger."""
        self.nested_trigger.clear(window, ctx)

    def __repr__(self) -> str:
        return f"PurgingTrigger({self.nested_trigger!r})"


class CountTrigger(Trigger[T, Any]):
    """Fires each time the window has received ``window_size`` more elements.

    Raises:
        ValueError: If the size is not positive.
    """

    def __init__(self, window_size: int) -> None:
        if window_size <= 0:
            raise ValueError(f"the size of a count trigger must be positive, got {window_size}")
        self._window_size = window_size
        self._count_state_descriptor = ReducingStateDescriptor("count", operator.add, Types.LONG())

    @staticmethod
    def of(window_size: int) -> CountTrigger[Any]:
        """Return the trigger that fires for each ``window_size`` elements.

        Raises:
            ValueError: If the size is not positive.
        """
        return CountTrigger(window_size)

    def on_element(self, element: T, timestamp: int, window: Any, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Count; fire and reset when the size is reached."""
        count = ctx.get_partitioned_state(self._count_state_descriptor)
        count.add(1)
        if (count.get() or 0) < self._window_size:
            return TriggerResult.CONTINUE
        count.clear()
        return TriggerResult.FIRE

    def on_processing_time(self, time: int, window: Any, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: Any, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return TriggerResult.CONTINUE

    def can_merge(self) -> bool:
        """Return True."""
        return True

    def on_merge(self, window: Any, ctx: Trigger.OnMergeContext) -> None:
        """Sum up the counts."""
        ctx.merge_partitioned_state(self._count_state_descriptor)

    def clear(self, window: Any, ctx: Trigger.TriggerContext) -> None:
        """Remove the count."""
        ctx.get_partitioned_state(self._count_state_descriptor).clear()

    def __repr__(self) -> str:
        return f"CountTrigger({self._window_size})"


class DeltaTrigger(Trigger[T, Any]):
    """Fires for an element whose distance from the last firing one (initially the first of the window) exceeds a threshold.

    Args:
        threshold: The distance that must be exceeded.
        delta_function: A DeltaFunction, or a callable; called with the last firing element and the new one.
        element_type: The declared type of the elements, one of which is stored per window.

    Raises:
        ProgramError: If the function is neither.
    """

    def __init__(
        self,
        threshold: float,
        delta_function: DeltaFunction[T] | Callable[[T, T], float],
        element_type: TypeInformation | None = None,
    ) -> None:
        delta_callable(delta_function, "DeltaTrigger")
        self._threshold = threshold
        self._delta_function = delta_function
        self._last_descriptor = ValueStateDescriptor("last-element", element_type or Types.PICKLED_BYTE_ARRAY())

    @staticmethod
    def of(
        threshold: float,
        delta_function: DeltaFunction[Any] | Callable[[Any, Any], float],
        element_type: TypeInformation | None = None,
    ) -> DeltaTrigger[Any]:
        """Return the trigger that fires for elements further than ``threshold`` from the last that fired.

        Raises:
            ProgramError: If the function is neither a DeltaFunction nor callable.
        """
        return DeltaTrigger(threshold, delta_function, element_type)

    def on_element(self, element: T, timestamp: int, window: Any, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Compare with the element that fired last."""
        state = ctx.get_partitioned_state(self._last_descriptor)
        last = state.value()
        if last is None:
            state.update(element)
        elif delta_callable(self._delta_function, "DeltaTrigger")(last, element) > self._threshold:
            state.update(element)
            return TriggerResult.FIRE
        return TriggerResult.CONTINUE

    def on_processing_time(self, time: int, window: Any, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: Any, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return TriggerResult.CONTINUE

    def on_merge(self, window: Any, ctx: Trigger.OnMergeContext) -> None:
        """Reject merging windows, as the last firing element would be ambiguous."""

    def clear(self, window: Any, ctx: Trigger.TriggerContext) -> None:
        """Remove the last element."""
        ctx.get_partitioned_state(self._last_descriptor).clear()

    def __repr__(self) -> str:
        return f"DeltaTrigger({self._threshold})"


class NeverTrigger(Trigger[T, GlobalWindow]):
    """Never fires: the default of the global window."""

    def on_element(self, element: T, timestamp: int, window: GlobalWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return TriggerResult.CONTINUE

    def on_processing_time(self, time: int, window: GlobalWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: GlobalWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return TriggerResult.CONTINUE

    def on_merge(self, window: GlobalWindow, ctx: Trigger.OnMergeContext) -> None:
        """Do nothing."""

    def clear(self, window: GlobalWindow, ctx: Trigger.TriggerContext) -> None:
        """Do nothing."""

    def __repr__(self) -> str:
        return "NeverTrigger()"
