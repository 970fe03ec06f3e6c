"""Programs of the Table API give what real Flink gives (``tests/differential/record_table_programs.py``)."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

DIFFERENTIAL = Path(__file__).parents[2] / "differential"
sys.path.insert(0, str(DIFFERENTIAL))

import expression_cases as cases  # noqa: E402
from record_table_programs import final_rows  # noqa: E402

import wiesel.common  # noqa: E402
import wiesel.table  # noqa: E402
from wiesel.table import expression, expressions, udf, window  # noqa: E402

GOLDENS = json.loads((DIFFERENTIAL / "goldens" / "table_programs.json").read_text(encoding="utf-8"))


def names() -> Any:
    found: dict[str, Any] = {}
    for module in (wiesel.common, wiesel.table, expressions, udf, window):
        found |= {name: value for name, value in vars(module).items() if not name.startswith("_")}
    return SimpleNamespace(**{**found, "expression": expression})


X = names()


def made(name: str, folder: Path, mode: str) -> Any:
    settings = X.EnvironmentSettings.in_batch_mode() if mode == "batch" else X.EnvironmentSettings.in_streaming_mode()
    environment = X.TableEnvironment.create(settings)
    environment.get_config().set("wiesel.engine", "local").set("parallelism.default", "2").set("table.local-time-zone", "UTC")
    return cases.CASES[name](X, cases.tables(X, environment, str(folder)))


def runs() -> list[tuple[str, str]]:
    # Functions of users run in both modes here.
    in_batch = {name for name in cases.CASES if name not in cases.STREAMING or name.startswith("ud")}
    modes = {"batch": in_batch, "streaming": set(cases.CASES) - cases.ORDERED}
    return [(name, mode) for mode, names in modes.items() for name in cases.CASES if name in names]


@pytest.mark.parametrize(("name", "mode"), runs())
def test_rows_and_types_are_those_of_flink(name: str, mode: str, tmp_path: Path) -> None:
    golden = GOLDENS[name]
    table = made(name, tmp_path, mode)
    fields = table.get_resolved_schema().physical_row_type
    assert [f"{field.name} {field.data_type.as_summary_string()}" for field in fields] == golden["schema"]
    rows = final_rows(table)
    if mode == "streaming" or name not in cases.ORDERED:
        rows, wanted = sorted(rows, key=repr), sorted(golden["rows"], key=repr)
    else:
        wanted = golden["rows"]
    assert len(rows) == len(wanted)
    assert not [pair for pair in zip(rows, wanted, strict=True) if not _are_equal(*pair)]


def _are_equal(found: Any, wanted: Any) -> bool:
    """Whether values are the same; numbers of floating point may differ in their last digits."""
    if isinstance(wanted, list) and isinstance(found, list):
        return len(found) == len(wanted) and all(map(_are_equal, found, wanted))
    if isinstance(wanted, dict) and "float" in wanted and isinstance(found, dict):
        return math.isclose(float(found["float"]), float(wanted["float"]), rel_tol=1e-12) or found == wanted
    return bool(found == wanted)


def test_every_case_is_recorded() -> None:
    assert list(GOLDENS) == list(cases.CASES)
    assert not [name for name, golden in GOLDENS.items() if "fails" in golden]
