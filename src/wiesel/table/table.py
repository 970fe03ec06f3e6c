"""``Table``: rows of named columns, to be read, and what can be done with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from wiesel.columnar.functions.user_functions import pandas_frame
from wiesel.core.argument_checks import require_instance
from wiesel.core.errors import ArgumentTypeError
from wiesel.core.user_location import program_error
from wiesel.spi.table import schema as schemas
from wiesel.sql.language.built_nodes import WindowProperty
from wiesel.sql.plan.relations import Relation, time_attributes
from wiesel.sql.session.jobs import is_batch
from wiesel.table.catalogs.resolved_schema import ResolvedSchema, resolved_schema
from wiesel.table.explain_detail import ExplainDetail
from wiesel.table.expression import Expression
from wiesel.table.expressions import col
from wiesel.table.partitioned_table import PartitionedTable
from wiesel.table.query.ast_nodes import column
from wiesel.table.query.columns import rebuilt
from wiesel.table.query.select import Selecting, hidden_name
from wiesel.table.table_pipeline import TablePipeline
from wiesel.table.table_result import TableResult
from wiesel.table.table_schema import TableSchema
from wiesel.table.udf import UserDefinedTableFunctionWrapper
from wiesel.table.window import GroupWindow, OverWindow

if TYPE_CHECKING:
    from wiesel.table.table_descriptor import TableDescriptor
    from wiesel.table.table_environment import TableEnvironment

__all__ = [
    "AggregatedTable",
    "FlatAggregateTable",
    "GroupWindowedTable",
    "GroupedTable",
    "OverWindowedTable",
    "Table",
    "WindowGroupedTable",
]


class Table:
    """Rows of named columns, made by a :class:`~wiesel.table.TableEnvironment`. Nothing is read before the job runs.

    A table as text is the name of a view of it, for queries: ``t_env.sql_query(f"SELECT * FROM {table}")``. Its columns are also its
    attributes: ``table.price`` is ``col("price")``.
    """

    def __init__(self, plan: Relation, t_env: TableEnvironment, declared: schemas.ResolvedSchema | None = None) -> None:
        self._plan = plan
        self._declared = declared
        """The schema of a table that was found by its name."""
        self._t_env = t_env
        self._name: str | None = None

    def __str__(self) -> str:
        if self._name is None:
            self._name = self._t_env._name_of(self._plan)
        return self._name

    def __getattr__(self, name: str) -> Expression[Any]:
        names = [] if name.startswith("_") else [field.name for field in self._plan.fields]
        if name not in names:
            raise AttributeError(f"the table has no column {name!r}; its columns are: {', '.join(names)}")
        return col(name)

    def _of(self, plan: Relation) -> Table:
        return Table(plan, self._t_env)

    @property
    def _selecting(self) -> Selecting:
        return Selecting(self._t_env, self._plan)

    def _other(self, right: Table, method: str) -> Relation:
        require_instance(right, Table, f"{method}() takes a table: it", "give what from_path() or another method returned")
        if right._t_env is not self._t_env:
            raise program_error("the tables belong to different environments", "make both with the same environment")
        return right._plan

    # Columns

    def select(self, *fields: Expression[Any]) -> Table:
        """Return a table of other columns; with aggregates among them, of one row.

        >>> table.select(col("id"), (col("price") * 2).alias("twice"))  # doctest: +SKIP

        Raises:
            ProgramError: If a column is not known, types do not fit, or two columns have one name.
        """
        with self._t_env._at_users_line():
            return self._of(self._selecting.select(fields))

    def add_columns(self, *fields: Expression[Any]) -> Table:
        """Return the table with further columns behind its own."""
        with self._t_env._at_users_line():
            return self._of(self._selecting.select([*map(col, self._selecting.names), *fields]))

    def add_or_replace_columns(self, *fields: Expression[Any]) -> Table:
        """Return the table with further columns; one of a name that there is takes the place of that one."""
        with self._t_env._at_users_line():
            nodes = self._selecting.expanded(fields)
            new: dict[str, Expression[Any]] = {node.alias: Expression(node) for node in nodes if isinstance(node, exp.Alias)}
            unnamed: list[Expression[Any]] = [Expression(node) for node in nodes if not isinstance(node, exp.Alias)]
            names = self._selecting.names
            added = [field for name, field in new.items() if name not in names]
            return self._of(self._selecting.select([*(new.get(name, col(name)) for name in names), *added, *unnamed]))

    def rename_columns(self, *fields: Expression[Any]) -> Table:
        """Return the table with other names of some columns: ``rename_columns(col("a").alias("b"))``."""
        with self._t_env._at_users_line():
            names = self._selecting.names
            new: dict[str, str] = {}
            for field in fields:
                node = field._node
                if not isinstance(node, exp.Alias) or node.this.name not in names:
                    raise program_error("rename_columns() takes columns of the table under other names", "give col('a').alias('b')")
                new[node.this.name] = node.alias
            return self._of(self._selecting.select([col(name).alias(new.get(name, name)) for name in names]))

    def drop_columns(self, *fields: Expression[Any]) -> Table:
        """Return the table without some columns."""
        with self._t_env._at_users_line():
            nodes = self._selecting.expanded(fields)
            if not all(isinstance(node, exp.Column) for node in nodes):
                raise program_error("drop_columns() takes columns of the table", "give col('a')")
            dropped = [node.name for node in nodes]
            self._selecting.select([Expression(node) for node in nodes])
            return self._of(self._selecting.select([col(name) for name in self._selecting.names if name not in dropped]))

    def alias(self, field: str, *fields: str) -> Table:
        """Return the table with other names of its first columns."""
        with self._t_env._at_users_line():
            given, names = [field, *fields], self._selecting.names
            if len(given) > len(names):
                raise program_error(f"there are {len(names)} columns, but {len(given)} names", "give one for each column at most")
            new = [*given, *names[len(given) :]]
            return self._of(self._selecting.select([col(name).alias(to) for name, to in zip(names, new, strict=True)]))

    # Rows

    def filter(self, predicate: Expression[bool]) -> Table:
        """Return the rows for which a condition is true.

        Raises:
            ProgramError: If it is no condition.
        """
        with self._t_env._at_users_line():
            return self._of(self._selecting.filter(predicate))

    def where(self, predicate: Expression[bool]) -> Table:
        """Return the rows for which a condition is true; another name of :meth:`filter`."""
        return self.filter(predicate)

    def distinct(self) -> Table:
        """Return each row once."""
        with self._t_env._at_users_line():
            return self._of(self._selecting.distinct())

    def order_by(self, *fields: Expression[Any]) -> Table:
        """Return the rows in the order of columns: ``order_by(col("a").desc, col("b"))``."""
        with self._t_env._at_users_line():
            return self._of(self._selecting.order_by(fields))

    def offset(self, offset: int) -> Table:
        """Return the rows without the first ones of their order."""
        return self._part(offset, None)

    def fetch(self, fetch: int) -> Table:
        """Return the first rows of their order."""
        return self._part(0, fetch)

    def limit(self, fetch: int, offset: int = 0) -> Table:
        """Return some rows: ``fetch`` of those behind the first ``offset``."""
        return self._part(offset, fetch)

    def _part(self, offset: int, count: int | None) -> Table:
        for number in (offset, 0 if count is None else count):
            require_instance(number, int, "a number of rows", "give a whole number")
            if number < 0:
                raise program_error(f"a number of rows is {number}", "give one that is not negative")
        return self._of(self._selecting.part(offset, count))

    # Several tables

    def join(self, right: Table, join_predicate: Expression[bool] | None = None) -> Table:
        """Return the pairs of rows of two tables for which a condition is true; no column may have the same name in both."""
        return self._joined("join", right, "", join_predicate)

    def left_outer_join(self, right: Table, join_predicate: Expression[bool] | None = None) -> Table:
        """Return the pairs of rows, and the rows of this table without partner."""
        return self._joined("left_outer_join", right, "LEFT", join_predicate)

    def right_outer_join(self, right: Table, join_predicate: Expression[bool]) -> Table:
        """Return the pairs of rows, and the rows of the other table without partner."""
        return self._joined("right_outer_join", right, "RIGHT", join_predicate)

    def full_outer_join(self, right: Table, join_predicate: Expression[bool]) -> Table:
        """Return the pairs of rows, and the rows of both tables without partner."""
        return self._joined("full_outer_join", right, "FULL", join_predicate)

    def _joined(self, method: str, right: Table, side: str, predicate: Expression[bool] | None) -> Table:
        with self._t_env._at_users_line():
            return self._of(self._selecting.join(self._other(right, method), side, predicate))

    def join_lateral(self, table_function_call: Any, join_predicate: Expression[bool] | None = None) -> Table:
        """Return the rows beside those that a table function returns for them.

        Args:
            table_function_call: A call such as ``split(col("text")).alias("word")``; a function itself, with an alias, gets the whole row.
            join_predicate: A condition that leaves pairs out.
        """
        return self._lateral(table_function_call, "", join_predicate)

    def left_outer_join_lateral(self, table_function_call: Any, join_predicate: Expression[bool] | None = None) -> Table:
        """Return the rows beside those that a table function returns for them; with NULL where it returns none."""
        return self._lateral(table_function_call, "LEFT", join_predicate)

    def _lateral(self, given: Any, side: str, predicate: Expression[bool] | None) -> Table:
        with self._t_env._at_users_line():
            if isinstance(given, UserDefinedTableFunctionWrapper) and not given._alias_names:
                raise program_error("the columns of the table function have no names", "give them: f.alias('a', 'b')", ArgumentTypeError)
            return self._of(self._selecting.lateral(given, side, predicate))

    def minus(self, right: Table) -> Table:
        """Return the different rows of this table that are not in the other."""
        return self._combined("minus", exp.Except, right, distinct=True)

    def minus_all(self, right: Table) -> Table:
        """Return the rows of this table, each as many times less as it is in the other."""
        return self._combined("minus_all", exp.Except, right, distinct=False)

    def union(self, right: Table) -> Table:
        """Return the different rows of both tables."""
        return self._combined("union", exp.Union, right, distinct=True)

    def union_all(self, right: Table) -> Table:
        """Return the rows of both tables."""
        return self._combined("union_all", exp.Union, right, distinct=False)

    def intersect(self, right: Table) -> Table:
        """Return the different rows that are in both tables."""
        return self._combined("intersect", exp.Intersect, right, distinct=True)

    def intersect_all(self, right: Table) -> Table:
        """Return the rows that are in both tables, as many times as they are in both."""
        return self._combined("intersect_all", exp.Intersect, right, distinct=False)

    def _combined(self, method: str, kind: type[exp.Expr], right: Table, *, distinct: bool) -> Table:
        with self._t_env._at_users_line():
            return self._of(self._selecting.combined(kind, self._other(right, method), distinct=distinct))

    # Functions of rows

    def map(self, func: Any) -> Table:
        """Return the row that a function returns for each: its fields are the columns.

        Args:
            func: A call of a function; a function itself (``udf``) gets the whole row, one of pandas a ``DataFrame``.
        """
        with self._t_env._at_users_line():
            return self._of(self._selecting.map(func))

    def flat_map(self, func: Any) -> Table:
        """Return the rows that a table function (``udtf``) returns for each; one that is given itself gets the whole row."""
        with self._t_env._at_users_line():
            joined = self._selecting.lateral(func, "", None)
            count = len(self._plan.fields)
            return Table(joined, self._t_env).select(*(col(field.name) for field in joined.fields[count:]))

    def aggregate(self, func: Any) -> AggregatedTable:
        """Return what an aggregate function makes of all rows; ``select()`` names its columns."""
        return GroupedTable(self, []).aggregate(func)

    def flat_aggregate(self, func: Any) -> FlatAggregateTable:
        """Return the rows that an aggregate function (``udtaf``) makes of all rows; ``select()`` names their columns."""
        return GroupedTable(self, []).flat_aggregate(func)

    def process(self, function: Any, *arguments: Any) -> Table:
        """Return the rows of a process table function (``udptf``) that is called with the rows of the table, and further arguments."""
        return PartitionedTable(self, []).process(function, *arguments)

    def partition_by(self, *fields: Expression[Any]) -> PartitionedTable:
        """Return the table with the columns by which its rows belong together, for process table functions."""
        with self._t_env._at_users_line():
            nodes = self._selecting.expanded(fields)
            if not all(isinstance(node, exp.Column) for node in nodes):
                raise program_error("partition_by() takes columns of the table", "give col('a')")
            return PartitionedTable(self, nodes)

    def as_argument(self, name: str) -> Expression[Any]:
        """Return the table as the argument of a name, for :meth:`TableEnvironment.from_call`."""
        return PartitionedTable(self, []).as_argument(name)

    # Groups and windows

    def group_by(self, *fields: Expression[Any]) -> GroupedTable:
        """Return the rows in groups of the same values of columns; ``select()`` tells what comes of each group."""
        with self._t_env._at_users_line():
            plan, keys = self._selecting.with_keys(fields)
            return GroupedTable(self._of(plan), keys)

    def window(self, window: GroupWindow) -> GroupWindowedTable:
        """Return the rows in windows of time; ``group_by()`` must name the window's alias."""
        require_instance(window, GroupWindow, "window() takes a window: it", "give Tumble.over(...).on(...).alias('w') or the like")
        return GroupWindowedTable(self, window)

    def over_window(self, *over_windows: OverWindow) -> OverWindowedTable:
        """Return the rows with windows of rows around each, for aggregates with ``over()``."""
        for each in over_windows:
            require_instance(each, OverWindow, "over_window() takes windows: one", "give Over.partition_by(...).order_by(...).alias('w')")
        return OverWindowedTable(self, over_windows)

    # What is read of it

    def get_schema(self) -> TableSchema:
        """Return the names and types of the columns; see also :meth:`get_resolved_schema`."""
        return TableSchema._of(self.get_resolved_schema())

    def get_resolved_schema(self) -> ResolvedSchema:
        """Return the columns and their types; of a table that was found by its name also its watermark and primary key."""
        times = time_attributes(self._plan.fields, in_batch=is_batch(self._t_env._environment))
        return resolved_schema(self._declared or self._plan.schema, times)

    def print_schema(self) -> None:
        """Print the columns and their types."""
        print(self.get_resolved_schema())

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
            overwrite: Whether they replace what is there: all of the table, or of the partitions that they are in.

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
        """Run the job to its end and return the rows that are left then as a ``pyarrow.Table``; Wiesel's own."""
        return self._t_env._to_arrow(self._plan)

    def to_spark(self, session: Any) -> Any:
        """Run the job to its end and return the rows that are left then as a DataFrame of Spark; Wiesel's own.

        Args:
            session: A ``pyspark.sql.SparkSession``. The rows go through the memory of the program.
        """
        return session.createDataFrame(self.to_arrow())

    def to_pandas(self) -> Any:
        """Run the job and return all rows as a ``pandas.DataFrame``; see :meth:`to_arrow`."""
        return pandas_frame(self.to_arrow())


