"""Models in SQL and in programs: functions of Python are asked by ``ML_PREDICT``; what is wrong is told before a job starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from wiesel.common import Configuration
from wiesel.core.errors import ConfigurationError, ProgramError, SqlParseError
from wiesel.spi.table.model import ModelContext, ModelProviderFactory, Predictor
from wiesel.sql.catalog import models
from wiesel.sql.catalog.catalogs import Catalog, MemoryCatalog
from wiesel.table import DataTypes, ModelDescriptor, Schema, TableEnvironment

HERE = __name__


def shout(text: str | None) -> str | None:
    return None if text is None else text.upper() + "!"


async def waited(text: str | None) -> str | None:
    return shout(text)


def sizes(texts: Any) -> tuple[Any, Any]:
    return texts.str.len(), texts.str[:1]


def lengths(texts: pa.Array) -> dict[str, pa.Array]:
    return {"first": pc.utf8_slice_codeunits(texts, 0, 1), "size": pc.utf8_length(texts)}


def letters(text: str | None) -> list[tuple[str, int]]:
    return [] if text is None else [(letter, place) for place, letter in enumerate(text)]


class Threshold:
    """A model with a life: its bound is an option."""

    def __init__(self, bound: str, log: str) -> None:
        self.bound = float(bound)
        self.log = Path(log)

    def note(self, line: str) -> None:
        with self.log.open("a") as file:
            file.write(f"{line}\n")

    def open(self, context: Any) -> None:
        self.note(f"open {context.get_index_of_this_subtask()}")

    def close(self) -> None:
        self.note("close")

    def predict(self, value: float) -> bool:
        return value > self.bound


@pytest.fixture
def t_env() -> TableEnvironment:
    found = TableEnvironment.create(Configuration().set("wiesel.engine", "local").set("parallelism.default", "1"))
    rows = [(1, "ab", 0.5), (2, "c", 1.5), (3, None, 2.5)]
    found.create_temporary_view("things", found.from_elements(rows, ["id", "name", "value"]))
    return found


def rows_of(t_env: TableEnvironment, query: str) -> list[tuple[Any, ...]]:
    return sorted((tuple(row.values()) for row in t_env.sql_query(query).to_arrow().to_pylist()), key=repr)


def model(t_env: TableEnvironment, name: str, inputs: str, outputs: str, **options: str) -> None:
    given = ", ".join(f"'{key.replace('_', '-')}' = '{value}'" for key, value in {"provider": "python", **options}.items())
    t_env.execute_sql(f"CREATE MODEL {name} INPUT ({inputs}) OUTPUT ({outputs}) WITH ({given})")


@pytest.mark.parametrize("function", ["shout", "waited"])
def test_a_function_per_row(t_env: TableEnvironment, function: str) -> None:
    model(t_env, "m", "t STRING", "answer STRING", function=f"{HERE}.{function}")
    asked = "SELECT * FROM ML_PREDICT(TABLE things, MODEL m, DESCRIPTOR(name))"
    assert rows_of(t_env, asked) == [(1, "ab", 0.5, "AB!"), (2, "c", 1.5, "C!"), (3, None, 2.5, None)]
    named = "SELECT id, answer FROM TABLE(ML_PREDICT(INPUT => TABLE things, MODEL => MODEL m, ARGS => DESCRIPTOR(name))) WHERE id < 3"
    assert rows_of(t_env, named) == [(1, "AB!"), (2, "C!")]


@pytest.mark.parametrize(("function", "kind"), [("sizes", "pandas"), ("lengths", "arrow")])
def test_a_function_for_many_rows_at_once(t_env: TableEnvironment, function: str, kind: str) -> None:
    model(t_env, "m", "t STRING", "size INT, `first` STRING", function=f"{HERE}.{function}", function_type=kind)
    asked = "SELECT id, size, `first` FROM ML_PREDICT(TABLE (SELECT * FROM things WHERE name IS NOT NULL), MODEL m, DESCRIPTOR(name))"
    assert rows_of(t_env, asked) == [(1, 2, "a"), (2, 1, "c")]


def test_a_model_may_return_several_rows_or_none(t_env: TableEnvironment) -> None:
    model(t_env, "m", "t STRING", "name STRING, place INT", function=f"{HERE}.letters")
    asked = "SELECT id, name0, place FROM ML_PREDICT(TABLE things, MODEL m, DESCRIPTOR(name))"
    assert rows_of(t_env, asked) == [(1, "a", 0), (1, "b", 1), (2, "c", 0)]


def test_a_class_is_made_with_its_options_opened_and_closed(t_env: TableEnvironment, tmp_path: Path) -> None:
    log = tmp_path / "log"
    model(t_env, "m", "v DOUBLE", "large BOOLEAN", function=f"{HERE}.Threshold", **{"args.bound": "1", "args.log": str(log)})
    asked = "SELECT id, large FROM ML_PREDICT(TABLE things, MODEL m, DESCRIPTOR(`value`))"
    assert rows_of(t_env, asked) == [(1, False), (2, True), (3, True)]
    higher = "SELECT id, large FROM ML_PREDICT(TABLE things, MODEL m, DESCRIPTOR(`value`), MAP['args.bound', '2'])"
    assert rows_of(t_env, higher) == [(1, False), (2, False), (3, True)]
    assert log.read_text().splitlines() == ["open 0", "close"] * 2


class EchoFactory(ModelProviderFactory):
    """A provider of a package of its own."""

    identifier = "echo"

    def create_predictor(self, context: ModelContext) -> Predictor:
        said = context.options["said"]
        return Predictor(lambda text: f"{said} {text}")


def test_providers_of_packages(t_env: TableEnvironment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(models._BUILT_IN, "echo", f"{HERE}:EchoFactory")
    t_env.execute_sql("CREATE TEMPORARY MODEL m INPUT (t STRING) OUTPUT (o STRING) WITH ('provider' = 'echo', 'said' = 'hello')")
    assert rows_of(t_env, "SELECT o FROM ML_PREDICT(TABLE things, MODEL m, DESCRIPTOR(name)) WHERE id = 1") == [("hello ab",)]


def test_what_is_wrong_is_told_before_the_job(t_env: TableEnvironment) -> None:
    def asked(name: str, columns: str = "name", more: str = "") -> str:
        return f"SELECT * FROM ML_PREDICT(TABLE things, MODEL {name}, DESCRIPTOR({columns}){more})"

    model(t_env, "m", "t STRING", "answer STRING", function=f"{HERE}.shout")
    model(t_env, "stranger", "t STRING", "answer STRING", provider="openai")
    model(t_env, "missing", "t STRING", "answer STRING", function=f"{HERE}.nothing")
    model(t_env, "odd", "t STRING", "answer STRING", function=f"{HERE}.shout", temperature="1")
    with pytest.raises(SqlParseError, match=r"model `default_catalog`\.`default_database`\.`n` was not found"):
        t_env.sql_query(asked("n"))
    with pytest.raises(SqlParseError, match="the descriptor names 2 columns, but the model is asked with 1"):
        t_env.sql_query(asked("m", "name, id"))
    with pytest.raises(SqlParseError, match="column `id` is BIGINT, but the model is asked with STRING for `t`"):
        t_env.sql_query(asked("m", "id"))
    with pytest.raises(SqlParseError, match="CONFIG is a map of strings"):
        t_env.sql_query(asked("m", more=", 'a'"))
    with pytest.raises(ConfigurationError, match="there is no model provider 'openai'; model providers are: python"):
        t_env.sql_query(asked("stranger"))
    with pytest.raises(ConfigurationError, match="of the model cannot be loaded"):
        t_env.sql_query(asked("missing"))
    with pytest.raises(ConfigurationError, match=r"unsupported options for .*: temperature"):
        t_env.sql_query(asked("odd"))
    with pytest.raises(SqlParseError, match="the second argument of ML_PREDICT is a model"):
        t_env.sql_query("SELECT * FROM ML_PREDICT(TABLE things, m, DESCRIPTOR(name))")


class WithoutModels(MemoryCatalog):
    """Keeps tables only, as the catalog of Spark does."""

    put_model = Catalog.put_model


def test_a_catalog_that_keeps_no_models_says_so(t_env: TableEnvironment) -> None:
    t_env._catalogs.add_catalog("kept", WithoutModels("default"))
    t_env.execute_sql("USE CATALOG kept")
    with pytest.raises(ProgramError, match="the catalog keeps no models"):
        t_env.execute_sql("CREATE MODEL m INPUT (t STRING) OUTPUT (o STRING) WITH ('provider' = 'python')")
    t_env.execute_sql("CREATE TEMPORARY MODEL m INPUT (t STRING) OUTPUT (o STRING) WITH ('provider' = 'python')")
    assert list(t_env.execute_sql("SHOW MODELS").text_rows()) == [["+I", "m"]]


def test_models_of_programs(t_env: TableEnvironment) -> None:
    schema = Schema.new_builder
    inputs, outputs = schema().column("t", "STRING").build(), schema().column("o", DataTypes.STRING()).build()
    described = ModelDescriptor.for_provider("python").input_schema(inputs).output_schema(outputs).option("function", f"{HERE}.shout")
    t_env.create_model("m", described.comment("shouts").build())
    t_env.create_temporary_model("other", described.build())
    assert (t_env.list_models(), t_env.list_temporary_models()) == (["m", "other"], ["other"])
    assert rows_of(t_env, "SELECT o FROM ML_PREDICT(TABLE things, MODEL m, DESCRIPTOR(name)) WHERE id = 1") == [("AB!",)]
    with pytest.raises(ProgramError, match="already exists"):
        t_env.create_model("m", described.build())
    t_env.create_model("m", described.build(), ignore_if_exists=True)
    with pytest.raises(ProgramError, match="the model has inputs, but no outputs"):
        t_env.create_model("half", ModelDescriptor.for_provider("python").input_schema(inputs).build())
    assert t_env.drop_temporary_model("other") and not t_env.drop_temporary_model("other")
    assert t_env.drop_model("m") and not t_env.drop_model("m")
    with pytest.raises(ProgramError, match="was not found"):
        t_env.drop_model("m", False)
    text = str(described.comment("shouts").build())
    assert text.startswith("INPUT (\n  `t` [STRING]\n)\nOUTPUT (\n  `o` STRING\n)\nCOMMENT 'shouts'\nWITH (\n  'function' = ")
    assert described.build() == described.build() and described.build().get_options()["provider"] == "python"
