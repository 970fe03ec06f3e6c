"""What the text of a job in SQL says of its operators: how parallel they are, and how long records wait for a full buffer."""

from __future__ import annotations

import re

import pytest

from tests.unit.sql.rules.plans import environment
from wiesel.core.errors import ConfigurationError
from wiesel.graph.specs import StreamGraph, StreamNode
from wiesel.sql.jobs import add_inserts
from wiesel.sql.operator_parallelism import OPERATOR_PARALLELISM
from wiesel.table import TableEnvironment

QUERY = "SELECT a.item, a.n, b.price FROM (SELECT item, COUNT(*) AS n FROM orders GROUP BY item) AS a JOIN orders AS b ON a.item = b.item"


def graph(t_env: TableEnvironment) -> StreamGraph:
    t_env.execute_sql("CREATE TABLE nothing (item STRING, n BIGINT, price DOUBLE) WITH ('connector' = 'blackhole')")
    add_inserts(t_env._environment, [t_env._insertion(t_env.sql_query(QUERY)._plan, "nothing", overwrite=False)])
    return t_env._environment._generate_stream_graph(clear_transformations=True)


def by_name(found: StreamGraph) -> dict[str, StreamNode]:
    return {node.name: node for node in found.nodes.values()}


def test_operators_are_as_parallel_as_their_kind_or_uid_says() -> None:
    t_env = environment()
    shown = t_env.sql_query(QUERY).explain()
    uid = re.search(r"Aggregate\(.*uid=\[([^\]]+)\]", shown)
    assert uid is not None
    t_env.execute_sql(f"SET '{OPERATOR_PARALLELISM}' = 'Join:3, {uid[1]}:5'")
    nodes = by_name(graph(t_env))
    assert nodes["Join"].parallelism == 3
    assert nodes["GroupAggregate"].parallelism == 5
    assert nodes["WatermarkAssigner"].parallelism == t_env._environment.get_parallelism()
    shown = t_env.sql_query(QUERY).explain()
    assert re.search(r"Join\(.*parallelism=\[3\]", shown)
    assert re.search(r"Aggregate\(.*parallelism=\[5\]", shown)


@pytest.mark.parametrize("value", ["Join", "Join:0", ":3", "Join:many"])
def test_what_is_no_parallelism(value: str) -> None:
    t_env = environment()
    t_env.execute_sql(f"SET '{OPERATOR_PARALLELISM}' = '{value}'")
    with pytest.raises(ConfigurationError, match="not the name of an operator and a number"):
        graph(t_env)


def test_the_buffer_timeout_is_an_option_of_the_script() -> None:
    t_env = environment()
    assert graph(t_env).buffer_timeout_ms == 100
    t_env = environment()
    t_env.execute_sql("SET 'execution.buffer-timeout.interval' = '7 ms'")
    assert graph(t_env).buffer_timeout_ms == 7
