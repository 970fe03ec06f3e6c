"""Inserts: what sinks accept, what they get, and what EXPLAIN says of it."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from wiesel.columnar.rows import to_rows
from wiesel.common import Configuration
from wiesel.core.errors import ConfigurationError, JobExecutionError, ProgramError, SqlParseError
from wiesel.spi.sink import Sink, SinkWriter, WriterInitContext
from wiesel.spi.table.factory import UPSERTS, TableContext, TableSink, TableSinkFactory
from wiesel.sql.catalog import table_factories
from wiesel.table import TableDescriptor, TableEnvironment


class UpsertFactory(TableSinkFactory):
    """Writes what comes to a file per subtask; takes upserts."""

    identifier = "upsert-test"

    def create_sink(self, context: TableContext) -> TableSink:
        options = context.table.options
        parallelism = int(options["parallelism"]) if "parallelism" in options else None
        return TableSink(_Lines(options["path"]), UPSERTS, parallelism)


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
                stream.writelines(json.dumps([str(row.get_row_kind()), *row]) + "\n" for row in to_rows(batch, collected=True))

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


MOVES = "INSERT INTO by_number SELECT COUNT(*), item FROM many GROUP BY item ON CONFLICT DO DEDUPLICATE"


def _written(path: Path) -> list[list[Any]]:
    return [json.loads(line) for file in path.iterdir() for line in file.read_text().splitlines()]


@pytest.mark.parametrize(("parallelism", "writers"), [("1", "1"), ("2", "2"), ("2", "3")])
def test_changes_by_another_key_leave_one_row_per_primary_key(
    t_env: TableEnvironment, tmp_path: Path, parallelism: str, writers: str
) -> None:
    """Each item ends at its own number, having passed all smaller ones, which others have then."""
    items = [f"item {number}" for number in range(1, 8) for _ in range(number)]
    random.Random(7).shuffle(items)
    t_env.get_config().set("parallelism.default", parallelism)
    t_env.create_temporary_view("many", t_env.from_elements([(item,) for item in items], ["item"]))
    t_env.execute_sql(
        "CREATE TABLE by_number (n BIGINT, item STRING, PRIMARY KEY (n) NOT ENFORCED) "
        f"WITH ('connector' = 'upsert-test', 'path' = '{tmp_path}', 'parallelism' = '{writers}')"
    )
    plan = t_env.explain_sql(MOVES)
    assert "fields=[n, item], upsertMaterialize=[true], conflictStrategy=[DEDUPLICATE])" in plan
    assert "keeps the rows of each primary key, as its changes come in order by (`item`), not by the primary key (`n`)" in plan
    t_env.execute_sql(MOVES).wait()
    lines = [[json.loads(line) for line in file.read_text().splitlines()] for file in tmp_path.iterdir()]
    found: dict[int, str] = {}
    for kind, number, item in (line for of_file in lines for line in of_file):
        if kind == "-D":
            del found[number]
        else:
            assert kind == ("+U" if number in found else "+I")
            found[number] = item
    assert found == {number: f"item {number}" for number in range(1, 8)}


def test_keys_in_order_and_options_need_no_rows_kept(t_env: TableEnvironment, tmp_path: Path) -> None:
    t_env.execute_sql(
        "CREATE TABLE totals (item STRING, n BIGINT, PRIMARY KEY (item) NOT ENFORCED) "
        f"WITH ('connector' = 'upsert-test', 'path' = '{tmp_path}')"
    )
    by_key = "INSERT INTO totals SELECT item, COUNT(*) FROM orders GROUP BY item"
    other = "INSERT INTO totals SELECT CAST(COUNT(*) AS STRING), 1 FROM orders GROUP BY item"
    with pytest.raises(ProgramError, match="written by another key than its own: its changes come in order by all columns, not by"):
        t_env.explain_sql(other)
    with pytest.raises(ProgramError, match="ON CONFLICT is for queries that update rows, but this one only adds rows"):
        t_env.explain_sql("INSERT INTO totals SELECT item, id FROM orders ON CONFLICT DO DEDUPLICATE")
    with pytest.raises(SqlParseError, match="DEDUPLICATE"):
        t_env.explain_sql(f"{by_key} ON CONFLICT DO SOMETHING")
    t_env.execute_sql("SET 'table.exec.sink.require-on-conflict' = 'false'")
    new_rows = "INSERT INTO totals SELECT item, id FROM orders"
    assert "upsertMaterialize" not in t_env.explain_sql(by_key) and "upsertMaterialize" not in t_env.explain_sql(new_rows)
    assert "upsertMaterialize" in t_env.explain_sql(other)
    t_env.execute_sql("SET 'table.exec.sink.upsert-materialize' = 'NONE'")
    assert "upsertMaterialize" not in t_env.explain_sql(other)
    t_env.execute_sql("SET 'table.exec.sink.upsert-materialize' = 'FORCE'")
    assert "upsertMaterialize" in t_env.explain_sql(new_rows)
    t_env.execute_sql(new_rows).wait()
    kinds = [kind for kind, item, _ in _written(tmp_path) if item == "a"]
    assert kinds[0] == "+I" and set(kinds[1:]) <= {"+U"}
    t_env.execute_sql("SET 'table.exec.sink.upsert-materialize' = 'SOMETIMES'")
    with pytest.raises(ConfigurationError, match=r"table\.exec\.sink\.upsert-materialize"):
        t_env.explain_sql(by_key)


def test_new_rows_are_shared_out_by_key_where_flink_does(t_env: TableEnvironment, tmp_path: Path) -> None:
    for batch in range(8):  # rows of a batch stay together where they are not shared out by key
        t_env.create_temporary_view(f"numbers_{batch}", t_env.from_elements([(key, batch) for key in range(5)], ["k", "n"]))
    numbers = " UNION ALL ".join(f"SELECT k, n FROM numbers_{batch}" for batch in range(8))
    t_env.get_config().set("parallelism.default", "2")

    def writers_per_key(name: str, options: str) -> set[int]:
        path = tmp_path / name
        path.mkdir()
        t_env.execute_sql(
            f"CREATE TABLE {name} (k BIGINT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) "
            f"WITH ('connector' = 'upsert-test', 'path' = '{path}'{options})"
        )
        t_env.execute_sql(f"INSERT INTO {name} {numbers}").wait()
        by_file = [{json.loads(line)[1] for line in file.read_text().splitlines()} for file in path.iterdir()]
        assert sum(len(file.read_text().splitlines()) for file in path.iterdir()) == 40
        return {sum(key in keys for keys in by_file) for key in range(5)}

    assert writers_per_key("another_number", ", 'parallelism' = '3'") == {1}
    t_env.execute_sql("SET 'table.exec.sink.keyed-shuffle' = 'FORCE'")
    assert writers_per_key("forced", "") == {1}
    t_env.execute_sql("SET 'table.exec.sink.keyed-shuffle' = 'NONE'")
    assert max(writers_per_key("without", ", 'parallelism' = '3'")) > 1


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


@pytest.mark.parametrize("parallelism", ["1", "2"])
def test_of_several_rows_with_one_key_the_first_one_stays(t_env: TableEnvironment, tmp_path: Path, parallelism: str) -> None:
    source = tmp_path / "in"
    source.mkdir()
    # What each id counts has its own number of rows, but for 3 and 4, which have as many.
    ids = [1] + [2] * 2 + [3] * 3 + [4] * 3 + [5] * 5
    (source / "part").write_text("".join(f"{id},2024-03-01 10:00:{place:02}\n" for place, id in enumerate(ids)))
    t_env.get_config().set("parallelism.default", parallelism)
    t_env.execute_sql(
        "CREATE TABLE events (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) "
        f"WITH ('connector' = 'filesystem', 'path' = '{source}', 'format' = 'csv')"
    )
    (tmp_path / "out").mkdir()
    t_env.execute_sql(
        "CREATE TABLE by_number (n BIGINT, id INT, PRIMARY KEY (n) NOT ENFORCED) "
        f"WITH ('connector' = 'upsert-test', 'path' = '{tmp_path / 'out'}')"
    )
    insert = "INSERT INTO by_number SELECT COUNT(*), id FROM events GROUP BY id ON CONFLICT DO"
    plan = t_env.explain_sql(f"{insert} NOTHING")
    assert "upsertMaterialize=[true], conflictStrategy=[NOTHING])" in plan
    assert "keeps the row of each primary key, and waits for the watermark, as its changes come in order by (`id`)" in plan
    t_env.execute_sql(f"{insert} NOTHING").wait()
    found: dict[int, int] = {}
    for kind, number, id_ in _written(tmp_path / "out"):
        assert (number in found) == (kind != "+I")
        if kind == "-D":
            del found[number]
        else:
            found[number] = id_
    assert found == {1: 1, 2: 2, 3: found[3], 5: 5} and found[3] in (3, 4)
    with pytest.raises(JobExecutionError, match=r"the same primary key \[n=\d\] are to be written into table"):
        t_env.execute_sql(f"{insert} ERROR").wait()


def test_a_table_that_is_not_there_is_told_at_its_name() -> None:
    t_env = TableEnvironment.create(Configuration().set("wiesel.engine", "local"))
    with pytest.raises(SqlParseError) as caught:
        t_env.execute_sql("INSERT INTO nowhere SELECT item FROM (VALUES ('tea')) AS t (item)")
    shown, marks = caught.value.message.splitlines()[1:3]
    assert shown[marks.index("^") :].startswith("nowhere ") and marks.count("^") == len("nowhere")
