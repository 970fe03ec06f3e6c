"""Internal. Metadata columns of files in tables."""

from __future__ import annotations

import datetime
import posixpath
from collections.abc import Iterable, Mapping
from typing import Any

from wiesel.connectors.filesystem.file_systems import filesystem_for, stat_all
from wiesel.types.logical import BigIntType, DataType, LocalZonedTimestampType, VarCharType

__all__ = ["FILE_METADATA", "file_metadata"]

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_TEXT = VarCharType(2**31 - 1, nullable=False)
FILE_METADATA: Mapping[str, DataType] = {
    "file.path": _TEXT,
    "file.name": _TEXT,
    "file.size": BigIntType(nullable=False),
    "file.modification-time": LocalZonedTimestampType(3, nullable=False),
}
"""Flink's names and types."""


def file_metadata(path: str, wanted: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return the metadata column values of a file, as Arrow's scalars accept them.

    Args:
        path: The file, as a URI.
        wanted: Columns, and their metadata keys.

    Raises:
        ConnectorError: If the file does not exist.
    """
    keys = dict(wanted)
    if not keys:
        return {}
    found: dict[str, Any] = {"file.path": filesystem_for(path)[1], "file.name": posixpath.basename(path)}
    if {"file.size", "file.modification-time"} & set(keys.values()):
        status = stat_all([path])[0][1]
        found |= {"file.size": status.size, "file.modification-time": _EPOCH + datetime.timedelta(milliseconds=status.modified_ms)}
    return {column: found[key] for column, key in keys.items()}
