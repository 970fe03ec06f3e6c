"""What is here of PyFlink's Table API has PyFlink's names, parameters and defaults (recorded by ``record_signatures.py``)."""

from __future__ import annotations

import importlib
import inspect
import json
import pathlib
from typing import Any

import pytest

import wiesel.table

RECORDED = json.loads(pathlib.Path(__file__).with_name("pyflink_signatures.json").read_text())

# Of classes of which most is still absent, these methods are there; of all others everything is.
THERE = {
    "table.Table": set(
        "execute execute_insert explain get_resolved_schema get_schema insert_into print_explain print_schema to_pandas".split()
    ),
    "table_environment.TableEnvironment": set(
        """
        create create_statement_set create_table create_temporary_function create_temporary_system_function
        create_temporary_table create_temporary_view create_view drop_table drop_temporary_function
        drop_temporary_system_function drop_temporary_table
        drop_temporary_view drop_view execute_sql explain_sql from_elements from_pandas from_path get_config get_current_catalog
        get_current_database list_catalogs list_databases list_functions list_modules list_tables list_temporary_tables
        list_temporary_views list_user_defined_functions list_views sql_query use_catalog use_database
        """.split()
    ),
}
THERE["table_environment.StreamTableEnvironment"] = THERE["table_environment.TableEnvironment"] | set(
    "from_changelog_stream from_data_stream to_changelog_stream to_data_stream".split()
)
# What PyFlink needs for its JVM.
INNER = {"need_conversion", "to_sql_type", "from_sql_type", "bridged_to"}
# Schema.Builder.from_resolved_schema takes a class that is not here, as those of compiled plans and of Hive's dialect.
ABSENT = {
    ("schema.Schema.Builder", "from_resolved_schema"),
    ("statement_set.StatementSet", "compile_plan"),
    ("table_config.TableConfig", "get_max_generated_code_length"),
    ("table_config.TableConfig", "set_max_generated_code_length"),
    ("table_config.TableConfig", "get_sql_dialect"),
    ("table_config.TableConfig", "set_sql_dialect"),
    ("table_pipeline.TablePipeline", "compile_plan"),
    ("table_pipeline.TablePipeline", "get_sink_identifier"),
}
OTHER_PARAMETERS = {
    # A list as default would be shared by all calls.
    ("types.DataTypes", "ROW"): [["row_fields", "POSITIONAL_OR_KEYWORD", "()"], ["nullable", "POSITIONAL_OR_KEYWORD", "True"]],
}


def load(path: str) -> Any:
    module, *names = path.split(".")
    found: Any = importlib.import_module(f"wiesel.table.{module}")
    for name in names:
        found = getattr(found, name)
    return found


def parameters(function: Any) -> list[list[str]]:
    found = inspect.signature(function).parameters.values()
    return [[p.name, p.kind.name, "" if p.default is p.empty else repr(p.default)] for p in found if p.name not in ("self", "cls")]


@pytest.mark.parametrize("path", sorted(RECORDED["classes"]))
def test_methods_take_the_same_parameters(path: str) -> None:
    cls = load(path)
    differing = {}
    for name, recorded in RECORDED["classes"][path].items():
        if name in INNER:
            continue
        if (path, name) in ABSENT or name not in THERE.get(path, {name}):
            assert not hasattr(cls, name), f"{path}.{name} exists now: take it off the list"
            continue
        wanted = OTHER_PARAMETERS.get((path, name), recorded)
        method = inspect.getattr_static(cls, name, None)
        method = method.__func__ if isinstance(method, staticmethod | classmethod) else method
        found = None if method is None else parameters(method)
        if found != wanted:
            differing[name] = (wanted, found)
    assert not differing


def test_names_of_pyflink_are_here_or_said_to_be_absent() -> None:
    for name in set(RECORDED["exports"]) - set(wiesel.table.__all__):
        with pytest.raises(ImportError, match=f"has no {name} in this version; it has: .*StreamTableEnvironment.*\n  what to do: "):
            getattr(wiesel.table, name)
    with pytest.raises(AttributeError):
        wiesel.table.nothing_of_this_name  # noqa: B018 - the access is what is tested
