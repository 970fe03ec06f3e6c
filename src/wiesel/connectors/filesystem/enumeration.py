"""Enumeration of the files of a file source, and their splits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from wiesel.connectors.filesystem.compression import is_compressed
from wiesel.connectors.filesystem.file_systems import FileStatus, FileSystem, stat_all
from wiesel.core.errors import ProgramError

__all__ = ["FileEnumeratorProvider", "FileSourceSplit", "FileSplitAssignerProvider", "find_files", "find_splits"]

_SPLIT_BYTES = 64 << 20


@dataclass(frozen=True)
class FileSourceSplit:
    """The records that begin in the bytes ``start`` to ``end`` of a file.

    Reading continues at ``position`` (None: from the start; in the format's unit) and skips ``skip`` records there.
    """

    path: str
    start: int
    end: int
    file_size: int
    modified_ms: int = 0
    position: int | None = None
    skip: int = 0

    @property
    def split_id(self) -> str:
        """Return the split's name."""
        return f"{self.path}:{self.start}-{self.end}"


@dataclass(frozen=True)
class FileEnumeratorProvider:
    """Selects the discovery and splitting of files.

    Args:
        split_bytes: Approximate size in bytes of the splits of plain files of a splittable format; None for no splitting.
        path_pattern: A regular expression; only files whose absolute path, without scheme and host, matches it completely are read.
    """

    split_bytes: int | None = _SPLIT_BYTES
    path_pattern: str | None = None

    def __post_init__(self) -> None:
        if self.split_bytes is not None and self.split_bytes <= 0:
            raise ProgramError(f"splits of {self.split_bytes} bytes", hint="give a positive size, or None not to cut files")
        try:
            re.compile(self.path_pattern or "")
        except re.error as error:
            hint = "write it as the module re of Python wants it"
            raise ProgramError(f"{self.path_pattern!r} is not a regular expression: {error}", hint=hint) from error

    @staticmethod
    def default_splittable_file_enumerator() -> FileEnumeratorProvider:
        """Split large files into splits of 64 MiB if the format allows it."""
        return FileEnumeratorProvider()

    @staticmethod
    def default_non_splittable_file_enumerator() -> FileEnumeratorProvider:
        """One split per file."""
        return FileEnumeratorProvider(None)


class FileSplitAssignerProvider:
    """Selects the assignment of splits to readers."""

    @staticmethod
    def locality_aware_split_assigner() -> FileSplitAssignerProvider:
        """Return the default assigner. Wiesel's readers have no local files, so each gets the next split on request."""
        return FileSplitAssignerProvider()


def find_files(paths: Sequence[str], path_pattern: str | None) -> list[tuple[FileSystem, FileStatus]]:
    """Return all files under ``paths`` whose path matches, in the order of paths and names.

    Raises:
        ConnectorError: If a path does not exist or cannot be listed.
    """
    found = stat_all(paths)
    if path_pattern is None:
        return found
    matches = re.compile(path_pattern).fullmatch
    return [(files, status) for files, status in found if matches(_path_of(files.uri(status.path)))]


def _path_of(uri: str) -> str:
    """Return the path of a URI, or the given path."""
    _, mark, rest = uri.partition("://")
    return f"/{rest.partition('/')[2]}" if mark else uri


def find_splits(paths: Sequence[str], enumeration: FileEnumeratorProvider, *, splittable: bool) -> list[FileSourceSplit]:
    """Return the splits of all files under ``paths``, ordered by path, name and position in the file.

    Raises:
        ConnectorError: If a path does not exist or cannot be listed.
    """
    splits = []
    for files, status in find_files(paths, enumeration.path_pattern):
        path = files.uri(status.path)
        size = status.size
        cut = enumeration.split_bytes if splittable and not is_compressed(status.path) else None
        # The last split may be up to half longer, to avoid a short remainder.
        pieces = 1 if cut is None else max(1, round(size / cut))
        bounds = [size * i // pieces for i in range(pieces + 1)]
        splits += [
            FileSourceSplit(path, start, end, size, status.modified_ms) for start, end in pairwise(bounds) if start < end or size == 0
        ]
    return splits