class GroupedTable:
    """Rows in groups, made by ``Table.group_by()``."""

    def __init__(self, table: Table, keys: Sequence[exp.Expr]) -> None:
        self._table = table
        self._keys = list(keys)

    def select(self, *fields: Expression[Any]) -> Table:
        """Return a row per group: its keys, and aggregates such as ``col("a").sum``."""
        table = self._table
        with table._t_env._at_users_line():
            return table._of(table._selecting.group(self._keys, fields))

    def aggregate(self, func: Any) -> AggregatedTable:
        """Return keys and what an aggregate function makes of each group: the fields of the row it returns.

        Args:
            func: A call of an aggregate, maybe with an alias; a function itself (``udaf``) gets the whole row.
        """
        table = self._table
        with table._t_env._at_users_line():
            return AggregatedTable(table._of(table._selecting.aggregated(self._keys, func)))

    def flat_aggregate(self, func: Any) -> FlatAggregateTable:
        """Return keys and the rows that an aggregate function (``udtaf``) makes of each group."""
        table = self._table
        with table._t_env._at_users_line():
            return FlatAggregateTable(table._of(table._selecting.flat_aggregated(self._keys, func)))


class GroupWindowedTable:
    """Rows in windows of time, made by ``Table.window()``."""

    def __init__(self, table: Table, window: GroupWindow) -> None:
        self._table = table
        self._window = window

    def group_by(self, *fields: Expression[Any]) -> WindowGroupedTable:
        """Return the rows in groups of the same window and the same values of columns.

        Raises:
            ProgramError: If the window's alias is not among them.
        """
        name = self._window.name
        with self._table._t_env._at_users_line():
            of_window = [field for field in fields if _is_column(field, name)]
            if not of_window:
                raise program_error(f"group_by() does not name the window {name!r}", f"add col({name!r})")
            plan, keys = self._table._selecting.with_keys([field for field in fields if field is not of_window[0]])
            return WindowGroupedTable(self._table._of(plan), keys, self._window)


