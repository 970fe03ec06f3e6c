"""The contracts of the layers in pyproject.toml hold, and the unit tests keep to pure code."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

from tests.arch.repository import ROOT, read, tracked


def test_import_contracts_are_kept() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    result = subprocess.run([str(lint), "--no-cache"], cwd=ROOT, capture_output=True, text=True, timeout=150)
    assert result.returncode == 0, result.stdout + result.stderr


def test_unit_tests_import_no_spark() -> None:
    found = []
    for path in tracked(".py", "tests"):
        if path.parts[1] not in {"unit", "arch", "sim"}:
            continue
        for node in ast.walk(ast.parse(read(path))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            found += [f"{path}:{node.lineno}" for name in names if name.split(".")[0] in {"pyspark", "py4j"}]
    assert not found
