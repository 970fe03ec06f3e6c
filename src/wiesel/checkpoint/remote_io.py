"""Internal. Checkpoint files on any filesystem supported by fsspec: object stores, HDFS, memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any
from uuid import uuid4

import fsspec

from wiesel.checkpoint.file_io import FileIO
from wiesel.core.errors import CheckpointStorageError
from wiesel.core.optional import to_install


@contextmanager
def _errors_of(path: str) -> Iterator[None]:
    """Convert the errors of filesystem libraries to our own, except for FileNotFoundError."""
    try:
        yield
    except FileNotFoundError:
        raise
    except Exception as error:
        raise CheckpointStorageError(
            f"the storage failed at {path}: {type(error).__name__}: {error}", hint="check the storage and its credentials"
        ) from error


class RemoteFileIO(FileIO):
    """A directory of an fsspec filesystem. A file is durable when it is closed, which the filesystem has to guarantee.

    Few filesystems support an atomic create, and their interfaces differ. So ``create`` only requires consistent listings, as S3 and HDFS
    have: it first writes a claim file of a unique name, and takes the wanted name only if it then sees no other claim. Of two concurrent
    calls, the one that lists later sees the other, so at most one succeeds; possibly none, which looks to the callers as if another one had
    been faster.
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
        # In this order: another claim that is no longer listed has become the file.
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
        # Object stores may list the marker of the directory itself, and a file listed as a directory lists itself.
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
