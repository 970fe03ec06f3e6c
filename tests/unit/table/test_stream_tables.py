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
from wiesel.core.errors import ProgramError  # noqa: E402
from wiesel.table import expressions, window  # noqa: E402

GOLDENS = json.loads((DIFFERENTIAL / "goldens" / "stream_tables.json").read_text(encoding="utf-8"))


def names() -> Any:
    found: dict[str, Any] = {}
    for module in (wiesel.common, wiesel.common.watermark_strategy, wiesel.datastream, wiesel.table, expressions, window):
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
