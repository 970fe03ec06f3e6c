"""Functions with operator state, which belongs to the subtask and not to a key.

Named as in Flink's Java API; PyFlink has no equivalent. A function of any operator can implement :class:`CheckpointedFunction` in addition
to its function class::

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
        """Return whether the job starts from a checkpoint (which may not contain state of this function)."""

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
    """Mixin for functions with operator state: restores it at the start and updates it for each checkpoint.

    Both methods are called in the task's thread, between two records. The checkpoint contains the states at the return of
    ``snapshot_state``; objects in them may be changed afterwards.
    """

    @abstractmethod
    def initialize_state(self, context: FunctionInitializationContext) -> None:
        """Get the states with their restored contents. Called once per subtask and attempt, before ``open``."""

    @abstractmethod
    def snapshot_state(self, context: FunctionSnapshotContext) -> None:
        """Update the states for the checkpoint. Also called at the end of a bounded input."""
