"""Random queries return what DuckDB returns: in batch mode, and as replayed changelogs in streaming mode, at several parallelisms.

The seeds are played every time; ``python -m tests.unit.random_sql.hunt`` plays others.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.unit.random_sql.choices import Choices, shrunk
from tests.unit.random_sql.playing import OF_ONE_DATA, play

pytestmark = pytest.mark.slow

SEEDS = 102
AT_ONCE = 6


@pytest.mark.parametrize("first", range(0, SEEDS, AT_ONCE))
def test_random_queries_return_what_duckdb_returns(first: int) -> None:
    seen: Counter[str] = Counter()
    print(f"seeds {first} to {first + AT_ONCE - 1}")
    found = list(play(range(first, first + AT_ONCE), seen, tries=60))
    assert not found, "\n".join(found)
    assert seen["equal"] >= OF_ONE_DATA * AT_ONCE * 97 // 100


def test_choices_are_made_smaller() -> None:
    def fails(made: list[int]) -> bool:
        choices = Choices(given=made)
        return any(choices.below(100) > 41 for _ in range(20))

    first = Choices(7)
    assert any(first.below(100) > 41 for _ in range(20))
    found = shrunk(first.made, fails)
    assert len(found) == 1
    assert found[0] > 41
