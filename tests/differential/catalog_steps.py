"""Runs the steps of ``catalog_objects.txt``: over real PyFlink, and over Wiesel, which must give the same."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from typing import Any

STEPS = Path(__file__).parent / "catalog_objects.txt"


def steps() -> list[str]:
    """Return the steps in their order."""
    return [line for line in STEPS.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]


def outcomes(root: str, t_env: Any) -> list[str]:
    """Run the steps with the modules of a package; return what each gives: its value, ``ok``, or ``!`` and the class of its error."""
    names: dict[str, Any] = {
        **vars(importlib.import_module(f"{root}.table.catalog")),
        **{name: getattr(importlib.import_module(f"{root}.table"), name) for name in ("DataTypes", "Schema", "TableSchema")},
        "Configuration": importlib.import_module(f"{root}.common").Configuration,
        "t_env": t_env,
        "catalog": t_env.get_catalog("default_catalog"),
        "rows": lambda sql: _printed(t_env, sql),
        "values": lambda sql: [list(row) for row in _collected(t_env, sql)],
    }
    return [_outcome(step, names) for step in steps()]


def _collected(t_env: Any, sql: str) -> list[Any]:
    with t_env.execute_sql(sql).collect() as found:
        return list(found)


def _printed(t_env: Any, sql: str) -> list[list[str]]:
    return [[str(value) for value in row] for row in _collected(t_env, sql)]


def _outcome(step: str, names: dict[str, Any]) -> str:
    tree = ast.parse(step)
    try:
        if not isinstance(tree.body[0], ast.Expr):
            exec(compile(tree, step, "exec"), names)
            return "ok"
        return repr(eval(step, names))
    except Exception as error:  # noqa: BLE001 - what fails is part of the record
        return f"!{type(error).__name__}"
