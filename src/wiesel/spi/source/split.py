"""Internal. Splits: the pieces of a source that readers read."""

from __future__ import annotations

from typing import Protocol, TypeVar

__all__ = ["SourceSplit", "SplitT", "SplitT_contra"]


class SourceSplit(Protocol):
    """A piece of the input and the position in it; picklable. ``split_id`` is stable over the split's life."""

    @property
    def split_id(self) -> str:
        """Return the split's name, unique within the source."""
        ...


SplitT = TypeVar("SplitT", bound=SourceSplit)
SplitT_contra = TypeVar("SplitT_contra", bound=SourceSplit, contravariant=True)
