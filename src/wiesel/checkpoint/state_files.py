"""Internal. State files of a checkpoint, and their names when it is read from elsewhere."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace

from wiesel.checkpoint.coordinator import Checkpoint
from wiesel.checkpoint.snapshot import OperatorStateSnapshot, TaskSnapshot
from wiesel.state.backend import StateFile, StateHandle


def state_files(checkpoint: Checkpoint) -> Iterator[StateFile]:
    """Yield all state files of a checkpoint, inline ones included."""
    for snapshot in checkpoint.tasks.values():
        yield from files_of(snapshot)


def files_of(snapshot: TaskSnapshot) -> Iterator[StateFile]:
    """Yield all state files of one task's part of a checkpoint, inline ones included."""
    for operator in snapshot.operators.values():
        for handle in (operator.state, operator.in_flight):
            if handle is not None:
                yield from handle.files


def state_file_names(checkpoint: Checkpoint) -> set[str]:
    """Return the names of all state files that a checkpoint needs in addition to its metadata."""
    return {file.name for file in state_files(checkpoint) if file.inline is None}


def is_elsewhere(name: str) -> bool:
    """Return whether a file has an absolute path, so that it belongs to a checkpoint below another directory."""
    return name.startswith(("/", "file:")) or "://" in name


def absolute(directory: str) -> str:
    """Return the absolute path or URI of a directory."""
    if "://" in directory or directory.startswith("file:"):
        return directory.rstrip("/")
    return os.path.abspath(directory)


def with_handles(checkpoint: Checkpoint, change: Callable[[StateHandle], StateHandle]) -> Checkpoint:
    """Return the checkpoint with mapped state handles."""

    def changed(operator: OperatorStateSnapshot) -> OperatorStateSnapshot:
        state, in_flight = (None if handle is None else change(handle) for handle in (operator.state, operator.in_flight))
        return replace(operator, state=state, in_flight=in_flight)

    tasks = {
        key: replace(task, operators={name: changed(operator) for name, operator in task.operators.items()})
        for key, task in checkpoint.tasks.items()
    }
    return replace(checkpoint, tasks=tasks)


def with_files(checkpoint: Checkpoint, change: Callable[[StateFile], StateFile]) -> Checkpoint:
    """Return the checkpoint with mapped state files; inline ones stay unchanged."""

    def changed(handle: StateHandle) -> StateHandle:
        return replace(handle, files=tuple(f if f.inline is not None else change(f) for f in handle.files))

    return with_handles(checkpoint, changed)


def standing_alone(checkpoint: Checkpoint) -> Checkpoint:
    """Return a checkpoint whose files are not owned by the job: backends that start from it write all state at the first checkpoint."""
    return with_handles(checkpoint, lambda handle: replace(handle, meta={**handle.meta, "savepoint": True}))
