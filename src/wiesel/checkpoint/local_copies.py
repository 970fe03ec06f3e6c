"""Internal. Second copies of state files on the disk of the host that wrote them (Flink's local recovery).

They are only a cache: a copy is identified by the name, the size and the checksum of its file, and is valid only if its contents match
both. On any failure the file is read from the checkpoint storage. So tasks of several attempts may share a directory without coordination,
and deleting its contents does no harm.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

from zlib_ng.zlib_ng import crc32

from wiesel.core.logs import get_logger
from wiesel.core.private_folders import make_private_folder
from wiesel.state.backend import StateFile

_log = get_logger("wiesel.checkpoint")
_FREE_SHARE = 0.1
"""Fraction of the disk that stays free of copies."""

_TOUCH_AFTER_S = 3600.0
_FORGET_AFTER_S = 24 * 3600.0
"""Age in seconds at which copies are deleted: their task runs elsewhere now, or their job has ended."""


@dataclass(frozen=True)
class LocalBackup:
    """Settings of local recovery.

    Attributes:
        directories: Directories; empty for the working directory of the task.
        write: Write copies.
        read: Read copies at a restart.
    """

    directories: tuple[str, ...] = ()
    write: bool = False
    read: bool = False

    def below(self, directory: str) -> LocalBackup:
        """Return the settings with a default directory if none is set."""
        return self if self.directories else replace(self, directories=(directory,))

    def copies(self, job_id: str, owner: str, working_directory: str | None) -> LocalCopies | None:
        """Return the copies of a job on this host, None if disabled.

        Args:
            job_id: The job.
            owner: Vertex and subtask of the task, as in the names of its files; empty for readers.
            working_directory: Directory if no directories are set; None if there is none.
        """
        directories = self.directories or ((working_directory,) if working_directory else ())
        return LocalCopies(directories, job_id, owner, self) if directories and (self.write or self.read) else None


class LocalCopies:
    """The copies that one task writes and reads. No method raises an ``OSError``."""

    def __init__(self, directories: Sequence[str], job_id: str, owner: str, settings: LocalBackup) -> None:
        self._roots = [Path(directory) / "wiesel-local-state" for directory in directories]
        self._job_id = job_id
        self._owner = owner
        self._settings = settings
        self._stored: set[str] = set()
        self._kept: dict[int, frozenset[str]] = {}
        self._usable: bool | None = None
        self._found = self._missed = 0

    def metrics(self) -> dict[str, int]:
        """Return the number of files read from copies and of those read from the storage."""
        return {"stateFilesReadLocally": self._found, "stateFilesReadFromStorage": self._missed}

    def read(self, file: StateFile) -> bytes | None:
        """Return the contents of a file if there is a valid copy."""
        data = self._whole(file) if self._settings.read else None
        if data is None:
            self._missed += 1
        else:
            self._found += 1
        return data

    def _whole(self, file: StateFile) -> bytes | None:
        path = self._path(_name(file))
        try:
            data = path.read_bytes()
        except OSError:
            return None
        if len(data) == file.size and crc32(data) == file.crc32:
            return data
        _log.warning("the local copy %s is incomplete or altered; reading the file from the checkpoint storage", path)
        with suppress(OSError):
            path.unlink()
        return None

    def store(self, file: StateFile, parts: Iterable[bytes | memoryview]) -> None:
        """Store a copy of a file, if there is space."""
        if not self._settings.write or not self._owner or not self._prepared():
            return
        name = _name(file)
        path = self._path(name)
        temporary = path.with_name(f"{uuid4().hex}.tmp")
        try:
            usage = shutil.disk_usage(path.parent)
            if usage.free - file.size < usage.total * _FREE_SHARE:
                _log.info("no local copy of %s: the disk of %s is nearly full", file.name, path.parent)
                return
            with open(temporary, "wb", opener=lambda path, flags: os.open(path, flags, 0o600)) as out:
                out.writelines(parts)
            temporary.replace(path)
        except OSError as error:
            _log.warning("no local copy of %s: %s", file.name, error)
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            return
        self._stored.add(name)

    def keep(self, checkpoint_id: int, files: Iterable[StateFile]) -> None:
        """Record the files of this task in a checkpoint, before it is acknowledged."""
        self._kept[checkpoint_id] = frozenset(_name(file) for file in files if file.inline is None)

    def prune(self, checkpoint_id: int) -> None:
        """Delete files not needed by this complete checkpoint or a later one. Must not run concurrently with ``store``."""
        if checkpoint_id not in self._kept:
            return
        self._kept = {number: names for number, names in self._kept.items() if number >= checkpoint_id}
        needed = frozenset().union(*self._kept.values())
        now_s = time.time()
        for path in self._entries():
            with suppress(OSError):
                age_s = now_s - path.stat().st_mtime
                if path.name in needed:
                    if age_s > _TOUCH_AFTER_S:
                        os.utime(path)
                elif self._is_own(path.name) or age_s > _FORGET_AFTER_S:
                    path.unlink()
        self._stored &= needed

    def _is_own(self, name: str) -> bool:
        """Return whether a file is of this subtask, in any attempt, or was written by this task."""
        return name in self._stored or "-".join(name.split("-")[1:3]) == self._owner

    def _path(self, name: str) -> Path:
        root = self._roots[crc32(name.encode()) % len(self._roots)]
        return root / self._job_id / name

    def _entries(self) -> Iterator[Path]:
        for root in self._roots:
            with suppress(OSError):
                yield from list((root / self._job_id).iterdir())

    def _prepared(self) -> bool:
        """Create the directories, once, and remove copies of ended jobs; return whether they are usable."""
        if self._usable is None:
            self._usable = all(_make_private(root, self._job_id) for root in self._roots)
            for root in self._roots:
                _forget_ended_jobs(root, self._job_id)
        return self._usable


def _name(file: StateFile) -> str:
    return f"{file.name.rpartition('/')[2]}-{file.size}-{file.crc32:08x}"


def _make_private(root: Path, job_id: str) -> bool:
    """Create a directory that no other user can write to: state is unpickled, which runs code."""
    try:
        make_private_folder(root)
        owner = root.stat()
        if owner.st_uid != os.getuid() or owner.st_mode & 0o022:
            _log.warning("no local copies of state in %s: other users can write to it", root)
            return False
        (root / job_id).mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        _log.warning("no local copies of state in %s: %s", root, error)
        return False
    return True


def _forget_ended_jobs(root: Path, job_id: str) -> None:
    """Delete the expired copies of other jobs."""
    before_s = time.time() - _FORGET_AFTER_S
    with suppress(OSError):
        for job in root.iterdir():
            if job.name != job_id and job.is_dir() and not job.is_symlink() and _newest_s(job) < before_s:
                shutil.rmtree(job, ignore_errors=True)


def _newest_s(directory: Path) -> float:
    newest = directory.stat().st_mtime
    for path in directory.iterdir():
        with suppress(FileNotFoundError):
            newest = max(newest, path.stat().st_mtime)
    return newest
