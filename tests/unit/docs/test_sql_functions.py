"""The page of functions says what is true."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[3]


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("sql_functions_page", ROOT / "scripts" / "sql_functions.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRIPT = script()
SIGNS = {
    "AT": "arr[",
    "CURRENTDATABASE": "CURRENT_DATABASE()",
    "IFTHENELSE": "CASE",
    "IS_JSON": "IS JSON",
    "LOWERCASE": "LOWER(",
    "NOTBETWEEN": "NOT BETWEEN",
    "TEMPORALOVERLAPS": "OVERLAPS",
    "UPPERCASE": "UPPER(",
}


def test_the_page_is_up_to_date() -> None:
    assert SCRIPT.PAGE.read_text() == SCRIPT.page(), "run: python scripts/sql_functions.py"


def test_nearly_all_of_flinks_functions_are_supported() -> None:
    names = SCRIPT.flink_names()
    assert sum(map(SCRIPT.is_supported, names)) >= 0.95 * len(names)


def recorded_texts() -> str:
    """Return all expressions and statements that real Flink computed or refused."""
    goldens = ROOT / "tests" / "differential" / "goldens"
    files = ("sql_aggregates", "sql_expressions", "sql_functions", "sql_edge_cases", "sql_objects", "sql_signatures", "sql_statements")
    found = [json.dumps(json.loads((goldens / f"{file}.json").read_text()), ensure_ascii=False) for file in files]
    return "\n".join([*found, *(case.read_text(encoding="utf-8") for case in (ROOT / "tests" / "sql_cases" / "cases").glob("*.sql"))])


def test_every_operator_of_flinks_planner_is_recorded_or_explained() -> None:
    texts, operators = recorded_texts(), json.loads((SCRIPT.NAMES.parent / "sql_operators.json").read_text())["operators"]
    missing = set()
    for name in {operator["name"] for operator in operators}:
        words = r"\s+(?:(?:ALL|VALUE)\s+)?".join(map(re.escape, name.removesuffix(" VALUE").split()))
        pattern = rf"(?<!\w){words}(?!\w)" if name[0].isalpha() else re.escape(name)
        if not name.startswith("$") and not re.search(pattern, texts, re.IGNORECASE):
            missing.add(name)
    assert missing == set(SCRIPT.EXPLAINED) - {"$"}


@pytest.mark.parametrize("name", [name for name in SCRIPT.flink_names() if SCRIPT.is_supported(name)])
def test_supported_functions_were_recorded(name: str) -> None:
    goldens = ROOT / "tests" / "differential" / "goldens"
    recorded = [
        entry["expression"]
        for file in ("sql_expressions", "sql_functions", "sql_edge_cases", "sql_objects", "sql_signatures")
        for entry in json.loads((goldens / f"{file}.json").read_text())
        if "values" in entry and not all(isinstance(value, dict) for value in entry["values"])
    ]
    recorded += [case.read_text(encoding="utf-8") for case in (ROOT / "tests" / "sql_cases" / "cases").glob("*.sql")]
    sign = SIGNS.get(name)
    pattern = re.escape(sign) if sign else rf"(?<!\w){re.escape(name)}(?!\w)"
    assert any(re.search(pattern, expression) for expression in recorded)
