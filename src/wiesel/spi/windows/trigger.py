"""Interface of triggers, which decide when a window is evaluated."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

if TYPE_CHECKING:
    from wiesel.spi.state import (
        AggregatingState,
        AggregatingStateDescriptor,
        ListState,
        ListStateDescriptor,
        MapState,
        MapStateDescriptor,
        ReducingState,
        ReducingStateDescriptor,
        State,
        StateDescriptor,
        ValueState,
        ValueStateDescriptor,
    )

__all__ = ["Trigger", "TriggerResult"]

T = TypeVar("T")
W = TypeVar("W")


class TriggerResult(Enum):
    """The action for a window. Firing an empty window has no results."""

    CONTINUE = (False, False)
    """Do nothing."""

    FIRE_AND_PURGE = (True, True)
    """Evaluate the window and emit the results, then drop its contents."""

    FIRE = (True, False)
    """Evaluate the window and emit the results; the contents remain, and may be evaluated again."""

    PURGE = (False, True)
    """Drop the contents without evaluating them."""

    def is_fire(self) -> bool:
        """Return whether the window is evaluated."""
        return self.value[0]

    def is_purge(self) -> bool:
        """Return whether the contents are dropped."""
        return self.value[1]


class Trigger(ABC, Generic[T, W]):
    """Decides when a window of a key is evaluated.

    One trigger object serves all keys and windows of a subtask, so it must be stateless: state per key and window belongs in
    ``ctx.get_partitioned_state``. It is called for each element added to a window and for each timer that it has registered; ``clear`` is
    called when the window is dropped.
    """

    class TriggerContext(ABC):
        """Timers and state of the key and window for which the trigger is called; valid during the call only. Times are in ms."""

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
        def register_processing_time_timer(self, time: int) -> None:
            """Call ``on_processing_time`` once the clock has reached ``time``."""

        @abstractmethod
        def register_event_time_timer(self, time: int) -> None:
            """Call ``on_event_time`` once the watermark has reached ``time``."""

        @abstractmethod
        def delete_processing_time_timer(self, time: int) -> None:
            """Remove the processing-time timer for exactly ``time``, if it exists."""

        @abstractmethod
        def delete_event_time_timer(self, time: int) -> None:
            """Remove the event-time timer for exactly ``time``, if it exists."""

        @overload
        @abstractmethod
        def get_partitioned_state(self, state_descriptor: ValueStateDescriptor) -> ValueState[Any]: ...
        @overload
        @abstractmethod
        def get_partitioned_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]: ...
        @overload
        @abstractmethod
        def get_partitioned_state(self, state_descriptor: MapStateDescriptor) -> MapState[Any, Any]: ...
        @overload
        @abstractmethod
        def get_partitioned_state(self, state_descriptor: ReducingStateDescriptor) -> ReducingState[Any]: ...
        @overload
        @abstractmethod
        def get_partitioned_state(self, state_descriptor: AggregatingStateDescriptor) -> AggregatingState[Any, Any]: ...
        @overload
        @abstractmethod
        def get_partitioned_state(self, state_descriptor: StateDescriptor) -> State: ...
        @abstractmethod
        def get_partitioned_state(self, state_descriptor: StateDescriptor) -> State:
            """Return the trigger's state of that name for this key and window."""

    class OnMergeContext(TriggerContext):
        """The context of ``on_merge``: that of the resulting window, with access to the state of the merged ones."""

        @abstractmethod
        def merge_partitioned_state(self, state_descriptor: StateDescriptor) -> None:
            """Merge the state of the merged windows into that of the resulting one (list, reducing and aggregating state).

            Raises:
                ProgramError: If state of this kind cannot be merged.
            """

    @abstractmethod
    def on_element(self, element: T, timestamp: int, window: W, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Return the action after ``element`` has been added to ``window``."""

    @abstractmethod
    def on_processing_time(self, time: int, window: W, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Return the action when the clock has reached a timer of ``window``."""

    @abstractmethod
    def on_event_time(self, time: int, window: W, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Return the action when the watermark has reached a timer of ``window``."""

    def can_merge(self) -> bool:
        """Return whether ``on_merge`` is implemented, so that the trigger supports merging windows (sessions)."""
        return False

    @abstractmethod
    def on_merge(self, window: W, ctx: Trigger.OnMergeContext) -> None:
        """Merge state and timers into ``window``, which results from merging others. Those are cleared afterwards."""

    @abstractmethod
    def clear(self, window: W, ctx: Trigger.TriggerContext) -> None:
        """Remove all state and timers of the trigger for ``window``, which is dropped."""
