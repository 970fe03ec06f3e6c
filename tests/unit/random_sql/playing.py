"""Plays random queries: some over the same data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from tests.unit.random_sql.choices import Choices
from tests.unit.random_sql.comparing import Case, Difference, Session, report
from tests.unit.random_sql.engines import OPTIONS, NotComparable
from tests.unit.random_sql.queries import random_query
from tests.unit.random_sql.tables import random_data

__all__ = ["OF_ONE_DATA", "play"]

OF_ONE_DATA = 20
"""So many queries are asked of the same data."""


def play(seeds: Iterable[int], seen: Counter[str], tries: int = 250, features: Counter[str] | None = None) -> Iterator[str]:
    """Play ``OF_ONE_DATA`` queries per seed, and yield what differs; count in ``seen`` how they went, in ``features`` what those had that
    came out equal."""
    for seed in seeds:
        choices = Choices(seed)
        session = Session(random_data(choices))
        data = choices.made
        for number in range(OF_ONE_DATA):
            made = Choices(seed * 1000 + number)
            query = random_query(made)
            modes = (0, 1 + number % 2)
            case = Case(data, made.made, 1 + number % 3, seed, modes, (seed + number) % len(OPTIONS))
            try:
                session.check(query, case.parallelism, seed, modes, case.options)
            except NotComparable:
                seen["not comparable"] += 1
            except Difference as error:
                seen["different"] += 1
                yield f"seed {seed}, query {number}: {error}\n  as: {query.sql.flink}\n" + (report(case, tries) if tries else "")
            else:
                seen["equal"] += 1
                if features is not None:
                    features.update(query.features)
