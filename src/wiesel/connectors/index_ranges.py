"""Internal. Base of counting sources: index range splits and their enumerator.

Used by the number sequence and the record generator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from wiesel.spi.source import SplitEnumerator, SplitEnumeratorContext

__all__ = ["IndexRange", "IndexRangeEnumerator", "even_ranges", "interleaved_ranges"]


@dataclass(frozen=True)
class IndexRange:
    """The indexes ``start``, ``start + step``, ... below ``end`` (None: unbounded); those before ``position`` have been read."""

    start: int
    end: int | None
    step: int
    position: int

    @property
    def split_id(self) -> str:
        """Return the split's name."""
        return f"{self.start}-{'' if self.end is None else self.end}-{self.step}"

    @property
    def finished(self) -> bool:
        """Return whether all indexes have been read."""
        return self.end is not None and self.position >= self.end

    def take(self, count: int) -> tuple[range, IndexRange]:
        """Return at most ``count`` indexes and the remaining split."""
        stop = self.position + count * self.step
        if self.end is not None and stop > self.end:
            stop = self.end
        indexes = range(self.position, stop, self.step)
        return indexes, replace(self, position=self.position + len(indexes) * self.step)


def even_ranges(start: int, end: int, parts: int) -> list[IndexRange]:
    """Divide ``start`` to ``end`` (exclusive) into at most ``parts`` ranges whose lengths differ by at most one; longer ones first."""
    length, longer = divmod(end - start, parts)
    ranges, at = [], start
    for i in range(parts):
        to = at + length + (1 if i < longer else 0)
        if to > at:
            ranges.append(IndexRange(at, to, 1, at))
        at = to
    return ranges


def interleaved_ranges(parts: int, end: int | None = None) -> list[IndexRange]:
    """Distribute the indexes from 0 to ``end`` (exclusive; None: unbounded) round-robin to ``parts`` ranges; empty ones are omitted."""
    return [IndexRange(i, end, parts, i) for i in range(parts) if end is None or i < end]


class IndexRangeEnumerator(SplitEnumerator[IndexRange]):
    """Assigns one range per request, in order."""

    def __init__(self, context: SplitEnumeratorContext[IndexRange], splits: Sequence[IndexRange]) -> None:
        self._context = context
        self._splits = list(splits)

    def add_reader(self, subtask: int) -> None:
        """Do nothing: readers send requests when they are idle."""

    def handle_split_request(self, subtask: int) -> None:
        """Assign one range, or signal that there are no more."""
        if self._splits:
            self._context.assign_splits({subtask: [self._splits.pop(0)]})
        else:
            self._context.signal_no_more_splits(subtask)

    def snapshot_state(self, checkpoint_id: int) -> Any:
        """Return the ranges not yet assigned."""
        return list(self._splits)
