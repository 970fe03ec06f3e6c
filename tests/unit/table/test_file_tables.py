"""Tables of files: what was written is read again, in every format; what cannot be read is told with its place."""

from __future__ import annotations

import datetime
import json
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from wiesel.common import Configuration, Row
from wiesel.core.errors import ConfigurationError, JobExecutionError, ProgramError
from wiesel.table import TableEnvironment

COLUMNS = """
id INT, flag BOOLEAN, small SMALLINT, large BIGINT, real_number DOUBLE, price DECIMAL(12, 3), name STRING, day DATE, at_time TIME(0),
ts TIMESTAMP(3), tags ARRAY<STRING>
"""
STRINGS = ["", "plain", 'with "quotes"', "comma, and; semicolon", "line\nbreak", "größe 日本語", " spaces "]


def environment(parallelism: int = 2) -> TableEnvironment:
    config = Configuration().set("wiesel.engine", "local").set("parallelism.default", str(parallelism))
    return TableEnvironment.create(config)


def random_row(number: int, chosen: random.Random) -> tuple[Any, ...]:
    def maybe(value: Any) -> Any:
        return None if chosen.random() < 0.15 else value

    at = datetime.datetime(2024, 1, 1) + datetime.timedelta(milliseconds=chosen.randrange(10**11))
    return (
        number,
        maybe(chosen.random() < 0.5),
        maybe(chosen.randrange(-(2**15), 2**15)),
        maybe(chosen.randrange(-(2**63), 2**63)),
        maybe(chosen.uniform(-1e9, 1e9)),
        maybe(Decimal(chosen.randrange(-(10**12), 10**12)).scaleb(-3)),
        maybe(chosen.choice(STRINGS)),
        maybe(at.date()),
        maybe(at.time().replace(microsecond=0)),
        maybe(at),
        maybe([chosen.choice(["a", "b c", "ö"]) for _ in range(chosen.randrange(1, 4))]),
    )


def literal(value: Any) -> str:
    return "'" + json.dumps(value) + "'"


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_what_is_written_is_read_again(form: str, tmp_path: Path) -> None:
    seed = random.randrange(10**9)
    print(f"seed {seed}")
    chosen = random.Random(seed)
    rows = [random_row(number, chosen) for number in range(300)]
    source = tmp_path / "source.json"
    source.write_text("".join(json.dumps(as_json(row)) + "\n" for row in rows))
    t_env = environment()
    t_env.execute_sql(f"CREATE TABLE given ({COLUMNS}) WITH ('connector' = 'filesystem', 'path' = '{source}', 'format' = 'json')")
    null = ", 'csv.null-literal' = 'NULL'" if form == "csv" else ""
    options = f"'connector' = 'filesystem', 'path' = '{tmp_path / 'out'}', 'format' = '{form}'{null}"
    t_env.execute_sql(f"CREATE TABLE kept ({COLUMNS}) WITH ({options})")
    t_env.execute_sql("INSERT INTO kept SELECT * FROM given").wait()
    if form == "csv":
        # As in Flink the text of NULL is an element of an array, not the array.
        rows = [(*row[:-1], [None] if row[-1] is None else row[-1]) for row in rows]
    with t_env.execute_sql("SELECT * FROM kept").collect() as found:
        assert sorted((tuple(row) for row in found), key=lambda row: row[0]) == rows


NAMES = [column.split()[0] for column in COLUMNS.replace("\n", " ").replace("(12, 3)", "").split(",")]


def as_json(row: tuple[Any, ...]) -> dict[str, Any]:
    def plain(value: Any) -> Any:
        if isinstance(value, datetime.datetime):
            return value.isoformat(" ", "milliseconds")
        if isinstance(value, datetime.date | datetime.time):
            return value.isoformat()
        return str(value) if isinstance(value, Decimal) else value

    return {name: plain(value) for name, value in zip(NAMES, row, strict=True)}


def test_partitions_are_folders(tmp_path: Path) -> None:
    t_env = environment()
    for form in ("json", "parquet"):
        t_env.execute_sql(
            f"CREATE TABLE {form}_t (id INT, kind STRING, n INT) PARTITIONED BY (kind, n) "
            f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path / form}', 'format' = '{form}')"
        )
        t_env.execute_sql(f"INSERT INTO {form}_t VALUES (1, 'a/b', 1), (2, 'c', 2), (3, CAST(NULL AS STRING), 3)").wait()
        folders = {str(path.parent.relative_to(tmp_path / form)) for path in (tmp_path / form).rglob("part-*")}
        assert folders == {"kind=a%2Fb/n=1", "kind=c/n=2", "kind=__DEFAULT_PARTITION__/n=3"}
        with t_env.execute_sql(f"SELECT * FROM {form}_t").collect() as found:
            assert sorted(found, key=lambda row: row[0]) == [Row(1, "a/b", 1), Row(2, "c", 2), Row(3, None, 3)]


