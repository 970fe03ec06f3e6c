"""Internal. Batches: the unit of processing in a task, as parallel lists, so that overhead is per batch."""

from __future__ import annotations

from typing import Any


class Batch:
    """Records in stream order.

    Attributes:
        values: The records.
        timestamps: Event times in ms, one per value, or None when no record of the batch has one.
        keys: The keys that ``key_by`` computed, one per value, or None outside keyed streams.

    The holder of the batch owns the lists; a receiver may change them in place only if it does not forward the batch.
    """

    __slots__ = ("keys", "timestamps", "values")

    def __init__(self, values: list[Any], timestamps: list[Any] | None = None, keys: list[Any] | None = None) -> None:
        self.values = values
        self.timestamps = timestamps
        self.keys = keys

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"Batch({self.values!r}, timestamps={self.timestamps!r}, keys={self.keys!r})"

    @property
    def records(self) -> int:
        """The number of records, counting each row of a table's batches."""
        values = self.values
        if values and getattr(type(values[0]), "holds_rows", False):
            return sum(map(len, values))
        return len(values)
