"""Puts checkpoints of jobs under test on the disk, each state file a file of its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from wiesel.checkpoint.file_io import open_root
from wiesel.checkpoint.store import CheckpointStore
from wiesel.testing import JobSnapshot


def retain(snapshot: JobSnapshot, directory: Path) -> str:
    """Return the path of the checkpoint."""
    root = open_root(str(directory))
    store = CheckpointStore(str(directory), "job")

    def stored(file: Any) -> Any:
        if file.inline is None:
            return file
        name = f"job/shared/{file.name.replace('/', '-')}"
        root.write(name, [file.inline])
        return replace(file, name=name, inline=None)

    def operator(state: Any) -> Any:
        return state if state.state is None else replace(state, state=replace(state.state, files=tuple(map(stored, state.state.files))))

    checkpoint = snapshot.checkpoint
    tasks = {
        key: replace(task, operators={name: operator(state) for name, state in task.operators.items()})
        for key, task in checkpoint.tasks.items()
    }
    attempt = store.acquire(at_least=checkpoint.attempt)
    store.publish(replace(checkpoint, tasks=tasks, attempt=attempt), snapshot.facts)
    return store.path_of(checkpoint.checkpoint_id)


def state_files(path: str) -> list[Path]:
    """Return the state files beside a checkpoint."""
    return sorted((Path(path).parent / "shared").iterdir())
