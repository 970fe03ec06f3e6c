"""Internal. The rows of a result as they are shown while they come: as the table that changes come to, or as the last changes."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Protocol

__all__ = ["ChangeRows", "ResultRows", "TableRows"]

Row = tuple[str, ...]


class ResultRows(Protocol):
    """The rows displayed by a view."""

    def add(self, kind: str, row: Row) -> None:
        """Take a change in."""

    def page(self, start: int, count: int) -> Sequence[Row]:
        """Return some rows."""

    def __len__(self) -> int:
        """Return how many rows there are to show."""


class ChangeRows:
    """The last changes, with their kinds.

    Args:
        most: How many are kept.
    """

    def __init__(self, most: int) -> None:
        self._rows: deque[Row] = deque(maxlen=most)

    def add(self, kind: str, row: Row) -> None:
        """Take a change in."""
        self._rows.append((kind, *row))

    def page(self, start: int, count: int) -> Sequence[Row]:
        """Return some changes."""
        return [self._rows[place] for place in range(max(0, start), min(len(self._rows), start + count))]

    def __len__(self) -> int:
        return len(self._rows)


class TableRows:
    """The table that changes come to. As in Flink's client a changed row stands at the end.

    Args:
        most: How many rows are kept; the oldest are forgotten.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._rows: dict[int, Row] = {}
        self._places: defaultdict[Row, list[int]] = defaultdict(list)
        self._next = 0
        self._order: list[int] | None = None

    def add(self, kind: str, row: Row) -> None:
        """Take a change in."""
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
            return  # it was forgotten: more rows came than are kept
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
