"""Runs the queries of ``sql_joins.txt`` on the local engine."""

from __future__ import annotations

from typing import Any

from tests.differential.sql_tables import TABLES
from wiesel.common import Configuration, Row, Types
from wiesel.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from wiesel.spi.table.schema import ResolvedSchema
from wiesel.sql.plan.relations import StreamScan
from wiesel.sql.session.translation import to_stream
from wiesel.table import StreamTableEnvironment
from wiesel.types.logical import RowField, RowType
from wiesel.types.logical_parser import parse_data_type

_TYPES = {"INT": Types.INT(), "STRING": Types.STRING(), "TIMESTAMP(3)": Types.SQL_TIMESTAMP()}


class Database:
    """A table environment with the tables of ``sql_tables.py``."""

    def __init__(self, parallelism: int = 1, mode: str = "STREAMING", **options: Any) -> None:
        config = Configuration().set("wiesel.engine", "local")
        for key, value in options.items():
            config.set(key, value)
        self.env = StreamExecutionEnvironment.get_execution_environment(config)
        self.env.set_parallelism(parallelism)
        self.env.set_runtime_mode(RuntimeExecutionMode[mode])
        self.t_env = StreamTableEnvironment.create(self.env)
        for name, (columns, rows) in TABLES.items():
            stream = self.env.from_collection(
                [Row(*row) for row in rows], Types.ROW_NAMED(list(columns), [_TYPES[of] for of in columns.values()])
            )
            row_type = RowType([RowField(column, parse_data_type(of)) for column, of in columns.items()])
            plan = StreamScan(stream, ResolvedSchema.physical(row_type))
            self.t_env._catalogs.create_temporary_view(self.t_env._catalogs.qualify(name), plan)

    def changes(self, query: str) -> list[Any]:
        """Return the changelog of a query."""
        stream = to_stream(self.env, self.t_env.sql_query(query)._plan, changelog=True)
        with stream.execute_and_collect() as results:
            return list(results)
