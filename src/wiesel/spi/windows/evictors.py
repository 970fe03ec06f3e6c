"""Built-in evictors, and distance functions of elements."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from wiesel.core.durations import to_millis
from wiesel.core.errors import ProgramError
from wiesel.spi.functions import user_callable
from wiesel.spi.windows.evictor import Evictor, TimestampedValue

if TYPE_CHECKING:
    from wiesel.core.durations import DurationLike

__all__ = ["CountEvictor", "DeltaEvictor", "DeltaFunction", "TimeEvictor"]

T = TypeVar("T")
W = TypeVar("W")


class DeltaFunction(ABC, Generic[T]):
    """The distance of two elements. A callable with two arguments is accepted as well."""

    @abstractmethod
    def get_delta(self, old_data_point: T, new_data_point: T) -> float:
        """Return the distance of ``new_data_point`` from ``old_data_point``."""


def delta_callable(function: Any, owner: str) -> Callable[[Any, Any], float]:
    """Return the distance function as a callable.

    Raises:
        ProgramError: If the function is neither a DeltaFunction nor callable.
    """
    found = user_callable(function, "get_delta")
    if isinstance(function, type) or not callable(found):
        raise ProgramError(f"{owner} needs a function of two elements, got {function!r}", hint="give a DeltaFunction, or a lambda")
    return found


class _BeforeOrAfter(Evictor[T, W]):
    """Base of the evictors: they evict before or after the evaluation."""

    def __init__(self, do_evict_after: bool) -> None:
        self._do_evict_after = do_evict_after

    @abstractmethod
    def _evict(self, elements: list[TimestampedValue]) -> None:
        """Remove elements of the nonempty list."""

    def evict_before(self, elements: list[TimestampedValue], size: int, window: W, ctx: Evictor.EvictorContext) -> None:
        """Evict, unless that is to happen afterwards."""
        if elements and not self._do_evict_after:
            self._evict(elements)

    def evict_after(self, elements: list[TimestampedValue], size: int, window: W, ctx: Evictor.EvictorContext) -> None:
        """Evict, unless that has happened before."""
        if elements and self._do_evict_after:
            self._evict(elements)

    def _shown(self, *arguments: Any) -> str:
        shown = [repr(a) for a in arguments] + (["do_evict_after=True"] if self._do_evict_after else [])
        return f"{type(self).__name__}({', '.join(shown)})"


class CountEvictor(_BeforeOrAfter[T, W]):
    """Retains the last ``max_count`` elements of a window.

    Args:
        max_count: The number of elements to retain.
        do_evict_after: Evict after the window function instead of before it.

    Raises:
        ValueError: If the number is negative.
    """

    def __init__(self, max_count: int, do_evict_after: bool = False) -> None:
        super().__init__(do_evict_after)
        if max_count < 0:
            raise ValueError(f"a count evictor cannot keep {max_count} elements")
        self._max_count = max_count

    @staticmethod
    def of(max_count: int, do_evict_after: bool = False) -> CountEvictor[Any, Any]:
        """Return the evictor that retains the last ``max_count`` elements.

        Raises:
            ValueError: If the number is negative.
        """
        return CountEvictor(max_count, do_evict_after)

    def _evict(self, elements: list[TimestampedValue]) -> None:
        if len(elements) > self._max_count:
            del elements[: len(elements) - self._max_count]

    def __repr__(self) -> str:
        return self._shown(self._max_count)


class TimeEvictor(_BeforeOrAfter[T, W]):
    """Retains the elements of a window that are less than ``window_size`` ms older than its newest one.

    Elements without timestamps are all retained.

    Args:
        window_size: Age relative to the newest element from which elements are removed, in ms.
        do_evict_after: Evict after the window function instead of before it.
    """

    def __init__(self, window_size: int, do_evict_after: bool = False) -> None:
        super().__init__(do_evict_after)
        self._window_size = window_size

    @staticmethod
    def of(window_size: DurationLike, do_evict_after: bool = False) -> TimeEvictor[Any, Any]:
        """Return the evictor that retains the elements of the last ``window_size``, relative to the newest element."""
        return TimeEvictor(to_millis(window_size), do_evict_after)

    def _evict(self, elements: list[TimestampedValue]) -> None:
        if elements[0].has_timestamp():
            cutoff = max(e.timestamp for e in elements) - self._window_size
            elements[:] = [e for e in elements if e.timestamp > cutoff]

    def __repr__(self) -> str:
        return self._shown(self._window_size)


class DeltaEvictor(_BeforeOrAfter[T, W]):
    """Retains the elements of a window whose distance to its last one is below a threshold.

    Args:
        threshold: The distance from which elements are removed.
        delta_function: A DeltaFunction, or a callable; called with an element and the last one of the window.
        do_evict_after: Evict after the window function instead of before it.

    Raises:
        ProgramError: If the function is neither.
    """

    def __init__(self, threshold: float, delta_function: DeltaFunction[T] | Callable[[T, T], float], do_evict_after: bool = False) -> None:
        super().__init__(do_evict_after)
        delta_callable(delta_function, "DeltaEvictor")
        self._threshold = threshold
        self._delta_function = delta_function

    @staticmethod
    def of(
        threshold: float, delta_function: DeltaFunction[Any] | Callable[[Any, Any], float], do_evict_after: bool = False
    ) -> DeltaEvictor[Any, Any]:
        """Return the evictor that retains elements whose distance to the last one is below ``threshold``.

        Raises:
            ProgramError: If the function is neither a DeltaFunction nor callable.
        """
        return DeltaEvictor(threshold, delta_function, do_evict_after)

    def _evict(self, elements: list[TimestampedValue]) -> None:
        delta, last = delta_callable(self._delta_function, "DeltaEvictor"), elements[-1].value
        elements[:] = [e for e in elements if delta(e.value, last) < self._threshold]

    def __repr__(self) -> str:
        return self._shown(self._threshold)
