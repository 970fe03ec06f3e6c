"""Who sees watermarks of a table between its rows sees those of real Flink (``tests/differential/record_table_watermarks.py``)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

DIFFERENTIAL = Path(__file__).parents[2] / "differential"
sys.path.insert(0, str(DIFFERENTIAL))

import table_watermark_cases as cases  # noqa: E402
from record_table_watermarks import found  # noqa: E402

import wiesel.common.time  # noqa: E402
import wiesel.datastream.functions  # noqa: E402
import wiesel.datastream.window  # noqa: E402
from tests.unit.table.test_stream_tables import names  # noqa: E402

GOLDENS = json.loads((DIFFERENTIAL / "goldens" / "table_watermarks.json").read_text(encoding="utf-8"))

X = names()
for module in (wiesel.datastream.functions, wiesel.datastream.window, wiesel.common.time):
    vars(X).update({name: value for name, value in vars(module).items() if not name.startswith("_")})


def environments() -> tuple[Any, Any]:
    configuration = X.Configuration().set("wiesel.engine", "local").set("table.local-time-zone", "UTC")
    env = X.StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1)
    return env, X.StreamTableEnvironment.create(env)


@pytest.mark.parametrize("name", cases.CASES)
def test_watermarks_are_those_of_flink(name: str) -> None:
    got, golden = found(cases.CASES[name](X, *environments())), GOLDENS[name]
    if name in cases.UNORDERED:
        got, golden = sorted(got, key=repr), sorted(golden, key=repr)
    assert got == golden


def test_every_case_is_recorded() -> None:
    assert list(GOLDENS) == list(cases.CASES)
    assert not [name for name, golden in GOLDENS.items() if isinstance(golden, dict)]
