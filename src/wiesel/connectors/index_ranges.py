"""Internal. Sources that count: splits that are ranges of indexes, and the enumerator that hands them out.

The number sequence and the record generator stand on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from wiesel.spi.source import SplitEnumerator, SplitEnumeratorContext

__all__ = ["IndexRange", "IndexRangeEnumerator", "even_ranges", "interleaved_ranges"]


@dataclass(frozen=True)
class IndexRange:
    """The indexes ``start``, ``start + step``, ... below ``end`` (None: for ever); those before ``position`` have been read."""

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
        """Return at most ``count`` indexes and the split behind them."""
        stop = self.position + count * self.step
        if self.end is not None and stop > self.end:
            stop = self.end
        indexes = range(self.position, stop, self.step)
        return indexes, replace(self, position=self.position + len(indexes) * self.step)


def even_ranges(start: int, end: int, parts: int) -> list[IndexRange]:
    """Cut ``start`` to ``end`` (exclusive) into at most ``parts`` ranges whose lengths differ by one at most; longer ones first."""
    length, longer = divmod(end - start, parts)
    ranges, at = [], start
    for i in range(parts):
        to = at + length + (1 if i < longer else 0)
        if to > at:
            ranges.append(IndexRange(at, to, 1, at))
        at = to
    return ranges


def interleaved_ranges(parts: int, end: int | None = None) -> list[IndexRange]:
    """Deal the indexes from 0 to ``end`` (exclusive; None: for ever) to ``parts`` ranges in turn; empty ones are left out."""
    return [IndexRange(i, end, parts, i) for i in range(parts) if end is None or i < end]


class IndexRangeEnumerator(SplitEnumerator[IndexRange]):
    """Gives each reader that asks one range, in their order."""

    def __init__(self, context: SplitEnumeratorContext[IndexRange], splits: Sequence[IndexRange]) -> None:
        self._context = context
        self._splits = list(splits)

    def add_reader(self, subtask: int) -> None:
        """Do nothing: readers ask when they have nothing to read."""

    def handle_split_request(self, subtask: int) -> None:
        """Assign one range, or say that there are no more."""
        if self._splits:
            self._context.assign_splits({subtask: [self._splits.pop(0)]})
        else:
            self._context.signal_no_more_splits(subtask)

    def add_splits_back(self, splits: Sequence[IndexRange]) -> None:
        """Put ranges back in front, in their order."""
        self._splits = sorted([*splits, *self._splits], key=lambda split: split.start)

    def snapshot_state(self, checkpoint_id: int) -> Any:
        """Return the ranges not yet assigned."""
        return list(self._splits)
