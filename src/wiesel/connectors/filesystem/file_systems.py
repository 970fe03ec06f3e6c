"""Internal. File systems of paths: the local disk, or any that fsspec or pyarrow support by URI.

Only the operations of file sources and sinks. Local paths use the operating system directly, so that data can be synchronised and renamed
atomically; other file systems use fsspec.
"""

from __future__ import annotations

import contextlib
import io
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, BinaryIO, cast
from urllib.parse import unquote, urlsplit

from wiesel.core.errors import ConnectorError
from wiesel.core.optional import to_install

__all__ = ["FileStatus", "FileSystem", "LocalFiles", "RemoteFiles", "filesystem_for", "is_remote"]

_COPY_BYTES = 1 << 20


@dataclass(frozen=True)
class FileStatus:
    """A found file. ``modified_ms`` is 0 if the file system does not report it."""

    path: str
    size: int
    modified_ms: int = 0


def is_hidden(name: str) -> bool:
    """Return whether files and folders of this name are ignored: those that start with ``.`` or ``_``."""
    return name.startswith((".", "_"))


class FileSystem(ABC):
    """Files by path. Paths come from :func:`filesystem_for` and from listings of the file system."""

    local: bool = False
    """True if files can be appended to, synchronised and renamed atomically."""

    @abstractmethod
    def walk(self, path: str) -> Iterator[FileStatus]:
        """Yield the file ``path``, or all files below the folder ``path`` that are not hidden.

        Raises:
            FileNotFoundError: If there is nothing under the path.
        """

    def uri(self, path: str) -> str:
        """Return the argument of :func:`filesystem_for` for a path, valid in any process."""
        return path

    @abstractmethod
    def files_in(self, folder: str) -> list[str]:
        """Return the paths of the files directly in a folder, hidden ones too; none if there is no such folder."""

    @abstractmethod
    def size(self, path: str) -> int | None:
        """Return the size of a file in bytes, None if it does not exist."""

    @abstractmethod
    def open_read(self, path: str) -> BinaryIO:
        """Open a file for reading; seekable."""

    @abstractmethod
    def open_new(self, path: str) -> BinaryIO:
        """Create a file, and the folders above it, for writing."""

    def open_append(self, path: str) -> BinaryIO:
        """Open a file for writing at its end; local files only."""
        raise io.UnsupportedOperation(f"cannot append to {path}")

    @abstractmethod
    def sync(self, stream: BinaryIO) -> None:
        """Make the data written to an open file durable, if supported."""

    @abstractmethod
    def sync_folder(self, folder: str) -> None:
        """Make the entries of a folder durable, if needed."""

    @abstractmethod
    def move(self, source: str, target: str) -> None:
        """Rename a complete file atomically for readers, creating parent folders."""

    @abstractmethod
    def remove(self, path: str) -> None:
        """Delete a file; one that does not exist is no error."""

    @abstractmethod
    def remove_empty_folder(self, path: str) -> None:
        """Delete a folder if it is empty."""

    def copy_prefix(self, source: str, target: str, length: int) -> None:
        """Copy the first ``length`` bytes of ``source`` to ``target``.

        Raises:
            FileNotFoundError: If there is no such file.
            EOFError: If it is shorter.
        """
        with self.open_read(source) as reader, self.open_new(target) as writer:
            left = length
            while left:
                block = reader.read(min(left, _COPY_BYTES))
                if not block:
                    raise EOFError(f"{source} has only {length - left} of {length} bytes")
                writer.write(block)
                left -= len(block)

    @staticmethod
    def join(*parts: str) -> str:
        """Join parts of a path; empty ones are omitted."""
        return "/".join(part.rstrip("/") if i == 0 else part.strip("/") for i, part in enumerate(parts) if part)


