"""Rows that a join has shared out by the columns of a Top-N stay where they are."""

from __future__ import annotations

import pytest

from tests.unit.sql.rules.plans import environment
from wiesel.graph.specs import StreamGraph
from wiesel.sql.plan.operator_parallelism import OPERATOR_PARALLELISM
from wiesel.sql.session.jobs import add_inserts
from wiesel.table import TableEnvironment

FIRST = "SELECT {columns} FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {by} ORDER BY price DESC) AS rn FROM ({joined})) WHERE rn = 1"
INNER = "SELECT a.item, b.item AS other, a.price, b.price + 1 AS more, a.day_ FROM orders AS a {} JOIN orders AS b ON a.item = b.item"


def graph(t_env: TableEnvironment, query: str) -> StreamGraph:
    t_env.execute_sql("CREATE TABLE nothing (item STRING) WITH ('connector' = 'blackhole')")
    add_inserts(t_env._environment, [t_env._insertion(t_env.sql_query(query)._plan, "nothing", overwrite=False)])
    return t_env._environment._generate_stream_graph(clear_transformations=True)


def kinds_before(found: StreamGraph, name: str) -> list[str]:
    """Return how rows come to the operator of a name."""
    target = next(node.id for node in found.nodes.values() if node.name == name)
    return [edge.partitioner.kind for edge in found.in_edges(target)]


@pytest.mark.parametrize(
    ("join", "by", "stays"),
    [
        ("", "item", True),
        ("", "other", True),  # equal to item
        ("LEFT", "item", True),
        ("LEFT", "other", False),  # NULL where nothing was found
        ("RIGHT", "item", False),
        ("FULL", "item", False),
        ("", "day_", False),
        ("", "item, day_", False),  # other keys, other key groups
    ],
)
def test_a_top_n_behind_a_join(join: str, by: str, stays: bool) -> None:
    query = FIRST.format(columns="item", by=by, joined=INNER.format(join))
    assert kinds_before(graph(environment(), query), "TopN") == ["forward" if stays else "hash"]


def test_rows_are_shared_out_again_where_operators_have_a_parallelism_of_their_own() -> None:
    t_env = environment()
    t_env.execute_sql(f"SET '{OPERATOR_PARALLELISM}' = 'Project:3'")
    assert kinds_before(graph(t_env, FIRST.format(columns="item", by="item", joined=INNER.format(""))), "TopN") == ["hash"]


def test_keys_that_are_computed_are_no_columns_of_the_result() -> None:
    joined = "SELECT a.item, a.price FROM orders AS a JOIN orders AS b ON UPPER(a.item) = b.item"
    assert kinds_before(graph(environment(), FIRST.format(columns="item", by="item", joined=joined)), "TopN") == ["hash"]
