"""The table format ``avro``: what it writes another library reads, and it reads what that writes."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pytest

from wiesel.common import Configuration
from wiesel.core.errors import ConfigurationError, JobExecutionError, ProgramError
from wiesel.formats.table.avro_schemas import record_schema
from wiesel.table import TableEnvironment
from wiesel.types import logical as t

HERE = Path(__file__).parent
UTC = datetime.timezone.utc
NOON = datetime.datetime(2020, 1, 1, 10, 0, 0, 123000)
FULL = {
    "a": 1,
    "b": Decimal("1.50"),
    "c": NOON.replace(tzinfo=UTC),
    "d": datetime.time(10, 20, 30),
    "e": ["a", None],
    "f": {"k": 1},
    "g": {"x": 1, "y": "z"},
    "h": b"\x00\xff",
    "i": datetime.date(1969, 12, 31),
    "j": True,
    "k": 1e300,
    "l": "abc",
    "m": 3,
    "n": "none",
    "o": 2**63 - 1,
    "p": pytest.approx(0.1),
    "q": -128,
    "r": {"u": 2, "v": 1},
}
TIMES = {
    "a": NOON,
    "b": datetime.datetime(1969, 12, 31, 23, 59, 58, 123456),
    "c": datetime.datetime(2024, 3, 10, 7, 30, 0, 123000, UTC),
    "d": datetime.datetime(1969, 12, 31, 23, 59, 59, 999000, UTC),
    "e": {"f": NOON, "g": datetime.datetime(1970, 1, 1, tzinfo=UTC)},
}


def statements(out: Path) -> list[str]:
    return (HERE / "avro_table.sql").read_text().replace("${out}", str(out)).strip().rstrip(";").split(";\n")


def environment(parallelism: int = 1) -> TableEnvironment:
    config = Configuration().set("wiesel.engine", "local").set("execution.runtime-mode", "BATCH")
    return TableEnvironment.create(config.set("parallelism.default", str(parallelism)).set("table.local-time-zone", "Asia/Tokyo"))


def rows(t_env: TableEnvironment, query: str) -> list[tuple[str, ...]]:
    return sorted(tuple(row[1:]) for row in t_env.execute_sql(query).text_rows())


def records(folder: Path) -> tuple[set[str], list[Any], Any]:
    """Return codecs, records and schema of the files of a table."""
    codecs, found, schema = set(), [], None
    for path in sorted(folder.glob("part-*")):
        with path.open("rb") as stream:
            reader = fastavro.reader(stream)
            codecs.add(reader.codec)
            found += list(reader)
            schema = reader.writer_schema
    return codecs, sorted(found, key=lambda record: record["a"] is None), schema


@pytest.mark.parametrize("parallelism", [1, 3])
def test_what_is_written_is_read_by_others_and_again(tmp_path: Path, parallelism: int) -> None:
    t_env = environment(parallelism)
    for statement in statements(tmp_path)[:-2]:
        t_env.execute_sql(statement).wait()
    codecs, found, _ = records(tmp_path / "t")
    assert codecs == {"snappy"}
    assert found == [FULL, {**dict.fromkeys(FULL), "n": "others are NULL"}]
    codecs, found, _ = records(tmp_path / "u")
    assert codecs == {"deflate"}
    assert found == [TIMES, dict.fromkeys(TIMES)]
    shown = ["1", "1.50", "2020-01-01 10:00:00.123", "10:20:30", "[a, NULL]", "{k=1}", "(1, z)", "x'00ff'", "1969-12-31", "TRUE"]
    shown += ["1.0E300", "abc", "3", "none", "9223372036854775807", "0.1", "-128", "{u=2, v=1}"]
    assert rows(t_env, "SELECT * FROM t WHERE a IS NOT NULL") == [tuple(shown)]
    assert rows(t_env, "SELECT o, a, n FROM t") == [("9223372036854775807", "1", "none"), ("<NULL>", "<NULL>", "others are NULL")]
    assert rows(t_env, "SELECT a, b, c, e FROM u WHERE a IS NOT NULL") == [
        (
            "2020-01-01 10:00:00.123",
            "1969-12-31 23:59:58.123456",
            "2024-03-10 16:30:00.123",
            "(2020-01-01 10:00:00.123, 1970-01-01 09:00:00.000)",
        )
    ]


def test_files_of_others_are_read(tmp_path: Path) -> None:
    """Columns are found by name, whatever their order; those that a file lacks are NULL."""
    schema = {
        "type": "record",
        "name": "other",
        "fields": [
            {"name": "more", "type": "string"},
            {"name": "kind", "type": {"type": "enum", "name": "kinds", "symbols": ["x", "y"]}},
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
            {"name": "a", "type": "int"},
            {"name": "id", "type": {"type": "fixed", "name": "ids", "size": 2}},
            {"name": "price", "type": ["null", {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2}]},
        ],
    }
    made = [
        {"more": "-", "kind": "y", "at": NOON.replace(tzinfo=UTC), "a": number, "id": b"ab", "price": Decimal(number) / 4}
        for number in range(5000)
    ]
    with (tmp_path / "other.avro").open("wb") as stream:
        fastavro.writer(stream, schema, made, codec="deflate", sync_interval=2000)
    t_env = environment(3)
    t_env.execute_sql(
        "CREATE TABLE t (a BIGINT, price DECIMAL(6, 2), lacking STRING, at TIMESTAMP(3), kind STRING, id BYTES) "
        f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'avro')"
    )
    assert rows(t_env, "SELECT * FROM t WHERE a = 4999") == [("4999", "1249.75", "<NULL>", "2020-01-01 10:00:00.123", "y", "x'6162'")]
    assert rows(t_env, "SELECT COUNT(*), SUM(a), SUM(price) FROM t") == [("5000", "12497500", "3124375.00")]


@pytest.mark.parametrize("codec", ["null", "deflate", "snappy", "bzip2", "xz"])
def test_many_rows_in_several_blocks(tmp_path: Path, codec: str) -> None:
    t_env = environment(2)
    options = f"'connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'avro', 'avro.codec' = '{codec}'"
    t_env.execute_sql(f"CREATE TABLE many (n BIGINT, t STRING) WITH ({options})")
    t_env.execute_sql(
        "CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '20000', 'fields.n.kind' = 'sequence', "
        "'fields.n.start' = '1', 'fields.n.end' = '20000')"
    )
    t_env.execute_sql("INSERT INTO many SELECT n, CAST(n AS STRING) FROM numbers").wait()
    assert rows(t_env, "SELECT COUNT(*), SUM(n), MAX(CAST(t AS BIGINT)) FROM many") == [("20000", "200010000", "20000")]


def test_schemas_have_the_names_and_defaults_of_flink() -> None:
    inner = t.RowType([t.RowField("x", t.IntType()), t.RowField("at", t.TimestampType(3, False))], False)
    found = record_schema(t.RowType([t.RowField("r", inner), t.RowField("l", t.ArrayType(t.TimestampType(3)))]), legacy=False)
    nested = {
        "type": "record",
        "name": "org.apache.flink.avro.generated.record_r",
        "fields": [
            {"name": "x", "type": ["null", "int"], "default": None},
            {"name": "at", "type": {"type": "long", "logicalType": "local-timestamp-millis"}},
        ],
    }
    items = ["null", {"type": "long", "logicalType": "timestamp-millis"}]
    assert found == {
        "type": "record",
        "name": "org.apache.flink.avro.generated.record",
        "fields": [{"name": "r", "type": nested}, {"name": "l", "type": ["null", {"type": "array", "items": items}], "default": None}],
    }


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("a TIMESTAMP(6)", "no values of type TIMESTAMP\\(6\\)"),
        ("a TIMESTAMP_LTZ(3)", "no values of type TIMESTAMP_LTZ\\(3\\)"),
        ("a TIME(6)", "no values of type TIME\\(6\\)"),
        ("a MAP<INT, INT>", "strings as keys"),
        ("`my column` INT", "cannot have this name"),
    ],
)
def test_what_avro_cannot_hold_is_refused(tmp_path: Path, column: str, message: str) -> None:
    t_env = environment()
    t_env.execute_sql(f"CREATE TABLE t ({column}) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'avro')")
    with pytest.raises(ProgramError, match=message) as caught:
        t_env.execute_sql("SELECT * FROM t")
    assert caught.value.hint


def test_wrong_options_and_files(tmp_path: Path) -> None:
    t_env = environment()
    where = f"'connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'avro'"
    t_env.execute_sql(f"CREATE TABLE coded (a INT) WITH ({where}, 'avro.codec' = 'best')")
    with pytest.raises(ConfigurationError, match=r"avro\.codec"):
        t_env.execute_sql("INSERT INTO coded VALUES (1)")
    (tmp_path / "no.avro").write_text("this is no such file")
    t_env.execute_sql(f"CREATE TABLE wrong (a INT) WITH ({where})")
    with pytest.raises(JobExecutionError) as caught:
        list(t_env.execute_sql("SELECT * FROM wrong").text_rows())
    assert "no.avro is no Avro file" in str(caught.value) + str(caught.value.__cause__)
