"""Internal. The splits of a reader that can read any of them at any time: their order, and those that are paused."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Generic, TypeVar

from wiesel.spi.source import SourceSplit

__all__ = ["SplitList"]

SplitT = TypeVar("SplitT", bound=SourceSplit)


class SplitList(Generic[SplitT]):
    """Splits in the order in which they are read."""

    def __init__(self) -> None:
        self._splits: list[SplitT] = []
        self._paused: set[str] = set()

    def add(self, splits: Iterable[SplitT]) -> None:
        """Add splits at the end."""
        self._splits.extend(splits)

    def take(self) -> SplitT | None:
        """Remove the first split that is not paused and return it; None if there is none."""
        index = self._first()
        return None if index is None else self._splits.pop(index)

    def put_back(self, split: SplitT, *, last: bool = False) -> None:
        """Put back a split that was taken, as the first or the last one."""
        self._splits.insert(len(self._splits) if last else 0, split)

    def pause_or_resume(self, to_pause: Collection[str], to_resume: Collection[str]) -> None:
        """Pause and resume splits."""
        self._paused = (self._paused | {*to_pause}) - {*to_resume}

    @property
    def readable(self) -> bool:
        """Return whether there is a split that is not paused."""
        return self._first() is not None

    def _first(self) -> int | None:
        splits, paused = self._splits, self._paused
        return next((i for i, split in enumerate(splits) if split.split_id not in paused), None) if paused else (0 if splits else None)

    def unpaused(self) -> list[SplitT]:
        """Return the splits that are not paused."""
        return [split for split in self._splits if split.split_id not in self._paused]

    def all(self) -> list[SplitT]:
        """Return all splits."""
        return list(self._splits)

    def __len__(self) -> int:
        return len(self._splits)
