"""Catalogs as objects of the program: what real Flink gives for the same steps, and catalogs of one's own."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from tests.differential.catalog_steps import outcomes, steps
from wiesel.common import Configuration
from wiesel.core.errors import ProgramError
from wiesel.spi.table.catalog_errors import (
    CatalogException,
    DatabaseNotEmptyException,
    FunctionNotExistException,
    ModelNotExistException,
    TableNotExistException,
)
from wiesel.spi.table.statistics import ColumnStatistics
from wiesel.table import DataTypes, TableEnvironment, TableSchema
from wiesel.table.catalog import (
    Catalog,
    CatalogBaseTable,
    CatalogColumnStatistics,
    CatalogDatabase,
    CatalogFunction,
    CatalogModel,
    CatalogPartition,
    CatalogPartitionSpec,
    CatalogTableStatistics,
    HiveCatalog,
    ObjectPath,
)

GOLDENS = Path(__file__).parents[2] / "differential" / "goldens" / "catalog_objects.json"


def environment() -> TableEnvironment:
    return TableEnvironment.create(Configuration().set("wiesel.engine", "local").set("execution.runtime-mode", "BATCH"))


def test_every_step_gives_what_it_gives_in_flink() -> None:
    recorded = json.loads(GOLDENS.read_text(encoding="utf-8"))
    assert [step for step, _ in recorded] == steps(), "record the steps anew: tests/differential/record_catalog_objects.py"
    found = outcomes("wiesel", environment())
    wrong = [(step, ours, theirs) for (step, theirs), ours in zip(recorded, found, strict=True) if ours != theirs]
    assert wrong == []


# Catalogs of one's own

NUMBERS = TableSchema(["n"], [DataTypes.BIGINT()])


def counting(last: int) -> CatalogBaseTable:
    options = {"connector": "datagen", "number-of-rows": str(last), "fields.n.kind": "sequence", "fields.n.start": "1"}
    return CatalogBaseTable.create_table(NUMBERS, [], {**options, "fields.n.end": str(last)}, f"up to {last}")


class UpTo(Catalog):
    """The least that a catalog needs: the tables up_1, up_2 and so on are there as soon as they are asked for."""

    def list_databases(self) -> list[str]:
        return ["default"]

    def list_tables(self, database_name: str) -> list[str]:
        return ["up_1", "up_3"]

    def get_table(self, table_path: ObjectPath) -> CatalogBaseTable:
        found = re.fullmatch(r"up_(\d+)", table_path.get_object_name())
        if found is None:
            raise TableNotExistException(f"there is no {table_path}", hint="ask for up_1, up_2 ...")
        return counting(int(found[1]))


class InDicts(Catalog):
    """A catalog that keeps all it is told, and notes what it is asked to do."""

    def __init__(self) -> None:
        self.made: dict[str, CatalogDatabase] = {"first": CatalogDatabase.create_instance({})}
        self.tables: dict[ObjectPath, CatalogBaseTable] = {}
        self.functions: dict[ObjectPath, CatalogFunction] = {}
        self.models: dict[ObjectPath, CatalogModel] = {}
        self.noted: list[str] = []

    def open(self) -> None:
        self.noted.append("open")

    def close(self) -> None:
        self.noted.append("close")

    def get_default_database(self) -> str:
        return "first"

    def list_databases(self) -> list[str]:
        return list(self.made)

    def get_database(self, database_name: str) -> CatalogDatabase:
        return self.made[database_name]

    def create_database(self, name: str, database: CatalogDatabase, ignore_if_exists: bool) -> None:
        self.made[name] = database

    def alter_database(self, name: str, new_database: CatalogDatabase, ignore_if_not_exists: bool) -> None:
        self.made[name] = new_database

    def drop_database(self, name: str, ignore_if_exists: bool) -> None:
        assert not self.list_tables(name)
        del self.made[name]

    def list_tables(self, database_name: str) -> list[str]:
        return [path.get_object_name() for path in self.tables if path.get_database_name() == database_name]

    def get_table(self, table_path: ObjectPath) -> CatalogBaseTable:
        if table_path not in self.tables:
            raise TableNotExistException(f"there is no {table_path}", hint="create it")
        return self.tables[table_path]

    def create_table(self, table_path: ObjectPath, table: CatalogBaseTable, ignore_if_exists: bool) -> None:
        self.tables[table_path] = table

    def alter_table(self, table_path: ObjectPath, new_table: CatalogBaseTable, ignore_if_not_exists: bool) -> None:
        self.noted.append(f"alter {table_path}")
        self.tables[table_path] = new_table

    def rename_table(self, table_path: ObjectPath, new_table_name: str, ignore_if_not_exists: bool) -> None:
        self.tables[ObjectPath(table_path.get_database_name(), new_table_name)] = self.tables.pop(table_path)

    def drop_table(self, table_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        del self.tables[table_path]

    def list_functions(self, database_name: str) -> list[str]:
        return [path.get_object_name() for path in self.functions if path.get_database_name() == database_name]

    def get_function(self, function_path: ObjectPath) -> CatalogFunction:
        if function_path not in self.functions:
            raise FunctionNotExistException(f"there is no {function_path}", hint="create it")
        return self.functions[function_path]

    def create_function(self, function_path: ObjectPath, function: CatalogFunction, ignore_if_exists: bool) -> None:
        self.functions[function_path] = function

    def drop_function(self, function_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        del self.functions[function_path]

    def list_models(self, database_name: str) -> list[str]:
        return [path.get_object_name() for path in self.models if path.get_database_name() == database_name]

    def get_model(self, model_path: ObjectPath) -> CatalogModel:
        if model_path not in self.models:
            raise ModelNotExistException(f"there is no {model_path}", hint="create it")
        return self.models[model_path]

    def create_model(self, model_path: ObjectPath, model: CatalogModel, ignore_if_exists: bool) -> None:
        self.models[model_path] = model

    def alter_model(self, model_path: ObjectPath, new_model: CatalogModel, ignore_if_not_exists: bool) -> None:
        self.models[model_path] = new_model

    def drop_model(self, model_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        del self.models[model_path]


def shown(t_env: TableEnvironment, statement: str) -> list[list[str]]:
    return [row[1:] for row in t_env.execute_sql(statement).text_rows()]


def test_three_methods_make_a_catalog() -> None:
    t_env, catalog = environment(), UpTo()
    t_env.register_catalog("up", catalog)
    assert t_env.get_catalog("up") is catalog
    t_env.use_catalog("up")
    assert (t_env.get_current_database(), t_env.list_databases(), t_env.list_tables()) == ("default", ["default"], ["up_1", "up_3"])
    assert (t_env.list_views(), t_env.list_user_defined_functions(), t_env.list_models()) == ([], [], [])
    assert sorted(shown(t_env, "SELECT n FROM up_2")) == [["1"], ["2"]]
    assert t_env.from_path("up_3").get_schema().get_field_names() == ["n"]
    assert (catalog.table_exists(ObjectPath("default", "up_9")), catalog.table_exists(ObjectPath("default", "down"))) == (True, False)
    with pytest.raises(ProgramError, match="table `down` was not found"):
        t_env.execute_sql("SELECT * FROM down")
    refused = {
        "CREATE TABLE t (a INT) WITH ('connector' = 'blackhole')": "cannot create tables",
        "DROP TABLE up_1": "cannot drop tables",
        "ALTER TABLE up_1 SET ('number-of-rows' = '2')": "cannot alter tables",
        "ALTER TABLE up_1 RENAME TO one": "cannot rename tables",
        "CREATE DATABASE d": "cannot create databases",
        "ALTER DATABASE `default` SET ('a' = 'b')": "cannot alter databases",
    }
    for statement, problem in refused.items():
        with pytest.raises(CatalogException, match=f"catalogs of UpTo {problem}"):
            t_env.execute_sql(statement)
    with pytest.raises(ProgramError, match="`up` was registered by a program"):
        t_env.execute_sql("SHOW CREATE CATALOG up")
    with pytest.raises(CatalogException, match="cannot list partitions"):
        catalog.list_partitions(ObjectPath("default", "up_1"))


def test_statements_reach_a_catalog_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kept_functions.py").write_text("from wiesel.table.udf import udf\ntwice = udf(lambda n: 2 * n, result_type='BIGINT')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    t_env, catalog = environment(), InDicts()
    t_env.register_catalog("mine", catalog)
    t_env.execute_sql("CREATE DATABASE mine.second COMMENT 'the other' WITH ('a' = 'b')")
    t_env.execute_sql("ALTER DATABASE mine.second SET ('c' = 'd')")
    assert (catalog.made["second"].get_properties(), catalog.made["second"].get_comment()) == ({"a": "b", "c": "d"}, "the other")
    t_env.use_catalog("mine")
    t_env.use_database("second")
    catalog.create_table(ObjectPath("second", "numbers"), counting(2), False)
    t_env.execute_sql("ALTER TABLE numbers SET ('number-of-rows' = '1')")
    t_env.execute_sql("CREATE FUNCTION Twice AS 'kept_functions.twice' LANGUAGE PYTHON")
    t_env.execute_sql("CREATE VIEW tens AS SELECT Twice(n) * 5 AS ten FROM numbers")
    own = CatalogBaseTable.create_view("SELECT n FROM numbers", "SELECT n FROM numbers", NUMBERS, {})
    catalog.create_table(ObjectPath("second", "same"), own, False)
    t_env.execute_sql("CREATE MODEL m INPUT (a INT) OUTPUT (b INT) WITH ('provider' = 'python', 'function' = 'a.b')")
    t_env.execute_sql("ALTER MODEL m SET ('function' = 'c.d')")
    t_env.use_catalog("default_catalog")
    assert shown(t_env, "SELECT ten FROM mine.second.tens") == [["10"]]
    assert shown(t_env, "SELECT n FROM mine.second.same") == [["1"]]
    assert catalog.list_views("second") == ["tens", "same"]
    assert catalog.functions[ObjectPath("second", "twice")].get_class_name() == "kept_functions.twice"
    assert catalog.models[ObjectPath("second", "m")].get_options()["function"] == "c.d"
    t_env.execute_sql("ALTER TABLE mine.second.numbers RENAME TO figures")
    assert sorted(catalog.list_tables("second")) == ["figures", "same", "tens"]
    with pytest.raises(ProgramError, match="in another database"):
        t_env.execute_sql("ALTER TABLE mine.second.figures RENAME TO mine.`first`.figures")
    t_env.execute_sql("DROP DATABASE mine.second CASCADE")
    assert (catalog.tables, catalog.functions, catalog.models, list(catalog.made)) == ({}, {}, {}, ["first"])
    t_env.execute_sql("DROP CATALOG mine")
    assert catalog.noted == ["open", "alter second.numbers", "close"]
    sys.modules.pop("kept_functions")


class Announced(UpTo):
    """A catalog that a package announces, which is made by CREATE CATALOG."""

    def __init__(self, name: str, options: dict[str, str]) -> None:
        self.made = (name, options)


def test_statements_make_catalogs_that_packages_announce(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "some_catalogs-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: some-catalogs\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[wiesel.catalogs]\nup_to = {__name__}:Announced\nwrong = builtins:dict.fromkeys\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    store = tmp_path / "store"
    options = {"table.catalog-store.kind": "file", "table.catalog-store.file.path": str(store)}
    config = Configuration().set("wiesel.engine", "local").set("execution.runtime-mode", "BATCH")
    for key, value in options.items():
        config.set(key, value)
    TableEnvironment.create(config).execute_sql("CREATE CATALOG up COMMENT 'why' WITH ('type' = 'up_to', 'most' = '9')")
    t_env = TableEnvironment.create(config)
    assert sorted(shown(t_env, "SELECT n FROM up.`default`.up_2")) == [["1"], ["2"]]
    found = t_env.get_catalog("up")
    assert isinstance(found, Announced)
    assert found.made == ("up", {"most": "9"})
    assert "'type' = 'up_to'" in str(shown(t_env, "SHOW CREATE CATALOG up"))
    with pytest.raises(ProgramError, match="types are: generic_in_memory, spark, sqlite, up_to, wrong"):
        t_env.execute_sql("CREATE CATALOG other WITH ('type' = 'zzz')")
    with pytest.raises(ProgramError, match="what was made for catalog other"):
        t_env.execute_sql("CREATE CATALOG other WITH ('type' = 'wrong')")


def test_errors_of_a_catalog_tell_where_they_come_from() -> None:
    class Broken(UpTo):
        def get_table(self, table_path: ObjectPath) -> CatalogBaseTable:
            return {}[table_path]  # type: ignore[index]

    class Wrong(UpTo):
        def get_table(self, table_path: ObjectPath) -> CatalogBaseTable:
            return "t"  # type: ignore[return-value]

    t_env = environment()
    t_env.register_catalog("broken", Broken())
    t_env.register_catalog("wrong", Wrong())
    with pytest.raises(CatalogException, match=r"Broken.get_table\(\) of catalog broken failed: KeyError"):
        t_env.from_path("broken.`default`.up_1")
    with pytest.raises(ProgramError, match=r"what get_table\(\) of catalog wrong returned"):
        t_env.from_path("wrong.`default`.up_1")
    with pytest.raises(ProgramError, match="give an object of a subclass of"):
        t_env.register_catalog("none", object())  # type: ignore[arg-type]


def test_the_metastore_of_hive_is_refused_with_the_way_to_it() -> None:
    with pytest.raises(ProgramError, match="'type' = 'spark'"):
        HiveCatalog("hive", hive_conf_dir="/etc/hive")


# What is kept in a file


def test_a_file_keeps_all_that_objects_tell(tmp_path: Path) -> None:
    def opened() -> Catalog:
        t_env = environment()
        t_env.execute_sql(f"CREATE CATALOG kept WITH ('type' = 'sqlite', 'path' = '{tmp_path / 'catalog.db'}')")
        found = t_env.get_catalog("kept")
        assert found is not None
        return found

    first, path, spec = opened(), ObjectPath("d", "t"), CatalogPartitionSpec({"day": "monday"})
    first.create_database("d", CatalogDatabase.create_instance({"k": "v"}, "old"), False)
    first.alter_database("d", CatalogDatabase.create_instance({"x": "y"}, "new"), False)
    schema = TableSchema(["day", "n"], [DataTypes.STRING(), DataTypes.INT()])
    first.create_table(path, CatalogBaseTable.create_table(schema, ["day"], {"connector": "blackhole"}), False)
    first.create_partition(path, spec, CatalogPartition.create_instance({"a": "b"}, "why"), False)
    first.alter_table_statistics(path, CatalogTableStatistics(5, 0, 10, 20, {"p": "q"}), False)
    first.alter_table_column_statistics(path, CatalogColumnStatistics({"n": ColumnStatistics(distinct=3)}), False)
    first.alter_partition_statistics(path, spec, CatalogTableStatistics(2), False)
    first.create_table(ObjectPath("d", "v"), CatalogBaseTable.create_view("SELECT 1", "SELECT 1 AS n", NUMBERS, {"o": "p"}), False)
    first.create_function(ObjectPath("d", "f"), CatalogFunction.create_instance("a.b"), False)
    second = opened()
    database = second.get_database("d")
    assert (database.get_properties(), database.get_comment()) == ({"x": "y"}, "new")
    partition = second.get_partition(path, spec)
    assert (partition.get_properties(), partition.get_comment()) == ({"a": "b"}, "why")
    found = second.get_table_statistics(path)
    numbers = (found.get_row_count(), found.get_field_count(), found.get_total_size(), found.get_raw_data_size(), found.get_properties())
    assert numbers == (5, 0, 10, 20, {"p": "q"})
    assert second.get_table_column_statistics(path).get_column_statistics_data() == {"n": ColumnStatistics(distinct=3)}
    assert second.bulk_get_partition_statistics(path, [spec])[0].get_row_count() == 2
    assert second.get_table(ObjectPath("d", "v")).get_options() == {"o": "p"}
    assert second.list_functions("d") == ["f"]
    second.drop_partition(path, spec, False)
    assert first.list_partitions(path) == []
    for name in ("t", "v"):
        second.drop_table(ObjectPath("d", name), False)
    with pytest.raises(DatabaseNotEmptyException):
        second.drop_database("d", False)
