"""Interface of window assigners."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from wiesel.spi.windows.trigger import Trigger

if TYPE_CHECKING:
    from wiesel.spi.functions import RuntimeContext

__all__ = ["MergingWindowAssigner", "WindowAssigner"]

T = TypeVar("T")
W = TypeVar("W")
W2 = TypeVar("W2")


class WindowAssigner(ABC, Generic[T, W]):
    """Assigns an element to zero or more windows. Pickled into every subtask; must not hold state per key."""

    class WindowAssignerContext(ABC):
        """The context of an assigner; the current key is that of the element."""

        @abstractmethod
        def get_current_processing_time(self) -> int:
            """Return the clock of the machine, in ms."""

        @abstractmethod
        def get_runtime_context(self) -> RuntimeContext:
            """Return the runtime context, with the keyed state of the element's key."""

    @abstractmethod
    def assign_windows(self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext) -> Collection[W]:
        """Return the windows of an element. ``timestamp`` is in ms, -2**63 for an element that has none."""

    @abstractmethod
    def get_default_trigger(self, env: Any) -> Trigger[T, W]:
        """Return the default trigger."""

    @abstractmethod
    def get_window_serializer(self) -> Any:
        """Return a serializer of these windows."""

    @abstractmethod
    def is_event_time(self) -> bool:
        """Return whether windows are of event time: then they end with the watermark, and elements can be late."""


class MergingWindowAssigner(WindowAssigner[T, W]):
    """An assigner whose windows are merged, like sessions."""

    class MergeCallback(ABC, Generic[W2]):
        """Receives the windows to merge."""

        @abstractmethod
        def merge(self, to_be_merged: Iterable[W2], merge_result: W2) -> None:
            """Have the windows ``to_be_merged`` become ``merge_result``."""

    @abstractmethod
    def merge_windows(self, windows: Iterable[W], callback: MergingWindowAssigner.MergeCallback[W]) -> None:
        """Determine which of the windows of a key are merged, and call ``callback`` with each group and its result."""
