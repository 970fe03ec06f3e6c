"""Internal. Checkpoint storage: ``<dir>/<job id>/chk-<n>/_metadata``, state files in ``<dir>/<job id>/shared``.

State files are immutable, have the attempt in their names and are never overwritten. ``_metadata`` is created atomically and only by the
master with the newest attempt: a master announces its attempt by creating ``attempts/<n>``, and one that finds a newer announcement is
fenced.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any
from uuid import uuid4

from zlib_ng.zlib_ng import crc32

from wiesel.checkpoint.coordinator import Checkpoint
from wiesel.checkpoint.file_io import FileIO, open_root
from wiesel.checkpoint.local_copies import LocalCopies
from wiesel.checkpoint.metadata import decode_metadata, encode_metadata
from wiesel.checkpoint.state_files import absolute, is_elsewhere, state_file_names, state_files, with_files
from wiesel.core.errors import CheckpointStorageError, CorruptCheckpointError, FencedError, StateTooLargeError, UntrustedSnapshotError
from wiesel.core.logs import get_logger
from wiesel.core.processes import lives
from wiesel.state.backend import StateFile

_INLINE_BYTES = 4096
"""Size limit in bytes of inline state in savepoints and copied state; jobs have an option for it."""
_log = get_logger("wiesel.checkpoint")


class StateFiles:
    """Writes and reads state files; picklable, used in tasks. Names are relative to the checkpoint directory.

    Args:
        directory: The checkpoint directory.
        job_id: Id of the job.
        prefix: Prefix of the names.
        copies: Local copies on this host.
        inline_bytes: Files up to this size are stored in the metadata instead; None for the default.
        direct_io: Direct I/O for large files of a local directory: ``true``, ``false`` or ``auto``.
        signed: Check the digests of files against the signed metadata, not only the checksums.
    """

    def __init__(
        self,
        directory: str,
        job_id: str,
        prefix: str,
        copies: LocalCopies | None = None,
        inline_bytes: int | None = None,
        *,
        direct_io: str = "false",
        signed: bool = False,
    ) -> None:
        self._signed = signed
        self._direct_io = direct_io
        self._inline_bytes = _INLINE_BYTES if inline_bytes is None else inline_bytes
        self._directory = directory
        self._job_id = job_id
        self._prefix = prefix
        self._copies = copies
        self._count = 0
        self._io: FileIO | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_io": None}

    @property
    def _files(self) -> FileIO:
        if self._io is None:
            self._io = open_root(self._directory, direct_io=self._direct_io)
        return self._io

    def write(self, name_hint: str, data: Sequence[bytes | memoryview]) -> StateFile:
        """Write the parts under a new name; small contents stay inline in the acknowledgement."""
        size = sum(len(part) for part in data)
        crc = 0
        for part in data:
            crc = crc32(part, crc)
        self._count += 1
        name = self._name(name_hint)
        if size <= self._inline_bytes:
            return StateFile(name, size, crc, b"".join(data))
        self._files.write(name, data)
        digest = sha256()
        for part in data:
            digest.update(part)
        file = StateFile(name, size, crc, sha256=digest.hexdigest())
        if self._copies is not None:
            self._copies.store(file, data)
        return file

    def _name(self, hint: str) -> str:
        return f"{self._job_id}/shared/{self._prefix}-{hint}-{self._count}"

    def read(self, file: StateFile) -> bytes:
        """Return the contents of a file.

        Raises:
            CorruptCheckpointError: If it is missing, incomplete or altered.
            UntrustedSnapshotError: If it is not the file in the signed metadata.
        """
        data = self._read(file)
        if self._signed and file.inline is None and sha256(data).hexdigest() != file.sha256:
            raise UntrustedSnapshotError(
                f"the state file {file.name} is not the one that was signed", hint="do not use this checkpoint or savepoint"
            )
        return data

    def _read(self, file: StateFile) -> bytes:
        if file.inline is not None:
            return _intact(file, file.inline)
        if is_elsewhere(file.name):
            return _read_elsewhere(file)
        copy = self._copies.read(file) if self._copies is not None else None
        if copy is not None:
            return copy
        try:
            data = _intact(file, self._files.read(file.name))
        except FileNotFoundError as error:
            raise CorruptCheckpointError(
                f"the state file {file.name} is missing below {self._directory}", hint="restore an older checkpoint"
            ) from error
        if self._copies is not None:
            self._copies.store(file, [data])
        return data

    def check(self, file: StateFile) -> None:
        """Check a file like ``read``, without returning the contents.

        For a file with a valid local copy, only the size in the storage is checked.

        Raises:
            CorruptCheckpointError: If it is missing, incomplete or altered.
        """
        if self._copies is not None and file.inline is None and not is_elsewhere(file.name) and self._copies.read(file) is not None:
            if self._files.size(file.name) == file.size:
                return
            raise CorruptCheckpointError(
                f"the state file {file.name} is missing or incomplete below {self._directory}", hint="restore an older checkpoint"
            )
        self.read(file)


def _intact(file: StateFile, data: bytes) -> bytes:
    if len(data) != file.size or crc32(data) != file.crc32:
        raise CorruptCheckpointError(
            f"the state file {file.name} is incomplete or altered: {len(data)} bytes of {file.size}, or its checksum does not match",
            hint="restore an older checkpoint",
        )
    return data


def _read_elsewhere(file: StateFile) -> bytes:
    directory, _, name = file.name.rpartition("/")
    try:
        return _intact(file, open_root(directory).read(name))
    except FileNotFoundError as error:
        raise CorruptCheckpointError(f"the state file {file.name} is missing", hint="restore an older checkpoint") from error


MEMORY_LIMIT_BYTES = 5 * 1024 * 1024


class MemoryStateFiles:
    """State stored in the JobManager's memory if no checkpoint directory is set: all contents are in the acknowledgement."""

    def __init__(self, job_id: str, prefix: str, limit_bytes: int = MEMORY_LIMIT_BYTES) -> None:
        self._name = f"{job_id}/memory/{prefix}"
        self._limit_bytes = limit_bytes
        self._count = 0

    def write(self, name_hint: str, data: Sequence[bytes | memoryview]) -> StateFile:
        """Return the parts as an inline file.

        Raises:
            StateTooLargeError: If they exceed the limit of the JobManager's memory.
        """
        size = sum(map(len, data))
        if size > self._limit_bytes:
            raise StateTooLargeError(
                f"state of {size} bytes is too large for the JobManager's memory (limit {self._limit_bytes} bytes)",
                hint="set execution.checkpointing.dir to a directory that all workers can reach",
            )
        contents = b"".join(data)
        self._count += 1
        return StateFile(f"{self._name}-{name_hint}-{self._count}", len(contents), crc32(contents), contents)

    def read(self, file: StateFile) -> bytes:
        """Return the contents.

        Raises:
            CorruptCheckpointError: If the file is not inline, so it was written to a checkpoint directory that is not set now.
        """
        if file.inline is None and is_elsewhere(file.name):
            return _read_elsewhere(file)
        if file.inline is None:
            raise CorruptCheckpointError(
                f"the state file {file.name} is stored in a checkpoint directory", hint="set execution.checkpointing.dir to that directory"
            )
        return file.inline


