"""Twenty cells of the crash matrix, one by seed, in all of its jobs; ``make soak`` does hundreds. See ``tests/faults/matrix.py``.

WIESEL_MATRIX_SEED sets another base seed, for other cells.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from tests.faults.matrix import ACTIONS, AT_RANDOM, CELLS, DRIVER, EXECUTOR, WORKER, Planned, plan, play, program
from tests.sim.schedules.jobs import JOBS

BASE_SEED = 7578
"""Cells of one base seed are the same each time; when the faults hit is up to the machine."""

DISK = ("disk-full", "io-error")


@dataclass(frozen=True)
class Played:
    """A round: few cells each, as each takes seconds and a driver's death the start of another one."""

    job: str
    cells: int
    victims: tuple[str, ...]
    actions: tuple[str, ...]
    backend: str


ROUNDS = (
    Played("keyed-counts", 4, (WORKER,), ("kill", *DISK), "rocksdb"),
    Played("windows-with-lateness", 2, (DRIVER, WORKER), ("kill",), "lmdb"),
    Played("broadcast-state", 3, (WORKER, DRIVER), DISK, "hashmap"),
    Played("two-input-join", 3, (WORKER,), ("kill", *DISK), "lmdb"),
    Played("cep", 2, (DRIVER, WORKER), ("kill", *DISK), "rocksdb"),
    Played("file-sink", 3, (WORKER, DRIVER), DISK, "hashmap"),
    Played("transactional-sink", 1, (DRIVER,), ("stop",), "hashmap"),
    Played("windows-with-lateness", 1, (WORKER,), ("stop",), "hashmap"),
    Played("keyed-counts", 1, (EXECUTOR,), ("kill", "stop"), "hashmap"),
)


def planned(number: int, directory: Path) -> list[Planned]:
    base = int(os.environ.get("WIESEL_MATRIX_SEED") or BASE_SEED)
    chance, played = Random(f"{base} {number}"), ROUNDS[number]
    print(f"WIESEL_MATRIX_SEED={base}")
    return plan(played.job, [chance.randrange(10**6) for _ in range(played.cells)], directory, played.victims, played.actions)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(ROUNDS)), ids=[f"{played.job}-{'-'.join(played.victims)}" for played in ROUNDS])
def test_output_and_state_are_those_of_the_quiet_run(tmp_path: Path, number: int) -> None:
    played, cells = ROUNDS[number], planned(number, tmp_path)
    for cell in cells:
        print(f"seed {cell.seed}: attempt {cell.attempt}: {cell.kind.name}, passage {cell.nth} in {cell.where}")
    play(played.job, tmp_path, cells, played.backend)
    for cell in cells:
        print(f"{cell.kind.name}: went on from checkpoint {cell.restored_id or 'that was not seen'}")


def test_the_twenty_have_all_jobs_victims_and_actions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WIESEL_MATRIX_SEED", raising=False)
    cells = [cell for number in range(len(ROUNDS)) for cell in planned(number, tmp_path)]
    assert len(cells) == 20
    assert {played.job for played in ROUNDS} == set(JOBS)
    found = {(cell.kind.victim, cell.kind.action) for cell in cells}
    assert found >= {(victim, action) for victim in (WORKER, DRIVER) for action in ACTIONS} and (EXECUTOR, "kill") in found
    assert any(cell.kind.point == AT_RANDOM for cell in cells)


def test_the_matrix_has_all_victims_and_actions() -> None:
    found = {(cell.victim, cell.action) for cell in CELLS}
    assert found >= {(victim, action) for victim in (WORKER, DRIVER, EXECUTOR) for action in ("kill", "stop")}
    assert found >= {(victim, action) for victim in (WORKER, DRIVER) for action in DISK}
    assert {cell.victim for cell in CELLS if cell.point == AT_RANDOM} == {WORKER, DRIVER, EXECUTOR}
    assert len({cell.name for cell in CELLS}) == len(CELLS)
    assert all(any(program(job).has(cell) for job in JOBS) for cell in CELLS)
