"""EXPLAIN writes what real Flink writes where the plan is the same (``tests/differential/record_explained_statements.py``)."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

import pytest

from tests.differential.record_explained_statements import AS_JSON, STRATEGIES, statements
from wiesel.common import Configuration
from wiesel.table import TableEnvironment

GOLDENS: dict[str, dict[str, str]] = json.loads((Path(__file__).parents[2] / "differential/goldens/explained_statements.json").read_text())
SYNTAX, PHYSICAL, EXECUTION = "Abstract Syntax Tree", "Optimized Physical Plan", "Optimized Execution Plan"

_SUBQUERY = "Flink writes subqueries in conditions; here the binder has made a join of it"
_READ_THROUGH = "the binder reads through projections that only choose columns, between the number and its condition"
OTHER_TREES = {
    "group_filter": "conditions of FILTER come before arguments, and NULL is as good as FALSE for them without IS TRUE",
    "semi_join": _SUBQUERY,
    "exists": _SUBQUERY,
    "anti_join": _SUBQUERY,
    "scalar_subquery": _SUBQUERY,
    "top_n": _READ_THROUGH,
    "top_n_numbered": _READ_THROUGH,
    "random_to_key": "casts to the types of the table are a projection of their own, and NOT NULL columns need none",
}
"""Statements whose tree is another one, and why."""

_BEFORE = "joins by a unique key read the old rows of updates, too"
_BELOW = "the projection is below the limit, so that fewer columns are sent"
OTHER_PLANS = {
    "filter_or": "Calcite puts IS NULL first",
    "group_filter": "as the tree",
    "rollup": "grouping sets have other numbers",
    "intersect": "rows become distinct before the join, which keeps fewer of them",
    "except": "as intersect",
    "scalar_subquery": _BEFORE,
    "temporal_join": _BEFORE,
    "order_limit": _BELOW,
    "limit": f"{_BELOW}; and datagen is not told of the limit",
    "over": "SUM is one function; Flink computes it from COUNT and $SUM0",
    "over_range": "Flink names the result $1",
    "lookup_time": "the time at which a row is processed is computed at once; columns that nobody reads are left out",
    "unnest": "Flink calls the element f0, and names the correlated row",
    "debezium_group": "columns of a table are read in their order",
    "extract": "Flink writes the end of a time attribute as a cast",
    "versioned_join": "columns that nobody reads are not left out below the join",
    "window_top_n": "rows are partitioned by their windows, too",
    "window_join": "rows are partitioned by their windows, too, whose equality is a part of the condition",
    "union_of_three": "unions are merged, and NOT NULL columns need no cast",
    "random_filter": "conditions that have another value each time are not told to connectors",
    "random_to_key": "as the tree",
}
"""Statements whose physical plan is another one, and why."""

OTHER_EXECUTION = {}
"""Statements with the same physical plan whose execution plan is another one, and why."""


@cache
def environment(strategy: str) -> TableEnvironment:
    t_env = TableEnvironment.create(Configuration().set("wiesel.engine", "local"))
    t_env.get_config().set("table.local-time-zone", "UTC")
    t_env.get_config().set("table.optimizer.agg-phase-strategy", strategy)
    for definition in statements()[0]:
        t_env.execute_sql(definition.removesuffix(";"))
    return t_env


@cache
def explained(name: str, strategy: str) -> str:
    statement = f"EXPLAIN CHANGELOG_MODE, PLAN_ADVICE {statements()[1][name]}"
    (row,) = environment(strategy).execute_sql(statement).collect()
    return str(row[0])


def section(text: str, name: str) -> str:
    """Return a section, without the numbers of correlated queries, which Flink counts over all statements."""
    found = re.search(rf"== {name}(?: With Advice)? ==\n(.*?)(?=\n== |\Z)", text, re.DOTALL)
    assert found is not None
    return re.sub(r"\$cor\d+", "$cor", found[1].strip())


def plan(text: str) -> str:
    """Return the physical plan without advice."""
    return section(text, PHYSICAL).partition("\n\n")[0].replace("advice=[1], ", "")


def advice(text: str) -> list[str]:
    return re.findall(r"^advice\[\d+\]: .*$|^No available advice\.\.\.$", section(text, PHYSICAL), re.MULTILINE)


def test_all_statements_are_recorded() -> None:
    assert GOLDENS.keys() == statements()[1].keys()


@pytest.mark.parametrize("name", GOLDENS)
def test_the_syntax_tree(name: str) -> None:
    ours, flinks = (section(text, SYNTAX) for text in (explained(name, "AUTO"), GOLDENS[name]["AUTO"]))
    if name in OTHER_TREES:
        assert ours != flinks, "no difference any more: take it off the list"
    else:
        assert ours == flinks


@pytest.mark.parametrize("name", GOLDENS)
def test_the_physical_plan(name: str) -> None:
    same = [strategy for strategy in STRATEGIES if plan(explained(name, strategy)) == plan(GOLDENS[name][strategy])]
    if name in OTHER_PLANS:
        assert not same, "no difference any more: take it off the list"
        return
    assert same, f"{plan(explained(name, 'ONE_PHASE'))}\n--- Flink:\n{plan(GOLDENS[name]['ONE_PHASE'])}"
    ours, flinks = (section(text, EXECUTION) for text in (explained(name, same[0]), GOLDENS[name][same[0]]))
    if name in OTHER_EXECUTION:
        assert ours != flinks, "no difference any more: take it off the list"
    else:
        assert ours == flinks


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", GOLDENS)
def test_the_changes_of_the_result(name: str, strategy: str) -> None:
    ours, flinks = (re.findall(r"changelogMode=\[([A-Z,]+)\]", plan(text)) for text in (explained(name, strategy), GOLDENS[name][strategy]))
    assert ours[0] == flinks[0]
    if flinks[0] == "NONE":
        assert ours[1] == flinks[1]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", GOLDENS)
def test_the_advice(name: str, strategy: str) -> None:
    assert advice(explained(name, strategy)) == advice(GOLDENS[name][strategy])


def _operators(text: str) -> dict[str, tuple[object, ...]]:
    """Return by what they do the operators of a plan as JSON, without the numbers of Flink's plans."""
    found = json.loads(text.split("== Physical Execution Plan ==\n")[1])
    assert found.keys() == {"nodes"}
    return {
        re.sub(r"\[\d+\]:?", "", node["contents"]): (
            re.sub(r"\[\d+\]", "", node["type"]),
            node["pact"],
            node["parallelism"],
            node.keys(),
            [(edge.keys(), edge["ship_strategy"], edge["side"]) for edge in node.get("predecessors", ())],
        )
        for node in found["nodes"]
    }


@pytest.mark.parametrize("name", AS_JSON)
def test_the_operators_as_json(name: str) -> None:
    (row,) = environment("ONE_PHASE").execute_sql(f"EXPLAIN JSON_EXECUTION_PLAN {statements()[1][name]}").collect()
    ours, flinks = _operators(row[0]), _operators(GOLDENS[name]["JSON"])
    if name == "insert":  # whose operators have the names of the table
        assert [operator[:3] for operator in ours.values()][-1] == ("Sink: sink", "Data Sink", 1)
        flinks = {contents: operator for contents, operator in flinks.items() if contents.startswith("TableSourceScan(")}
    assert flinks
    assert {contents: ours[contents] for contents in flinks} == flinks
