"""Windows without time: count windows, and the global window."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, TypeVar

from wiesel.spi.state import ValueStateDescriptor
from wiesel.spi.windows.assigner import WindowAssigner
from wiesel.spi.windows.trigger import Trigger
from wiesel.spi.windows.triggers import CountTrigger, NeverTrigger
from wiesel.spi.windows.window import CountWindow, CountWindowSerializer, GlobalWindow, GlobalWindowSerializer
from wiesel.types import Types

__all__ = ["CountSlidingWindowAssigner", "CountTumblingWindowAssigner", "GlobalWindows"]

T = TypeVar("T")


class _CountWindowAssigner(WindowAssigner[T, CountWindow]):
    """Counts the elements of each key, and numbers the windows by that count."""

    _window_size: int
    _count_descriptor: ValueStateDescriptor

    def _next_count(self, context: WindowAssigner.WindowAssignerContext) -> int:
        """Return the number of earlier elements of the key, and increment it."""
        state = context.get_runtime_context().get_state(self._count_descriptor)
        count: int = state.value() or 0
        state.update(count + 1)
        return count

    def get_default_trigger(self, env: Any) -> Trigger[T, CountWindow]:
        """Return the trigger that fires when the window is full."""
        return CountTrigger(self._window_size)

    def get_window_serializer(self) -> CountWindowSerializer:
        """Return the serializer of count windows."""
        return CountWindowSerializer()

    def is_event_time(self) -> bool:
        """Return False."""
        return False


class CountTumblingWindowAssigner(_CountWindowAssigner[T]):
    """Adjacent windows of ``window_size`` elements of a key. An incomplete window has no result."""

    def __init__(self, window_size: int) -> None:
        if window_size <= 0:
            raise ValueError(f"the size of count windows must be positive, got {window_size}")
        self._window_size = window_size
        self._count_descriptor = ValueStateDescriptor("tumble-count-assigner", Types.LONG())

    @staticmethod
    def of(window_size: int) -> CountTumblingWindowAssigner[Any]:
        """Return the assigner of windows of ``window_size`` elements.

        Raises:
            ValueError: If the size is not positive.
        """
        return CountTumblingWindowAssigner(window_size)

    def assign_windows(self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext) -> Collection[CountWindow]:
        """Return the window that the count of the key has reached."""
        return [CountWindow(self._next_count(context) // self._window_size)]

    def __repr__(self) -> str:
        return f"CountTumblingWindowAssigner({self._window_size})"


class CountSlidingWindowAssigner(_CountWindowAssigner[T]):
    """Windows of ``window_size`` elements of a key, starting every ``window_slide`` elements.

    The first result is that of the first complete window: after ``window_size`` elements, then after each further ``window_slide``.
    """

    def __init__(self, window_size: int, window_slide: int) -> None:
        if window_size <= 0 or window_slide <= 0:
            raise ValueError(f"size and slide of count windows must be positive, got size={window_size}, slide={window_slide}")
        self._window_size = window_size
        self._window_slide = window_slide
        self._count_descriptor = ValueStateDescriptor("slide-count-assigner", Types.LONG())

    @staticmethod
    def of(window_size: int, window_slide: int) -> CountSlidingWindowAssigner[Any]:
        """Return the assigner of windows of ``window_size`` elements starting every ``window_slide`` elements.

        Raises:
            ValueError: If size or slide are not positive.
        """
        return CountSlidingWindowAssigner(window_size, window_slide)

    def assign_windows(self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext) -> Collection[CountWindow]:
        """Return the windows that are open at the count of the key, the latest first."""
        count = self._next_count(context)
        slide = self._window_slide
        first = max(0, (count - self._window_size) // slide + 1)
        return [CountWindow(i) for i in range(count // slide, first - 1, -1)]

    def __repr__(self) -> str:
        return f"CountSlidingWindowAssigner({self._window_size}, {self._window_slide})"


class GlobalWindows(WindowAssigner[T, GlobalWindow]):
    """All elements of a key in one window. It never ends, so it needs a trigger."""

    @staticmethod
    def create() -> GlobalWindows[Any]:
        """Return the assigner."""
        return GlobalWindows()

    def assign_windows(self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext) -> Collection[GlobalWindow]:
        """Return the global window."""
        return [GlobalWindow()]

    def get_default_trigger(self, env: Any) -> Trigger[T, GlobalWindow]:
        """Return the trigger that never fires."""
        return NeverTrigger()

    def get_window_serializer(self) -> GlobalWindowSerializer:
        """Return the serializer of the global window."""
        return GlobalWindowSerializer()

    def is_event_time(self) -> bool:
        """Return False."""
        return False

    def __repr__(self) -> str:
        return "GlobalWindows()"