@pytest.mark.parametrize(("form", "separator"), [("csv", " "), ("json", " "), ("json", "T")])
def test_columns_that_arrow_reads_follow_the_same_rules(form: str, separator: str, tmp_path: Path) -> None:
    def line(stamp: str) -> str:
        return f"1,{stamp},1.5,true\n" if form == "csv" else f'{{"id": 1, "ts": "{stamp}", "p": 1.5, "b": true}}\n'

    t_env = environment(1)
    iso = ", 'json.timestamp-format.standard' = 'ISO-8601'" if separator == "T" else ""
    for name, text in (("good", line(f"2024-02-29{separator}10:11:12.5")), ("bad", line("2024-02-29"))):
        (tmp_path / name).write_text(text)
        options = f"'connector' = 'filesystem', 'path' = '{tmp_path / name}', 'format' = '{form}'{iso}"
        t_env.execute_sql(f"CREATE TABLE {name} (id INT, ts TIMESTAMP(3), p DECIMAL(10, 2), b BOOLEAN) WITH ({options})")
    with t_env.execute_sql("SELECT * FROM good").collect() as found:
        assert list(found) == [Row(1, datetime.datetime(2024, 2, 29, 10, 11, 12, 500000), Decimal("1.50"), True)]
    with pytest.raises(JobExecutionError, match="'2024-02-29' is no timestamp"):
        list(t_env.execute_sql("SELECT * FROM bad").collect())


