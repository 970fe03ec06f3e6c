"""Names in catalogs, modules and the language of statements, as programs use them."""

from __future__ import annotations

import pytest

from wiesel.common import Configuration
from wiesel.core.errors import ProgramError
from wiesel.table import ModuleEntry, Schema, SqlDialect, TableEnvironment
from wiesel.table.catalog import CatalogDescriptor, CatalogModel, ObjectIdentifier, ObjectPath
from wiesel.table.module import HiveModule


@pytest.fixture
def t_env() -> TableEnvironment:
    return TableEnvironment.create(Configuration().set("wiesel.engine", "local"))


def test_paths_and_identifiers() -> None:
    path = ObjectPath.from_string("db.t")
    assert (path.get_database_name(), path.get_object_name(), path.get_full_name(), str(path)) == ("db", "t", "db.t", "db.t")
    assert path == ObjectPath("db", "t") and hash(path) == hash(ObjectPath("db", "t"))
    assert ObjectPath("a", "z") < path <= ObjectPath("db", "t") < ObjectPath("db", "u")
    assert path.compare_to(ObjectPath("a", "z")) > 0 == path.compare_to(path)
    identifier = ObjectIdentifier.of("c", "db", "t")
    assert identifier.to_object_path() == path and identifier.to_list() == ["c", "db", "t"]
    assert (str(identifier), identifier.as_summary_string()) == ("`c`.`db`.`t`", "c.db.t")
    for wrong in ("t", "a.b.c"):
        with pytest.raises(ProgramError, match="is no path"):
            ObjectPath.from_string(wrong)


def test_catalogs_by_descriptor(t_env: TableEnvironment) -> None:
    t_env.create_catalog("mine", CatalogDescriptor.of("mine", Configuration().set("type", "generic_in_memory"), "of my own"))
    assert t_env.list_catalogs() == ["default_catalog", "mine"]
    with pytest.raises(ProgramError, match="already exists"):
        t_env.create_catalog("mine", CatalogDescriptor.of("mine", Configuration().set("type", "generic_in_memory")))


def test_modules(t_env: TableEnvironment) -> None:
    t_env.load_module("hive", HiveModule())
    assert t_env.list_modules() == ["core", "hive"]
    t_env.use_modules("hive")
    assert t_env.list_full_modules() == [ModuleEntry("hive", True), ModuleEntry("core", False)]
    assert repr(ModuleEntry("hive", True)) == "ModuleEntry{name='hive', used=true}"
    t_env.unload_module("hive")
    with pytest.raises(ProgramError, match="no module `hive` is loaded"):
        t_env.unload_module("hive")
    with pytest.raises(ProgramError, match="the module has the name 'hive', not 'other'"):
        t_env.load_module("other", HiveModule())


def test_the_dialect_is_an_option(t_env: TableEnvironment) -> None:
    config = t_env.get_config()
    assert config.get_sql_dialect() == SqlDialect.DEFAULT
    config.set_sql_dialect(SqlDialect.HIVE)
    assert (config.get_sql_dialect(), config.get("table.sql-dialect", "")) == (SqlDialect.HIVE, "hive")
    config.set_sql_dialect(SqlDialect.DEFAULT)
    assert config.get_sql_dialect() == SqlDialect.DEFAULT


def test_pipelines_tell_where_they_lead(t_env: TableEnvironment) -> None:
    t_env.execute_sql("CREATE TABLE t (a INT) WITH ('connector' = 'blackhole')")
    pipeline = t_env.sql_query("SELECT 1").insert_into("t")
    assert pipeline.get_sink_identifier() == ObjectIdentifier.of("default_catalog", "default_database", "t")
    assert str(pipeline) == "INSERT INTO `default_catalog`.`default_database`.`t`"


def test_models_of_catalogs() -> None:
    inputs, outputs = (Schema.new_builder().column(name, "STRING").build() for name in ("a", "b"))
    model = CatalogModel.create_model(inputs, outputs, {"provider": "python"}, "a model")
    assert (model.copy().get_options(), model.get_comment()) == ({"provider": "python"}, "a model")
    with pytest.raises(ProgramError, match="a model needs options"):
        CatalogModel.create_model(inputs, outputs)
