"""Bounded data: a word count, and a join with an aggregation whose plan is explained before it runs."""

from __future__ import annotations

from wiesel.common import Types
from wiesel.dataset import Aggregations, ExecutionEnvironment, Order

REVIEWS = ["good shoes good price", "late but good", "price too high"]

# Customer, region.
CUSTOMERS = [("ada", "north"), ("bob", "south"), ("eve", "north"), ("joe", "west")]

# Customer, pieces, price of all.
SALES = [("ada", 2, 30.0), ("bob", 1, 12.5), ("ada", 1, 15.0), ("eve", 5, 60.0), ("bob", 3, 45.0), ("zoe", 1, 9.0)]

WORD = Types.TUPLE([Types.STRING(), Types.LONG()])
CUSTOMER = Types.TUPLE([Types.STRING(), Types.STRING()])
SALE = Types.TUPLE([Types.STRING(), Types.INT(), Types.DOUBLE()])


def main() -> None:
    env = ExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)

    words = env.from_collection(REVIEWS, Types.STRING()).flat_map(str.split).map(lambda word: (word, 1), WORD)
    counts = words.group_by(0).sum(1)
    counts.sort_partition(1, Order.DESCENDING).sort_partition(0).set_parallelism(1).print()

    sales = env.from_collection(SALES, SALE)
    customers = env.from_collection(CUSTOMERS, CUSTOMER)
    by_region = (
        sales.join(customers)
        .where(0)
        .equal_to(0)
        .apply(lambda sale, customer: (customer[1], sale[1], sale[2]), SALE)
        .group_by(0)
        .aggregate(Aggregations.SUM, 1)
        .and_aggregate(Aggregations.SUM, 2)
    )
    print(by_region.explain())
    by_region.sort_partition(0).set_parallelism(1).print()


if __name__ == "__main__":
    main()
