"""Internal. Checkpoint files on any filesystem that fsspec knows: object stores, HDFS, memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any
from uuid import uuid4

import fsspec

from wiesel.checkpoint.file_io import FileIO
from wiesel.core.errors import CheckpointStorageError
from wiesel.core.extras import to_install


@contextmanager
def _errors_of(path: str) -> Iterator[None]:
    """Turn what the libraries of filesystems raise, which is of all kinds, into our own; that there is no such file stays as it is."""
    try:
        yield
    except FileNotFoundError:
        raise
    except Exception as error:
        raise CheckpointStorageError(
            f"the storage failed at {path}: {type(error).__name__}: {error}", hint="check the storage and its credentials"
        ) from error


class RemoteFileIO(FileIO):
    """A directory of a filesystem of fsspec. A file is durable when it is closed, which is for the filesystem to hold.

    Few filesystems can create a file only if there is none of that name, and their ways differ. So ``create`` asks for no more than
    that listings are up to date, as those of S3 and HDFS are: it writes a file of a name of its own first, and takes the wanted name
    only if it then sees no other that wants it. Of two that do this at the same time, the one that lists later sees the other, so at
    most one succeeds; it may be none, which is the same to whoever calls as if another had been faster.
    """

    def __init__(self, filesystem: Any, root: str) -> None:
        self._fs = filesystem
        self._root = root.rstrip("/")

    def _full(self, path: str) -> str:
        return f"{self._root}/{path}" if path else self._root

    def write(self, path: str, parts: Sequence[bytes | memoryview]) -> None:
        """See ``FileIO``."""
        full = self._full(path)
        with _errors_of(full):
            self._fs.makedirs(full.rsplit("/", 1)[0], exist_ok=True)
            with self._fs.open(full, "wb") as file:
                for part in parts:
                    file.write(part)

    def create(self, path: str, data: bytes) -> bool:
        """See ``FileIO``."""
        if self.exists(path):
            return False
        directory, _, name = path.rpartition("/")
        claim = f"{name}.{uuid4().hex}.tmp"
        mine = f"{directory}/{claim}" if directory else claim
        self.write(mine, [data])
        others = [n for n in self.names(directory) if n.startswith(f"{name}.") and n.endswith(".tmp") and n != claim]
        # In this order: another claim that is not listed any more has become the file.
        if others or self.exists(path):
            self.delete(mine)
            return False
        with _errors_of(path):
            self._fs.mv(self._full(mine), self._full(path))
        if not self.exists(path):
            raise CheckpointStorageError(f"cannot rename {self._full(mine)} to {self._full(path)}", hint="check the permissions")
        return True

    def read(self, path: str) -> bytes:
        """See ``FileIO``."""
        self._fs.invalidate_cache()
        with _errors_of(path):
            return bytes(self._fs.cat_file(self._full(path)))

    def exists(self, path: str) -> bool:
        """See ``FileIO``."""
        self._fs.invalidate_cache()
        try:
            with _errors_of(path):
                return bool(self._fs.info(self._full(path)))
        except FileNotFoundError:
            return False

    def size(self, path: str) -> int | None:
        """See ``FileIO``."""
        self._fs.invalidate_cache()
        try:
            with _errors_of(path):
                return int(self._fs.info(self._full(path))["size"])
        except FileNotFoundError:
            return None

    def names(self, directory: str) -> list[str]:
        """See ``FileIO``."""
        self._fs.invalidate_cache()
        full = self._full(directory)
        try:
            with _errors_of(directory):
                found = {str(name).rstrip("/") for name in self._fs.ls(full, detail=False)}
        except FileNotFoundError:
            return []
        # Object stores may list the mark of the directory itself, and a file instead of a directory lists itself.
        return sorted(name.rsplit("/", 1)[-1] for name in found if name.lstrip("/") != full.lstrip("/"))

    def delete(self, path: str) -> None:
        """See ``FileIO``."""
        with suppress(FileNotFoundError):
            if self.exists(path):
                with _errors_of(path):
                    self._fs.rm(self._full(path), recursive=True)


def open_remote(uri: str) -> RemoteFileIO:
    """Return the operations on a directory given by its URI.

    Raises:
        CheckpointStorageError: no filesystem for the scheme is installed.
    """
    scheme = uri.partition(":")[0]
    try:
        filesystem, root = fsspec.core.url_to_fs(uri)
    except (ImportError, ValueError) as error:
        raise CheckpointStorageError(f"no filesystem for {uri!r}: {error}", hint=to_install(scheme)) from error
    except OSError as error:
        raise CheckpointStorageError(f"cannot open {uri!r}: {error}", hint=to_install(scheme)) from error
    return RemoteFileIO(filesystem, root)
