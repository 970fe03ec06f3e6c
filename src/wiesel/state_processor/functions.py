"""User functions that read keyed state with timers, and that create state from data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, Generic, TypeVar

from wiesel.spi.checkpointed import CheckpointedFunction, FunctionInitializationContext, FunctionSnapshotContext
from wiesel.spi.functions import Function, KeyedProcessFunction, RuntimeContext
from wiesel.spi.state import BroadcastState, MapStateDescriptor

__all__ = [
    "BroadcastStateBootstrapFunction",
    "KeyedStateBootstrapFunction",
    "KeyedStateReaderFunction",
    "StateBootstrapFunction",
]

K = TypeVar("K")
IN = TypeVar("IN")
OUT = TypeVar("OUT")


class KeyedStateReaderFunction(Function, Generic[K, OUT]):
    """Function that reads the state of each key. Get the states by their descriptors in :meth:`open`, as in the program."""

    class Context(ABC):
        """The context of the present key."""

        @abstractmethod
        def registered_event_time_timers(self) -> list[int]:
            """Return the times (ms) of the key's event-time timers, rising."""

        @abstractmethod
        def registered_processing_time_timers(self) -> list[int]:
            """Return the times (ms) of the key's processing-time timers, rising."""

    @abstractmethod
    def open(self, runtime_context: RuntimeContext) -> None:
        """Get the states: ``self.count = runtime_context.get_state(COUNT)``."""

    @abstractmethod
    def read_key(self, key: K, ctx: Context) -> Iterable[OUT] | None:
        """Return (or yield) the rows of a key. Called for each key with a value in one of the states, which are read-only."""


class KeyedStateBootstrapFunction(Function, Generic[K, IN]):
    """Function that writes records to keyed state and sets timers, which fire in the job that is restored from the checkpoint."""

    Context = KeyedProcessFunction.Context

    @abstractmethod
    def open(self, runtime_context: RuntimeContext) -> None:
        """Get the states by the descriptors that the program uses."""

    @abstractmethod
    def process_element(self, value: IN, ctx: KeyedProcessFunction.Context) -> None:
        """Write a record to the state of its key."""


class StateBootstrapFunction(Function, CheckpointedFunction, Generic[IN]):
    """Function that writes records to operator state. Get it in ``initialize_state`` and update it in ``snapshot_state``."""

    @abstractmethod
    def process_element(self, value: IN, ctx: Any) -> None:
        """Process a record."""


class BroadcastStateBootstrapFunction(Function, CheckpointedFunction, Generic[IN]):
    """Function that writes records to broadcast state."""

    class Context:
        """Access to the broadcast state."""

        def __init__(self, store: Any) -> None:
            self._store = store

        def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> BroadcastState[Any, Any]:
            """Return the broadcast map of that name."""
            return self._store.get_broadcast_state(state_descriptor)  # type: ignore[no-any-return]

    @abstractmethod
    def process_element(self, value: IN, ctx: Context) -> None:
        """Write a record to the broadcast state of ``ctx``."""

    def initialize_state(self, context: FunctionInitializationContext) -> None:
        """Store the operator state store for :meth:`process_element`."""
        self._context = self.Context(context.get_operator_state_store())

    def snapshot_state(self, context: FunctionSnapshotContext) -> None:
        """Do nothing: the state is changed by each record."""
