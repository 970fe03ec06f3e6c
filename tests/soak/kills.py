"""Rounds of kills: each round is one job, resumed by new drivers, whose output must be exact in the end."""

from __future__ import annotations

import os
import random
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.faults.driver_process import Driver, alive, all_run, has_own_checkpoint, must_be_exact, must_have_hit

KILLS_PER_ROUND = 12
RECORDS = 6000
BACKENDS = ("hashmap", "lmdb")

TASKS = [f"task-{vertex}-{subtask}" for vertex in range(3) for subtask in range(2)]
TASK_POINTS = ("before-barrier", "before-snapshot", "before-ack", "after-ack")
DRIVER_POINTS = ("running", "before-publish", "after-publish", "before-commit", "during-commit", "after-commit")


@dataclass
class Kill:
    """One kill: of a driver or a worker, at a point or (``point`` is None) at random."""

    driver: bool
    point: str | None
    attempt: int
    where: str
    nth: int
    marker: Path
    restored_id: int = 0

    @property
    def fault(self) -> dict[str, Any]:
        return {
            "point": self.point,
            "where": self.where,
            "attempt": self.attempt,
            "nth": self.nth,
            "marker": str(self.marker),
            "action": "kill",
        }


def plan_kills(seed: random.Random, count: int, directory: Path) -> list[Kill]:
    """Return the kills of a round, one per attempt; every fourth or so hits the driver."""
    kills = []
    for attempt in range(1, count + 1):
        driver = seed.random() < 0.25
        # The first attempt needs checkpoints before it dies; a later one may die in its recovery.
        nth = seed.randint(3, 5) if attempt == 1 else seed.randint(1, 4)
        points = DRIVER_POINTS[1:] if driver and attempt == 1 else DRIVER_POINTS if driver else TASK_POINTS
        point = seed.choice(points) if seed.random() < 0.7 else None
        kills.append(
            Kill(
                driver,
                point,
                attempt,
                "driver" if driver else seed.choice(TASKS),
                1 if point == "running" else nth,
                directory / f"kill-{attempt}",
            )
        )
    return kills


def run(console: Console, directory: Path, count: int, seed: random.Random) -> None:
    """Carry out ``count`` kills.

    Raises:
        AssertionError: a kill did not hit, nothing was recovered, processes were left over, or the output was wrong.
    """
    done: list[Kill] = []
    number = 0
    while len(done) < count:
        backend = BACKENDS[number % len(BACKENDS)]
        round_directory = directory / f"round-{number}"
        round_directory.mkdir(parents=True)
        kills = plan_kills(seed, min(KILLS_PER_ROUND, count - len(done)), round_directory)
        started_s = time.monotonic()
        run_round(round_directory, kills, backend, seed)
        done += kills
        number += 1
        passed_s = time.monotonic() - started_s
        console.print(
            f"round {number} ({backend}): output exact after {len(kills)} kills, {passed_s:.0f} s; {len(done)} of {count}", highlight=False
        )
    console.print(table(done))


def run_round(directory: Path, kills: list[Kill], backend: str, seed: random.Random) -> None:
    """Run one job through its kills to its end."""
    options: list[str] = ["--records", str(RECORDS), "--rate", "100", "--backend", backend]
    left = list(kills)
    restore: list[str] = []
    while True:
        driver = Driver(directory, *options, *restore, faults=[k.fault for k in left if k.point is not None])
        try:
            left = run_driver(driver, left, seed)
            if not left and driver.process.poll() == 0:
                break
            restore = ["--restore", str(directory / "checkpoints" / driver.last["job_id"])]
        finally:
            driver.end()
    assert driver.last["attempt"] == len(kills) + 1, f"attempt {driver.last['attempt']} was the last one after {len(kills)} kills"
    must_be_exact(directory, RECORDS)


def run_driver(driver: Driver, left: list[Kill], seed: random.Random) -> list[Kill]:
    """Kill until the driver is killed or nothing is left to do; return what is left."""
    while left:
        kill, left = left[0], left[1:]
        if kill.point is None:
            kill_at_random(driver, kill, seed)
        if kill.driver:
            assert driver.wait_for_end() == -signal.SIGKILL, driver.tail()
            driver.family_must_vanish()
        else:
            driver.wait_for(lambda look, kill=kill: look["attempt"] > kill.attempt and bool(look["tasks"]), f"attempt {kill.attempt + 1}")
        if kill.point is not None:
            must_have_hit(kill.marker)
        kill.restored_id = driver.restored.get(kill.attempt, kill.restored_id)
        assert kill.attempt == 1 or kill.restored_id > 0 or kill.attempt not in driver.restored, f"attempt {kill.attempt} recovered nothing"
        if kill.driver:
            return left
    driver.wait_for(lambda look: all_run(look) and look["checkpoints"]["restored_id"] > 0, "the last attempt")
    driver.release()
    assert driver.wait_for_end() == 0, driver.tail()
    driver.family_must_vanish()
    return left


def kill_at_random(driver: Driver, kill: Kill, seed: random.Random) -> None:
    look = driver.wait_for(lambda look: look["attempt"] == kill.attempt and has_own_checkpoint(look), f"attempt {kill.attempt}")
    time.sleep(seed.uniform(0, 0.5))
    victim = driver.pid if kill.driver else look["tasks"][seed.randrange(len(look["tasks"]))]["pid"]
    os.kill(victim, signal.SIGKILL)
    deadline_s = time.monotonic() + 10
    while alive(victim):
        assert time.monotonic() < deadline_s, "the kill did not hit"
        time.sleep(0.01)


def table(kills: list[Kill]) -> Table:
    """Return how often was killed what."""
    shown = Table(title="kills")
    for column in ("process", "point", "kills", "restored checkpoints"):
        shown.add_column(column, justify="right" if column == "kills" else "left")
    groups: dict[tuple[str, str], list[Kill]] = {}
    for kill in kills:
        groups.setdefault(("driver" if kill.driver else "worker", kill.point or "at random"), []).append(kill)
    for (process, point), members in sorted(groups.items()):
        shown.add_row(process, point, str(len(members)), ", ".join(str(k.restored_id) for k in members))
    return shown
