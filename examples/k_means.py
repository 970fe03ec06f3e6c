"""Iterations: k-means (Lloyd's algorithm) until no centre moves any more. Points are kept in state, only centres go round."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from wiesel.datastream import AggregateFunction, DataStream, KeyedCoProcessFunction, StreamExecutionEnvironment
from wiesel.datastream.state import ListStateDescriptor
from wiesel.iteration import each_round, iterate_bulk, rounds_of

Centre = tuple[int, float, float]
TOLERANCE = 1e-12
"""Sums of floats depend on the order in which they come, so a centre that stays where it is may still move by a rounding error."""

GROUPS = 4
"""Points are shared out among so many keys."""


def squared_distance(x: float, y: float, centre: Centre) -> float:
    return (x - centre[1]) ** 2 + (y - centre[2]) ** 2


class Assign(KeyedCoProcessFunction):
    """Gives each point of its group to the nearest centre and adds up the points of each; the points come by the second input, once."""

    def open(self, runtime_context: Any) -> None:
        self.centres = runtime_context.get_list_state(ListStateDescriptor("centres"))
        self.points = runtime_context.get_list_state(ListStateDescriptor("points"))

    def process_element1(self, value: tuple[int, Centre], ctx: Any) -> None:
        self.centres.add(value[1])
        ctx.timer_service().register_event_time_timer(ctx.timestamp())

    def process_element2(self, value: tuple[int, float, float], ctx: Any) -> None:
        self.points.add(value)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[tuple[Centre, float, float, int]]:
        centres = sorted(self.centres.get())
        self.centres.clear()
        sums = dict.fromkeys(centres, (0.0, 0.0, 0))
        for _, x, y in self.points.get():
            nearest = min(centres, key=lambda centre: squared_distance(x, y, centre))
            sum_x, sum_y, count = sums[nearest]
            sums[nearest] = (sum_x + x, sum_y + y, count + 1)
        for centre, total in sums.items():
            yield centre, *total


class Sum(AggregateFunction):
    def create_accumulator(self) -> float:
        return 0.0

    def add(self, value: float, accumulator: float) -> float:
        return accumulator + value

    def get_result(self, accumulator: float) -> float:
        return accumulator

    def merge(self, acc_a: float, acc_b: float) -> float:
        return acc_a + acc_b


def moved(total: tuple[Centre, float, float, int]) -> tuple[Centre, Centre]:
    """Return a centre and where it goes: to the mean of its points, or nowhere if it has none."""
    centre, sum_x, sum_y, count = total
    return centre, (centre[0], sum_x / count, sum_y / count) if count else centre


def k_means(points: DataStream, centres: DataStream, max_rounds: int = 100) -> DataStream:
    """Return the centres when none of them moves any more.

    Args:
        points: (number, x, y).
        centres: (number, x, y) of each centre at the beginning.
        max_rounds: The last round.
    """

    def step(now: DataStream) -> tuple[DataStream, DataStream]:
        everywhere = now.flat_map(lambda centre: [(group, centre) for group in range(GROUPS)])
        sums = everywhere.connect(points).key_by(lambda c: c[0], lambda p: p[0] % GROUPS).process(Assign())
        of_centre = sums.key_by(lambda s: s[0][0]).window(each_round())
        pairs = of_centre.reduce(lambda a, b: (a[0], a[1] + b[1], a[2] + b[2], a[3] + b[3])).map(moved)
        return pairs.map(lambda pair: pair[1]), pairs.map(lambda pair: squared_distance(pair[0][1], pair[0][2], pair[1]))

    def standing(_: int, movement: float) -> bool:
        return movement < TOLERANCE

    return iterate_bulk(centres, step, max_rounds=max_rounds, aggregator=Sum(), converged=standing, name="k-means")


def example_points(seed: int = 7) -> list[tuple[int, float, float]]:
    """Return points around three places."""
    random = Random(seed)
    places = [(0.0, 0.0), (5.0, 1.0), (2.0, 6.0)]
    return [(i, random.gauss(places[i % 3][0], 1.0), random.gauss(places[i % 3][1], 1.0)) for i in range(300)]


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    points = example_points()
    centres = k_means(env.from_collection(points), env.from_collection(points[:3]))
    centres.map(lambda c: f"centre {c[0]} at ({c[1]:.3f}, {c[2]:.3f})").print()
    rounds = rounds_of(env.execute("k-means"))
    print(f"{len(rounds)} rounds")


if __name__ == "__main__":
    main()
