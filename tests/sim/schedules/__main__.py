"""Plays one schedule, or several: python -m tests.sim.schedules JOB SEED [COUNT]."""

from __future__ import annotations

import sys
from collections import Counter

from tests.sim.schedules.play import prepared


def main(name: str, first: int, count: int = 1) -> None:
    hits: Counter[str] = Counter()
    with prepared(name) as stage:
        for seed in range(first, first + count):
            outcome = stage.play(seed)
            hits += outcome.hits
            if count == 1:
                print(outcome)
    print(f"{count} schedules from seed {first}: as the quiet run; hits: {dict(sorted(hits.items()))}")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
