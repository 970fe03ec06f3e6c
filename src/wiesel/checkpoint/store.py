"""Internal. Where checkpoints live: ``<dir>/<job id>/chk-<n>/_metadata``, state files in ``<dir>/<job id>/shared``.

State files are immutable, carry the attempt in their names and are never overwritten. ``_metadata`` is created atomically and only
by a master whose attempt is the newest: a master announces its attempt by creating ``attempts/<n>``, and one that finds a newer
announcement than its own is fenced.
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
"""What a savepoint, and who copies state, keeps in the metadata; jobs have an option for it."""
_log = get_logger("wiesel.checkpoint")


class StateFiles:
    """Writes and reads state files; picklable, used in tasks. Names are relative to the checkpoint directory.

    Args:
        directory: That of the checkpoints.
        job_id: Whose state it is.
        prefix: What the names begin with.
        copies: Where copies are kept on this host.
        inline_bytes: Files of up to so many bytes travel in the metadata instead; None for the default.
        direct_io: Whether large files of a local directory are written past the page cache: ``true``, ``false`` or ``auto``.
        signed: Whether files that are read must have the digests by which signed metadata names them, not only the checksums.
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
        """Write the parts under a new name; small ones stay inline in the acknowledgement."""
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
            CorruptCheckpointError: it is missing, torn or altered.
            UntrustedSnapshotError: it must be that of signed metadata, and is not.
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
        """Do what ``read`` does for its errors only.

        Of a file with a local copy that is whole, the storage is asked for the size alone.

        Raises:
            CorruptCheckpointError: it is missing, torn or altered.
        """
        if self._copies is not None and file.inline is None and not is_elsewhere(file.name) and self._copies.read(file) is not None:
            if self._files.size(file.name) == file.size:
                return
            raise CorruptCheckpointError(
                f"the state file {file.name} is missing or torn below {self._directory}", hint="restore an older checkpoint"
            )
        self.read(file)


