"""Which kinds of changes a stream has."""

from __future__ import annotations

from wiesel.types.row import RowKind

__all__ = ["ChangelogMode"]


class ChangelogMode:
    """Kinds of changes, made by :meth:`insert_only`, :meth:`upsert` and :meth:`all`."""

    def __init__(self, kinds: frozenset[RowKind]) -> None:
        self._kinds = kinds

    @staticmethod
    def insert_only() -> ChangelogMode:
        """Return the mode of new rows only."""
        return ChangelogMode(frozenset({RowKind.INSERT}))

    @staticmethod
    def upsert() -> ChangelogMode:
        """Return the mode in which a row takes the place of the one with the same primary key, and ``-D`` removes it."""
        return ChangelogMode(frozenset({RowKind.INSERT, RowKind.UPDATE_AFTER, RowKind.DELETE}))

    @staticmethod
    def all() -> ChangelogMode:
        """Return the mode of all changes."""
        return ChangelogMode(frozenset(RowKind))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ChangelogMode) and self._kinds == other._kinds

    def __hash__(self) -> int:
        return hash(self._kinds)

    def __repr__(self) -> str:
        return f"ChangelogMode({', '.join(sorted(str(kind) for kind in self._kinds))})"
