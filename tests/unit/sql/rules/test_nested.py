"""Of columns that are rows, only those fields are read that somebody reads."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest

from tests.unit.sql.rules.plans import environment, found, plan
from wiesel.sql.rules.optimizer import optimized
from wiesel.table import TableEnvironment

HOME = "ROW<street STRING, number INT, place ROW<x DOUBLE, y DOUBLE, name STRING>, tags ARRAY<STRING>>"
PEOPLE = [
    {"id": 1, "home": {"street": "High", "number": 3, "place": {"x": 1.5, "y": 2.5, "name": "a"}, "tags": ["p", "q"]}},
    {"id": 2, "home": None},
    {"id": 3, "home": {"street": None, "number": 7, "place": None, "tags": []}},
]
QUERIES = {
    "SELECT p.home.street FROM people AS p": ([("High",), (None,), (None,)], "ROW<`street` STRING>"),
    "SELECT p.home.place.x + p.home.number AS s FROM people AS p": (
        [(4.5,), (None,), (None,)],
        "ROW<`number` INT, `place` ROW<`x` DOUBLE>>",
    ),
    "SELECT p.id FROM people AS p WHERE p.home.number > 2 AND p.home.tags[1] = 'p'": ([(1,)], "ROW<`number` INT, `tags` ARRAY<STRING>>"),
    "SELECT p.home.place.name AS name, COUNT(*) AS n FROM people AS p GROUP BY p.home.place.name": (
        [("a", 1), (None, 2)],
        "ROW<`place` ROW<`name` STRING>>",
    ),
    "SELECT p.home.place.x AS x FROM people AS p WHERE p.home.place.y > 1": ([(1.5,)], "ROW<`place` ROW<`x` DOUBLE, `y` DOUBLE>>"),
    "SELECT p.home.street FROM people AS p WHERE p.home IS NULL": ([(None,)], None),
    "SELECT p.home, p.home.street FROM people AS p WHERE p.id = 9": ([], None),
    "SELECT p.home.place.x AS x FROM people AS p WHERE p.home.place IS NOT NULL": (
        [(1.5,)],
        "ROW<`place` ROW<`x` DOUBLE, `y` DOUBLE, `name` STRING>>",
    ),
}


def _people(folder: Path, form: str) -> TableEnvironment:
    t_env = environment(**{"execution_runtime-mode": "BATCH"})
    place = pa.struct([("x", pa.float64()), ("y", pa.float64()), ("name", pa.string())])
    home = pa.struct([("street", pa.string()), ("number", pa.int32()), ("place", place), ("tags", pa.list_(pa.string()))])
    rows = pa.Table.from_pylist(PEOPLE, schema=pa.schema([("id", pa.int32()), ("home", home)]))
    if form == "parquet":
        pq.write_table(rows, folder / "part.parquet")
    elif form == "orc":
        orc.write_table(rows, str(folder / "part.orc"))
    else:
        (folder / "part.json").write_text(rows.to_pandas().to_json(orient="records", lines=True))
    t_env.execute_sql(
        f"CREATE TABLE people (id INT, home {HOME}) WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = '{form}')"
    )
    return t_env


@pytest.mark.parametrize("form", ["parquet", "json", "orc"])
@pytest.mark.parametrize("sql", QUERIES)
def test_fields_that_nobody_reads_are_left_out(form: str, sql: str, tmp_path: Path) -> None:
    t_env = _people(tmp_path, form)
    expected, left = QUERIES[sql]
    (relation,) = optimized([plan(t_env, sql)], t_env.get_config().get_configuration())
    (scan,) = found(relation, "TableScan")
    types = {field.name: field.data_type.as_summary_string() for field in scan.fields}
    assert types.get("home", HOME) == left or (left is None and "`tags`" in types["home"])
    assert (f"home {left}" in t_env.explain_sql(sql)) == (left is not None)
    assert sorted((tuple(row) for row in t_env.execute_sql(sql).collect()), key=repr) == sorted(expected, key=repr)


def test_bytes_of_other_fields_are_not_read(tmp_path: Path) -> None:
    t_env = _people(tmp_path, "parquet")
    file = tmp_path / "part.parquet"
    damaged = bytearray(file.read_bytes())
    group = pq.ParquetFile(file).metadata.row_group(0)
    for column in (group.column(index) for index in range(group.num_columns)):
        if column.path_in_schema != "home.number":
            start = column.dictionary_page_offset or column.data_page_offset
            damaged[start : start + column.total_compressed_size] = bytes(column.total_compressed_size)
    file.write_bytes(damaged)
    assert [row[0] for row in t_env.execute_sql("SELECT p.home.number FROM people AS p").collect()] == [3, None, 7]


def test_a_table_with_several_readers_is_read_whole(tmp_path: Path) -> None:
    t_env = _people(tmp_path, "parquet")
    sql = "SELECT p.home.street AS s FROM people AS p UNION ALL SELECT q.home.place.name AS s FROM people AS q"
    (relation,) = optimized([plan(t_env, sql)], t_env.get_config().get_configuration())
    assert all(scan.types is None for scan in found(relation, "TableScan"))
    assert sorted(str(row[0]) for row in t_env.execute_sql(sql).collect()) == ["High", "None", "None", "None", "None", "a"]


def test_uids_do_not_depend_on_what_else_is_read_of_a_row(tmp_path: Path) -> None:
    t_env = _people(tmp_path, "parquet")
    inner = "SELECT p.home.place.name AS name, p.home.number AS number{} FROM people AS p"
    uids = set()
    for more in ("", ", p.home.street AS street"):
        sql = f"SELECT name, COUNT(number) AS n FROM ({inner.format(more)}) GROUP BY name"
        uids.add(t_env.explain_sql(sql).split("uid=[")[1].split("]")[0])
    whole = t_env.explain_sql(
        f"SELECT name, COUNT(number) AS n FROM ({inner.format(', p.home AS h')}) WHERE h IS NULL OR TRUE GROUP BY name"
    )
    assert len(uids) == 1
    assert uids.pop() in whole
