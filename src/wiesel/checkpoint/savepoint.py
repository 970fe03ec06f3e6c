"""Internal. Savepoints: one relocatable directory with ``_metadata`` and all state files, referenced by relative names.

A savepoint is owned by the user: no checkpoint references its files, and no job deletes it unless it was started in claim mode.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any
from uuid import uuid4

from zlib_ng.zlib_ng import crc32

from wiesel.checkpoint.coordinator import Checkpoint
from wiesel.checkpoint.file_io import open_root
from wiesel.checkpoint.metadata import decode_metadata, encode_metadata
from wiesel.checkpoint.state_files import absolute, is_elsewhere, standing_alone, state_files, with_files
from wiesel.checkpoint.store import MemoryStateFiles, StateFiles
from wiesel.core.errors import CheckpointStorageError, CorruptCheckpointError
from wiesel.state.backend import StateFile

METADATA = "_metadata"


@dataclass(frozen=True)
class SavepointFacts:
    """Description of a savepoint.

    Attributes:
        path: Its directory.
        timestamp_ms: Time of the snapshot.
        size_bytes: Total size of its files.
        label: Label given with the request, or empty.
        job_id: Id of the job.
        job_name: Name of the job.
        stopped: True if the job was stopped with it.
        drained: True if the job was drained before.
        unaligned: True if it contains records in flight, so that it can only start programs with the same connections.
    """

    path: str
    timestamp_ms: int
    size_bytes: int
    label: str
    job_id: str
    job_name: str
    stopped: bool
    drained: bool
    unaligned: bool = False


class SavepointFiles(StateFiles):
    """Writes the files of one task into the directory of a savepoint."""

    def _name(self, hint: str) -> str:
        return f"{self._prefix}-{hint}-{self._count}"

    def __init__(self, directory: str, prefix: str) -> None:
        super().__init__(directory, "", prefix)


class Savepoint:
    """An existing or future savepoint.

    Args:
        path: Its directory, with or without ``/_metadata``.
    """

    def __init__(self, path: str) -> None:
        self.path = absolute(path).rstrip("/").removesuffix(f"/{METADATA}")
        self._io = open_root(self.path)

    def exists(self) -> bool:
        """Return whether the savepoint exists."""
        return self._io.exists(METADATA)

    def prepare(self) -> None:
        """Create the empty directory.

        Raises:
            CheckpointStorageError: If it cannot be written to.
        """
        self._io.write("_begun", [b""])
        self._io.delete("_begun")

    def publish(
        self, checkpoint: Checkpoint, job: dict[str, Any], files: StateFiles | MemoryStateFiles, key: bytes | None = None
    ) -> None:
        """Complete the savepoint: copy the files stored elsewhere (those of finished tasks), then write the metadata.

        Args:
            checkpoint: The checkpoint, with its files in this directory or where ``files`` reads them.
            job: See ``encode_metadata``.
            files: Reads the files stored elsewhere.
            key: Key to sign the metadata with; None for no signature.

        Raises:
            CheckpointStorageError: If the storage failed, or the savepoint exists already.
            CorruptCheckpointError: If a file to be copied is missing or altered.
        """
        copies: dict[str, StateFile] = {}
        # If the savepoint exists already, its copies must not be changed.
        prefix = f"copy-{uuid4().hex[:8]}"

        def here(file: StateFile) -> StateFile:
            if "/" not in file.name:
                return file
            if file.name not in copies:
                data = files.read(file)
                name = f"{prefix}-{len(copies) + 1}"
                self._io.write(name, [data])
                copies[file.name] = StateFile(name, len(data), crc32(data), sha256=sha256(data).hexdigest())
            return copies[file.name]

        whole = standing_alone(with_files(checkpoint, here))
        if not self._io.create(METADATA, encode_metadata(whole, job, key)):
            raise CheckpointStorageError(f"there is a savepoint at {self.path} already", hint="give another directory")

    def load_metadata(self, key: bytes | None = None) -> tuple[Checkpoint, dict[str, Any]]:
        """Read the metadata without checking the files, which get absolute paths at the present location.

        Raises:
            CorruptCheckpointError: If the metadata is missing, incomplete or altered.
            UntrustedSnapshotError: If it is not signed with the key, if one is given.
        """
        where = f"{self.path}/{METADATA}"
        try:
            data = self._io.read(METADATA)
        except FileNotFoundError as error:
            raise CorruptCheckpointError(f"there is no savepoint at {self.path}", hint="check the path") from error
        checkpoint, job = decode_metadata(data, where, key)

        def whole(file: StateFile) -> StateFile:
            return file if is_elsewhere(file.name) else replace(file, name=f"{self.path}/{file.name}")

        return with_files(checkpoint, whole), job

    def facts(self) -> SavepointFacts:
        """Return the description of the savepoint.

        Raises:
            CorruptCheckpointError: If the metadata is missing, incomplete or altered.
        """
        checkpoint, job = self.load_metadata()
        about = job.get("savepoint", {})
        files = {file.name: file.size for file in state_files(checkpoint) if file.inline is None}
        return SavepointFacts(
            path=self.path,
            timestamp_ms=checkpoint.timestamp_ms,
            size_bytes=len(self._io.read(METADATA)) + sum(files.values()),
            label=about.get("label", ""),
            job_id=str(job.get("id", "")),
            job_name=str(job.get("name", "")),
            stopped=bool(about.get("stopped")),
            drained=bool(about.get("drained")),
            unaligned=bool(about.get("unaligned")),
        )

    def load(self) -> tuple[Checkpoint, dict[str, Any]]:
        """Read the savepoint and check that all of its files exist and are intact.

        Raises:
            CorruptCheckpointError: If a file is missing, incomplete or altered.
        """
        checkpoint, job = self.load_metadata()
        reader = StateFiles(self.path, "", "verify")
        for file in state_files(checkpoint):
            reader.read(file)
        return checkpoint, job

    def delete(self) -> None:
        """Delete the savepoint: first its metadata, then its files.

        Raises:
            CheckpointStorageError: If its path is a symbolic link, or the storage failed.
        """
        if "://" not in self.path and os.path.islink(self.path):
            raise CheckpointStorageError(
                f"{self.path} is a symbolic link to a savepoint", hint=f"name the directory itself: {os.path.realpath(self.path)}"
            )
        self._io.delete(METADATA)
        open_root(self.path.rpartition("/")[0] or "/").delete(self.path.rpartition("/")[2])


def savepoints_below(directory: str) -> list[Savepoint]:
    """Return the savepoints in a directory, in the order of their names."""
    root = directory.rstrip("/")
    return [found for name in open_root(directory).names("") if (found := Savepoint(f"{root}/{name}")).exists()]
