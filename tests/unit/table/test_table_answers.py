"""Values, schemas and texts that programs get from tables are those of real Flink (``tests/differential/record_table_answers.py``)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

DIFFERENTIAL = Path(__file__).parents[2] / "differential"
sys.path.insert(0, str(DIFFERENTIAL))

import table_answer_cases as cases  # noqa: E402

import wiesel.common  # noqa: E402
import wiesel.common.watermark_strategy  # noqa: E402
import wiesel.datastream  # noqa: E402
import wiesel.table  # noqa: E402
from wiesel.core.errors import WieselError  # noqa: E402
from wiesel.table import expressions, udf, window  # noqa: E402

GOLDENS = json.loads((DIFFERENTIAL / "goldens" / "table_answers.json").read_text(encoding="utf-8"))


def names() -> Any:
    found: dict[str, Any] = {}
    for module in (wiesel.common, wiesel.common.watermark_strategy, wiesel.datastream, wiesel.table, expressions, window, udf):
        found |= {name: value for name, value in vars(module).items() if not name.startswith("_")}
    batch = settings().set("execution.runtime-mode", "BATCH")
    return SimpleNamespace(**{**found, "batch": lambda: wiesel.table.TableEnvironment.create(batch)})


def settings() -> Any:
    return wiesel.common.Configuration().set("wiesel.engine", "local").set("table.local-time-zone", "UTC")


X = names()


@pytest.mark.parametrize("name", cases.CASES)
def test_answers_are_those_of_flink(name: str) -> None:
    env = X.StreamExecutionEnvironment.get_execution_environment(settings())
    env.set_parallelism(1)
    golden, t_env = GOLDENS[name], X.StreamTableEnvironment.create(env)
    if "fails" not in golden:
        assert cases.CASES[name](X, env, t_env) == golden
        return
    with pytest.raises((WieselError, TypeError)):
        cases.CASES[name](X, env, t_env)


def test_every_case_is_recorded() -> None:
    assert list(GOLDENS) == list(cases.CASES)
