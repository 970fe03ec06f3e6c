"""Which watermarks of tables are emitted between rows: those that somebody behind them sees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from wiesel.common import Types
from wiesel.datastream import KeyedProcessFunction, ProcessFunction
from wiesel.graph.specs import WATERMARKS_BY_ROW
from wiesel.table import Schema, StreamTableEnvironment
from wiesel.testing import local_environment

Program = Callable[[Any, Any], Any]


def by_row(program: Program) -> bool:
    env = local_environment()
    t_env = StreamTableEnvironment.create(env)
    rows = env.from_collection([(1, 10)], Types.ROW_NAMED(["n", "t"], [Types.INT(), Types.LONG()]))
    schema = Schema.new_builder().column("n", "INT").column("t", "BIGINT").column_by_expression("ts", "TO_TIMESTAMP_LTZ(t, 3)")
    table = t_env.from_data_stream(rows, schema.watermark("ts", "ts").build())
    t_env.create_temporary_view("t", table)
    env.collect(program(t_env, table))
    makers = [node for node in env._generate_stream_graph().nodes.values() if node.operator.kind == "table_watermark"]
    assert len(makers) == 1
    return bool(makers[0].operator.params.get(WATERMARKS_BY_ROW))


def of_query(sql: str) -> Program:
    return lambda t_env, table: t_env.to_data_stream(t_env.sql_query(sql))


class Passes(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value


class PassesByKey(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (lambda t_env, table: t_env.to_data_stream(table), False),
        (lambda t_env, table: t_env.to_data_stream(table).map(lambda row: row).filter(lambda row: True), False),
        (lambda t_env, table: t_env.to_data_stream(table).process(Passes()), True),
        (lambda t_env, table: t_env.to_data_stream(table).map(lambda row: row).key_by(lambda row: 1).process(PassesByKey()), True),
        (of_query("SELECT n FROM t WHERE n > 1"), False),
        (of_query("SELECT COUNT(*) c FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' SECOND) GROUP BY window_start, window_end"), False),
        (of_query("SELECT n, CURRENT_WATERMARK(ts) w FROM t"), True),
        (of_query("SELECT n FROM t WHERE ts > CURRENT_WATERMARK(ts)"), True),
    ],
)
def test_readers_are_found(program: Program, expected: bool) -> None:
    assert by_row(program) is expected
