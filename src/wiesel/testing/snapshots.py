"""Snapshots of an operator or a job under test, to restore from."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from wiesel.checkpoint.coordinator import Checkpoint
from wiesel.checkpoint.snapshot import OperatorStateSnapshot
from wiesel.checkpoint.snapshots import find_snapshot
from wiesel.checkpoint.state_files import with_files
from wiesel.checkpoint.store import MemoryStateFiles, StateFiles
from wiesel.state.backend import StateFile

__all__ = ["JobSnapshot", "OperatorSnapshot", "files_in_memory", "read_checkpoint"]

NO_LIMIT_BYTES = 1 << 62
"""Internal. No limit for the size of state under test."""


@dataclass(frozen=True)
class OperatorSnapshot:
    """The state of an operator in all its subtasks, taken by ``StreamHarness.snapshot``. Picklable.

    Attributes:
        checkpoint_id: Its number.
        parallelism: Number of subtasks.
        max_parallelism: Number of key groups; an operator restored from the snapshot must have the same.
    """

    checkpoint_id: int
    parallelism: int
    max_parallelism: int
    subtasks: tuple[OperatorStateSnapshot, ...] = field(repr=False)


@dataclass(frozen=True)
class JobSnapshot:
    """A checkpoint of a job, taken by ``PipelineJob.checkpoint``. Picklable.

    Attributes:
        checkpoint: Positions, states and pending committables of all tasks.
        facts: Names and parallelism of the operators.
    """

    checkpoint: Checkpoint
    facts: dict[str, Any]

    @property
    def checkpoint_id(self) -> int:
        """Return the number of the checkpoint."""
        return self.checkpoint.checkpoint_id

    @property
    def size_bytes(self) -> int:
        """Return the size of all state."""
        states = (o.state for t in self.checkpoint.tasks.values() for o in t.operators.values() if o.state is not None)
        return sum(file.size for state in states for file in state.files)

    def __repr__(self) -> str:
        return f"JobSnapshot(checkpoint_id={self.checkpoint_id}, size_bytes={self.size_bytes})"


def files_in_memory(prefix: str) -> MemoryStateFiles:
    """Internal. Return state files stored in the snapshot itself."""
    return MemoryStateFiles("test", prefix, NO_LIMIT_BYTES)


def read_checkpoint(path: str) -> JobSnapshot:
    """Read a checkpoint of a real job, to restore it in a test. The files are only read.

    Args:
        path: Path of a savepoint, of a checkpoint (``.../<job id>/chk-7``), or of a job for its newest checkpoint.

    Raises:
        CorruptCheckpointError: If there is none, or a file of it is missing or altered.
    """
    found = find_snapshot(path)
    files = StateFiles("/", "", "read")

    def in_memory(file: StateFile) -> StateFile:
        return replace(file, inline=files.read(file))

    return JobSnapshot(with_files(found.checkpoint, in_memory), found.facts)
