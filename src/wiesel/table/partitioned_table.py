"""Tables with the columns by which their rows belong together, for process table functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from wiesel.core.user_location import program_error
from wiesel.table.expression import Expression
from wiesel.table.query.process_calls import process_call, table_node

if TYPE_CHECKING:
    from wiesel.table.table import Table

__all__ = ["PartitionedTable"]


class PartitionedTable:
    """A table partitioned by key columns, as :meth:`Table.partition_by` returns it."""

    def __init__(self, table: Table, keys: list[exp.Expr], order: tuple[exp.Ordered, ...] = ()) -> None:
        self._table = table
        self._keys = keys
        self._order = order

    def order_by(self, *fields: Expression[Any]) -> PartitionedTable:
        """Return the table with the order in which the function gets the rows of a key.

        Args:
            fields: A column with event time, then any others: ``order_by(col("ts"), col("n").desc)``.

        Raises:
            ProgramError: If one is no column.
        """
        with self._table._t_env._at_users_line():
            nodes = [field._node for field in fields]
            order = tuple(
                node if isinstance(node, exp.Ordered) else exp.Ordered(this=node, desc=False, nulls_first=False) for node in nodes
            )
            if not order or not all(isinstance(node.this, exp.Column) for node in order):
                raise program_error("order_by() takes columns of the table", "give col('ts'), or col('n').desc")
            return PartitionedTable(self._table, self._keys, order)

    def as_argument(self, name: str) -> Expression[Any]:
        """Return the table as the argument of a name, for :meth:`TableEnvironment.from_call`."""
        return Expression(table_node(self._table._plan, self._keys, self._order)).as_argument(name)

    def process(self, function: Any, *arguments: Any) -> Table:
        """Return the rows of a process table function that is called with the table, and further arguments.

        Args:
            function: What ``udptf()`` returned, or the name of a function that is registered.
            arguments: Constants and expressions in their order, or by names: ``lit(5).as_argument("n")``.

        Raises:
            ProgramError: If the function cannot be called like that.
        """
        table = self._table
        with table._t_env._at_users_line():
            return table._of(process_call(table._t_env, function, [table_node(table._plan, self._keys, self._order), *arguments]))
