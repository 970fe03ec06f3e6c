"""Iterations on a graph: who of a karate club matters most (PageRank), and what is left of it without some members (components).

The friendships are those that Wayne Zachary recorded in 1977; the club later split up around members 1 and 34.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wiesel.datastream import (
    AggregateFunction,
    DataStream,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    OutputTag,
    StreamExecutionEnvironment,
)
from wiesel.datastream.state import ListStateDescriptor, ValueStateDescriptor
from wiesel.iteration import each_round, iterate_bulk, iterate_delta, rounds_of

FRIENDSHIPS = Path(__file__).with_name("karate_club.csv")
CHANGE = OutputTag("change of a rank")


class ToNeighbours(KeyedCoProcessFunction):
    """Sends what came for a vertex in a round to its neighbours; the edges come by the second input, once."""

    def open(self, runtime_context: Any) -> None:
        self.neighbours = runtime_context.get_list_state(ListStateDescriptor("neighbours"))
        self.value = runtime_context.get_state(ValueStateDescriptor("value"))

    def process_element1(self, value: tuple[Any, Any], ctx: Any) -> None:
        self.value.update(value)
        ctx.timer_service().register_event_time_timer(ctx.timestamp())  # when all of the round, and all edges, are there

    def process_element2(self, value: tuple[Any, Any], ctx: Any) -> None:
        self.neighbours.add(value[1])

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        yield from self.messages(self.value.value(), list(self.neighbours.get()))

    def messages(self, value: tuple[Any, Any], neighbours: list[Any]) -> Iterator[tuple[Any, Any]]:
        for neighbour in neighbours:
            yield neighbour, value[1]


class ShareRank(ToNeighbours):
    """Shares the rank of a vertex out among its neighbours."""

    def messages(self, value: tuple[Any, float], neighbours: list[Any]) -> Iterator[tuple[Any, float]]:
        yield value[0], 0.0  # also a vertex without neighbours has a rank
        for neighbour in neighbours:
            yield neighbour, value[1] / len(neighbours)


class Compare(KeyedProcessFunction):
    """Tells by how much each rank has changed."""

    def open(self, runtime_context: Any) -> None:
        self.rank = runtime_context.get_state(ValueStateDescriptor("rank"))

    def process_element(self, value: tuple[Any, float], ctx: Any) -> Iterator[Any]:
        yield CHANGE, abs(value[1] - (self.rank.value() or 0.0))
        self.rank.update(value[1])
        yield value


class Sum(AggregateFunction):
    def create_accumulator(self) -> float:
        return 0.0

    def add(self, value: float, accumulator: float) -> float:
        return accumulator + value

    def get_result(self, accumulator: float) -> float:
        return accumulator

    def merge(self, acc_a: float, acc_b: float) -> float:
        return acc_a + acc_b


def page_rank(vertices: DataStream, edges: DataStream, count: int, damping: float = 0.85, tolerance: float = 1e-9) -> DataStream:
    """Return (vertex, rank); every vertex must have an edge out of it.

    Args:
        vertices: The vertices.
        edges: Pairs (from, to).
        count: Number of vertices.
        damping: How much of a rank is passed on.
        tolerance: The iteration ends when all changes together are below.
    """

    def step(ranks: DataStream) -> tuple[DataStream, DataStream]:
        shares = ranks.connect(edges).key_by(lambda r: r[0], lambda e: e[0]).process(ShareRank())
        sums = shares.key_by(lambda s: s[0]).window(each_round()).reduce(lambda a, b: (a[0], a[1] + b[1]))
        new = sums.map(lambda s: (s[0], (1 - damping) / count + damping * s[1]))
        compared = new.key_by(lambda r: r[0]).process(Compare())
        return compared, compared.get_side_output(CHANGE)

    initial = vertices.map(lambda v: (v, 1 / count))
    return iterate_bulk(initial, step, max_rounds=200, aggregator=Sum(), converged=lambda _, change: change < tolerance, name="PageRank")


def components(vertices: DataStream, edges: DataStream) -> DataStream:
    """Return (vertex, smallest vertex of its component); edges in both directions."""

    def smaller(current: tuple[Any, Any], candidates: list[tuple[Any, Any]]) -> tuple[Any, Any] | None:
        least = min(candidate for _, candidate in candidates)
        return (current[0], least) if least < current[1] else None

    labels = vertices.map(lambda v: (v, v))
    return iterate_delta(
        labels,
        labels,
        key=lambda label: label[0],
        step=lambda changed: changed.connect(edges).key_by(lambda label: label[0], lambda e: e[0]).process(ToNeighbours()),
        update=smaller,
        name="Components",
    )


def both_ways(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the pairs and their reverses."""
    return [*pairs, *((b, a) for a, b in pairs)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--without", type=int, nargs="*", default=[1, 34], help="members that leave the club, for the components")
    leaving = set(parser.parse_args().without)
    with FRIENDSHIPS.open() as lines:
        pairs = [(int(row["one"]), int(row["other"])) for row in csv.DictReader(lines)]
    members = sorted({member for pair in pairs for member in pair})

    env = StreamExecutionEnvironment.get_execution_environment()
    ranks = page_rank(env.from_collection(members), env.from_collection(both_ways(pairs)), len(members))
    ranks.filter(lambda r: r[1] > 0.05).map(lambda r: f"member {r[0]} has rank {r[1]:.4f}").print()
    staying = env.from_collection([m for m in members if m not in leaving])
    friends = env.from_collection(both_ways([p for p in pairs if not leaving & set(p)]))
    components(staying, friends).map(lambda label: f"member {label[0]} stays with member {label[1]}").print()
    rounds = rounds_of(env.execute("karate club"), "Components")
    print(f"changed in each round: {', '.join(str(r.records) for r in rounds)}")


if __name__ == "__main__":
    main()
