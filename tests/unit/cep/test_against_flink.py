"""Patterns and streams made at random, with what Flink's own pattern matching gave for them (recorded by record_cep.py)."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cep.running import run

GOLDENS = Path(__file__).resolve().parents[2] / "differential" / "goldens_cep.jsonl"
CASES: list[dict[str, Any]] = [json.loads(line) for line in GOLDENS.read_text().splitlines()]


def in_steps(result: dict[str, Any]) -> Counter[str]:
    """Matches and timeouts by the event that brought them; the order of those that one event brings is not defined."""
    return Counter(map(json.dumps, result["matches"]))


@pytest.mark.parametrize("number", range(len(CASES)))
def test_as_flink(number: int) -> None:
    case = CASES[number]
    expected, given = case["result"], run(case)
    assert ("refused" in given, "failed" in given) == ("refused" in expected, "failed" in expected), (case, given)
    if "refused" not in expected:
        assert in_steps(given) == in_steps(expected), case


def test_the_recording_says_something() -> None:
    results = [case["result"] for case in CASES]
    assert sum(bool(r.get("matches")) for r in results) > 200
    assert sum("refused" in r for r in results) > 40
    assert sum("failed" in r for r in results) > 2