@pytest.mark.parametrize(
    ("form", "text", "line", "problem"),
    [
        ("csv", "1,a\nx,b\n", "line 2", "column id: 'x' is no whole number"),
        ("csv", "1,a\n1_000,b\n", "line 2", "column id: '1_000' is no whole number"),
        ("csv", "1,a\n2\n", "line 2", "1 fields, but the table has 2 columns"),
        ("json", '{"id": 1}\n{"id": "x"}\n', "line 2", "'x' is no whole number"),
        ("json", '{"id": 1}\n{"id": \n', "line 2", "Expecting value"),
        ("debezium-json", '{"op": "x"}\n', "line 1", "no 'op' of value 'x'"),
        ("debezium-json", '{"op": "u", "before": null, "after": {"id": 1}}\n', "line 1", "need the old row"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(form: str, text: str, line: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_text(text)
    t_env = environment(1)
    t_env.execute_sql(f"CREATE TABLE t (id INT, name STRING) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = '{form}')")
    with pytest.raises(JobExecutionError) as caught:
        list(t_env.execute_sql("SELECT * FROM t").collect())
    shown = "".join(str(error) for error in _causes(caught.value))
    assert str(path) in shown and line in shown and problem in shown


def _causes(error: BaseException | None) -> list[BaseException]:
    return [] if error is None else [error, *_causes(error.__cause__)]


@pytest.mark.parametrize(
    ("form", "text"), [("csv", "1,a\nx,b\n3\n4,d,e\n"), ("json", '{"id": 1, "name": "a"}\n{\n{"id": "x", "name": "b"}\n{"id": 3}\n')]
)
def test_what_cannot_be_read_may_be_left_out(form: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_text(text)
    t_env = environment(1)
    t_env.execute_sql(
        "CREATE TABLE t (id INT, name STRING) "
        f"WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = '{form}', '{form}.ignore-parse-errors' = 'true')"
    )
    with t_env.execute_sql("SELECT * FROM t").collect() as found:
        assert list(found) == [Row(1, "a"), Row(None, "b"), Row(3, None)]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("'format' = 'csv'", "needs the option 'path'"),
        ("'path' = '/x'", "needs the option 'format'"),
        ("'path' = '/x', 'format' = 'jsn'", "there is no format 'jsn'"),
        ("'path' = '/x', 'format' = 'csv', 'csv.field-delimiter' = 'ab'", "csv.field-delimiter is 'ab'"),
        ("'path' = '/x', 'format' = 'csv', 'csv.delimiter' = ';'", "unsupported options for 'filesystem': csv.delimiter"),
        ("'path' = '/x', 'format' = 'json', 'json.timestamp-format.standard' = 'ISO'", "standard is 'ISO'"),
    ],
)
def test_wrong_options(options: str, problem: str) -> None:
    t_env = environment(1)
    t_env.execute_sql(f"CREATE TABLE t (id INT) WITH ('connector' = 'filesystem', {options})")
    with pytest.raises(ConfigurationError, match=problem) as caught:
        t_env.execute_sql("SELECT * FROM t")
    assert caught.value.hint


def test_columns_that_formats_cannot_hold(tmp_path: Path) -> None:
    t_env = environment(1)
    for name, form, column in (("b", "csv", "MAP<STRING, INT>"), ("c", "raw", "INT")):
        t_env.execute_sql(
            f"CREATE TABLE {name} (x {column}) WITH ('connector' = 'filesystem', 'path' = '{tmp_path / name}', 'format' = '{form}')"
        )
    t_env.execute_sql("CREATE TABLE numbers (x INT) WITH ('connector' = 'datagen', 'number-of-rows' = '1')")
    with pytest.raises(ProgramError, match=r"MAP<STRING, INT> have no text"):
        t_env.execute_sql("SELECT * FROM b")
    with pytest.raises(ProgramError, match="one column, of a text or of bytes"):
        t_env.execute_sql("SELECT * FROM c")
    with pytest.raises(ProgramError, match="tables of connector 'datagen' can be read only"):
        t_env.execute_sql("INSERT INTO numbers SELECT x FROM numbers")


def test_options_of_json_that_make_no_difference(tmp_path: Path) -> None:
    t_env = environment()
    options = f"'connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'json', 'json.map-null-key.literal' = 'nil'"
    more = "'json.map-null-key.mode' = 'LITERAL', 'json.decode.json-parser.enabled' = 'false'"
    t_env.execute_sql(f"CREATE TABLE maps (m MAP<STRING, INT>) WITH ({options}, {more})")
    t_env.execute_sql("INSERT INTO maps SELECT MAP['a', 1]").wait()
    assert [row[1:] for row in t_env.execute_sql("SELECT * FROM maps").text_rows()] == [["{a=1}"]]
    t_env.execute_sql(f"CREATE TABLE wrong (m MAP<STRING, INT>) WITH ({options}, 'json.map-null-key.mode' = 'KEEP')")
    for statement in ("INSERT INTO wrong SELECT MAP['a', 1]", "SELECT * FROM wrong"):
        with pytest.raises(ConfigurationError, match="KEEP"):
            t_env.execute_sql(statement)


def made(t_env: TableEnvironment, name: str, columns: str, path: Path, **options: str) -> None:
    given = {"connector": "filesystem", "path": str(path), **{key.replace("__", ".").replace("_", "-"): of for key, of in options.items()}}
    listed = ", ".join(f"'{key}' = '{of}'" for key, of in given.items())
    t_env.execute_sql(f"CREATE TABLE {name} ({columns}) {'PARTITIONED BY (s) ' if name.startswith('by_s') else ''}WITH ({listed})")


def test_numbers_of_csv_are_written_without_exponents_if_wanted(tmp_path: Path) -> None:
    t_env = environment(1)
    plain = {"csv__write_bigdecimal_in_scientific_notation": "false"}
    made(t_env, "t", "a DECIMAL(10, 2), b ARRAY<DECIMAL(38, 20)>", tmp_path, format="csv", **plain)
    small, zero = (f"ARRAY[CAST('{number}' AS DECIMAL(38, 20))]" for number in ("1E-20", "0"))
    t_env.execute_sql(f"INSERT INTO t VALUES (100000, {small}), (12.50, {zero})").wait()
    assert "".join(file.read_text() for file in tmp_path.glob("part-*")) == "100000,0.00000000000000000001\n12.5,0\n"


def test_trimmed_rows_that_cannot_be_read_are_told_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(' 1 , a \n   2   ," b\nc "\n 3, x\n  four  , y\n')
    t_env = environment(1)
    made(t_env, "t", "id INT, s STRING", path, format="csv", csv__trim_spaces="true")
    with pytest.raises(JobExecutionError, match=r"rows\.csv, line 5: .*four"):
        list(t_env.execute_sql("SELECT * FROM t").collect())
    path.write_text(path.read_text().replace("  four  ", "4"))
    assert sorted(map(tuple, t_env.execute_sql("SELECT * FROM t").collect())) == [(1, "a"), (2, " b\nc "), (3, "x"), (4, "y")]


def test_rows_of_a_partition_go_to_one_writer_if_wanted(tmp_path: Path) -> None:
    t_env = environment(3)
    source = tmp_path / "given"
    source.mkdir()
    for number in range(12):
        (source / f"{number}.csv").write_text("".join(f"{number},{letter}\n" for letter in "abcd"))
    made(t_env, "given", "id INT, s STRING", source, format="csv")
    files = {}
    for wanted in ("false", "true"):
        made(t_env, f"by_s_{wanted}", "id INT, s STRING", tmp_path / wanted, format="csv", sink__shuffle_by_partition__enable=wanted)
        t_env.execute_sql(f"INSERT INTO by_s_{wanted} SELECT * FROM given").wait()
        files[wanted] = [len(list(folder.iterdir())) for folder in sorted((tmp_path / wanted).iterdir())]
    assert files == {"false": [3, 3, 3, 3], "true": [1, 1, 1, 1]}


@pytest.mark.parametrize("statistics", ["ALL", "NONE"])
def test_rows_of_files_that_are_not_read_are_not_counted(statistics: str, tmp_path: Path) -> None:
    t_env = TableEnvironment.create(Configuration().set("wiesel.engine", "local").set("execution.runtime-mode", "BATCH"))
    for name in ("first", "second"):
        made(t_env, name, "id INT", tmp_path / name, format="parquet")
        t_env.execute_sql(f"INSERT INTO {name} VALUES (1), (2)").wait()
    chosen = {"source__path__regex_pattern": ".*/first/.*", "source__report_statistics": statistics}
    made(t_env, "chosen", "id INT", tmp_path, format="parquet", **chosen)
    assert ("StatisticsScan" in t_env.explain_sql("SELECT COUNT(*) FROM chosen")) is (statistics == "ALL")
    assert [tuple(row) for row in t_env.execute_sql("SELECT COUNT(*) FROM chosen").collect()] == [(2,)]
