"""Internal. State of tasks and operators in a checkpoint, as acknowledged and as restored."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from typing import Any

from wiesel.core.errors import StateMigrationError
from wiesel.state.backend import StateHandle


@dataclass(frozen=True)
class Packed:
    """A value read from metadata, still pickled. Unpickling it runs code of its author."""

    data: bytes

    def unpacked(self) -> Any:
        """Return the value.

        Raises:
            StateMigrationError: If a class that it needs is missing or has changed.
        """
        try:
            return pickle.loads(self.data)
        except Exception as error:  # the metadata passed its checksum, so user code failed
            raise StateMigrationError(
                f"state of a source or sink in the snapshot cannot be unpickled: {type(error).__name__}: {error}",
                hint="make the classes that it was written with available under the same module and name",
            ) from error


@dataclass(frozen=True)
class OperatorStateSnapshot:
    """State of one operator in one subtask.

    ``reader_splits``, ``writer_state`` and ``committables`` are picklable values of the source or sink, ``Packed`` where they were read
    from metadata and no job has started from it. ``in_flight``: records in flight to the task whose first operator this is.
    ``committable_counts``: how many of the committables, in order, were prepared for which checkpoint; empty: all for this one.
    """

    state: StateHandle | None = None
    reader_splits: list[Any] | None = None
    writer_state: Any = None
    committables: list[Any] = field(default_factory=list)
    in_flight: StateHandle | None = None
    committable_counts: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class CheckpointStats:
    """Times of one subtask in ms, sizes in bytes, named as in Flink's checkpoint statistics.

    Attributes:
        sync_ms: The synchronous part of the snapshot.
        async_ms: The asynchronous part.
        alignment_ms: From the first barrier to the last.
        aligned_bytes: Data held back during the alignment.
        processed_bytes: Data processed during the alignment, of channels whose barrier had not arrived.
        persisted_bytes: Records in flight that became part of the checkpoint.
        start_delay_ms: From the trigger to the first barrier.
        state_bytes: Size of all referenced state.
        checkpointed_bytes: Bytes written for it.
        unaligned: True if the checkpoint was unaligned in this task.
        acked_ms: When the JobMaster received the acknowledgement.
    """

    sync_ms: float = 0.0
    async_ms: float = 0.0
    alignment_ms: float = 0.0
    aligned_bytes: int = 0
    processed_bytes: int = 0
    persisted_bytes: int = 0
    start_delay_ms: float = 0.0
    state_bytes: int = 0
    checkpointed_bytes: int = 0
    unaligned: bool = False
    acked_ms: int = 0


@dataclass(frozen=True)
class TaskSnapshot:
    """One subtask's part of a checkpoint: operator id -> state."""

    operators: dict[str, OperatorStateSnapshot]
    stats: CheckpointStats = CheckpointStats()


@dataclass(frozen=True)
class OperatorRestore:
    """The state that one operator of one subtask is restored from."""

    states: tuple[StateHandle, ...] = ()
    reader_splits: list[Any] | None = None
    writer_states: tuple[Any, ...] = ()
