"""Internal. The chain of state files: the files that make up a snapshot, and the handling of failed writes.

Every snapshot of a backend is a link: the changes since the link before it. A link that has been written has a list of files. One that has
not (its asynchronous part failed, was never run, or runs later) is written again together with the next, so nothing is lost and a failure
needs no clean-up.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

from wiesel.core.errors import CheckpointError
from wiesel.state.backend import StateFile, StateFileWriter, StateHandle
from wiesel.state.changelog import Section, StateFileBuffer

__all__ = ["Chain", "ChainSize", "Contents", "FileScope", "Link", "Part", "SnapshotLostError", "WrittenFile"]

Part: TypeAlias = Callable[[], Iterable[Section | bytes | memoryview]]
"""Sections of a snapshot, encoded or not; called in the thread that writes, and again if writing failed."""

_FILE_BYTES = 16 << 20
"""Size in bytes of the files that sections are gathered into; limits the memory needed for writing."""


class SnapshotLostError(CheckpointError):
    """The data that a snapshot was to read in the background no longer exists; the next snapshot succeeds."""


class FileScope(NamedTuple):
    """The key groups for which a file is valid, and whether it contains no others.

    After rescaling, a subtask continues with files of several old ones, each for a part of its key groups; a file may occur twice, with
    different scopes and followed by different files.
    """

    start: int
    end: int
    pure: bool


@dataclass(frozen=True)
class WrittenFile:
    """A state file, the index of the last link whose changes it contains, and the key groups for which it is valid."""

    link: int
    file: StateFile
    scope: FileScope


@dataclass(frozen=True)
class ChainSize:
    """Size of the chain: bytes of the files of the last full write and of those after it, and their number."""

    base_bytes: int = 0
    delta_bytes: int = 0
    files: int = 0


@dataclass
class Contents:
    """Contents of a snapshot.

    Attributes:
        changes: Changes since the previous link.
        slices: A part of all state, or all of it, rewritten.
        keep_from: With these slices all state has been rewritten since the link of this index; earlier links are not needed.
        essential: Later snapshots cannot be restored without the slices.
        operator_state: The encoded operator state, which is stored in a separate file; None if there is none.
        meta: Meta of the handle.
    """

    changes: Sequence[Part] = ()
    slices: Sequence[Part] = ()
    keep_from: int | None = None
    essential: bool = False
    operator_state: bytes | None = None
    meta: dict[str, Any] = field(default_factory=dict)


class Link:
    """One snapshot: the ``SnapshotTask`` of the built-in backends.

    Args:
        chain: The chain it belongs to.
        index: Its ascending index in the chain.
        contents: What it writes.
        previous: The previous link; None for independent snapshots.
    """

    def __init__(self, chain: Chain, index: int, contents: Contents, previous: Link | None) -> None:
        self._chain = chain
        self._index = index
        self._contents = contents
        self._previous = previous
        self._files: tuple[WrittenFile, ...] | None = None
        self._base_links = 0

    @property
    def is_written(self) -> bool:
        """True if its files are known."""
        return self._files is not None

    @property
    def is_essential(self) -> bool:
        """True if later links depend on it until it is written."""
        return self._contents.essential

    @staticmethod
    def written(chain: Chain, files: Iterable[tuple[StateFile, FileScope]]) -> Link:
        """Return the link that represents restored files."""
        link = Link(chain, 0, Contents(), None)
        link._files = tuple(WrittenFile(0, file, scope) for file, scope in files)
        return link

    def run(self, writer: StateFileWriter) -> StateHandle:
        """See ``SnapshotTask``.

        Raises:
            SnapshotLostError: If data to be read no longer exists and no other link has it.
        """
        # One thread writes at a time: otherwise a later link would write what this one is writing.
        with self._chain.lock:
            while True:
                todo = self._todo()
                try:
                    return self._write(todo, writer)
                except SnapshotLostError:
                    self._give_up_slices(todo)

    def _todo(self) -> list[Link]:
        """Return the links to be written: earlier unwritten ones, as far as needed, and this one."""
        todo, keep_from = [self], self._contents.keep_from
        link = self._previous
        while link is not None and link._files is None and (keep_from is None or link._index >= keep_from):
            todo.append(link)
            keep_from = link._contents.keep_from if keep_from is None else keep_from
            link = link._previous
        todo.reverse()
        return todo

    def _give_up_slices(self, todo: list[Link]) -> None:
        if self._contents.meta.get("savepoint") or any(link._contents.essential for link in todo):
            raise
        for link in todo:
            link._contents = replace(link._contents, slices=(), keep_from=None)

    def _write(self, todo: list[Link], writer: StateFileWriter) -> StateHandle:
        keep_from = max((link._contents.keep_from for link in todo if link._contents.keep_from is not None), default=None)
        before = todo[0]._previous
        files = list(before._files or ()) if before is not None else []
        parts = (part for link in todo for part in (*link._contents.changes, *link._contents.slices))
        files += [WrittenFile(self._index, file, self._chain.own_scope) for file in self._chain.write(writer, parts)]
        if keep_from is not None:
            files = [written for written in files if written.link >= keep_from]
        handle = self._handle(writer, files)
        if not self._contents.meta.get("savepoint"):
            self._done(files, keep_from)
        return handle

    def _done(self, files: list[WrittenFile], keep_from: int | None) -> None:
        fresh = keep_from is not None or all(written.link == self._index for written in files)
        self._base_links = self._index if fresh else self._inherited_base()
        self._files = tuple(files)
        # Free what is written; links that were subsumed keep theirs, as they may still be run.
        self._previous, self._contents = None, Contents()
        base = sum(written.file.size for written in files if written.link <= self._base_links)
        self._chain.size = ChainSize(base, sum(written.file.size for written in files) - base, len(files))

    def _inherited_base(self) -> int:
        link = self._previous
        while link is not None and link._files is None:
            link = link._previous
        return 0 if link is None else link._base_links

    def _handle(self, writer: StateFileWriter, files: list[WrittenFile]) -> StateHandle:
        stored = [written.file for written in files]
        operator_state = self._contents.operator_state
        if operator_state is not None:
            stored += self._chain.write(writer, [lambda: [operator_state]], "-operator")
        start, end, _ = self._chain.own_scope
        scopes = [list(written.scope) for written in files]
        meta = {**self._contents.meta, "operator_files": int(operator_state is not None), "scopes": scopes}
        return StateHandle(tuple(stored), start, end, meta)


class Chain:
    """The links of one backend.

    Args:
        name: Prefix of the names of its files.
        key_groups: Start and end of the backend's key groups.
    """

    def __init__(self, name: str, key_groups: tuple[int, int]) -> None:
        self.name = name
        self.own_scope = FileScope(*key_groups, True)
        self.lock = threading.Lock()
        self._buffer = StateFileBuffer()
        self.size = ChainSize()
        self._last = Link.written(self, ())
        self._next_index = 1

    @property
    def next_index(self) -> int:
        """The index that the next link will have."""
        return self._next_index

    def start_from(self, files: Sequence[tuple[StateFile, FileScope]]) -> None:
        """Continue a restored chain. All its files count as changes, so that a long chain is rewritten soon."""
        self._last = Link.written(self, files)
        self.size = ChainSize(0, sum(file.size for file, _ in files), len(files))

    def append(self, contents: Contents) -> Link:
        """Add a link."""
        link = Link(self, self._next_index, contents, self._last)
        self._next_index += 1
        self._last = link
        return link

    def standing_alone(self, contents: Contents) -> Link:
        """Return a link with a full snapshot, which the chain does not depend on."""
        return Link(self, self._next_index, contents, None)

    def write(self, writer: StateFileWriter, parts: Iterable[Part], suffix: str = "") -> list[StateFile]:
        """Write sections into as many files as needed; the lock must be held."""
        files: list[StateFile] = []
        buffer = self._buffer
        buffer.clear()
        for part in parts:
            for section in part():
                buffer.add(section)
                if buffer.size >= _FILE_BYTES:
                    files.append(self._write_file(writer, suffix))
        if not buffer.empty:
            files.append(self._write_file(writer, suffix))
        return files

    def _write_file(self, writer: StateFileWriter, suffix: str) -> StateFile:
        with self._buffer.whole() as contents:
            file = writer.write(f"{self.name}{suffix}", [contents])
        self._buffer.clear()
        return file
