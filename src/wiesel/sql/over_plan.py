"""Internal. Relations with aggregates of the rows around each row."""

from __future__ import annotations

from dataclasses import dataclass

from wiesel.sql.plan import AggregateCall, Fields, Relation

__all__ = ["Frame", "OverAggregate"]


@dataclass(frozen=True)
class Frame:
    """Which rows up to the current one an aggregate is of.

    Attributes:
        by_rows: Whether rows are counted; else it is their time that counts, and rows of the same time have the same frame.
        preceding: How many rows before the current one, or ms before its time; None for all.
    """

    by_rows: bool
    preceding: int | None


@dataclass(frozen=True)
class OverAggregate(Relation):
    """The rows in the order of their time, with results of calls over the rows before them behind their columns."""

    input: Relation
    partition: tuple[int, ...]
    time: int
    by_clock: bool
    frame: Frame
    calls: tuple[AggregateCall, ...]
    columns: Fields
    parallelism: int | None = None
    """How many subtasks a hint says; 0 for as many as the job has, None if nobody has decided."""

    @property
    def fields(self) -> Fields:
        """Columns and results."""
        return self.columns
