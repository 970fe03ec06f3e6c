"""Internal. Relations that functions of users make."""

from __future__ import annotations

from dataclasses import dataclass, replace

from wiesel.columnar.expressions import Expression
from wiesel.runtime.table.process_spec import TableInput, UserProcessFunction
from wiesel.sql.plan import AggregateCall, Fields, Relation

__all__ = ["ProcessTable", "TableAggregate"]


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


@dataclass(frozen=True)
class ProcessTable(Relation):
    """The rows that a process table function returns.

    Attributes:
        relations: Its tables.
        function: The function.
        tables: What each table is to it.
        values: For each argument its value; None for tables and what was left out.
        uid: By what its state is found again.
        timed: Whether the last column is the time of the rows.
        columns: Columns of the tables, those of the function, and the time.
    """

    relations: tuple[Relation, ...]
    function: UserProcessFunction
    tables: tuple[TableInput, ...]
    values: tuple[Expression | None, ...]
    uid: str
    timed: bool
    columns: Fields

    @property
    def has_state(self) -> bool:
        """Whether rows belong together by keys."""
        return any(argument.is_set for argument in self.function.arguments)

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """The tables."""
        return self.relations

    def with_inputs(self, *inputs: Relation) -> Relation:
        """Return the call with other tables of the same columns."""
        return replace(self, relations=inputs)

    @property
    def fields(self) -> Fields:
        """Columns of the tables, those of the function, and the time."""
        return self.columns
