"""A streaming loop: numbers go round until they are 1, each on its own; how often they did is what comes out."""

from __future__ import annotations

from wiesel.datastream import DataStream, StreamExecutionEnvironment


def next_of(n: int) -> int:
    return 3 * n + 1 if n % 2 else n // 2


def steps_to_one(numbers: DataStream) -> DataStream:
    """Return (number, steps) for each number."""
    loop = numbers.map(lambda n: (n, n, 0)).iterate()
    moved = loop.rebalance().map(lambda r: (r[0], next_of(r[1]), r[2] + 1))
    loop.close_with(moved.filter(lambda r: r[1] != 1))
    return moved.filter(lambda r: r[1] == 1).map(lambda r: (r[0], r[2]))


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    steps_to_one(env.from_collection(range(2, 100))).filter(lambda r: r[1] > 110).map(lambda r: f"{r[0]}: {r[1]} steps").print()
    env.execute("collatz")


if __name__ == "__main__":
    main()
