"""The benchmark of how sorted records lie in memory: both layouts give the same, and bytes take less than objects."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).resolve().parents[4] / "benchmarks" / "programs" / "sort_layout.py"
RECORDS = 100_000


def figures(layout: str) -> dict[str, Any]:
    command = [sys.executable, str(PROGRAM), "--records", str(RECORDS), "--layout", layout]
    result: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return result


def test_records_as_bytes_take_less_memory_than_as_objects() -> None:
    binary, objects = figures("binary"), figures("objects")
    for found in (binary, objects):
        assert (found["count"], found["total"]) == (RECORDS, RECORDS * (RECORDS - 1) // 2)
    assert binary["data_mb"] < objects["data_mb"]
    assert binary["major_collections"] == 0
