"""Internal. Joins with a table as it was at a time, or as it is when a row comes."""

from __future__ import annotations

from dataclasses import dataclass

from wiesel.columnar.expressions import Expression
from wiesel.sql.plan.relations import Fields, JoinType, Relation, TableScan

__all__ = ["LookupHint", "LookupJoin", "TemporalJoin"]


@dataclass(frozen=True)
class TemporalJoin(Relation):
    """Rows beside the version of a row of another table that was there at their time.

    Attributes:
        left: The rows.
        right: The changelog of the versioned table.
        type: INNER or LEFT.
        condition: Over the columns of the left side and behind them those of the right one.
        left_time: The column of the left side with the event time.
        right_time: The column of the right side from whose time on a version is there.
        key: The columns of the right side that tell rows apart; the condition has an equation for each.
        columns: Those of both sides.
    """

    left: Relation
    right: Relation
    type: JoinType
    condition: Expression
    left_time: int
    right_time: int
    key: tuple[int, ...]
    columns: Fields
    parallelism: int | None = None
    """Parallelism set by a hint; 0 for that of the job, None if undecided."""

    @property
    def fields(self) -> Fields:
        """Columns of both sides."""
        return self.columns


@dataclass(frozen=True)
class LookupHint:
    """Options of the hint LOOKUP; None where not set.

    Attributes:
        asynchronous: Whether lookups are waited for.
        ordered: Whether results of asynchronous lookups leave in the order of the rows.
        capacity: How many of them run at a time.
        timeout_ms: How long one may take.
        attempts: How often a key without a row is looked up in all.
        delay_ms: The time between these.
    """

    asynchronous: bool | None = None
    ordered: bool | None = None
    capacity: int | None = None
    timeout_ms: int | None = None
    attempts: int = 1
    delay_ms: int = 0


@dataclass(frozen=True)
class LookupJoin(Relation):
    """Rows beside the rows of a table that are there when they come.

    Attributes:
        left: The rows.
        table: The table, with what is done to its rows before the join; it is not read, but asked.
        type: INNER or LEFT.
        asked: What stored columns of the table must be equal to, over the left side.
        condition: What pairs must fulfil besides, over the columns of both sides.
        columns: Those of both sides.
        hint: How the table is asked.
    """

    left: Relation
    table: Relation
    type: JoinType
    asked: tuple[tuple[int, Expression], ...]
    condition: Expression | None
    columns: Fields
    hint: LookupHint = LookupHint()

    @property
    def fields(self) -> Fields:
        """Columns of both sides."""
        return self.columns

    @property
    def scan(self) -> TableScan:
        """The table itself."""
        below = self.table
        while not isinstance(below, TableScan):
            below = below.inputs[0]
        return below
