"""The program in SQL whose savepoint is kept: rows that a join and a Top-N hold, half way through its input.

Its results change, so what a job that goes on from a savepoint emits is applied to what the rows before the savepoint lead to: the outcome
has to be what all rows lead to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from wiesel.common import Row, RowKind, Types, WatermarkStrategy
from wiesel.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy
from wiesel.sql.session.translation import to_stream
from wiesel.table import StreamTableEnvironment
from wiesel.testing import CollectedStream
from wiesel.testing.environment import LocalEnvironment

RECORDS, KEYS, PER_SECOND = 300, 7, 100
TYPE = Types.ROW_NAMED(["id", "k", "price"], [Types.INT(), Types.STRING(), Types.DOUBLE()])
QUERIES = {
    "orders": "SELECT id, k, price FROM orders",
    "offers": "SELECT id, k, price FROM offers",
    "joined": "SELECT a.id, a.k, b.price FROM orders AS a LEFT JOIN offers AS b ON a.k = b.k AND a.price > b.price",
    "best": """
        SELECT id, k, price FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY price DESC) AS place FROM orders)
        WHERE place <= 3
    """,
}

Rows = Iterable[tuple[Any, ...]]


def order(number: int) -> Row:
    return Row(number, f"k{number % KEYS}", number * 37 % 101 + number / 1000)


def offer(number: int) -> Row:
    """Return an offer: of a few keys none comes, or only late."""
    return Row(number, f"k{number % KEYS if number > RECORDS * 2 // 3 else number % (KEYS - 3)}", number * 53 % 97 + number / 1000)


MADE = {"orders": order, "offers": offer}


def build(env: LocalEnvironment) -> dict[str, CollectedStream]:
    """Build the program and return its results by name: rows with their kinds of change."""
    t_env = StreamTableEnvironment.create(env)
    for name, made in MADE.items():
        source = DataGeneratorSource(int, RECORDS, RateLimiterStrategy.per_second(PER_SECOND))
        numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), name).uid(name).set_parallelism(1)
        t_env.create_temporary_view(name, numbers.map(made, TYPE).uid(f"rows of {name}").set_parallelism(1))
    return {name: env.collect(to_stream(env, t_env.sql_query(query)._plan, changelog=True)) for name, query in QUERIES.items()}


def all_rows() -> dict[str, list[tuple[Any, ...]]]:
    return {name: [tuple(made(number)) for number in range(RECORDS)] for name, made in MADE.items()}


def expected(orders: Rows, offers: Rows) -> dict[str, Counter[tuple[Any, ...]]]:
    """Return what these rows lead to, by a loop over all pairs and by sorting."""
    offered, best = list(offers), Counter[tuple[Any, ...]]()
    joined: Counter[tuple[Any, ...]] = Counter()
    by_key: dict[str, list[tuple[Any, ...]]] = {}
    for row in orders:
        number, key, price = row
        by_key.setdefault(key, []).append(row)
        joined.update([(number, key, p) for _, k, p in offered if k == key and price > p] or [(number, key, None)])
    for rows in by_key.values():
        best.update(sorted(rows, key=lambda row: -row[2])[:3])
    return {"joined": joined, "best": best}


def applied(before: Counter[tuple[Any, ...]], changes: Iterable[Row]) -> Counter[tuple[Any, ...]]:
    """Return the rows that are left of ``before`` and the changes."""
    found = Counter(before)
    for row in changes:
        found[tuple(row)] += 1 if row.get_row_kind() in (RowKind.INSERT, RowKind.UPDATE_AFTER) else -1
    return Counter({row: count for row, count in found.items() if count})