@dataclass(frozen=True)
class MasterProcess:
    """The process that has announced the newest attempt of a job."""

    host: str
    pid: int

    @property
    def is_here(self) -> bool:
        """Return whether it ran, or runs, on this host."""
        return self.host == socket.gethostname()

    @property
    def has_ended(self) -> bool:
        """Return whether it is known to have ended."""
        return self.is_here and not lives(self.pid)


class CheckpointStore:
    """Checkpoints of one job, used by its master.

    Args:
        directory: The checkpoint directory of all jobs.
        job_id: The job.
        copies: Local copies of state files on this host.
    """

    def __init__(self, directory: str, job_id: str, copies: LocalCopies | None = None) -> None:
        self.directory = directory
        self.job_id = job_id
        self.copies = copies
        self._io = open_root(directory)
        self._attempt = 0
        self._who = f"{uuid4().hex} {os.getpid()} {socket.gethostname()}".encode()

    def acquire(self, *, at_least: int = 1) -> int:
        """Announce a new attempt and return its number; all earlier masters of the job are fenced from then on.

        The checkpoint to restore must be determined afterwards: until then an earlier master may have published a newer one. The numbers of
        one master are consecutive, so a replaced master cannot take over the job again by starting another attempt.

        Args:
            at_least: Minimum of the number.

        Raises:
            FencedError: If this is not the master's first attempt, and another master has taken over.
        """
        if self._attempt:
            newest = max(self._newest_attempt(), self._attempt)
            # The announcement of this master may exist although the storage reported a failure.
            if newest > self._attempt and self._io.read(self._announcement(newest)) != self._who:
                raise self._fenced(self._attempt, newest)
            attempt = newest + 1
            if not self._announce(attempt) or self._newest_attempt() > attempt:
                raise self._fenced(self._attempt, attempt)
        else:
            attempt = max(self._newest_attempt() + 1, at_least)
            # A number may be free because a later master has deleted its announcement.
            while not self._announce(attempt) or self._newest_attempt() > attempt:
                attempt = max(attempt, self._newest_attempt()) + 1
        self._attempt = attempt
        return attempt

    def _announce(self, attempt: int) -> bool:
        return self._io.create(self._announcement(attempt), self._who)

    def _announcement(self, attempt: int) -> str:
        return f"{self.job_id}/attempts/{attempt}"

    def _newest_attempt(self) -> int:
        return max((int(n) for n in self._io.names(f"{self.job_id}/attempts") if n.isdigit()), default=0)

    def forget_older_attempts(self) -> None:
        """Delete the announcements of older attempts. The newest one is retained after the job to fence partitioned masters.

        Raises:
            FencedError: If another master has taken over.
        """
        self.check_fence()
        for name in self._io.names(f"{self.job_id}/attempts"):
            if name.isdigit() and int(name) < self._attempt:
                self._io.delete(self._announcement(int(name)))

    def newest_master(self) -> MasterProcess | None:
        """Return the process that ran the job last, None if unknown."""
        try:
            _, pid, host = self._io.read(self._announcement(self._newest_attempt())).decode().split(" ", 2)
            return MasterProcess(host, int(pid))
        except (FileNotFoundError, ValueError):
            return None  # never run, or by a version that did not record it

    def check_fence(self, attempt: int | None = None) -> None:
        """Raise if an attempt newer than ``attempt``, or than this master's present one, was announced.

        Raises:
            FencedError: If another master has taken over, or a later attempt of this one has begun.
        """
        mine = self._attempt if attempt is None else attempt
        newest = self._newest_attempt()
        if newest > mine:
            raise self._fenced(mine, newest)

    def _fenced(self, attempt: int, by: int) -> FencedError:
        return FencedError(
            f"attempt {attempt} of job {self.job_id} was replaced by attempt {by}",
            hint="another process has resumed this job; this one must end",
        )

    def path_of(self, checkpoint_id: int) -> str:
        """Return the address of a checkpoint, as used for a restore."""
        return f"{self.directory.rstrip('/')}/{self.job_id}/chk-{checkpoint_id}"

    def publish(self, checkpoint: Checkpoint, job: dict[str, Any], key: bytes | None = None) -> None:
        """Step 3: publish the checkpoint, signed if there is a key.

        Raises:
            FencedError: If another master has taken over, or a later attempt has begun.
            CheckpointStorageError: If the storage failed, or the checkpoint exists already.
        """
        self.check_fence(checkpoint.attempt)
        name = f"{self.job_id}/chk-{checkpoint.checkpoint_id}/_metadata"
        if not self._io.create(name, encode_metadata(checkpoint, job, key)):
            raise CheckpointStorageError(f"{name} exists already below {self.directory}", hint="is another process running this job?")
        # A successor may have started between the first check and the create, and have restored an older checkpoint: then nothing of this
        # one may be committed. A later one finds the checkpoint.
        self.check_fence(checkpoint.attempt)

    def discard(self, checkpoint: Checkpoint, keep: Iterable[Checkpoint]) -> None:
        """Delete a subsumed checkpoint: first its metadata, then its files that no other checkpoint references.

        Raises:
            FencedError: If another master has taken over, which may have restored this checkpoint.
        """
        self.check_fence()
        self.delete(checkpoint, keep)

    def delete(self, checkpoint: Checkpoint, keep: Iterable[Checkpoint]) -> None:
        """Delete a checkpoint like ``discard``, without being the job's master: the job must have ended."""
        self._io.delete(f"{self.job_id}/chk-{checkpoint.checkpoint_id}")
        needed: set[str] = set()
        for other in keep:
            needed |= state_file_names(other)
        for name in state_file_names(checkpoint) - needed:
            if name.startswith(f"{self.job_id}/shared/") and ".." not in name.split("/"):
                self._io.delete(name)

    def sweep(self, keep: Iterable[Checkpoint], *, vertices: Container[int] | None = None, before: int | None = None) -> None:
        """Delete leftovers of failed attempts: checkpoints older than those of ``keep``, and unreferenced files.

        Files of the present attempt, and checkpoints newer than those of ``keep``, are retained.

        Args:
            keep: Checkpoints to retain.
            vertices: Delete only files of tasks of these vertices; None for all.
            before: Delete only files of attempts with smaller numbers; None for the present one.

        Raises:
            FencedError: If another master has taken over.
        """
        self.check_fence()
        kept = list(keep)
        ids = {c.checkpoint_id for c in kept}
        for name in self._io.names(self.job_id):
            number = int(name[4:]) if name.startswith("chk-") and name[4:].isdigit() else None
            if number is None or number in ids:
                continue
            # Metadata is deleted first, so that none references deleted files.
            if number < min(ids, default=0) or not self._has_metadata(name):
                self._io.delete(f"{self.job_id}/{name}")
        needed = {n for c in (*kept, *self._readable()) for n in state_file_names(c)}
        for name in self._io.names(f"{self.job_id}/shared"):
            if f"{self.job_id}/shared/{name}" not in needed and _is_left_over(name, vertices, self._attempt if before is None else before):
                self._io.delete(f"{self.job_id}/shared/{name}")
        self.forget_older_attempts()

    def _readable(self, below: int | None = None) -> list[Checkpoint]:
        """Return the checkpoints with readable metadata, newest first; their files are not checked."""
        found = []
        for checkpoint_id in self.checkpoint_ids():
            if below is None or checkpoint_id < below:
                try:
                    found.append(self.load_metadata(checkpoint_id)[0])
                except CorruptCheckpointError as error:
                    _log.warning("checkpoint %d is of no use: %s", checkpoint_id, error.message)
        return found

    def retained(self, newest: Checkpoint, count: int) -> list[Checkpoint]:
        """Return at most ``count`` checkpoints up to ``newest``, oldest first."""
        older = self._readable(below=newest.checkpoint_id)[: max(0, count - 1)]
        return [*reversed(older), newest]

    def next_id(self) -> int:
        """Return a number above those of all checkpoints of the job, including damaged ones."""
        names = self._io.names(self.job_id)
        return max((int(n[4:]) for n in names if n.startswith("chk-") and n[4:].isdigit()), default=0) + 1

    def clear(self) -> None:
        """Delete all checkpoints and state files of the finished job. Its newest attempt stays announced."""
        self.forget_older_attempts()
        for name in self._io.names(self.job_id):
            if name.startswith("chk-") or name == "shared":
                self._io.delete(f"{self.job_id}/{name}")

    def _has_metadata(self, name: str) -> bool:
        return self._io.exists(f"{self.job_id}/{name}/_metadata")

    def checkpoint_ids(self) -> list[int]:
        """Return the ids of the existing checkpoints, newest first."""
        names = self._io.names(self.job_id)
        ids = [int(n[4:]) for n in names if n.startswith("chk-") and n[4:].isdigit() and self._has_metadata(n)]
        return sorted(ids, reverse=True)

    def load(self, checkpoint_id: int) -> tuple[Checkpoint, dict[str, Any]]:
        """Read a checkpoint and check that all of its files exist and are intact.

        A checkpoint owned by the user (a savepoint) can be restored under any checkpoint directory: its files have absolute paths, so no
        job considers them its own.

        Raises:
            CorruptCheckpointError: If a file is missing, incomplete or altered.
        """
        checkpoint, job = self.load_metadata(checkpoint_id)
        if checkpoint.savepoint:
            checkpoint = self.with_whole_paths(checkpoint, job)
        files = StateFiles(self.directory, self.job_id, "verify", self.copies)
        for file in state_files(checkpoint):
            files.check(file)
        return checkpoint, job

    def with_whole_paths(self, checkpoint: Checkpoint, job: dict[str, Any]) -> Checkpoint:
        """Return a relocated checkpoint with absolute paths of its files at the present location."""
        root, before, now = absolute(self.directory), str(job.get("id", self.job_id)), self.job_id

        def whole(file: StateFile) -> StateFile:
            if is_elsewhere(file.name):
                return file
            moved = file.name.startswith(f"{before}/")
            return replace(file, name=f"{root}/{now}/{file.name.removeprefix(f'{before}/')}" if moved else f"{root}/{file.name}")

        return with_files(checkpoint, whole)

    def relative(self, file: StateFile) -> StateFile:
        """Return a file below this directory with its relative name."""
        return replace(file, name=file.name.removeprefix(f"{absolute(self.directory)}/"))

    def load_metadata(self, checkpoint_id: int, key: bytes | None = None) -> tuple[Checkpoint, dict[str, Any]]:
        """Read a checkpoint without checking its files.

        Raises:
            CorruptCheckpointError: If the metadata is missing, incomplete or altered.
            UntrustedSnapshotError: If it is not signed with the key, if one is given.
        """
        where = f"{self.path_of(checkpoint_id)}/_metadata"
        try:
            data = self._io.read(f"{self.job_id}/chk-{checkpoint_id}/_metadata")
        except FileNotFoundError as error:
            raise CorruptCheckpointError(f"there is no checkpoint at {where}", hint="check the path") from error
        checkpoint, job = decode_metadata(data, where, key)
        if checkpoint.checkpoint_id != checkpoint_id:
            raise CorruptCheckpointError(f"{where} is that of checkpoint {checkpoint.checkpoint_id}", hint="restore an older checkpoint")
        return checkpoint, job

    def load_latest(self, *, at_least: int = 0) -> tuple[Checkpoint, dict[str, Any]] | None:
        """Return the newest intact checkpoint, or None if there are no checkpoints.

        Args:
            at_least: Ignore older checkpoints than this one.

        Raises:
            CorruptCheckpointError: If there are checkpoints, but none is intact.
        """
        problems = []
        for checkpoint_id in (n for n in self.checkpoint_ids() if n >= at_least):
            try:
                return self.load(checkpoint_id)
            except CorruptCheckpointError as error:
                problems.append(error.message)
        if problems:
            raise CorruptCheckpointError(
                "no checkpoint of the job can be restored: " + "; ".join(problems),
                hint="restore a savepoint, or start the job without state",
            )
        return None


