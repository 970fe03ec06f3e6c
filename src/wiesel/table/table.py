"""``Table``: rows of named columns, to be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wiesel.spi.table.schema import ResolvedSchema
from wiesel.sql.plan import Relation
from wiesel.table.explain_detail import ExplainDetail
from wiesel.table.table_pipeline import TablePipeline
from wiesel.table.table_result import TableResult

if TYPE_CHECKING:
    from wiesel.table.table_descriptor import TableDescriptor
    from wiesel.table.table_environment import TableEnvironment

__all__ = ["Table"]


class Table:
    """Rows of named columns, made by a :class:`~wiesel.table.TableEnvironment`. Nothing is read before the job runs."""

    def __init__(self, plan: Relation, t_env: TableEnvironment) -> None:
        self._plan = plan
        self._t_env = t_env

    def get_schema(self) -> ResolvedSchema:
        """Return the columns and their types; PyFlink's older name of :meth:`get_resolved_schema`."""
        return self._plan.schema

    def get_resolved_schema(self) -> ResolvedSchema:
        """Return the columns and their types."""
        return self._plan.schema

    def print_schema(self) -> None:
        """Print the columns and their types."""
        print(self._plan.schema)

    def execute(self) -> TableResult:
        """Start the job that reads the table, and return its rows.

        >>> with t_env.sql_query("SELECT 1 AS one").execute().collect() as rows:  # doctest: +SKIP
        ...     print(list(rows))
        """
        return self._t_env._start_query(self._plan)

    def insert_into(self, table_path_or_descriptor: str | TableDescriptor, overwrite: bool = False) -> TablePipeline:
        """Return the way of the rows into another table; they go there when it is executed.

        Args:
            table_path_or_descriptor: The path of the table, or the descriptor of one that gets no name;
                its columns are those of the rows if it has no schema.
            overwrite: Not in this version.

        Raises:
            ProgramError: If the columns do not fit.
        """
        return TablePipeline(self._t_env._insertion(self._plan, table_path_or_descriptor, overwrite=overwrite), self._t_env)

    def execute_insert(self, table_path_or_descriptor: str | TableDescriptor, overwrite: bool = False) -> TableResult:
        """Start the job that writes the rows to another table; see :meth:`insert_into`."""
        return self.insert_into(table_path_or_descriptor, overwrite).execute()

    def explain(self, *extra_details: ExplainDetail) -> str:
        """Return the plan as text."""
        return self._t_env._explain(self._plan, extra_details)

    def print_explain(self, *extra_details: ExplainDetail) -> None:
        """Print the plan."""
        print(self.explain(*extra_details))

    def to_arrow(self) -> Any:
        """Run the job and return all rows as a ``pyarrow.Table``; Wiesel's own.

        Raises:
            ProgramError: If the query updates rows in streaming mode: use batch mode, or ``execute().collect()``.
        """
        return self._t_env._to_arrow(self._plan)

    def to_pandas(self) -> Any:
        """Run the job and return all rows as a ``pandas.DataFrame``; see :meth:`to_arrow`."""
        return self.to_arrow().to_pandas()