class LocalFiles(FileSystem):
    """Files of the operating system."""

    local = True

    def walk(self, path: str) -> Iterator[FileStatus]:
        """See ``FileSystem``."""
        status = os.stat(path)
        if not os.path.isdir(path):
            yield FileStatus(path, status.st_size, status.st_mtime_ns // 1_000_000)
            return
        with os.scandir(path) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        for entry in found:
            if is_hidden(entry.name):
                continue
            # A file may be deleted, or a link be broken, between the listing and the access.
            with contextlib.suppress(FileNotFoundError):
                yield from self.walk(entry.path)

    def files_in(self, folder: str) -> list[str]:
        """See ``FileSystem``."""
        try:
            return sorted(entry.path for entry in os.scandir(folder) if entry.is_file())
        except FileNotFoundError:
            return []

    def size(self, path: str) -> int | None:
        """See ``FileSystem``."""
        try:
            return os.stat(path).st_size
        except FileNotFoundError:
            return None

    def open_read(self, path: str) -> BinaryIO:
        """See ``FileSystem``."""
        return open(path, "rb", buffering=0)

    def open_new(self, path: str) -> BinaryIO:
        """See ``FileSystem``. Unbuffered: callers write batches."""
        for _ in range(3):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            # The empty folder may be deleted between the two calls.
            with contextlib.suppress(FileNotFoundError):
                return _RawFile(path, "w")
        return _RawFile(path, "w")

    def open_append(self, path: str) -> BinaryIO:
        """See ``FileSystem``. Unbuffered."""
        return _RawFile(path, "a")

    def sync(self, stream: BinaryIO) -> None:
        """See ``FileSystem``."""
        os.fsync(stream.fileno())

    def sync_folder(self, folder: str) -> None:
        """See ``FileSystem``."""
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def move(self, source: str, target: str) -> None:
        """See ``FileSystem``."""
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.rename(source, target)

    def remove(self, path: str) -> None:
        """See ``FileSystem``."""
        with contextlib.suppress(FileNotFoundError):
            os.remove(path)

    def remove_empty_folder(self, path: str) -> None:
        """See ``FileSystem``."""
        with contextlib.suppress(OSError):
            os.rmdir(path)


class _RawFile(io.FileIO):
    """An unbuffered file whose ``write`` writes completely (the operating system may write less at a time)."""

    def write(self, data: Any, /) -> int:
        view = memoryview(data).cast("B")
        done = 0
        while done < len(view):
            done += super().write(view[done:]) or 0
        return done


class RemoteFiles(FileSystem):
    """Files of a file system of fsspec."""

    def __init__(self, fs: Any, before: str = "") -> None:
        self._fs = fs
        self._before = before

    def uri(self, path: str) -> str:
        """See ``FileSystem``. What the given address has before the path, such as a host, fsspec would not tell."""
        return f"{self._before}{path}" if self._before else str(self._fs.unstrip_protocol(path))

    def walk(self, path: str) -> Iterator[FileStatus]:
        """See ``FileSystem``."""
        self._fs.invalidate_cache()
        info = self._fs.info(path)
        if info["type"] != "directory":
            yield self._status(info)
            return
        for info in sorted(self._fs.ls(path, detail=True), key=lambda entry: str(entry["name"])):
            name = str(info["name"]).rstrip("/")
            if is_hidden(name.rsplit("/", 1)[-1]) or name == path.rstrip("/"):
                continue
            if info["type"] == "directory":
                yield from self.walk(name)
            else:
                yield self._status(info)

    @staticmethod
    def _status(info: dict[str, Any]) -> FileStatus:
        modified = next((info[k] for k in ("mtime", "LastModified", "modified", "last_modified", "updated", "created") if k in info), None)
        if isinstance(modified, datetime):
            modified = modified.timestamp()
        return FileStatus(str(info["name"]), int(info["size"] or 0), int(modified * 1e3) if isinstance(modified, int | float) else 0)

    def files_in(self, folder: str) -> list[str]:
        """See ``FileSystem``."""
        self._fs.invalidate_cache()
        try:
            return sorted(str(info["name"]) for info in self._fs.ls(folder, detail=True) if info["type"] != "directory")
        except FileNotFoundError:
            return []

    def size(self, path: str) -> int | None:
        """See ``FileSystem``."""
        self._fs.invalidate_cache()
        try:
            return int(self._fs.info(path)["size"])
        except FileNotFoundError:
            return None

    def open_read(self, path: str) -> BinaryIO:
        """See ``FileSystem``."""
        return cast(BinaryIO, self._fs.open(path, "rb"))

    def open_new(self, path: str) -> BinaryIO:
        """See ``FileSystem``."""
        self._fs.makedirs(path.rsplit("/", 1)[0], exist_ok=True)
        return cast(BinaryIO, self._fs.open(path, "wb"))

    def sync(self, stream: BinaryIO) -> None:
        """Do nothing: an object is durable when it is closed."""

    def sync_folder(self, folder: str) -> None:
        """Do nothing."""

    def move(self, source: str, target: str) -> None:
        """See ``FileSystem``. An object store copies, which is atomic for readers, and deletes."""
        self._fs.makedirs(target.rsplit("/", 1)[0], exist_ok=True)
        self._fs.mv(source, target)

    def exists(self, path: str) -> bool:
        """Return whether a file or folder exists."""
        self._fs.invalidate_cache()
        try:
            self._fs.info(path)
        except FileNotFoundError:
            return False
        return True

    def download(self, path: str, target: str) -> None:
        """Copy a file or folder recursively to a new local path."""
        self._fs.invalidate_cache()
        if self._fs.info(path)["type"] == "directory":
            os.mkdir(target)
            self._fs.get(path.rstrip("/") + "/", target + "/", recursive=True)
        else:
            self._fs.get_file(path, target)

    def remove(self, path: str) -> None:
        """See ``FileSystem``."""
        with contextlib.suppress(FileNotFoundError):
            self._fs.rm_file(path)

    def remove_empty_folder(self, path: str) -> None:
        """See ``FileSystem``."""
        with contextlib.suppress(OSError, NotImplementedError):
            if not self._fs.ls(path):
                self._fs.rmdir(path)


def is_remote(path: str) -> bool:
    """Return whether a path or URI is not on the local disk."""
    return "://" in path and urlsplit(path).scheme not in ("file", "local")


def filesystem_for(path: str) -> tuple[FileSystem, str]:
    """Return the file system of a path or URI, and the path in it.

    Raises:
        ConnectorError: If no installed package supports the URI's scheme.
    """
    scheme = urlsplit(path).scheme if "://" in path or path.startswith("file:") else ""
    if scheme in ("", "file", "local"):
        plain = unquote(urlsplit(path).path) if scheme else path
        return LocalFiles(), os.path.abspath(os.path.expanduser(plain))
    import fsspec

    try:
        fs, inner = fsspec.core.url_to_fs(path)
    except (ImportError, ValueError) as error:
        found = _pyarrow_files(path)
        if found is None:
            raise ConnectorError(
                f"no file system for {path!r}: {error}", hint=to_install(scheme)
            ) from error
        fs, inner = found
    inner = str(inner)
    return RemoteFiles(fs, path[: -len(inner)] if inner and path.endswith(inner) else ""), inner


def _pyarrow_files(path: str) -> tuple[Any, str] | None:
    from fsspec.implementations.arrow import ArrowFSWrapper
    from pyarrow import ArrowInvalid
    from pyarrow.fs import FileSystem as ArrowFileSystem

    try:
        fs, inner = ArrowFileSystem.from_uri(path)
    except (ArrowInvalid, OSError):
        return None
    return ArrowFSWrapper(fs), inner


def stat_all(paths: Iterable[str]) -> list[tuple[FileSystem, FileStatus]]:
    """Return all files under several paths, in the order of the paths and then of their names; each file once.

    Raises:
        ConnectorError: If a path does not exist or cannot be listed.
    """
    found: dict[str, tuple[FileSystem, FileStatus]] = {}
    for path in paths:
        files, inner = filesystem_for(path)
        try:
            for status in files.walk(inner):
                found.setdefault(status.path, (files, status))
        except FileNotFoundError as error:
            raise ConnectorError(f"there is no file or folder {path!r}", hint="check the path of the file source", path=path) from error
        except OSError as error:
            raise ConnectorError(
                f"cannot list {path!r}: {error}", hint="check the permissions, and that all workers see the same files", path=path
            ) from error
    return list(found.values())
