"""Functions with state that belongs to the subtask and not to a key.

Flink's Java API names it so; PyFlink has nothing like it. A function of any operator takes part by being a
:class:`CheckpointedFunction` besides what it is::

    class Buffering(MapFunction, CheckpointedFunction):
        def initialize_state(self, context):
            self.kept = context.get_operator_state_store().get_list_state(ListStateDescriptor("kept"))
            self.buffer = self.kept.get()

        def snapshot_state(self, context):
            self.kept.update(self.buffer)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wiesel.spi.functions import KeyedStateStore
    from wiesel.spi.state import OperatorStateStore

__all__ = ["CheckpointedFunction", "FunctionInitializationContext", "FunctionSnapshotContext"]


class FunctionInitializationContext(ABC):
    """The context of the initialisation of a function's state."""

    @abstractmethod
    def is_restored(self) -> bool:
        """Return whether the job starts from a checkpoint (in which this function need not have had state)."""

    @abstractmethod
    def get_restored_checkpoint_id(self) -> int | None:
        """Return the id of that checkpoint, None if there is none."""

    @abstractmethod
    def get_operator_state_store(self) -> OperatorStateStore:
        """Return the state of this subtask."""

    @abstractmethod
    def get_keyed_state_store(self) -> KeyedStateStore:
        """Return the keyed state; on a stream that is not keyed every access to it raises ``StateAccessError``."""


class FunctionSnapshotContext(ABC):
    """The context of the snapshot of a function's state."""

    @abstractmethod
    def get_checkpoint_id(self) -> int:
        """Return the id of the checkpoint."""

    @abstractmethod
    def get_checkpoint_timestamp(self) -> int:
        """Return when it was triggered, in ms since the epoch."""


class CheckpointedFunction(ABC):
    """Added to a function class: its object takes up operator state at the start and brings it up to date for each checkpoint.

    Both methods are called in the thread of the records, between two of them. What is in the states when ``snapshot_state`` returns is
    in the checkpoint; objects in it may be changed afterwards.
    """

    @abstractmethod
    def initialize_state(self, context: FunctionInitializationContext) -> None:
        """Get the states, with what was restored of them. Called once per subtask and attempt, before ``open``."""

    @abstractmethod
    def snapshot_state(self, context: FunctionSnapshotContext) -> None:
        """Put what is to be in the checkpoint into the states. Also called once more at the end of a bounded input."""
