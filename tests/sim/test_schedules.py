"""Ten thousand schedules: jobs whose events come in orders that seeds choose, while the network, acknowledgements, commits, the storage and
processes fail. Output and final state are those of the quiet run, and the output is that of a calculation without the job.

The seeds come from a base seed; WIESEL_SCHEDULES_SEED sets another one, for other schedules. A schedule that fails names the command that
repeats it. A schedule in which no fault hit proves nothing and does not count.
"""

from __future__ import annotations

import os
from collections import Counter
from random import Random

import pytest

from tests.sim.schedules.faults import KINDS
from tests.sim.schedules.play import prepared

pytestmark = pytest.mark.slow

JOBS = ("keyed-counts", "windows-with-lateness", "broadcast-state", "two-input-join", "cep", "file-sink", "transactional-sink")
PARTS, SCHEDULES = 10, 144
"""Schedules with hits in each part of each job: 10,080 in all."""

BASE_SEED = 813836432
"""The schedules of one base seed are the same on every machine: those that once failed are played again each time."""

MOST_SEEDS = 2 * SCHEDULES


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", JOBS)
def test_output_and_state_are_those_of_the_quiet_run(name: str, part: int) -> None:
    base = int(os.environ.get("WIESEL_SCHEDULES_SEED") or BASE_SEED)
    print(f"WIESEL_SCHEDULES_SEED={base}")
    seeds = Random(f"{base} {name} {part}")
    hits: Counter[str] = Counter()
    counted = recovered = 0
    with prepared(name) as stage:
        for _ in range(MOST_SEEDS):
            outcome = stage.play(seeds.randrange(1 << 40))
            counted += bool(outcome.hits)
            recovered += bool(outcome.hits and outcome.restored)
            hits += outcome.hits
            if counted == SCHEDULES:
                break
    print(f"{counted} schedules with {hits.total()} faults that hit, {recovered} of them went on from a checkpoint: {dict(hits)}")
    assert counted == SCHEDULES, "too few schedules in which a fault hit"
    assert recovered > SCHEDULES // 3


@pytest.mark.parametrize("name", JOBS)
def test_every_order_of_events_is_quiet_without_faults(name: str) -> None:
    with prepared(name) as stage:
        for seed in range(30):
            outcome = stage.play(seed, quiet=True)
            assert not outcome.hits and outcome.restarts == 0 and outcome.drivers == 1


def test_every_kind_of_fault_hits() -> None:
    hits: Counter[str] = Counter()
    with prepared("keyed-counts") as stage:
        for seed in range(400):
            hits += stage.play(seed).hits
            if hits.keys() >= set(KINDS):
                return
    raise AssertionError(f"never: {sorted(set(KINDS) - hits.keys())}")
