"""Internal. Statistics of file tables from metadata of files and names of folders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO

from wiesel.columnar.expressions import input_refs
from wiesel.connectors.filesystem.enumeration import find_files
from wiesel.connectors.filesystem.file_systems import FileStatus, FileSystem
from wiesel.connectors.filesystem.table_files import Reading
from wiesel.core.errors import ConnectorError
from wiesel.spi.table.statistics import ColumnFacts, Facts

__all__ = ["facts_of"]

_MOST_FILES = 1000
"""Of more files it takes longer to read the metadata than a plan can gain by it."""
_AT_ONCE = 8

Describe = Callable[[BinaryIO], Facts | None]


def facts_of(path: str, path_pattern: str | None, describe: Describe, reading: Reading, keys: Sequence[str]) -> Facts | None:
    """Return what is certain of the rows below a path.

    Args:
        path: A file or folder.
        path_pattern: What paths of files must match to be read; None for all.
        describe: What tells it of a file.
        reading: Which rows: its filters must read partition keys only.
        keys: The partition keys.

    Returns:
        None if it is not known, or there are too many files.
    """
    told = {index for index, name in enumerate(reading.names) if name in keys}
    if not all(input_refs(each) and input_refs(each) <= told for each in reading.filters):
        return None
    try:
        found = find_files([path], path_pattern)
        if len(found) > _MOST_FILES:
            return None
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            parts = list(threads.map(lambda each: _of_file(each[0], each[1], describe, reading, keys), found))
    except (ConnectorError, OSError):
        return None  # who reads the files tells what is wrong with them
    known = [each for each in parts if each is not None]
    return Facts.of_all(known) if len(known) == len(parts) else None


def _of_file(files: FileSystem, status: FileStatus, describe: Describe, reading: Reading, keys: Sequence[str]) -> Facts | None:
    values = reading.values(files.uri(status.path)) if keys else {}
    passes = reading.passes({key: values[key] for key in keys})
    if passes is None:
        return None
    if not passes:
        return _none_of(reading)
    with files.open_read(status.path) as stream:
        found = describe(stream)
    if found is None:
        return None
    return Facts(found.rows, {**found.columns, **_told(values, keys, found.rows)})


def _told(values: Mapping[str, Any], keys: Sequence[str], rows: int) -> dict[str, ColumnFacts]:
    return {key: ColumnFacts(rows if values[key] is None else 0, (values[key], values[key]) if rows else (None, None)) for key in keys}


def _none_of(reading: Reading) -> Facts:
    return Facts(0, {name: ColumnFacts(0, (None, None)) for name in reading.rows.names})
