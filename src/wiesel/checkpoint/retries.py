"""Internal. Retries of failed storage operations."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from wiesel.checkpoint.file_io import FileIO
from wiesel.core.errors import CheckpointStorageError
from wiesel.core.logs import get_logger

T = TypeVar("T")
DELAYS_S: tuple[float, ...] = (0.1, 0.4, 1.6)
_FINAL = (FileNotFoundError, FileExistsError, IsADirectoryError, NotADirectoryError, PermissionError)
_log = get_logger("wiesel.checkpoint")


class RetryingFileIO(FileIO):
    """Delegates to another ``FileIO`` and retries failed operations; after the last failure it raises a ``CheckpointStorageError``."""

    def __init__(self, files: FileIO, where: str) -> None:
        self._files = files
        self._where = where

    def _try(self, what: str, action: Callable[[], T]) -> T:
        for delay_s in (*DELAYS_S, None):
            try:
                return action()
            except FileNotFoundError:
                raise
            except (OSError, CheckpointStorageError) as error:
                if delay_s is None or isinstance(error, _FINAL) or isinstance(error.__cause__, _FINAL):
                    raise self._failed(what, error) from error
                _log.info("%s of the storage %s failed, retrying in %.1f s: %s", what, self._where, delay_s, error)
                time.sleep(delay_s)
        raise AssertionError("unreachable")  # pragma: no cover

    def _failed(self, what: str, error: Exception) -> CheckpointStorageError:
        if isinstance(error, CheckpointStorageError):
            return error
        return CheckpointStorageError(f"{what} of the storage {self._where} failed: {error}", hint="check the storage and its permissions")

    def write(self, path: str, parts: Sequence[bytes | memoryview]) -> None:
        """See ``FileIO``."""
        self._try(f"writing {path}", lambda: self._files.write(path, parts))

    def create(self, path: str, data: bytes) -> bool:
        """See ``FileIO``. An existing file with the same contents was created by an attempt whose answer was lost."""
        tries = 0

        def attempt() -> bool:
            nonlocal tries
            tries += 1
            return self._files.create(path, data)

        created = self._try(f"creating {path}", attempt)
        return created or (tries > 1 and self.read(path) == data)

    def read(self, path: str) -> bytes:
        """See ``FileIO``."""
        return self._try(f"reading {path}", lambda: self._files.read(path))

    def exists(self, path: str) -> bool:
        """See ``FileIO``."""
        return self._try(f"lookup of {path}", lambda: self._files.exists(path))

    def size(self, path: str) -> int | None:
        """See ``FileIO``."""
        return self._try(f"lookup of {path}", lambda: self._files.size(path))

    def names(self, directory: str) -> list[str]:
        """See ``FileIO``."""
        return self._try(f"listing {directory}", lambda: self._files.names(directory))

    def delete(self, path: str) -> None:
        """See ``FileIO``."""
        self._try(f"deleting {path}", lambda: self._files.delete(path))
