"""Internal. Relations that functions of users make."""

from __future__ import annotations

from dataclasses import dataclass

from wiesel.sql.plan import AggregateCall, Fields, Relation

__all__ = ["TableAggregate"]


@dataclass(frozen=True)
class TableAggregate(Relation):
    """The rows that an aggregate function returns for each group, behind the columns of its key."""

    input: Relation
    keys: tuple[int, ...]
    call: AggregateCall
    columns: Fields

    @property
    def fields(self) -> Fields:
        """Keys, and the columns of the function's rows."""
        return self.columns
