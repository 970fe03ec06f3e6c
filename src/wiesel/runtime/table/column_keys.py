"""Internal. By which columns an exchange shares batches of rows out. Without Arrow, so that jobs without tables do not load it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ColumnKeys"]


@dataclass(frozen=True)
class ColumnKeys:
    """The payload of a hash partitioner over batches of rows: the indexes of the key's columns."""

    columns: tuple[int, ...]
