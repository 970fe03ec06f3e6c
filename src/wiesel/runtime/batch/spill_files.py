"""Internal. Spill files of batch algorithms: unnamed files, deleted when they are closed.

A file is unlinked immediately after its creation, so that neither a failure nor the death of the process leaves it behind. It is written in
blocks, each the pickle of one object; one file holds many sorted runs, so that a merge of hundreds of runs needs one descriptor.
"""

from __future__ import annotations

import os
import pickle
import tempfile
from array import array
from collections.abc import Callable, Iterator
from typing import Any

from wiesel.core.errors import ResourceError
from wiesel.types.serializers import dumps

__all__ = ["Spill", "SpillFile"]


class SpillFile:
    """A file of blocks; written ones can be read, in any order and any number of times. Created by :meth:`Spill.open`."""

    def __init__(self, directory: str | None, on_written: Callable[[int], None]) -> None:
        self._directory = directory
        self._on_written = on_written
        try:
            if directory is not None:
                os.makedirs(directory, exist_ok=True)
            self._file = tempfile.TemporaryFile(buffering=0, dir=directory, prefix="wiesel-spill-")  # noqa: SIM115 - closed by close()
        except OSError as error:
            raise self._failed("made", error) from error
        self._ends = array("Q", [0])

    def __len__(self) -> int:
        """Return the number of blocks."""
        return len(self._ends) - 1

    def append(self, block: Any) -> int:
        """Write one object as a block; return the bytes it takes.

        Raises:
            ResourceError: If the disk is full or cannot be written.
        """
        data = dumps(block)
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            raise self._failed("written", error) from error
        self._ends.append(self._ends[-1] + len(data))
        self._on_written(len(data))
        return len(data)

    def read(self, index: int) -> Any:
        """Return the object of a block."""
        start, end = self._ends[index], self._ends[index + 1]
        try:
            data = os.pread(self._file.fileno(), end - start, start)
        except OSError as error:
            raise self._failed("read", error) from error
        return pickle.loads(data)

    def blocks(self, start: int = 0, end: int | None = None) -> Iterator[Any]:
        """Yield the objects of blocks ``start`` to ``end`` (exclusive)."""
        for index in range(start, len(self) if end is None else end):
            yield self.read(index)

    def close(self) -> None:
        """Release the space."""
        self._file.close()

    def _failed(self, what: str, error: OSError) -> ResourceError:
        directory = self._directory or tempfile.gettempdir()
        return ResourceError(
            f"a spill file in {directory} cannot be {what}: {error}",
            hint="free space there, set TMPDIR to a larger disk, or raise taskmanager.memory.managed.size so that less is spilled",
        )


class Spill:
    """The spill files of one operator.

    Args:
        directory: Directory of the files; the system's temporary directory if it is None.

    Attributes:
        bytes_written: Bytes written to all files so far.
    """

    def __init__(self, directory: str | None = None) -> None:
        self._directory = directory
        self._files: list[SpillFile] = []
        self.bytes_written = 0

    def open(self) -> SpillFile:
        """Create a file."""
        file = SpillFile(self._directory, self._written)
        self._files.append(file)
        return file

    def release(self, file: SpillFile) -> None:
        """Close a file that is no longer needed."""
        file.close()
        self._files.remove(file)

    def _written(self, count: int) -> None:
        self.bytes_written += count

    @property
    def open_files(self) -> int:
        """Return the number of open files."""
        return len(self._files)

    def close(self) -> None:
        """Close all files."""
        for file in self._files:
            file.close()
        self._files.clear()
