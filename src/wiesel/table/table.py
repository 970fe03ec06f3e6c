"""``Table``: rows of named columns, to be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wiesel.sql.plan import Relation

if TYPE_CHECKING:
    from wiesel.table.table_environment import TableEnvironment

__all__ = ["Table"]


class Table:
    """Rows of named columns, made by a :class:`~wiesel.table.TableEnvironment`. Nothing is read before the job runs."""

    def __init__(self, plan: Relation, t_env: TableEnvironment) -> None:
        self._plan = plan
        self._t_env = t_env

    def print_schema(self) -> None:
        """Print the columns and their types."""
        print(self._plan.schema)
