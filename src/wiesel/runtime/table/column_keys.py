"""Internal. By which columns an exchange shares batches of rows out. Without Arrow, so that jobs without tables do not load it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ColumnKeys"]


@dataclass(frozen=True)
class ColumnKeys:
    """The payload of a hash partitioner over batches of rows.

    Attributes:
        columns: The indexes of the key's columns.
        in_place: Whether rows were shared out by the same values before, so that they stay where they are if the parallelism does.
    """

    columns: tuple[int, ...]
    in_place: bool = False
