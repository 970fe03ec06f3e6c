"""Internal. Closed parts of a writer that wait for compaction, and the compaction itself.

A pending part is in the state of the writer. The result of compaction is a new part; the old ones are deleted when the checkpoint with it
is committed. Before that a failure restores all of them.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, BinaryIO, cast

from wiesel.connectors.filesystem.compaction import FileCompactor, FileCompactStrategy
from wiesel.connectors.filesystem.file_systems import FileSystem, filesystem_for
from wiesel.connectors.filesystem.parts import WaitingPart
from wiesel.core.errors import ConnectorError

__all__ = ["Compaction", "WaitingParts"]


class WaitingParts:
    """Parts that wait for compaction, by bucket."""

    def __init__(self, strategy: FileCompactStrategy) -> None:
        self._strategy = strategy
        self._by_bucket: dict[str, list[WaitingPart]] = {}
        self._due: list[list[WaitingPart]] = []
        self._checkpoints = 0

    def add(self, part: WaitingPart) -> None:
        """Add a pending part; with it those of its bucket may reach the size threshold."""
        parts = self._by_bucket.setdefault(part.bucket, [])
        parts.append(part)
        if 0 <= self._strategy.size_threshold <= sum(p.size for p in parts):
            self._due.append(self._by_bucket.pop(part.bucket))

    def take_due(self, end_of_input: bool) -> list[list[WaitingPart]]:
        """Return the groups to compact at this checkpoint; at the end all."""
        self._checkpoints += 1
        if end_of_input or 0 < self._strategy.num_checkpoints_before_compaction <= self._checkpoints:
            self._due += self._by_bucket.values()
            self._by_bucket = {}
            self._checkpoints = 0
        due, self._due = self._due, []
        return due

    def all(self) -> tuple[WaitingPart, ...]:
        """Return the parts that wait."""
        return tuple(part for parts in self._by_bucket.values() for part in parts)


class Compaction:
    """Compacts parts."""

    def __init__(self, files: FileSystem, strategy: FileCompactStrategy, compactor: FileCompactor) -> None:
        self._files = files
        self._threads = strategy.num_compact_threads
        self._compactor = compactor

    def run(self, groups: Sequence[Sequence[WaitingPart]], targets: Sequence[str]) -> list[int]:
        """Write each group into its target; return the targets' sizes."""
        if self._threads == 1 or len(groups) < 2:
            return [self._one(group, target) for group, target in zip(groups, targets, strict=True)]
        with ThreadPoolExecutor(min(self._threads, len(groups))) as pool:
            return list(pool.map(self._one, groups, targets))

    def _one(self, group: Sequence[WaitingPart], target: str) -> int:
        with ExitStack() as stack:
            inputs = [self._open(part, stack.enter_context) for part in group]
            output = _Counted(self._files.open_new(target))
            stack.callback(output.close)
            self._compactor.compact(inputs, cast(BinaryIO, output))
            self._files.sync(output.stream)
            return output.size

    def _open(self, part: WaitingPart, enter: Callable[[BinaryIO], BinaryIO]) -> BinaryIO:
        files, path = filesystem_for(part.staged)
        size = files.size(path)
        if size != part.size:
            raise ConnectorError(
                f"the part file {part.staged}, which waits for compaction, "
                + ("is gone" if size is None else f"has {size} instead of {part.size} bytes"),
                hint="a later checkpoint has committed it already, or it was deleted; restore the newest checkpoint of the job",
                path=part.staged,
            )
        return enter(files.open_read(path))


class _Counted(io.RawIOBase):
    """A stream that counts the written bytes, and writes completely."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        view = memoryview(data).cast("B")
        total = view.nbytes
        while view.nbytes:
            # An unbuffered file may write less than given.
            taken = self.stream.write(view)
            self.size += taken
            view = view[taken:]
        return total

    def tell(self) -> int:
        return self.size

    def close(self) -> None:
        self.stream.close()
        super().close()
