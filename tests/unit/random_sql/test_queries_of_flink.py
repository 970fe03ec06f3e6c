"""Random streaming queries return what real Flink returned (``goldens/random_queries.jsonl``), at several parallelisms."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.unit.random_sql.against_flink import cases, differences

GOLDENS = Path(__file__).parents[2] / "differential" / "goldens" / "random_queries.jsonl"


@pytest.mark.parametrize("case", list(cases(GOLDENS)), ids=lambda case: f"seed {case['seed']}")
def test_random_queries_return_what_flink_returns(case: dict[str, Any]) -> None:
    seen: Counter[str] = Counter()
    found = list(differences(case, 1 + case["seed"] % 3, seen))
    assert not found, "\n".join(f"{query}\n  {problem}" for query, problem in found)
    assert seen["equal"] == sum("rows" in result for result in case["queries"].values()) > 0
