"""Interface of evictors, which remove elements of a window before or after its evaluation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, NamedTuple, TypeVar

from wiesel.core.ids import MIN_TIMESTAMP

__all__ = ["Evictor", "TimestampedValue"]

T = TypeVar("T")
W = TypeVar("W")


class TimestampedValue(NamedTuple):
    """An element of a window with its timestamp (ms; -2**63 if it has none)."""

    value: Any
    timestamp: int

    def get_value(self) -> Any:
        """Return the element."""
        return self.value

    def get_timestamp(self) -> int:
        """Return the timestamp."""
        return self.timestamp

    def has_timestamp(self) -> bool:
        """Return whether the element has a timestamp."""
        return self.timestamp != MIN_TIMESTAMP


class Evictor(ABC, Generic[T, W]):
    """Removes elements of a window when its trigger fires: before or after the window function.

    Removed elements are also missing in later evaluations of the window. With an evictor a window stores all its elements, even where a
    reduce or aggregate function would need one value only.
    """

    class EvictorContext(ABC):
        """The context of an evictor; times are in ms."""

        @abstractmethod
        def get_current_processing_time(self) -> int:
            """Return the clock of the machine."""

        @abstractmethod
        def get_metric_group(self) -> Any:
            """Return the metric group of the operator."""

        @abstractmethod
        def get_current_watermark(self) -> int:
            """Return the watermark that the operator has reached; -2**63 before the first one."""

    @abstractmethod
    def evict_before(self, elements: list[TimestampedValue], size: int, window: W, ctx: Evictor.EvictorContext) -> None:
        """Remove elements of the list, in place, before the window is evaluated.

        Args:
            elements: All elements of the window, in order of arrival. Remaining elements stay in the window.
            size: Their number.
            window: The window.
            ctx: The context.
        """

    @abstractmethod
    def evict_after(self, elements: list[TimestampedValue], size: int, window: W, ctx: Evictor.EvictorContext) -> None:
        """Remove elements of the list, in place, after the window was evaluated. The arguments are those of :meth:`evict_before`."""
