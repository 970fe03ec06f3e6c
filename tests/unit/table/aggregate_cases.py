"""Runs the queries of ``sql_aggregates.txt`` on the local engine."""

from __future__ import annotations

import datetime
from collections import Counter
from pathlib import Path
from typing import Any

from tests.differential.sql_events import COLUMNS, ROWS
from wiesel.columnar.expressions import InputRef
from wiesel.common import Configuration, Row, Types
from wiesel.datastream import DataStream, RuntimeExecutionMode, StreamExecutionEnvironment
from wiesel.spi.table.schema import ResolvedSchema
from wiesel.sql.plan.relations import Project, StreamScan, WatermarkAssigner
from wiesel.table import StreamTableEnvironment
from wiesel.types.logical import RowField, RowType
from wiesel.types.logical_parser import parse_data_type

DIFFERENTIAL = Path(__file__).parents[2] / "differential"
EVENT_TYPES = Types.ROW_NAMED(
    ["id", "k", "v", "w", "d", "f", "m", "t", "b", "ts", "wm"],
    [
        Types.INT(),
        Types.STRING(),
        Types.INT(),
        Types.LONG(),
        Types.DOUBLE(),
        Types.FLOAT(),
        Types.BIG_DEC(),
        Types.BYTE(),
        Types.BOOLEAN(),
        Types.SQL_TIMESTAMP(),
        Types.SQL_TIMESTAMP(),
    ],
)


def event_rows() -> list[Row]:
    """Return the rows, with their watermark as another column: its expression is not what is tested here."""
    return [Row(*row, row[-1] - datetime.timedelta(seconds=5)) for row in ROWS]


def add_events(t_env: StreamTableEnvironment, stream: DataStream) -> None:
    """Make a stream of these rows known as the table ``e``."""
    types = [RowField(name, parse_data_type(of)) for name, of in {**COLUMNS, "wm": COLUMNS["ts"]}.items()]
    scan = StreamScan(stream, ResolvedSchema.physical(RowType(types)))
    columns = [InputRef(field.data_type, place, field.name) for place, field in enumerate(types)]
    timed = WatermarkAssigner(scan, len(columns) - 2, columns[-1])
    t_env._catalogs.create_temporary_view(t_env._catalogs.qualify("e"), Project(timed, tuple(columns[:-1]), timed.fields[:-1]))


class Events:
    """A table environment with the table ``e``."""

    def __init__(self, parallelism: int = 1, mode: str = "STREAMING", **options: Any) -> None:
        config = Configuration().set("wiesel.engine", "local")
        for key, value in options.items():
            config.set(key, value)
        self.env = StreamExecutionEnvironment.get_execution_environment(config)
        self.env.set_parallelism(parallelism)
        self.env.set_runtime_mode(RuntimeExecutionMode[mode])
        self.t_env = StreamTableEnvironment.create(self.env)
        add_events(self.t_env, self.env.from_collection(event_rows(), EVENT_TYPES))

    def changes(self, query: str) -> list[Any]:
        """Return the changelog of a query."""
        with self.t_env.sql_query(query).execute().collect() as rows:
            return list(rows)


def materialized(changes: list[Any]) -> Counter[str]:
    """Return the rows that are left; fails where a row is taken back that is not there."""
    left: Counter[str] = Counter()
    for kind, shown in changes:
        if kind in ("INSERT", "UPDATE_AFTER"):
            left[shown] += 1
        else:
            left[shown] -= 1
            assert left[shown] >= 0, f"{shown} is taken back but is not there"
    return +left
