"""EXPLAIN says of operators what real Flink says: which kinds of changes they emit (``tests/differential/record_explained_changes.py``)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.differential.record_explained_changes import CASES, operators
from tests.sql_cases.case_files import all_cases
from tests.sql_cases.test_cases import environment

GOLDENS = json.loads((Path(__file__).parents[2] / "differential/goldens/explained_changes.json").read_text())
_NAMES = {
    "GroupAggregate": "Aggregate",
    "GlobalGroupAggregate": "Aggregate",
    "GlobalWindowAggregate": "WindowAggregate",
    "WindowRank": "WindowTopN",
    "Rank": "TopN",
    "Deduplicate": "TopN",
}
_SHOWN = frozenset("Aggregate WindowAggregate TopN WindowTopN Join IntervalJoin TemporalJoin WindowJoin OverAggregate Match".split())

DIFFERENCES = {
    "dedup_first_mini_batch": "as of dedup_last",
    "dedup_last": "Flink allows for -D, which it never emits for new rows",
    "join_left": "a row without partner that finds one is taken back and comes anew; Flink allows for an update besides",
    "join_of_aggregates": "Flink needs no -U in front of a join by the key of its groups",
    "set_intersect": "rows are made different in front of the join, where nothing is taken back",
    "set_union": "a row that has come once does not change; Flink allows for an update",
    "subquery_not_exists": "as of a left join",
    "top_n": "Flink allows for -D, which it never emits with the number of the place",
}
"""Cases in which something else is said, and why."""


def shown(told: list[list[str]]) -> list[tuple[str, str]]:
    """Return the operators that change rows; nobody reads the ``-U`` of the topmost, unless a program asks for it."""
    found = [(_NAMES.get(name, name), kinds) for name, kinds in told]
    found = [(name, kinds) for name, kinds in found if name in _SHOWN]
    return [(name, kinds.replace("UB,", "") if not place else kinds) for place, (name, kinds) in enumerate(found)]


def ours(name: str, out: Path) -> list[tuple[str, str]]:
    (case,) = (each for each in all_cases() if each.name == name)
    t_env = environment(case, "streaming", 1)
    for statement in case.statements(str(out)):
        if re.match("SELECT|WITH|VALUES", statement):
            return shown(operators(t_env.explain_sql(statement).partition("== Optimized Execution Plan ==")[2]))
        t_env.execute_sql(statement)
    raise AssertionError(f"{name} has no query")


def test_all_cases_are_recorded() -> None:
    assert {golden["case"] for golden in GOLDENS} == set(CASES)


@pytest.mark.parametrize("golden", GOLDENS, ids=[golden["case"] for golden in GOLDENS])
def test_operators_emit_what_flink_says(golden: dict[str, object], tmp_path: Path) -> None:
    name = str(golden["case"])
    told = shown(golden["operators"])  # type: ignore[arg-type]
    if name in DIFFERENCES:
        assert ours(name, tmp_path) != told, "no difference any more: take it off the list"
    else:
        assert ours(name, tmp_path) == told
