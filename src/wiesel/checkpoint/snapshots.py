"""Internal. Finds the checkpoint or savepoint at a path given by the user."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from wiesel.checkpoint.coordinator import Checkpoint
from wiesel.checkpoint.file_io import open_root
from wiesel.checkpoint.savepoint import METADATA, Savepoint
from wiesel.checkpoint.state_files import absolute, with_files
from wiesel.checkpoint.store import CheckpointStore, resolve_restore_path
from wiesel.core.errors import CorruptCheckpointError

_JOB_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True)
class Retained:
    """Location of a checkpoint written by a job or the state processor."""

    directory: str
    name: str
    checkpoint_id: int | None
    """Id; None for the newest one."""

    @property
    def store(self) -> CheckpointStore:
        """Return the checkpoints of that job."""
        return CheckpointStore(self.directory, self.name)

    @property
    def is_of_job(self) -> bool:
        """Return whether the directory is named by a job's id, so that the job can continue there."""
        return _JOB_ID.fullmatch(self.name) is not None

    def lies_in(self, directory: str | None) -> bool:
        """Return whether ``directory`` is the checkpoint directory."""
        return directory is not None and absolute(directory) == absolute(self.directory)


@dataclass(frozen=True)
class Found:
    """A checkpoint or savepoint; files have absolute paths.

    Attributes:
        path: The path of the checkpoint itself.
        checkpoint: The checkpoint.
        facts: Information on the job from its metadata.
        retained: Its location, unless it is a savepoint in a separate directory.
    """

    path: str
    checkpoint: Checkpoint
    facts: dict[str, Any]
    retained: Retained | None = None

    def delete(self) -> None:
        """Delete it, with all files that no other checkpoint references."""
        if self.retained is None:
            Savepoint(self.path).delete()
            return
        store, name = self.retained.store, self.retained.name
        root = open_root(self.retained.directory)
        others = [store.load_metadata(n)[0] for n in store.checkpoint_ids() if n != self.checkpoint.checkpoint_id]
        relative = with_files(self.checkpoint, store.relative)
        store.delete(relative, others)
        if not others:
            for left in ("shared", "attempts"):
                root.delete(f"{name}/{left}")
        if not root.names(name):
            root.delete(name)


def find_snapshot(path: str, *, verify: bool = True, key: bytes | None = None) -> Found:
    """Return the savepoint or checkpoint at a path; for the path of a job, its newest intact checkpoint.

    Args:
        path: The path of a savepoint, of a checkpoint (``.../<job id>/chk-7``) or of a job; the first two with or without ``/_metadata``.
        verify: Read all files and compare their checksums.
        key: If files are not verified: the key that must have signed the metadata; None for no check.

    Raises:
        CorruptCheckpointError: If there is none, or it is incomplete or altered.
        UntrustedSnapshotError: If it is not signed with the key.
    """
    if is_savepoint(path):
        savepoint = Savepoint(path)
        return Found(savepoint.path, *(savepoint.load() if verify else savepoint.load_metadata(key)))
    retained = Retained(*resolve_restore_path(path))
    store, number = retained.store, retained.checkpoint_id
    if number is None:
        found = store.load_latest()
        if found is not None and key is not None:
            found = store.load_metadata(found[0].checkpoint_id, key)
    elif verify:
        found = store.load(number)
    else:
        found = store.load_metadata(number, key)
    if found is None:
        raise CorruptCheckpointError(
            f"there is no checkpoint at {path}", hint="give the path of a savepoint, of a checkpoint (.../<job id>/chk-7) or of a job"
        )
    checkpoint, facts = found
    return Found(store.path_of(checkpoint.checkpoint_id), store.with_whole_paths(checkpoint, facts), facts, retained)


def is_savepoint(path: str) -> bool:
    """Return whether a path is that of a savepoint, in a separate directory."""
    clean = absolute(path).rstrip("/").removesuffix(f"/{METADATA}")
    name = clean.rpartition("/")[2]
    return not (name.startswith("chk-") and name[4:].isdigit()) and Savepoint(clean).exists()
