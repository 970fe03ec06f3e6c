"""Plans over small tables."""

from __future__ import annotations

from collections.abc import Iterator

from wiesel.common import Configuration
from wiesel.sql.plan.relations import Relation, walk
from wiesel.table import TableEnvironment

ORDERS = """CREATE TABLE orders (
  id BIGINT, item STRING, price DOUBLE, paid AS price * 2, at_time TIMESTAMP(3), day_ STRING,
  WATERMARK FOR at_time AS at_time - INTERVAL '1' SECOND
) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'json')"""


def environment(path: object = "/nowhere", **options: str) -> TableEnvironment:
    config = Configuration().set("wiesel.engine", "local")
    for key, value in options.items():
        config.set(key.replace("_", "."), value)
    t_env = TableEnvironment.create(config)
    t_env.execute_sql(ORDERS.format(path=path))
    t_env.execute_sql(
        "CREATE TABLE numbers (n BIGINT, text STRING, other INT) WITH ('connector' = 'datagen', 'fields.n.kind' = 'sequence', "
        "'fields.n.start' = '1', 'fields.n.end' = '20')"
    )
    return t_env


def plan(t_env: TableEnvironment, sql: str) -> Relation:
    return t_env.sql_query(sql)._plan


def shape(relation: Relation) -> str:
    """Return the kinds of relations from the result to the tables."""
    below = ", ".join(map(shape, relation.inputs))
    return f"{relation.name}({below})" if below else relation.name


def found(relation: Relation, name: str) -> Iterator[Relation]:
    return (each for each in walk(relation) if each.name == name)


def names(relation: Relation) -> list[str]:
    return [field.name for field in relation.fields]
