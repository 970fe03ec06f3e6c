"""Inserts: what sinks accept, what they get, and what EXPLAIN says of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from wiesel.columnar.rows import to_rows
from wiesel.common import Configuration
from wiesel.core.errors import JobExecutionError, ProgramError
from wiesel.spi.sink import Sink, SinkWriter, WriterInitContext
from wiesel.spi.table.factory import UPSERTS, TableContext, TableOptions, TableSink, TableSinkFactory
from wiesel.sql import table_factories
from wiesel.table import TableDescriptor, TableEnvironment


class UpsertFactory(TableSinkFactory):
    """Writes what comes to a file per subtask; takes upserts."""

    identifier = "upsert-test"

    def create_sink(self, context: TableContext) -> TableSink:
        return TableSink(_Lines(TableOptions(self.identifier, context.table.options)._options["path"]), UPSERTS)


class _Lines(Sink):
    def __init__(self, path: str) -> None:
        self.path = path

    def create_writer(self, context: WriterInitContext, state: Sequence[Any] = ()) -> SinkWriter:
        return _LineWriter(Path(self.path) / str(context.subtask_index))


class _LineWriter(SinkWriter):
    def __init__(self, path: Path) -> None:
        self._path = path

    def write_batch(self, values: list[Any], timestamps: list[int] | None) -> None:
        with self._path.open("a") as stream:
            for batch in values:
                stream.writelines(json.dumps([str(row.get_row_kind()), *row]) + "\n" for row in to_rows(batch, named=False))

    def flush(self, end_of_input: bool) -> None:
        return


@pytest.fixture
def t_env(monkeypatch: pytest.MonkeyPatch) -> TableEnvironment:
    monkeypatch.setitem(table_factories._BUILT_IN, "upsert-test", f"{__name__}:UpsertFactory")
    found = TableEnvironment.create(Configuration().set("wiesel.engine", "local").set("parallelism.default", "2"))
    found.create_temporary_view("orders", found.from_elements([(1, "a", 5), (2, "b", 7), (3, "a", 1), (4, "a", None)], ["id", "item", "n"]))
    return found


def test_upserts_go_to_one_writer_per_key_without_the_old_rows(t_env: TableEnvironment, tmp_path: Path) -> None:
    t_env.execute_sql(
        "CREATE TABLE totals (item STRING, n BIGINT, PRIMARY KEY (item) NOT ENFORCED) "
        f"WITH ('connector' = 'upsert-test', 'path' = '{tmp_path}')"
    )
    t_env.execute_sql("INSERT INTO totals SELECT item, COUNT(*) FROM orders GROUP BY item").wait()
    by_file = [[json.loads(line) for line in path.read_text().splitlines()] for path in tmp_path.iterdir()]
    assert not any(kind == "-U" for lines in by_file for kind, *_ in lines)
    last = [{item: n for _, item, n in lines} for lines in by_file]
    assert sorted((item, n) for found in last for item, n in found.items()) == [("a", 3), ("b", 1)]


def test_sinks_refuse_changes_that_they_cannot_take(t_env: TableEnvironment, tmp_path: Path) -> None:
    t_env.execute_sql(f"CREATE TABLE keyless (item STRING, n BIGINT) WITH ('connector' = 'upsert-test', 'path' = '{tmp_path}')")
    with pytest.raises(ProgramError, match="is written by key, but it has no primary key"):
        t_env.execute_sql("INSERT INTO keyless SELECT item, COUNT(*) FROM orders GROUP BY item")
    t_env.execute_sql(
        f"CREATE TABLE files (item STRING, n BIGINT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'csv')"
    )
    with pytest.raises(ProgramError, match=r"takes new rows only, but the query updates .*\(by Aggregate\)"):
        t_env.execute_sql("INSERT INTO files SELECT item, COUNT(*) FROM orders GROUP BY item")


def test_null_in_columns_that_have_none(t_env: TableEnvironment, capsys: pytest.CaptureFixture[str]) -> None:
    t_env.execute_sql("CREATE TABLE p (id BIGINT, n BIGINT NOT NULL) WITH ('connector' = 'print')")
    with pytest.raises(JobExecutionError, match="NOT NULL, but a null value is being written"):
        t_env.execute_sql("INSERT INTO p SELECT id, n FROM orders").wait()
    capsys.readouterr()
    t_env.execute_sql("SET 'table.exec.sink.not-null-enforcer' = 'DROP'")
    t_env.execute_sql("INSERT INTO p SELECT id, n FROM orders").wait()
    printed = sorted(line.split("> ")[-1] for line in capsys.readouterr().out.splitlines())
    assert printed == ["+I[1, 5]", "+I[2, 7]", "+I[3, 1]"]


def test_the_table_api_and_statement_sets(t_env: TableEnvironment, capsys: pytest.CaptureFixture[str]) -> None:
    t_env.execute_sql("CREATE TABLE p (id BIGINT) WITH ('connector' = 'print', 'print-identifier' = 'x')")
    t_env.sql_query("SELECT id FROM orders WHERE id = 1").execute_insert("p").wait()
    both = t_env.create_statement_set().add_insert("p", t_env.sql_query("SELECT id FROM orders WHERE id = 2"))
    result = both.add_insert_sql("INSERT INTO p SELECT id FROM orders WHERE id = 3").execute()
    result.wait()
    assert sorted(line.split("> ")[-1] for line in capsys.readouterr().out.splitlines()) == ["+I[1]", "+I[2]", "+I[3]"]
    assert [column.name for column in result.get_resolved_schema().columns] == [
        "default_catalog.default_database.p_1",
        "default_catalog.default_database.p_2",
    ]


def test_plans(t_env: TableEnvironment) -> None:
    t_env.execute_sql("CREATE TABLE totals (item STRING, n BIGINT) WITH ('connector' = 'blackhole')")
    text = t_env.explain_sql("INSERT INTO totals SELECT item, COUNT(*) FROM orders WHERE id > 1 GROUP BY item")
    assert "== Abstract Syntax Tree ==" in text and "Sink(table=[default_catalog.default_database.totals], fields=[item, n])" in text
    plan = text[text.index("== Optimized Execution Plan ==") :]
    assert "changelogMode=[I,UB,UA], uid=[Aggregate-" in plan and "state=[a row of accumulators per group, for ever]" in plan
    assert "Filter(where=[(id > " in plan and "], changelogMode=[I])" in plan and "set 'table.exec.state.ttl'" in plan
    t_env.execute_sql("SET 'table.exec.state.ttl' = '1 h'")
    text = t_env.execute_sql("EXPLAIN SELECT item, COUNT(*) FROM orders GROUP BY item")._rows[0][0]  # type: ignore[index]
    assert "for 1 h after it was last written]" in text and "begins anew" in text[text.index("== Advice ==") :]


def test_a_table_that_is_written_to_needs_no_name(t_env: TableEnvironment, tmp_path: Path) -> None:
    query = t_env.sql_query("SELECT id, n FROM orders WHERE n IS NOT NULL")
    files = TableDescriptor.for_connector("filesystem").option("path", str(tmp_path)).option("format", "csv").build()
    query.execute_insert(files).wait()
    query.execute_insert(TableDescriptor.for_connector("blackhole").build()).wait()
    lines = [line for path in tmp_path.iterdir() if path.is_file() for line in path.read_text().splitlines()]
    assert sorted(lines) == ["1,5", "2,7", "3,1"]
    with pytest.raises(ProgramError, match="by its path or descriptor"):
        query.execute_insert(3)  # type: ignore[arg-type]
