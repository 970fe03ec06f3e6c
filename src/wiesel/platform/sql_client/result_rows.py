"""Internal. Rows of a growing result for display: the current table, or the last changes."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Protocol

__all__ = ["ChangeRows", "ResultRows", "TableRows"]

Row = tuple[str, ...]


class ResultRows(Protocol):
    """The rows displayed by a view."""

    def add(self, kind: str, row: Row) -> None:
        """Add a change."""

    def page(self, start: int, count: int) -> Sequence[Row]:
        """Return some rows."""

    def __len__(self) -> int:
        """Return the number of rows to show."""


class ChangeRows:
    """The last changes with their kinds.

    Args:
        most: Maximum number of changes.
    """

    def __init__(self, most: int) -> None:
        self._rows: deque[Row] = deque(maxlen=most)

    def add(self, kind: str, row: Row) -> None:
        """Add a change."""
        self._rows.append((kind, *row))

    def page(self, start: int, count: int) -> Sequence[Row]:
        """Return some changes."""
        return [self._rows[place] for place in range(max(0, start), min(len(self._rows), start + count))]

    def __len__(self) -> int:
        return len(self._rows)


class TableRows:
    """The table that results from the changes. As in Flink's client, a changed row moves to the end.

    Args:
        most: Maximum number of rows; the oldest ones are removed.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._rows: dict[int, Row] = {}
        self._places: defaultdict[Row, list[int]] = defaultdict(list)
        self._next = 0
        self._order: list[int] | None = None

    def add(self, kind: str, row: Row) -> None:
        """Add a change."""
        self._order = None
        if kind in ("+I", "+U"):
            self._append(row)
        else:
            self._take_back(row)

    def _append(self, row: Row) -> None:
        if len(self._rows) >= self._most:
            oldest = next(iter(self._rows))
            self._places[self._rows[oldest]].remove(oldest)
            del self._rows[oldest]
        self._rows[self._next] = row
        self._places[row].append(self._next)
        self._next += 1

    def _take_back(self, row: Row) -> None:
        places = self._places.get(row)
        if not places:
            return  # # The row was removed earlier, as there were more than ``most``.
        del self._rows[places.pop()]
        if not places:
            del self._places[row]

    def page(self, start: int, count: int) -> Sequence[Row]:
        """Return some rows."""
        if self._order is None:
            self._order = list(self._rows)
        return [self._rows[place] for place in self._order[max(0, start) : max(0, start) + count]]

    def __len__(self) -> int:
        return len(self._rows)
