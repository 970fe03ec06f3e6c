"""Several inserts as one job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wiesel.core.argument_checks import require_instance
from wiesel.sql.dml.insert import Insertion
from wiesel.table.compiled_plan import CompiledPlan
from wiesel.table.explain_detail import ExplainDetail
from wiesel.table.table import Table
from wiesel.table.table_pipeline import TablePipeline
from wiesel.table.table_result import TableResult

if TYPE_CHECKING:
    from wiesel.table.table_environment import TableEnvironment

__all__ = ["StatementSet"]


class StatementSet:
    """Gathers inserts; :meth:`execute` runs all of them as one job. Made by ``TableEnvironment.create_statement_set()``."""

    def __init__(self, t_env: TableEnvironment) -> None:
        self._t_env = t_env
        self._insertions: list[Insertion] = []

    def add(self, table_pipeline: TablePipeline) -> StatementSet:
        """Add what ``Table.insert_into()`` returned."""
        require_instance(table_pipeline, TablePipeline, "add() takes what insert_into() returned: it", "call table.insert_into(...)")
        self._insertions.append(table_pipeline._insertion)
        return self

    def add_insert_sql(self, stmt: str) -> StatementSet:
        """Add an INSERT.

        Raises:
            SqlParseError: If it is none, or does not fit its table.
        """
        self._insertions.append(self._t_env._bind_insert(stmt))
        return self

    def add_insert(self, target_path_or_descriptor: str, table: Table, overwrite: bool = False) -> StatementSet:
        """Add the rows of a table.

        Args:
            target_path_or_descriptor: Where they go: the path of a table.
            table: The rows.
            overwrite: Whether they replace what is there: all of the table, or of the partitions that they are in.
        """
        return self.add(table.insert_into(target_path_or_descriptor, overwrite))

    def attach_as_datastream(self) -> None:
        """Add the inserts to the job of the stream environment, which its ``execute()`` runs; the set is empty then."""
        self._t_env._attach(self._insertions)
        self._insertions = []

    def compile_plan(self) -> CompiledPlan:
        """Return the plan of all inserts, which can be kept in a file; the set is empty then.

        Raises:
            ProgramError: If there is nothing to insert, or a part of the plan lives in the program alone.
        """
        insertions, self._insertions = self._insertions, []
        return self._t_env._compile(insertions)

    def explain(self, *extra_details: ExplainDetail) -> str:
        """Return the plan of all inserts as text."""
        return self._t_env._explain_insertions(self._insertions, extra_details)

    def print_explain(self, *extra_details: ExplainDetail) -> None:
        """Print the plan of all inserts."""
        print(self.explain(*extra_details))

    def execute(self) -> TableResult:
        """Start the job; the set is empty then.

        Raises:
            ProgramError: If there is nothing to insert, or a table cannot take its rows.
        """
        insertions, self._insertions = self._insertions, []
        return self._t_env._start_insertions(insertions)
