"""Rows on their way into a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wiesel.sql.dml.insert import Insertion
from wiesel.table.catalog import ObjectIdentifier
from wiesel.table.compiled_plan import CompiledPlan
from wiesel.table.explain_detail import ExplainDetail
from wiesel.table.table_result import TableResult

if TYPE_CHECKING:
    from wiesel.table.table_environment import TableEnvironment

__all__ = ["TablePipeline"]


class TablePipeline:
    """The result of ``Table.insert_into()``: nothing runs before :meth:`execute`."""

    def __init__(self, insertion: Insertion, t_env: TableEnvironment) -> None:
        self._insertion = insertion
        self._t_env = t_env

    def get_sink_identifier(self) -> ObjectIdentifier | None:
        """Return the name of the table that is written to; None if it has none."""
        identifier = self._insertion.identifier
        return None if identifier.object_name.startswith("*anonymous_") else ObjectIdentifier(identifier)

    def __str__(self) -> str:
        return f"INSERT INTO {self._insertion.identifier.sql}"

    def execute(self) -> TableResult:
        """Start the job that inserts the rows."""
        return self._t_env._start_insertions([self._insertion])

    def compile_plan(self) -> CompiledPlan:
        """Return the plan of the job, which can be kept in a file.

        Raises:
            ProgramError: If a part of it lives in the program alone.
        """
        return self._t_env._compile([self._insertion])

    def explain(self, *extra_details: ExplainDetail) -> str:
        """Return the plan as text."""
        return self._t_env._explain_insertions([self._insertion], extra_details)

    def print_explain(self, *extra_details: ExplainDetail) -> None:
        """Print the plan."""
        print(self.explain(*extra_details))
