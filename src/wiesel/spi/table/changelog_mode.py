"""Row kinds of a changelog."""

from __future__ import annotations

from wiesel.types.row import RowKind

__all__ = ["ChangelogMode"]


class ChangelogMode:
    """Row kinds of a changelog, created by :meth:`insert_only`, :meth:`upsert` and :meth:`all`."""

    def __init__(self, kinds: frozenset[RowKind], key_only_deletes: bool = False) -> None:
        self._kinds = kinds
        self._key_only_deletes = key_only_deletes

    @staticmethod
    def insert_only() -> ChangelogMode:
        """Return the mode of new rows only."""
        return ChangelogMode(frozenset({RowKind.INSERT}))

    @staticmethod
    def upsert(key_only_deletes: bool = True) -> ChangelogMode:
        """Return the mode in which a row replaces the one with the same primary key, and ``-D`` removes it.

        Args:
            key_only_deletes: Only the key of a ``-D`` row needs to be set.
        """
        return ChangelogMode(frozenset({RowKind.INSERT, RowKind.UPDATE_AFTER, RowKind.DELETE}), key_only_deletes)

    @staticmethod
    def all() -> ChangelogMode:
        """Return the mode of all changes."""
        return ChangelogMode(frozenset(RowKind))

    def contains(self, kind: RowKind) -> bool:
        """Return whether a row kind is included."""
        return kind in self._kinds

    def contains_only(self, kind: RowKind) -> bool:
        """Return whether this is the only row kind."""
        return self._kinds == {kind}

    def get_contained_kinds(self) -> frozenset[RowKind]:
        """Return the kinds of rows."""
        return self._kinds

    def key_only_deletes(self) -> bool:
        """Return whether only the key of a ``-D`` row needs to be set."""
        return self._key_only_deletes

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ChangelogMode) and self._kinds == other._kinds and self._key_only_deletes == other._key_only_deletes

    def __hash__(self) -> int:
        return hash((self._kinds, self._key_only_deletes))

    def __repr__(self) -> str:
        return f"ChangelogMode({', '.join(sorted(str(kind) for kind in self._kinds))})"

    def __str__(self) -> str:
        deleted = "~DELETE" if self._key_only_deletes else "DELETE"
        names = [deleted if kind is RowKind.DELETE else kind.name for kind in RowKind if kind in self._kinds]
        return f"[{', '.join(names)}]"
