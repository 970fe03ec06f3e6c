"""Plays many more random queries than the tests do: ``python -m tests.unit.random_sql.hunt FIRST_SEED COUNT``.

Prints what differs, as small as it gets, and goes on.
"""

from __future__ import annotations

import sys
import time
from collections import Counter

from tests.unit.random_sql.playing import play

if __name__ == "__main__":
    first, count = int(sys.argv[1]), int(sys.argv[2])
    started = time.process_time()
    seen: Counter[str] = Counter()
    features: Counter[str] = Counter()
    for found in play(range(first, first + count), seen, features=features):
        print(found, flush=True)
    print(f"{sum(seen.values())} {dict(seen)} in {time.process_time() - started:.0f} CPU seconds")
    print(dict(features.most_common()))
