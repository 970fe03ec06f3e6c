"""What the text of a job in SQL says of its operators: how parallel they are, and how long records wait for a full buffer."""

from __future__ import annotations

import json
import re

import pytest

from tests.unit.sql.rules.plans import environment
from wiesel.common import Configuration
from wiesel.core.errors import ConfigurationError, SqlParseError
from wiesel.graph.specs import StreamGraph, StreamNode
from wiesel.sql.plan.operator_parallelism import OPERATOR_PARALLELISM
from wiesel.sql.session.jobs import add_inserts
from wiesel.table import ExplainDetail, TableEnvironment

QUERY = "SELECT a.item, a.n, b.price FROM (SELECT item, COUNT(*) AS n FROM orders GROUP BY item) AS a JOIN orders AS b ON a.item = b.item"


def graph(t_env: TableEnvironment) -> StreamGraph:
    t_env.execute_sql("CREATE TABLE nothing (item STRING, n BIGINT, price DOUBLE) WITH ('connector' = 'blackhole')")
    add_inserts(t_env._environment, [t_env._insertion(t_env.sql_query(QUERY)._plan, "nothing", overwrite=False)])
    return t_env._environment._generate_stream_graph(clear_transformations=True)


def by_name(found: StreamGraph) -> dict[str, StreamNode]:
    return {node.name: node for node in found.nodes.values()}


def test_flinks_default_parallelism_of_sql_counts_before_that_of_the_program() -> None:
    t_env = TableEnvironment.create(Configuration.from_dict({"wiesel.engine": "local", "parallelism.default": "2"}))
    t_env.execute_sql("CREATE TABLE t (a INT) WITH ('connector' = 'datagen', 'number-of-rows' = '9')")
    t_env.execute_sql("CREATE TABLE o (a INT) WITH ('connector' = 'blackhole')")
    for value, expected in (("-1", 2), ("3", 3)):
        t_env.execute_sql(f"SET 'table.exec.resource.default-parallelism' = '{value}'")
        text = t_env.explain_sql("INSERT INTO o SELECT DISTINCT a FROM t", ExplainDetail.JSON_EXECUTION_PLAN)
        nodes = json.loads(text.partition("== Physical Execution Plan ==")[2])["nodes"]
        assert {node["parallelism"] for node in nodes} == {expected}
    assert t_env.get_config().get("parallelism.default", "") == "2"


def test_operators_are_as_parallel_as_their_kind_or_uid_says() -> None:
    t_env = environment()
    shown = t_env.sql_query(QUERY).explain()
    uid = re.search(r"Aggregate\(.*uid=\[([^\]]+)\]", shown)
    assert uid is not None
    t_env.execute_sql(f"SET '{OPERATOR_PARALLELISM}' = 'Join:3, {uid[1]}:5'")
    nodes = by_name(graph(t_env))
    assert nodes["Join"].parallelism == 3
    assert nodes["GlobalGroupAggregate"].parallelism == 5
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


def _parallelism(t_env: TableEnvironment, sql: str) -> dict[str, int | None]:
    """Return how parallel the operators of a query that writes nothing are, by their names."""
    nodes = json.loads(t_env.explain_sql(sql, ExplainDetail.JSON_EXECUTION_PLAN).split("== Physical Execution Plan ==\n")[1])["nodes"]
    return {node["type"]: node["parallelism"] for node in nodes}


def test_a_hint_sets_the_parallelism_of_the_operators_of_its_select() -> None:
    t_env = environment()
    job = t_env._environment.get_parallelism()
    inner = "(SELECT item, COUNT(*) AS n FROM orders GROUP BY item)"
    join = "a.item, a.n, b.price FROM {} AS a JOIN orders AS b ON a.item = b.item"
    found = _parallelism(t_env, f"SELECT /*+ PARALLELISM('7') */ {join.format(inner)}")
    assert (found["Join"], found["GlobalGroupAggregate"]) == (7, job)
    hinted = inner.replace("SELECT", "SELECT /*+ PARALLELISM('Aggregate' = '5') */")
    found = _parallelism(t_env, f"SELECT /*+ PARALLELISM('7', 'Join' = '3') */ {join.format(hinted)}")
    assert (found["Join"], found["GlobalGroupAggregate"]) == (3, 5)
    assert re.search(r"Join\(.*parallelism=\[3\]", t_env.explain_sql(f"SELECT /*+ PARALLELISM('3') */ {join.format(inner)}"))
    t_env.execute_sql(f"CREATE VIEW counted AS {inner.strip('()')}")
    found = _parallelism(t_env, f"SELECT /*+ PARALLELISM('7') */ {join.format('counted')}")
    assert (found["Join"], found["GlobalGroupAggregate"]) == (7, job)


def test_the_option_for_a_uid_counts_before_a_hint_and_that_for_a_kind_behind_it() -> None:
    t_env = environment()
    sql = "SELECT /*+ PARALLELISM('7') */ item, COUNT(*) AS n FROM orders GROUP BY item"
    t_env.execute_sql(f"SET '{OPERATOR_PARALLELISM}' = 'Aggregate:3'")
    assert _parallelism(t_env, sql)["GlobalGroupAggregate"] == 7
    uid = re.search(r"uid=\[(Aggregate[^\]]+)\]", t_env.explain_sql(sql))
    assert uid is not None
    # A hint changes no uid, so that state finds its operator.
    assert uid[1] in t_env.explain_sql(sql.replace("/*+ PARALLELISM('7') */ ", ""))
    t_env.execute_sql(f"SET '{OPERATOR_PARALLELISM}' = '{uid[1]}:5'")
    assert _parallelism(t_env, sql)["GlobalGroupAggregate"] == 5


@pytest.mark.parametrize(
    ("hint", "message"),
    [
        ("PARALLELISM", "no number"),
        ("PARALLELISM('0')", "no number"),
        ("PARALLELISM('Join' = 'x')", "no number"),
        ("PARALLELISM('Agregate' = '3')", "no kind"),
    ],
)
def test_what_is_no_hint_for_parallelism(hint: str, message: str) -> None:
    with pytest.raises(SqlParseError, match=message) as caught:
        environment().explain_sql(f"SELECT /*+ {hint} */ id FROM orders")
    assert caught.value.hint
