"""What is computed in the same way at several places of a job is computed once."""

from __future__ import annotations

from collections import Counter

from tests.unit.sql.rules.plans import environment, plan
from wiesel.sql.plan.relations import Relation
from wiesel.sql.rules.optimizer import REUSE, optimized
from wiesel.sql.rules.share import shared
from wiesel.table import TableEnvironment

COUNTED = "SELECT item, COUNT(*) AS {name} FROM orders GROUP BY item"


def kinds(roots: list[Relation]) -> Counter[str]:
    """Return how many operators of each kind there would be."""
    objects: dict[int, Relation] = {}

    def add(relation: Relation) -> None:
        objects[id(relation)] = relation
        for below in relation.inputs:
            add(below)

    for root in roots:
        add(root)
    return Counter(each.name for each in objects.values())


def test_equal_groups_are_counted_once_whatever_their_columns_are_called() -> None:
    t_env = environment()
    both = f"SELECT a.n FROM ({COUNTED.format(name='n')}) AS a JOIN ({COUNTED.format(name='m')}) AS b ON a.n = b.m"
    found = kinds(optimized([plan(t_env, both)], t_env.get_config().get_configuration()))
    assert (found["TableScan"], found["WatermarkAssigner"], found["Aggregate"], found["Join"]) == (1, 1, 1, 1)


def test_other_groups_are_not() -> None:
    t_env = environment()
    one, other = plan(t_env, COUNTED.format(name="n")), plan(t_env, "SELECT item, COUNT(id) AS n FROM orders GROUP BY item")
    found = kinds(shared([one, other]))
    assert (found["TableScan"], found["Aggregate"]) == (1, 2)


def test_what_has_another_value_each_time_is_computed_at_each_place() -> None:
    t_env = environment()
    found = kinds(shared([plan(t_env, "SELECT UUID() AS u FROM numbers"), plan(t_env, "SELECT UUID() AS u FROM numbers")]))
    assert (found["TableScan"], found["Project"]) == (1, 2)


def test_zeros_of_either_sign_are_different() -> None:
    t_env = environment()
    roots = shared([plan(t_env, f"SELECT CAST('{zero}' AS DOUBLE) + 0 * n FROM numbers") for zero in ("0.0", "-0.0")])
    assert kinds(roots)["Project"] == 2


def test_results_keep_the_names_of_their_columns() -> None:
    t_env = environment()
    roots = shared([plan(t_env, "SELECT n AS a FROM numbers"), plan(t_env, "SELECT n AS b FROM numbers")])
    assert [root.fields[0].name for root in roots] == ["a", "b"]


def test_it_can_be_switched_off() -> None:
    t_env = environment()
    roots = [plan(t_env, COUNTED.format(name="n")) for _ in range(2)]
    options = t_env.get_config().set(REUSE, "false").get_configuration()
    assert kinds(optimized(roots, options))["Aggregate"] == 2


def test_a_statement_set_reads_its_source_once_and_writes_all(tmp_path: object, capsys: object) -> None:
    t_env: TableEnvironment = environment(**{"execution_runtime-mode": "BATCH"})
    for name in ("a", "b"):
        t_env.execute_sql(
            f"CREATE TABLE {name} (n BIGINT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/{name}', 'format' = 'csv')"
        )
    statements = t_env.create_statement_set()
    statements.add_insert_sql("INSERT INTO a SELECT n FROM numbers WHERE n > 10")
    statements.add_insert_sql("INSERT INTO b SELECT n + 1 FROM numbers WHERE n > 10")
    plan_text = statements.explain()
    optimised = plan_text[plan_text.index("== Optimized") :]
    assert optimised.count("TableScan") == 1
    assert optimised.count("Reused(reference_id=[1])") == 1
    statements.execute().wait()
    for name, expected in (("a", range(11, 21)), ("b", range(12, 22))):
        assert sorted(row[0] for row in t_env.execute_sql(f"SELECT * FROM {name}").collect()) == list(expected)
