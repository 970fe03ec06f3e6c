"""Internal. Joins with a table as it was at a time."""

from __future__ import annotations

from dataclasses import dataclass

from wiesel.columnar.expressions import Expression
from wiesel.sql.plan import Fields, JoinType, Relation

__all__ = ["TemporalJoin"]


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

    @property
    def fields(self) -> Fields:
        """Columns of both sides."""
        return self.columns