def _is_column(field: Expression[Any], name: str) -> bool:
    return isinstance(field._node, exp.Column) and field._node.name == name


class WindowGroupedTable:
    """Rows in groups of windows and keys, made by ``GroupWindowedTable.group_by()``."""

    def __init__(self, table: Table, keys: Sequence[exp.Expr], window: GroupWindow) -> None:
        self._table = table
        self._keys = list(keys)
        self._window = window

    def select(self, *fields: Expression[Any]) -> Table:
        """Return a row per group: keys, aggregates, and ``start``, ``end`` and ``rowtime`` of the window's alias."""
        table = self._table
        with table._t_env._at_users_line():
            return table._of(table._selecting.windowed(self._keys, self._window, fields))

    def aggregate(self, func: Any) -> AggregatedTable:
        """Return keys and what an aggregate function makes of each group; a function itself gets the row without the time."""
        table = self._table
        with table._t_env._at_users_line():
            return AggregatedTable(table._of(table._selecting.aggregated(self._keys, func, self._window)))


class OverWindowedTable:
    """Rows with windows of rows around each, made by ``Table.over_window()``."""

    def __init__(self, table: Table, windows: Sequence[OverWindow]) -> None:
        self._table = table
        self._windows = list(windows)

    def select(self, *fields: Expression[Any]) -> Table:
        """Return columns and aggregates such as ``col("a").sum.over(col("w"))`` for each row."""
        table = self._table
        with table._t_env._at_users_line():
            return table._of(table._selecting.over(self._windows, fields))


class AggregatedTable:
    """Keys, and what an aggregate function has made of each group."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def select(self, *fields: Expression[Any]) -> Table:
        """Return keys and results; of groups in windows also ``start``, ``end`` and ``rowtime`` of the window's alias."""

        def of_window(part: exp.Expr) -> exp.Expr | None:
            return column(hidden_name(part)) if isinstance(part, WindowProperty) else None

        return self._table.select(*(Expression(rebuilt(field._node, of_window)) for field in fields))


class FlatAggregateTable:
    """Keys, and the rows that an aggregate function has made of each group."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def select(self, *fields: Expression[Any]) -> Table:
        """Return keys and columns of the rows."""
        return self._table.select(*fields)
