"""Tables as streams and streams as tables, in jobs on the local engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.differential import table_cases
from wiesel.common import Configuration, Row, RowKind, Types
from wiesel.core.errors import JobExecutionError
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.table import DataTypes, Schema, StreamTableEnvironment, TableDescriptor

GOLDENS = json.loads((Path(table_cases.__file__).parent / "goldens" / "table_api.json").read_text(encoding="utf-8"))["generated"]
TABLES = {name: table for name, table in table_cases.generated(DataTypes).items() if table.rows}


@pytest.fixture(params=[1, 3])
def env(request: pytest.FixtureRequest) -> StreamExecutionEnvironment:
    created = StreamExecutionEnvironment.get_execution_environment(Configuration().set("wiesel.engine", "local"))
    created.set_parallelism(request.param)
    return created


@pytest.fixture
def t_env(env: StreamExecutionEnvironment) -> StreamTableEnvironment:
    return StreamTableEnvironment.create(env)


def collected(stream: Any) -> list[Any]:
    with stream.execute_and_collect() as results:
        return list(results)


def create(t_env: StreamTableEnvironment, path: str, columns: dict[str, Any], options: dict[str, str]) -> None:
    schema, table = Schema.new_builder(), TableDescriptor.for_connector("datagen")
    for name, data_type in columns.items():
        schema.column(name, data_type)
    for key, value in options.items():
        table.option(key, value)
    t_env.create_temporary_table(path, table.schema(schema.build()).build())


@pytest.mark.parametrize("name", TABLES)
def test_generated_rows_as_in_flink(t_env: StreamTableEnvironment, name: str) -> None:
    create(t_env, "t", TABLES[name].columns, TABLES[name].options)
    stream = t_env.to_data_stream(t_env.from_path("t"))
    # Behind a rebalance, so that the rows go through their serializer.
    assert sorted(collected(stream.rebalance().map(repr, Types.STRING()))) == GOLDENS[name]


def test_rows_are_read_by_position_and_name_and_can_be_keyed(t_env: StreamTableEnvironment) -> None:
    ends = {"fields.n.kind": "sequence", "fields.n.start": "1", "fields.n.end": "100", "fields.word.min": "0", "fields.word.max": "3"}
    create(t_env, "t", {"n": DataTypes.INT(), "word": DataTypes.TINYINT()}, ends)
    rows = t_env.to_data_stream(t_env.from_path("t"))
    pairs = rows.map(lambda row: (row[1], row.n), Types.TUPLE([Types.BYTE(), Types.INT()]))
    sums = collected(pairs.key_by(lambda pair: pair[0]).reduce(lambda a, b: (a[0], a[1] + b[1])))
    assert sum(dict(sorted(sums, key=lambda pair: pair[1])).values()) == 5050


def test_a_table_is_read_as_often_as_it_is_asked_for(t_env: StreamTableEnvironment) -> None:
    create(t_env, "t", {"n": DataTypes.INT()}, {"fields.n.kind": "sequence", "fields.n.start": "1", "fields.n.end": "3"})
    table = t_env.from_path("t")
    assert t_env.drop_temporary_table("t")
    both = t_env.to_data_stream(table).union(t_env.to_data_stream(table))
    assert sorted(row.n for row in collected(both)) == [1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize(
    ("info", "records", "rows"),
    [
        (
            Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()]),
            [Row(1, "x"), Row(b="y", a=2)],
            ["Row(a=1, b='x')", "Row(a=2, b='y')"],
        ),
        (Types.TUPLE([Types.INT(), Types.STRING()]), [(1, "x"), (2, "y")], ["Row(f0=1, f1='x')", "Row(f0=2, f1='y')"]),
        (Types.LONG(), [1, 2], ["Row(f0=1)", "Row(f0=2)"]),
    ],
)
def test_streams_become_tables_and_streams_again(
    env: StreamExecutionEnvironment, t_env: StreamTableEnvironment, info: Any, records: Any, rows: Any
) -> None:
    table = t_env.from_data_stream(env.from_collection(records, type_info=info))
    assert sorted(map(repr, collected(t_env.to_data_stream(table)))) == rows


def test_a_record_that_is_no_new_row_fails_the_job(env: StreamExecutionEnvironment, t_env: StreamTableEnvironment) -> None:
    removed = env.from_collection([Row.of_kind(RowKind.DELETE, 1)], type_info=Types.ROW([Types.INT()]))
    with pytest.raises(JobExecutionError, match="takes new rows only"):
        collected(t_env.to_data_stream(t_env.from_data_stream(removed)))
