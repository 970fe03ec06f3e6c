"""Programs that go from streams to tables and back give what real Flink gives (``tests/differential/record_stream_tables.py``)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

DIFFERENTIAL = Path(__file__).parents[2] / "differential"
sys.path.insert(0, str(DIFFERENTIAL))

import stream_table_cases as cases  # noqa: E402
from record_stream_tables import final_records  # noqa: E402
from record_table_programs import final_rows  # noqa: E402

import wiesel.common  # noqa: E402
import wiesel.common.watermark_strategy  # noqa: E402
import wiesel.datastream  # noqa: E402
import wiesel.table  # noqa: E402
from wiesel.common.serialization import Encoder  # noqa: E402
from wiesel.core.errors import ProgramError  # noqa: E402
from wiesel.datastream.connectors.file_system import FileSink, StreamingFileSink  # noqa: E402
from wiesel.table import expressions, udf, window  # noqa: E402

GOLDENS = json.loads((DIFFERENTIAL / "goldens" / "stream_tables.json").read_text(encoding="utf-8"))


def names() -> Any:
    found: dict[str, Any] = {}
    for module in (wiesel.common, wiesel.common.watermark_strategy, wiesel.datastream, wiesel.table, expressions, udf, window):
        found |= {name: value for name, value in vars(module).items() if not name.startswith("_")}
    return SimpleNamespace(**found)


X = names()


def environments(parallelism: int = 1) -> tuple[Any, Any]:
    configuration = X.Configuration().set("wiesel.engine", "local").set("table.local-time-zone", "UTC")
    env = X.StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(parallelism)
    return env, X.StreamTableEnvironment.create(env)


@pytest.mark.parametrize("parallelism", [1, 2])
@pytest.mark.parametrize("name", cases.CASES)
def test_records_and_types_are_those_of_flink(name: str, parallelism: int) -> None:
    golden = GOLDENS[name]
    made = cases.CASES[name](X, *environments(parallelism))
    if "records" in golden:
        assert final_records(made) == golden["records"]
        return
    fields = made.get_resolved_schema().to_source_row_data_type()
    assert [f"{field.name} {field.data_type.as_summary_string()}" for field in fields] == golden["schema"]
    assert sorted(final_rows(made), key=repr) == golden["rows"]


def test_every_case_is_recorded() -> None:
    assert list(GOLDENS) == list(cases.CASES)
    assert not [name for name, golden in GOLDENS.items() if "fails" in golden]


class Point:
    """Objects that only Python knows."""

    def __init__(self, at: int) -> None:
        self.at = at

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Point) and other.at == self.at

    def __repr__(self) -> str:
        return f"Point({self.at})"


def test_functions_take_and_return_the_objects_of_raw_columns(capsys: pytest.CaptureFixture[str]) -> None:
    env, t_env = environments()
    table = t_env.from_data_stream(env.from_collection([Point(1), (2, "b"), None]))
    value = X.col("f0")
    shown = X.udf(lambda p: f"{type(p).__name__} {p}", result_type=X.DataTypes.STRING())
    in_series = X.udf(lambda s: s.map(repr), result_type=X.DataTypes.STRING(), func_type="pandas")
    pair = X.udf(lambda p: Point(0) if p is None else p, result_type=X.DataTypes.RAW())
    rows = table.select(shown(value), in_series(value), pair(value), value.cast(X.DataTypes.STRING()))
    expected = [
        ("Point Point(1)", "Point(1)", Point(1), "Point(1)"),
        ("tuple (2, 'b')", "(2, 'b')", (2, "b"), "(2, 'b')"),
        ("NoneType None", "None", Point(0), None),
    ]
    with rows.execute().collect() as found:
        assert [tuple(row) for row in found] == expected
    assert [tuple(row) for row in rows.to_pandas().itertuples(index=False)] == expected
    with t_env.to_data_stream(rows).map(lambda row: repr(row[2]), X.Types.STRING()).execute_and_collect() as records:
        assert list(records) == ["Point(1)", "(2, 'b')", "Point(0)"]
    table.execute().print()
    assert [line.split("|")[2].strip() for line in capsys.readouterr().out.splitlines()[3:6]] == ["Point(1)", "(2, 'b')", "<NULL>"]


def test_raw_values_have_no_order_and_no_other_type() -> None:
    env, t_env = environments()
    t_env.create_temporary_view("anything", env.from_collection([1, 2]))
    with pytest.raises(ProgramError, match=r"RAW values, objects of Python, cannot be cast to INT(.|\n)*declare the type of the records"):
        t_env.sql_query("SELECT CAST(f0 AS INT) FROM anything")
    for query in ("SELECT MAX(f0) FROM anything", "SELECT f0 < f0 FROM anything", "SELECT f0 + 1 FROM anything"):
        with pytest.raises(ProgramError, match="cannot apply"):
            t_env.sql_query(query)


def test_raw_values_are_printed_and_not_kept_in_files(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    env, t_env = environments()
    table = t_env.from_data_stream(env.from_collection([Point(1), {"a": 3}]))
    inserts = t_env.create_statement_set()
    inserts.add_insert(X.TableDescriptor.for_connector("print").build(), table)
    inserts.execute().wait()
    assert sorted(line for line in capfd.readouterr().out.splitlines() if "+I" in line) == ["+I[Point(1)]", "+I[{'a': 3}]"]
    for form in ("parquet", "orc", "csv", "json", "avro"):
        files = X.TableDescriptor.for_connector("filesystem").option("path", str(tmp_path / form)).format(form).build()
        with pytest.raises(ProgramError, match=r"of type RAW|RAW\('\[B'"):
            table.execute_insert(files)
        assert not (tmp_path / form).exists()


def test_statement_sets_of_tables_streams_and_file_sinks_are_one_job(tmp_path: Path) -> None:
    """What Flink writes for the same program: each sink its rows."""
    env, t_env = environments()
    stream = env.from_collection([(1, "a"), (2, "b")], X.Types.ROW_NAMED(["n", "s"], [X.Types.INT(), X.Types.STRING()]))
    t_env.create_temporary_view("rows_of_stream", stream)
    for name, columns in (("pairs", "n INT, s STRING"), ("texts", "s STRING")):
        options = f"'connector' = 'filesystem', 'path' = '{tmp_path / name}', 'format' = 'csv'"
        t_env.execute_sql(f"CREATE TEMPORARY TABLE {name} ({columns}) WITH ({options})")
    inserts = t_env.create_statement_set()
    inserts.add_insert("pairs", t_env.from_path("rows_of_stream")).add_insert_sql("INSERT INTO texts SELECT s || 'x' FROM rows_of_stream")
    inserts.attach_as_datastream()
    inserts.add_insert("texts", t_env.from_elements([("later",)], X.DataTypes.ROW([X.DataTypes.FIELD("s", X.DataTypes.STRING())])))
    inserts.attach_as_datastream()
    records = t_env.to_data_stream(t_env.from_path("rows_of_stream")).map(lambda row: f"{row[0]}-{row[1]}", X.Types.STRING())
    records.sink_to(FileSink.for_row_format(str(tmp_path / "new"), Encoder.simple_string_encoder()).build())
    with pytest.warns(DeprecationWarning):
        records.add_sink(StreamingFileSink.for_row_format(str(tmp_path / "old"), Encoder.simple_string_encoder()).build())
    env.execute()
    written = {
        folder.name: sorted(line for file in folder.rglob("*") if file.is_file() for line in file.read_text().splitlines())
        for folder in tmp_path.iterdir()
    }
    assert written == {"pairs": ["1,a", "2,b"], "texts": ["ax", "bx", "later"], "new": ["1-a", "2-b"], "old": ["1-a", "2-b"]}


def test_views_of_streams_tell_how_their_columns_come_about(capsys: pytest.CaptureFixture[str]) -> None:
    env, t_env = environments()
    schema = X.Schema.new_builder().column_by_expression("now", "PROCTIME()").column_by_expression("twice", "price*2")
    schema = schema.column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)").watermark("rowtime", "SOURCE_WATERMARK()").build()
    priced = X.Types.ROW_NAMED(["name", "price"], [X.Types.STRING(), X.Types.DOUBLE()])
    t_env.create_temporary_view("v", env.from_collection([X.Row("a", 1.0)], priced), schema)
    t_env.create_temporary_view("w", t_env.from_path("v").select(X.col("twice"), X.col("now")))
    for name in ("v", "w"):
        t_env.from_path(name).print_schema()
        t_env.execute_sql(f"DESCRIBE {name}").print()
    lines = [line.strip(" ,").removeprefix("|").removesuffix("|") for line in capsys.readouterr().out.splitlines() if "---" not in line]
    shown = [[part.strip() for part in line.split("|")] for line in lines]
    header = ["name", "type", "null", "key", "extras", "watermark"]
    assert shown == [
        *(["("], ["`name` STRING"], ["`price` DOUBLE"]),
        ["`now` TIMESTAMP_LTZ(3) NOT NULL *PROCTIME* AS PROCTIME()"],
        ["`twice` DOUBLE AS price*2"],
        ["`rowtime` TIMESTAMP_LTZ(3) *ROWTIME* METADATA"],
        ["WATERMARK FOR `rowtime`: TIMESTAMP_LTZ(3) AS SOURCE_WATERMARK()"],
        *([")"], header),
        ["name", "STRING", "TRUE", "", "", ""],
        ["price", "DOUBLE", "TRUE", "", "", ""],
        ["now", "TIMESTAMP_LTZ(3) *PROCTIME*", "FALSE", "", "AS PROCTIME()", ""],
        ["twice", "DOUBLE", "TRUE", "", "AS price*2", ""],
        ["rowtime", "TIMESTAMP_LTZ(3) *ROWTIME*", "TRUE", "", "METADATA", "SOURCE_WATERMARK()"],
        *(["5 rows in set"], ["("], ["`twice` DOUBLE"], ["`now` TIMESTAMP_LTZ(3) NOT NULL *PROCTIME*"], [")"], header),
        ["twice", "DOUBLE", "TRUE", "", "", ""],
        ["now", "TIMESTAMP_LTZ(3) *PROCTIME*", "FALSE", "", "", ""],
        ["2 rows in set"],
    ]  # as real Flink prints it


def test_the_type_of_appended_records_has_a_field_for_each_column() -> None:
    env, t_env = environments()
    table = t_env.from_data_stream(cases.prices(X, env))
    with pytest.raises(ProgramError, match=r"3 columns, but the type RowTypeInfo\(String\) has 1 fields"):
        t_env.to_append_stream(table, X.Types.ROW([X.Types.STRING()]))
    with pytest.raises(ProgramError, match="3 columns, but the type String has no fields"):
        t_env.to_retract_stream(table, X.Types.STRING())


def test_what_does_not_fit_is_refused() -> None:
    env, t_env = environments()
    stream, schema = cases.prices(X, env), X.Schema.new_builder
    with pytest.raises(ProgramError, match="column `nothing` is no field of the stream"):
        t_env.from_data_stream(stream, schema().column("nothing", "INT").build())
    with pytest.raises(ProgramError, match="a stream does not tell 'offset' of its records"):
        t_env.from_data_stream(stream, schema().column_by_metadata("offset", "BIGINT").build())
    with pytest.raises(ProgramError, match="upserts need a primary key"):
        t_env.from_changelog_stream(cases.changes(X, env, []), None, X.ChangelogMode.upsert())
    table = t_env.from_data_stream(stream)
    with pytest.raises(ProgramError, match="column `name`: STRING is no INT"):
        t_env.to_changelog_stream(table, schema().column("at", "BIGINT").column("name", "INT").column("price", "DOUBLE").build())
    counts = table.group_by(X.col("name")).select(X.col("price").count.alias("n"))
    with pytest.raises(ProgramError, match=r"ChangelogMode.insert_only\(\) takes new rows only"):
        t_env.to_changelog_stream(counts, None, X.ChangelogMode.insert_only())
