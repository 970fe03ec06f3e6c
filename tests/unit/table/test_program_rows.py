"""Rows of a program as tables, and changes as streams."""

from __future__ import annotations

import datetime
from collections import Counter
from decimal import Decimal
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from wiesel.common import Configuration, Row, RowKind, Types
from wiesel.core.errors import ProgramError
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.table import DataTypes, StreamTableEnvironment


@pytest.fixture
def t_env() -> StreamTableEnvironment:
    config = Configuration().set("wiesel.engine", "local").set("parallelism.default", "2")
    return StreamTableEnvironment.create(StreamExecutionEnvironment.get_execution_environment(config))


def collected(table: Any) -> list[tuple[Any, ...]]:
    with table.execute().collect() as rows:
        return sorted(map(tuple, rows), key=repr)


def test_elements_with_names_and_types(t_env: StreamTableEnvironment) -> None:
    at = datetime.datetime(2024, 1, 2, 3, 4, 5, 678000)
    named = t_env.from_elements([(1, "a", [1, None], {"k": 1.5}), (2, None, [], {})], ["id", "name", "list", "map"])
    assert [column.data_type.as_summary_string() for column in named.get_resolved_schema().columns] == [
        "BIGINT",
        "STRING",
        "ARRAY<BIGINT>",
        "MAP<STRING, DOUBLE>",
    ]
    assert collected(named) == [(1, "a", [1, None], {"k": 1.5}), (2, None, [], {})]
    rows = DataTypes.ROW(
        [
            DataTypes.FIELD("d", DataTypes.DECIMAL(5, 2)),
            DataTypes.FIELD("ts", DataTypes.TIMESTAMP(3)),
            DataTypes.FIELD("inner", DataTypes.ROW([DataTypes.FIELD("x", DataTypes.INT())])),
        ]
    )
    typed = t_env.from_elements([Row(Decimal("1.50"), at, Row(3)), {"d": None, "ts": None, "inner": None}], rows)
    assert collected(typed) == sorted([(Decimal("1.50"), at, Row(3)), (None, None, None)], key=repr)
    assert collected(t_env.from_elements([3, 1], DataTypes.INT())) == [(1,), (3,)]


@pytest.mark.parametrize(
    ("elements", "schema", "problem"),
    [
        ([(1,), (1, 2)], ["a"], "element 1 has 2 values, but there are 1 columns"),
        ([(None,)], ["a"], "there is no value to tell its type from"),
        ([("x",)], DataTypes.ROW([DataTypes.FIELD("a", DataTypes.INT())]), "column `a` has values that are no INT"),
        ([(None,)], DataTypes.ROW([DataTypes.FIELD("a", DataTypes.INT(False))]), "column `a` is NOT NULL"),
    ],
)
def test_elements_that_do_not_fit(t_env: StreamTableEnvironment, elements: Any, schema: Any, problem: str) -> None:
    with pytest.raises(ProgramError, match=problem):
        t_env.from_elements(elements, schema)


def test_pandas_and_arrow_there_and_back(t_env: StreamTableEnvironment) -> None:
    frame = pd.DataFrame({"x": [1, 2, 2], "y": ["a", None, "c"], "z": [1.5, 2.5, 3.5]})
    t_env.create_temporary_view("p", t_env.from_pandas(frame))
    found = t_env.sql_query("SELECT x + 1 AS x, y, z FROM p WHERE x = 2").to_pandas()
    assert found.sort_values("z").values.tolist() == [[3, None, 2.5], [3, "c", 3.5]]
    rows = pa.table({"a": pa.array([1, 2], pa.int8()), "b": pa.array([["x"], None], pa.list_(pa.string()))})
    assert t_env.from_arrow(rows, ["c", "d"]).to_arrow().to_pydict() == {"c": [1, 2], "d": [["x"], None]}
    assert t_env.from_arrow(rows.slice(0, 0)).to_arrow().num_rows == 0
    with pytest.raises(ProgramError, match="there are 2 columns, but 1 names"):
        t_env.from_arrow(rows, ["c"])


def changes() -> list[Row]:
    kinds = [RowKind.INSERT, RowKind.UPDATE_BEFORE, RowKind.UPDATE_AFTER, RowKind.INSERT, RowKind.INSERT, RowKind.DELETE]
    rows = [Row(1, "a"), Row(1, "a"), Row(1, "b"), Row(2, "b"), Row(3, "c"), Row(3, "c")]
    for row, kind in zip(rows, kinds, strict=True):
        row.set_row_kind(kind)
    return rows


def test_changelogs_become_tables_and_streams(t_env: StreamTableEnvironment) -> None:
    stream = t_env._environment.from_collection(changes(), Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()]))
    t_env.create_temporary_view("c", t_env.from_changelog_stream(stream))
    counted = t_env.sql_query("SELECT name, COUNT(*) AS n FROM c GROUP BY name")
    final: Counter[tuple[Any, ...]] = Counter()
    with t_env.to_changelog_stream(counted).execute_and_collect() as results:
        for row in results:
            final[tuple(row)] += 1 if row.get_row_kind() in (RowKind.INSERT, RowKind.UPDATE_AFTER) else -1
    assert +final == Counter({("b", 2): 1}) and min(final.values()) == 0
    with pytest.raises(ProgramError, match="takes new rows only"):
        t_env.to_data_stream(counted)
    with pytest.raises(ProgramError, match="takes new rows only"):
        t_env.to_data_stream(t_env.from_path("c"))
