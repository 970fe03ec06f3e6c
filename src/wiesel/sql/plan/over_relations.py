"""Internal. Relations with functions of the rows around each row."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from wiesel.sql.plan.relations import AggregateCall, Fields, Relation, SortKey, TimeAttribute

__all__ = ["POSITIONS", "CountWindowAggregate", "Frame", "OverAggregate"]

POSITIONS = frozenset({"RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "NTILE", "LEAD", "ROW_NUMBER"})
"""Functions of the place of a row. LAG is an aggregate as well: one of the rows from the one that it reads to the current one."""


@dataclass(frozen=True)
class Frame:
    """The frame of rows of an OVER aggregate.

    Attributes:
        by_rows: Whether rows are counted; else it is their key that counts, and rows of the same key have the same frame.
        preceding: How many rows before the current one, or how much (ms of times) before its key; None for all. Less than 0 is behind it.
        following: How far behind the current one, likewise. Less than 0 is before it.
    """

    by_rows: bool
    preceding: int | float | Decimal | None
    following: int | float | Decimal | None = 0


@dataclass(frozen=True)
class OverAggregate(Relation):
    """The rows with results of calls over the rows around them behind their columns."""

    input: Relation
    partition: tuple[int, ...]
    keys: tuple[SortKey, ...]
    frame: Frame
    calls: tuple[AggregateCall, ...]
    columns: Fields
    parallelism: int | None = None
    """Parallelism set by a hint; 0 for that of the job, None if undecided."""

    @property
    def fields(self) -> Fields:
        """Columns and results."""
        return self.columns

    @property
    def time(self) -> TimeAttribute | None:
        """The time in whose order the rows are, None if they are in another one."""
        if len(self.keys) != 1 or not self.keys[0].ascending:
            return None
        return self.input.fields[self.keys[0].index].time

    @property
    def by_clock(self) -> bool:
        """Return whether rows have processing time."""
        return self.time is TimeAttribute.PROCTIME


@dataclass(frozen=True)
class CountWindowAggregate(Relation):
    """One row per key and window of a number of its rows: the columns of the key, then the results of the calls.

    ``size``: how many rows a window has; ``slide``: how many rows behind another one it begins. Rows are in the order in which they come.
    """

    input: Relation
    keys: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    size: int
    slide: int
    columns: Fields

    @property
    def fields(self) -> Fields:
        """Keys and results."""
        return self.columns