def _is_left_over(name: str, vertices: Container[int] | None, before: int) -> bool:
    """Return whether a state file was written by an older attempt; its name begins with attempt and vertex."""
    writer, _, rest = name.partition("-")
    vertex = rest.partition("-")[0]
    if not writer.isdigit() or int(writer) >= before:
        return False
    return vertices is None or (vertex.isdigit() and int(vertex) in vertices)


def resolve_restore_path(path: str) -> tuple[str, str, int | None]:
    """Return (directory, job id, checkpoint id or None for the latest) of a path given by the user.

    The path is that of a checkpoint (``.../<job id>/chk-7``, with or without ``/_metadata``) or that of a job (``.../<job id>``).

    Raises:
        CorruptCheckpointError: If there is no checkpoint.
    """
    clean = absolute(path).rstrip("/").removesuffix("/_metadata")
    parent, _, name = clean.rpartition("/")
    if name.startswith("chk-") and name[4:].isdigit():
        directory, _, job_id = parent.rpartition("/")
        return directory or ("/" if parent.startswith("/") else "."), job_id, int(name[4:])
    if not any(n.startswith("chk-") for n in open_root(parent or ".").names(name)):
        raise CorruptCheckpointError(
            f"there is no checkpoint at {path}",
            hint="give the path of a savepoint, of a checkpoint (.../<job id>/chk-7) or of a job that has one",
        )
    return parent or ".", name, None
