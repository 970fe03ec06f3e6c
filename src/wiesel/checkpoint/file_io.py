"""Internal. The file operations of a checkpoint store, and their implementation for local disks."""

from __future__ import annotations

import os
import shutil
import stat
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote, urlparse
from uuid import uuid4

from wiesel.checkpoint.direct_io import WritingWay, write_past_cache
from wiesel.core.errors import CheckpointStorageError, CorruptCheckpointError
from wiesel.core.folders import make_folder, sync_folder


class FileIO(ABC):
    """Operations on paths relative to a root. The result of ``write`` and ``create`` is durable when they return."""

    @abstractmethod
    def write(self, path: str, parts: Sequence[bytes | memoryview]) -> None:
        """Write a complete file, replacing one of that name."""

    @abstractmethod
    def create(self, path: str, data: bytes) -> bool:
        """Create a file if none has that name; return False otherwise. Atomic: no partial file is visible."""

    @abstractmethod
    def read(self, path: str) -> bytes:
        """Return the contents. Raises FileNotFoundError."""

    @abstractmethod
    def exists(self, path: str) -> bool:
        """Return whether a file or directory exists."""

    @abstractmethod
    def size(self, path: str) -> int | None:
        """Return the size of a file in bytes, None if it does not exist."""

    @abstractmethod
    def names(self, directory: str) -> list[str]:
        """Return the sorted names in a directory; none if it does not exist."""

    @abstractmethod
    def delete(self, path: str) -> None:
        """Delete a file or a directory with its contents; no error if it does not exist."""


def _open_private(path: str, flags: int) -> int:
    """Open a file for this user alone: state and metadata hold records, and altered contents could run code."""
    return os.open(path, flags, 0o600)


class LocalFileIO(FileIO):
    """A local (or mounted) directory.

    Args:
        root: Its path.
        direct_io: Direct I/O for large files, see ``WritingWay``.
    """

    def __init__(self, root: str, *, direct_io: str = "false") -> None:
        self._root = Path(root)
        self._way = WritingWay(direct_io)

    def _full(self, path: str) -> Path:
        if path.startswith("/") or ".." in path.split("/"):
            # Names of files come from metadata, which may be forged.
            raise CorruptCheckpointError(f"{path!r} is not a path below {self._root}", hint="do not use this checkpoint or savepoint")
        return self._root / path

    def write(self, path: str, parts: Sequence[bytes | memoryview]) -> None:
        """See ``FileIO``."""
        full = self._full(path)
        try:
            make_folder(full.parent)
            with open(full, "wb", opener=_open_private) as file:
                self._fill(file, parts)
                os.fsync(file.fileno())
            sync_folder(full.parent)
        except OSError as error:
            with suppress(OSError):
                # A partial file would fill a full disk further, and is of no use.
                full.unlink(missing_ok=True)
            raise CheckpointStorageError(
                f"cannot write {full}: {error.strerror or error}", hint="check the free space and the permissions of the directory"
            ) from error

    def _fill(self, file: BinaryIO, parts: Sequence[bytes | memoryview]) -> None:
        size = sum(map(len, parts))
        past = self._way.passes_cache(size)
        begun_s = time.thread_time()
        file.writelines(write_past_cache(file, parts) if past else parts)
        file.flush()
        if not past:
            self._way.copied(size, time.thread_time() - begun_s)

    def create(self, path: str, data: bytes) -> bool:
        """See ``FileIO``: the conditional create is a hard link to a synced temporary file."""
        full = self._full(path)
        # A process id is insufficient: machines that share the directory may have processes with the same id.
        temporary = f"{path}.{uuid4().hex}.tmp"
        self.write(temporary, [data])
        try:
            os.link(self._full(temporary), full)
            created = True
        except FileExistsError:
            created = False
        finally:
            self._full(temporary).unlink()
        sync_folder(full.parent)
        return created

    def read(self, path: str) -> bytes:
        """See ``FileIO``."""
        return self._full(path).read_bytes()

    def exists(self, path: str) -> bool:
        """See ``FileIO``."""
        return self._full(path).exists()

    def size(self, path: str) -> int | None:
        """See ``FileIO``."""
        try:
            return self._full(path).stat().st_size
        except FileNotFoundError:
            return None

    def names(self, directory: str) -> list[str]:
        """See ``FileIO``."""
        full = self._full(directory)
        return sorted(p.name for p in full.iterdir()) if full.is_dir() else []

    def delete(self, path: str) -> None:
        """See ``FileIO``."""
        full = self._full(path)
        try:
            # A symbolic link itself is deleted, never its target; rmtree follows none either.
            if stat.S_ISDIR(full.lstat().st_mode):
                shutil.rmtree(full)
            else:
                full.unlink()
        except (FileNotFoundError, NotADirectoryError):
            return


def open_root(uri: str, *, direct_io: str = "false") -> FileIO:
    """Return the operations on a directory given as a path, a URI or an address in a database. Failed operations are retried.

    Args:
        uri: The directory.
        direct_io: Direct I/O for large files of local directories: ``true``, ``false`` or ``auto``.

    Raises:
        CheckpointStorageError: If a package needed for the address is not installed.
    """
    from wiesel.checkpoint.retries import RetryingFileIO

    return RetryingFileIO(open_without_retries(uri, direct_io=direct_io), uri)


def open_without_retries(uri: str, *, direct_io: str = "false") -> FileIO:
    """Return the operations as ``open_root``, without retries."""
    parsed = urlparse(uri)
    if parsed.scheme in ("", "file") or len(parsed.scheme) == 1:
        return LocalFileIO(unquote(parsed.path) if parsed.scheme == "file" else uri, direct_io=direct_io)
    # Imported lazily: the libraries are large, or optional.
    from wiesel.checkpoint.database_io import DatabaseFileIO, is_database
    from wiesel.checkpoint.remote_io import open_remote

    return DatabaseFileIO(uri) if is_database(uri) else open_remote(uri)
