"""Internal. The few file operations a checkpoint store needs, on local disks and on any fsspec filesystem."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import fsspec

from wiesel.core.errors import CheckpointStorageError


class FileIO(ABC):
    """Operations on paths relative to a root. Whatever ``write`` or ``create`` returned for is durable."""

    @abstractmethod
    def write(self, path: str, parts: Sequence[bytes | memoryview]) -> None:
        """Write a file whole, replacing one of that name."""

    @abstractmethod
    def create(self, path: str, data: bytes) -> bool:
        """Write a file if there is none of that name; return False if there is. Atomic: it is never seen in part."""

    @abstractmethod
    def read(self, path: str) -> bytes:
        """Return the contents. Raises FileNotFoundError."""

    @abstractmethod
    def exists(self, path: str) -> bool:
        """Return whether there is such a file or directory."""

    @abstractmethod
    def names(self, directory: str) -> list[str]:
        """Return the names in a directory, sorted; none if it does not exist."""

    @abstractmethod
    def delete(self, path: str) -> None:
        """Delete a file or a directory with all in it; no error if there is none."""


class LocalFileIO(FileIO):
    """A local (or mounted) directory."""

    def __init__(self, root: str) -> None:
        self._root = Path(root)

    def _full(self, path: str) -> Path:
        return self._root / path

    def write(self, path: str, parts: Sequence[bytes | memoryview]) -> None:
        """See ``FileIO``."""
        full = self._full(path)
        full.parent.mkdir(parents=True, exist_ok=True)
        try:
            with full.open("wb") as file:
                file.writelines(parts)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise CheckpointStorageError(
                f"cannot write {full}: {error.strerror or error}", hint="check the free space and the permissions of the directory"
            ) from error
        _sync_directory(full.parent)

    def create(self, path: str, data: bytes) -> bool:
        """See ``FileIO``: a hard link of a synced temporary file is the conditional create."""
        full = self._full(path)
        temporary = f"{path}.{os.getpid()}.tmp"
        self.write(temporary, [data])
        try:
            os.link(self._full(temporary), full)
        except FileExistsError:
            return False
        finally:
            self._full(temporary).unlink()
        _sync_directory(full.parent)
        return True

    def read(self, path: str) -> bytes:
        """See ``FileIO``."""
        return self._full(path).read_bytes()

    def exists(self, path: str) -> bool:
        """See ``FileIO``."""
        return self._full(path).exists()

    def names(self, directory: str) -> list[str]:
        """See ``FileIO``."""
        full = self._full(directory)
        return sorted(p.name for p in full.iterdir()) if full.is_dir() else []

    def delete(self, path: str) -> None:
        """See ``FileIO``."""
        full = self._full(path)
        if full.is_dir():
            for name in self.names(path):
                self.delete(f"{path}/{name}")
            full.rmdir()
        else:
            full.unlink(missing_ok=True)


def _sync_directory(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class FsspecFileIO(FileIO):
    """Any filesystem that fsspec knows (object stores, HDFS, memory).

    ``create`` is atomic where the filesystem publishes a file when it is closed, as object stores do; it is conditional by a look
    before, which the attempt's own name in the contents makes safe enough: two masters never publish the same checkpoint id unless
    one of them is fenced already.
    """

    def __init__(self, filesystem: Any, root: str) -> None:
        self._fs = filesystem
        self._root = root.rstrip("/")

    def _full(self, path: str) -> str:
        return f"{self._root}/{path}"

    def write(self, path: str, parts: Sequence[bytes | memoryview]) -> None:
        """See ``FileIO``."""
        full = self._full(path)
        try:
            self._fs.makedirs(full.rsplit("/", 1)[0], exist_ok=True)
            with self._fs.open(full, "wb") as file:
                for part in parts:
                    file.write(part)
        except OSError as error:
            raise CheckpointStorageError(f"cannot write {full}: {error}", hint="check the storage and its credentials") from error

    def create(self, path: str, data: bytes) -> bool:
        """See ``FileIO``."""
        if self.exists(path):
            return False
        temporary = f"{path}.tmp"
        self.write(temporary, [data])
        self._fs.mv(self._full(temporary), self._full(path))
        return True

    def read(self, path: str) -> bytes:
        """See ``FileIO``."""
        self._fs.invalidate_cache()
        return bytes(self._fs.cat_file(self._full(path)))

    def exists(self, path: str) -> bool:
        """See ``FileIO``."""
        self._fs.invalidate_cache()
        return bool(self._fs.exists(self._full(path)))

    def names(self, directory: str) -> list[str]:
        """See ``FileIO``."""
        self._fs.invalidate_cache()
        full = self._full(directory)
        if not self._fs.isdir(full):
            return []
        return sorted(name.rstrip("/").rsplit("/", 1)[-1] for name in self._fs.ls(full, detail=False))

    def delete(self, path: str) -> None:
        """See ``FileIO``."""
        full = self._full(path)
        if self._fs.exists(full):
            self._fs.rm(full, recursive=True)


def open_root(uri: str) -> FileIO:
    """Return the operations on a directory given as a path or URI.

    Raises:
        CheckpointStorageError: no filesystem for the scheme is installed.
    """
    parsed = urlparse(uri)
    if parsed.scheme in ("", "file") or len(parsed.scheme) == 1:
        return LocalFileIO(unquote(parsed.path) if parsed.scheme == "file" else uri)
    try:
        filesystem, root = fsspec.core.url_to_fs(uri)
    except (ImportError, ValueError) as error:
        raise CheckpointStorageError(
            f"no filesystem for {uri!r}: {error}", hint=f"install the fsspec package for {parsed.scheme!r} (for s3: pip install s3fs)"
        ) from error
    return FsspecFileIO(filesystem, root)
