"""The contract of evictors, which take elements out of a window before or after it is evaluated."""

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
    """Takes elements out of a window when its trigger fires: before the window function sees them, or afterwards.

    What is taken out is gone: the next evaluation of the window does not see it either. With an evictor a window keeps all its elements
    in state, also where a reduce or aggregate function would need one value only.
    """

    class EvictorContext(ABC):
        """The context of an evictor; times are in ms."""

        @abstractmethod
        def get_current_processing_time(self) -> int:
            """Return the clock of the machine."""

        @abstractmethod
        def get_metric_group(self) -> Any:
            """Return the group in which the evictor can register metrics: that of the operator."""

        @abstractmethod
        def get_current_watermark(self) -> int:
            """Return the watermark that the operator has reached; -2**63 before the first one."""

    @abstractmethod
    def evict_before(self, elements: list[TimestampedValue], size: int, window: W, ctx: Evictor.EvictorContext) -> None:
        """Take elements out of the list, in place, before the window is evaluated.

        Args:
            elements: All elements of the window, in the order in which they came. Those left in the list stay in the window.
            size: Their number.
            window: The window.
            ctx: What the evictor can ask.
        """

    @abstractmethod
    def evict_after(self, elements: list[TimestampedValue], size: int, window: W, ctx: Evictor.EvictorContext) -> None:
        """Take elements out of the list, in place, after the window was evaluated. The arguments are those of :meth:`evict_before`."""
