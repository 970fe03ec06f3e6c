"""Internal. Operator state: lists and broadcast maps of a subtask, small enough to be written whole in every snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from wiesel.core.errors import StateMigrationError
from wiesel.state.backend import OperatorStateStore

__all__ = ["HeapOperatorState", "OperatorStateImage"]


@dataclass
class OperatorStateImage:
    """The operator state of one subtask as it is stored."""

    split: dict[str, list[Any]] = field(default_factory=dict)
    union: dict[str, list[Any]] = field(default_factory=dict)
    broadcast: dict[str, dict[Any, Any]] = field(default_factory=dict)

    def columns(self) -> tuple[dict[str, list[Any]], dict[str, list[Any]], dict[str, dict[Any, Any]]]:
        """Return the parts as plain containers."""
        return self.split, self.union, self.broadcast


class HeapOperatorState(OperatorStateStore):
    """Live lists and maps."""

    def __init__(self) -> None:
        self._image = OperatorStateImage()

    def get_list(self, name: str) -> list[Any]:
        """See ``OperatorStateStore``."""
        return self._image.split.setdefault(self._only_as(name, "split"), [])

    def get_union_list(self, name: str) -> list[Any]:
        """See ``OperatorStateStore``."""
        return self._image.union.setdefault(self._only_as(name, "union"), [])

    def get_broadcast(self, name: str) -> dict[Any, Any]:
        """See ``OperatorStateStore``."""
        return self._image.broadcast.setdefault(self._only_as(name, "broadcast"), {})

    def _only_as(self, name: str, kind: str) -> str:
        for other in ("split", "union", "broadcast"):
            if other != kind and name in getattr(self._image, other):
                raise StateMigrationError(
                    f"operator state {name!r} is of kind {other}, it is asked for as {kind}",
                    hint="give the new state another name, or restore without the old one",
                    state=name,
                )
        return name

    @property
    def image(self) -> OperatorStateImage:
        """The live contents."""
        return self._image

    @property
    def empty(self) -> bool:
        """Whether nothing was ever asked for or restored."""
        return not any(self._image.columns())

    def restore(self, images: Sequence[tuple[int, OperatorStateImage]], subtask: int, parallelism: int, old_parallelism: int) -> None:
        """Take over what the old subtasks had.

        Split lists stay where they are if the parallelism has not changed; otherwise all entries, in the order of the subtasks, are
        shared out in runs of even length. Union lists are the entries of all. Of a broadcast map each subtask takes one copy.

        Args:
            images: (index of the old subtask, its state).
            subtask: Index of this subtask.
            parallelism: Number of subtasks now.
            old_parallelism: Number of subtasks when the snapshot was taken.
        """
        if not images:
            return
        images = sorted(images, key=lambda pair: pair[0])
        own = [image for old, image in images if old == subtask]
        mine = self._image
        for name in sorted({name for _, image in images for name in image.split}):
            if parallelism == old_parallelism:
                mine.split[name] = [entry for image in own for entry in image.split.get(name, ())]
            else:
                entries = [entry for _, image in images for entry in image.split.get(name, ())]
                mine.split[name] = _share(entries, subtask, parallelism)
        for _, image in images:
            for name, entries in image.union.items():
                mine.union.setdefault(name, []).extend(entries)
        for name, contents in images[subtask % len(images)][1].broadcast.items():
            mine.broadcast[name] = contents


def _share(entries: list[Any], subtask: int, parallelism: int) -> list[Any]:
    base, more = divmod(len(entries), parallelism)
    start = subtask * base + min(subtask, more)
    return entries[start : start + base + (subtask < more)]
