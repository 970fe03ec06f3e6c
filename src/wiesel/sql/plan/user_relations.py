"""Internal. Relations that functions of users make."""

from __future__ import annotations

from dataclasses import dataclass, replace

from wiesel.columnar.expressions import Expression
from wiesel.core.errors import ProgramError
from wiesel.runtime.table.process.spec import TableInput, UserProcessFunction
from wiesel.spi.table.changelog_mode import ChangelogMode
from wiesel.sql.plan.relations import AggregateCall, Fields, Relation

__all__ = ["ChangelogContext", "ProcessTable", "TableAggregate"]


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


class ChangelogContext:
    """Changelog modes that a function may depend on: those of its input tables, and the one that its consumers require."""

    def __init__(self, tables: tuple[TableInput, ...], required: ChangelogMode) -> None:
        self._tables = {table.argument: table for table in tables}
        self._required = required

    def get_table_changelog_mode(self, arg_pos: int) -> ChangelogMode:
        """Return the changes of a table.

        Args:
            arg_pos: Which argument it is, from 0.

        Raises:
            ProgramError: If that argument is no table.
        """
        if arg_pos not in self._tables:
            places = ", ".join(str(place) for place in self._tables if place is not None)
            raise ProgramError(f"argument {arg_pos} is no table", hint=f"the tables are the arguments {places}")
        return self._tables[arg_pos].changelog_mode

    def get_required_changelog_mode(self) -> ChangelogMode:
        """Return the changes that are required: ``upsert()`` where ``-U`` rows are not needed, otherwise ``all()``."""
        return self._required


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

    def changelog_mode(self, *, update_before: bool = True) -> ChangelogMode:
        """Return the changes that the function returns, if ``-U`` rows are needed of it or not.

        Raises:
            ProgramError: If the function declares something else than a mode.
        """
        if not self.function.declares_changelog:
            return ChangelogMode.insert_only()
        required = ChangelogMode.all() if update_before else ChangelogMode.upsert()
        mode = self.function.function.get_changelog_mode(ChangelogContext(self.tables, required))
        if not isinstance(mode, ChangelogMode):
            hint = "return ChangelogMode.all(), ChangelogMode.upsert() or ChangelogMode.insert_only()"
            raise ProgramError(f"get_changelog_mode() of {self.function.name!r} returned {mode!r}", hint=hint)
        return mode

    @property
    def has_state(self) -> bool:
        """Return whether rows are partitioned by keys."""
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
