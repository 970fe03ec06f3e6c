"""Internal. What a task contributes to a checkpoint, and what it is given back at a restore."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from typing import Any

from wiesel.core.errors import StateMigrationError
from wiesel.state.backend import StateHandle


@dataclass(frozen=True)
class Packed:
    """A value as it was read from metadata: still pickled. To unpickle it runs code of whoever has written it."""

    data: bytes

    def unpacked(self) -> Any:
        """Return the value.

        Raises:
            StateMigrationError: A class that it needs is missing or has changed.
        """
        try:
            return pickle.loads(self.data)
        except Exception as error:  # the metadata passed its checksum, so what fails is user code
            raise StateMigrationError(
                f"what a source or sink has stored in the snapshot cannot be read back: {type(error).__name__}: {error}",
                hint="make the classes that it was written with available under the same module and name",
            ) from error


@dataclass(frozen=True)
class OperatorStateSnapshot:
    """State of one operator in one subtask.

    ``reader_splits``, ``writer_state`` and ``committables`` are picklable values of the source's or sink's own, ``Packed`` where they
    were read from metadata and no job has started from it. ``in_flight``: records on their way to the task whose first operator this is.
    """

    state: StateHandle | None = None
    reader_splits: list[Any] | None = None
    writer_state: Any = None
    committables: list[Any] = field(default_factory=list)
    in_flight: StateHandle | None = None


@dataclass(frozen=True)
class CheckpointStats:
    """Times of one subtask in ms, sizes in bytes, as Flink's checkpoint statistics name them.

    Attributes:
        sync_ms: The synchronous part of the snapshot.
        async_ms: The asynchronous part.
        alignment_ms: From the first barrier to the last.
        aligned_bytes: What was held back meanwhile.
        processed_bytes: What was processed meanwhile, of channels whose barrier had not come.
        persisted_bytes: Records on their way that became part of the checkpoint.
        start_delay_ms: From the trigger to the first barrier.
        state_bytes: All that the snapshot refers to.
        checkpointed_bytes: What was written for it.
        unaligned: Whether the barrier has overtaken records here.
        acked_ms: When the JobMaster had the acknowledgement.
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
    """What one operator of one subtask starts from."""

    states: tuple[StateHandle, ...] = ()
    reader_splits: list[Any] | None = None
    writer_states: tuple[Any, ...] = ()