def _intact(file: StateFile, data: bytes) -> bytes:
    if len(data) != file.size or crc32(data) != file.crc32:
        raise CorruptCheckpointError(
            f"the state file {file.name} is torn or altered: {len(data)} bytes of {file.size}, or its checksum does not match",
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
    """State kept in the JobManager's memory, where no checkpoint directory is set: everything travels in the acknowledgement."""

    def __init__(self, job_id: str, prefix: str, limit_bytes: int = MEMORY_LIMIT_BYTES) -> None:
        self._name = f"{job_id}/memory/{prefix}"
        self._limit_bytes = limit_bytes
        self._count = 0

    def write(self, name_hint: str, data: Sequence[bytes | memoryview]) -> StateFile:
        """Keep the parts inline.

        Raises:
            StateTooLargeError: they are larger than what the JobManager's memory is meant for.
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
            CorruptCheckpointError: the file is not inline, so it was written under a checkpoint directory that is not set now.
        """
        if file.inline is None and is_elsewhere(file.name):
            return _read_elsewhere(file)
        if file.inline is None:
            raise CorruptCheckpointError(
                f"the state file {file.name} lies in a checkpoint directory", hint="set execution.checkpointing.dir to that directory"
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
    """Checkpoints of one job, as its master sees them.

    Args:
        directory: Where those of all jobs lie.
        job_id: The job.
        copies: Copies of state files on this host.
    """

    def __init__(self, directory: str, job_id: str, copies: LocalCopies | None = None) -> None:
        self.directory = directory
        self.job_id = job_id
        self.copies = copies
        self._io = open_root(directory)
        self._attempt = 0
        self._who = f"{uuid4().hex} {os.getpid()} {socket.gethostname()}".encode()

    def acquire(self, *, at_least: int = 1) -> int:
        """Announce a new attempt and return its number; all earlier masters of the job are fenced from now on.

        What is restored has to be looked for afterwards: until then an earlier master may have published something newer. The numbers
        of one master follow each other, so a master that was replaced cannot take the job back by starting another attempt.

        Args:
            at_least: The number does not become smaller than this one.

        Raises:
            FencedError: this is not the master's first attempt, and another master has taken over.
        """
        if self._attempt:
            newest = max(self._newest_attempt(), self._attempt)
            # An announcement of this master may have arrived although the storage reported that it failed.
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
        """Delete the announcements of older attempts. Only the newest one counts; it stays after the job, against masters cut off.

        Raises:
            FencedError: another master has taken over.
        """
        self.check_fence()
        for name in self._io.names(f"{self.job_id}/attempts"):
            if name.isdigit() and int(name) < self._attempt:
                self._io.delete(self._announcement(int(name)))

    def newest_master(self) -> MasterProcess | None:
        """Return the process that ran the job last, None if that is not known."""
        try:
            _, pid, host = self._io.read(self._announcement(self._newest_attempt())).decode().split(" ", 2)
            return MasterProcess(host, int(pid))
        except (FileNotFoundError, ValueError):
            return None  # never run, or by a version that did not tell

    def check_fence(self, attempt: int | None = None) -> None:
        """Raise if an attempt was announced that is newer than ``attempt``, or than this master's present one.

        Raises:
            FencedError: another master has taken over, or a later attempt of this one has begun.
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
        """Return the address of a checkpoint, as users give it to restore."""
        return f"{self.directory.rstrip('/')}/{self.job_id}/chk-{checkpoint_id}"

    def publish(self, checkpoint: Checkpoint, job: dict[str, Any], key: bytes | None = None) -> None:
        """Step 3: make the checkpoint exist, signed if there is a key.

        Raises:
            FencedError: another master has taken over, or a later attempt has begun.
            CheckpointStorageError: the storage failed, or there is a checkpoint with this id.
        """
        self.check_fence(checkpoint.attempt)
        name = f"{self.job_id}/chk-{checkpoint.checkpoint_id}/_metadata"
        if not self._io.create(name, encode_metadata(checkpoint, job, key)):
            raise CheckpointStorageError(f"{name} exists already below {self.directory}", hint="is another process running this job?")
        # A successor may have come between the first look and the create, and have restored an older checkpoint: then nothing of this
        # one may be committed. One that comes later finds the checkpoint.
        self.check_fence(checkpoint.attempt)

    def discard(self, checkpoint: Checkpoint, keep: Iterable[Checkpoint]) -> None:
        """Delete a subsumed checkpoint: first its metadata, then its own files that no other checkpoint names.

        Raises:
            FencedError: another master has taken over, and may have begun with this very checkpoint.
        """
        self.check_fence()
        self.delete(checkpoint, keep)

    def delete(self, checkpoint: Checkpoint, keep: Iterable[Checkpoint]) -> None:
        """Do what ``discard`` does, for somebody who is not the job's master: the job must have ended."""
        self._io.delete(f"{self.job_id}/chk-{checkpoint.checkpoint_id}")
        needed: set[str] = set()
        for other in keep:
            needed |= state_file_names(other)
        for name in state_file_names(checkpoint) - needed:
            if name.startswith(f"{self.job_id}/shared/") and ".." not in name.split("/"):
                self._io.delete(name)

    def sweep(self, keep: Iterable[Checkpoint], *, vertices: Container[int] | None = None, before: int | None = None) -> None:
        """Delete left-overs of attempts that died: checkpoints older than those of ``keep``, and files that no checkpoint names.

        What the present attempt has written already, and checkpoints that are newer than those of ``keep``, stay.

        Args:
            keep: Checkpoints that are needed.
            vertices: Only files of tasks of these vertices are deleted; None for all.
            before: Only files of attempts with smaller numbers are deleted; the present one if None.

        Raises:
            FencedError: another master has taken over.
        """
        self.check_fence()
        kept = list(keep)
        ids = {c.checkpoint_id for c in kept}
        for name in self._io.names(self.job_id):
            number = int(name[4:]) if name.startswith("chk-") and name[4:].isdigit() else None
            if number is None or number in ids:
                continue
            # Metadata goes first, so that none names files that are gone.
            if number < min(ids, default=0) or not self._has_metadata(name):
                self._io.delete(f"{self.job_id}/{name}")
        needed = {n for c in (*kept, *self._readable()) for n in state_file_names(c)}
        for name in self._io.names(f"{self.job_id}/shared"):
            if f"{self.job_id}/shared/{name}" not in needed and _is_left_over(name, vertices, self._attempt if before is None else before):
                self._io.delete(f"{self.job_id}/shared/{name}")
        self.forget_older_attempts()

    def _readable(self, below: int | None = None) -> list[Checkpoint]:
        """Return the checkpoints whose metadata can be read, newest first; their files are not looked at."""
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
        """Return a number above all that checkpoints of the job have had, also damaged ones."""
        names = self._io.names(self.job_id)
        return max((int(n[4:]) for n in names if n.startswith("chk-") and n[4:].isdigit()), default=0) + 1

    def clear(self) -> None:
        """Delete all checkpoints and state files of the job: it has finished and needs none. Its newest attempt stays announced."""
        self.forget_older_attempts()
        for name in self._io.names(self.job_id):
            if name.startswith("chk-") or name == "shared":
                self._io.delete(f"{self.job_id}/{name}")

    def _has_metadata(self, name: str) -> bool:
        return self._io.exists(f"{self.job_id}/{name}/_metadata")

    def checkpoint_ids(self) -> list[int]:
        """Return the ids of the checkpoints that are there, newest first."""
        names = self._io.names(self.job_id)
        ids = [int(n[4:]) for n in names if n.startswith("chk-") and n[4:].isdigit() and self._has_metadata(n)]
        return sorted(ids, reverse=True)

    def load(self, checkpoint_id: int) -> tuple[Checkpoint, dict[str, Any]]:
        """Read a checkpoint and check that every file it names is there and whole.

        One that belongs to the user (a savepoint) can be restored under any checkpoint directory: its files are named by their whole
        paths, so no job takes them for its own.

        Raises:
            CorruptCheckpointError: something is missing, torn or altered.
        """
        checkpoint, job = self.load_metadata(checkpoint_id)
        if checkpoint.savepoint:
            checkpoint = self.with_whole_paths(checkpoint, job)
        files = StateFiles(self.directory, self.job_id, "verify", self.copies)
        for file in state_files(checkpoint):
            files.check(file)
        return checkpoint, job

    def with_whole_paths(self, checkpoint: Checkpoint, job: dict[str, Any]) -> Checkpoint:
        """Return a checkpoint that can be read from anywhere: its files are named by their whole paths, also if it was moved."""
        root, before, now = absolute(self.directory), str(job.get("id", self.job_id)), self.job_id

        def whole(file: StateFile) -> StateFile:
            if is_elsewhere(file.name):
                return file
            moved = file.name.startswith(f"{before}/")
            return replace(file, name=f"{root}/{now}/{file.name.removeprefix(f'{before}/')}" if moved else f"{root}/{file.name}")

        return with_files(checkpoint, whole)

    def relative(self, file: StateFile) -> StateFile:
        """Return a file below this directory with its name relative to it, whatever it was named by."""
        return replace(file, name=file.name.removeprefix(f"{absolute(self.directory)}/"))

    def load_metadata(self, checkpoint_id: int, key: bytes | None = None) -> tuple[Checkpoint, dict[str, Any]]:
        """Read a checkpoint without looking at its files.

        Raises:
            CorruptCheckpointError: the metadata is missing, torn or altered.
            UntrustedSnapshotError: it is not signed with the key, if there is one.
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
        """Return the newest checkpoint that is whole, or None if there is none at all.

        Args:
            at_least: Older checkpoints than this one are not looked at.

        Raises:
            CorruptCheckpointError: there are checkpoints, but none is whole.
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
    """Return whether the tasks that have written a state file are of an older attempt; its name begins with attempt and vertex."""
    writer, _, rest = name.partition("-")
    vertex = rest.partition("-")[0]
    if not writer.isdigit() or int(writer) >= before:
        return False
    return vertices is None or (vertex.isdigit() and int(vertex) in vertices)


def resolve_restore_path(path: str) -> tuple[str, str, int | None]:
    """Return (directory, job id, checkpoint id or None for the latest) of a path that a user gave.

    The path is that of a checkpoint (``.../<job id>/chk-7``, with or without ``/_metadata``) or that of a job (``.../<job id>``).

    Raises:
        CorruptCheckpointError: there is nothing that looks like a checkpoint.
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
