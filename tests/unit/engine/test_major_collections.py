"""Python's collections of all objects: left out while memory does not grow."""

from __future__ import annotations

import subprocess
import sys

import pytest

from wiesel.engine.spark.major_collections import MajorCollections

STEADY = """
import gc, sys
from wiesel.engine.spark.major_collections import MajorCollections, leave_major_collections_to_memory

leave_major_collections_to_memory()
if sys.argv[1] == "as Python does":
    gc.set_threshold(gc.get_threshold()[0], 10, 10)
seen = [0, 0, 0]
gc.callbacks.append(lambda phase, info: phase == "start" and seen.__setitem__(info["generation"], seen[info["generation"]] + 1))
collections = MajorCollections()
block = []
for _ in range(120):
    block = [[n] for n in range(25_000)]
    collections.look()
print(seen[0], seen[2])
"""


@pytest.mark.parametrize("how", ["as Python does", "by memory"])
def test_a_steady_process_has_major_collections_only_without_this(how: str) -> None:
    run = subprocess.run([sys.executable, "-c", STEADY, how], capture_output=True, text=True, check=True)
    young, major = map(int, run.stdout.split())
    assert young > 100
    assert (major > 0) == (how == "as Python does")


def test_memory_that_grows_is_looked_through() -> None:
    megabyte = 1 << 20
    resident, collected = [100 * megabyte], []

    def collect() -> None:
        collected.append(resident[0])
        resident[0] -= 10 * megabyte

    collections = MajorCollections(lambda: resident[0], collect)
    for size in (110, 150, 163, 165, 166, 218, 219, 230, 400):
        resident[0] = size * megabyte
        collections.look()
    # Once by 64 MB, from 100; then by half, from the 155 that were left.
    assert collected == [165 * megabyte, 400 * megabyte]
