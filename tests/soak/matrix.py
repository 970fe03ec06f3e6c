"""Random cells of the crash matrix, one by seed: a round is one job with some of them, whose output and final state must be exact.

What happens in a round follows from its number alone, so any range of seeds does what these seeds do in a longer run.
"""

from __future__ import annotations

import shutil
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from random import Random

from rich.console import Console
from rich.table import Table

from tests.faults.matrix import ACTIONS, CELLS, DRIVER, EXECUTOR, WORKER, Planned, plan, play
from tests.sim.schedules.jobs import JOBS

BACKENDS = ("hashmap", "lmdb", "rocksdb")
ROUND = 10
"""Seeds per round. Those of a round belong together, as a cell begins with what the one before has left."""


@dataclass(frozen=True)
class Round:
    """What the number of a round decides."""

    number: int

    @property
    def seeds(self) -> range:
        return range(self.number * ROUND, (self.number + 1) * ROUND)

    @property
    def job(self) -> str:
        return list(JOBS)[self.number % len(JOBS)]

    @property
    def backend(self) -> str:
        return BACKENDS[self.number % len(BACKENDS)]

    @property
    def on_a_cluster(self) -> bool:
        """Whether the job runs on a cluster of executors, which is where they can be lost."""
        return self.number % 4 == 3

    @property
    def victims(self) -> tuple[str, ...]:
        return (EXECUTOR, WORKER) if self.on_a_cluster else (WORKER, WORKER, DRIVER)

    @property
    def actions(self) -> tuple[str, ...]:
        # Standing still takes as long as a heartbeat may be late: only in some rounds.
        return ACTIONS if Random(self.number).random() < 0.4 else tuple(action for action in ACTIONS if action != "stop")

    def __str__(self) -> str:
        where = ", on a cluster" if self.on_a_cluster else ""
        return f"seeds {self.seeds[0]}-{self.seeds[-1]}: {self.job}, {self.backend}{where}"


def run(console: Console, directory: Path, first: int, last: int) -> None:
    """Carry out the cells of the seeds from ``first`` to ``last``, in whole rounds.

    Raises:
        AssertionError: In some round a fault did not hit, nothing was recovered, processes were left over, or output or state were wrong.
    """
    done: list[tuple[Round, list[Planned]]] = []
    failed: list[str] = []
    started_s = time.monotonic()
    rounds = [Round(number) for number in range(first // ROUND, last // ROUND + 1)]
    try:
        for each in rounds:
            console.print(str(each), highlight=False)
            cells = planned(console, each, directory / str(each.number))
            try:
                play(each.job, directory / str(each.number), cells, each.backend)
            except AssertionError as failure:
                console.print(f"{each} failed: {failure}", style="bold red", highlight=False, markup=False, soft_wrap=True)
                failed.append(str(each))
                continue
            shutil.rmtree(directory / str(each.number))  # of those that failed all stays
            done.append((each, cells))
            console.print(f"  well, {time.monotonic() - started_s:.0f} s", highlight=False)
    finally:
        console.print(table([cell for _, cells in done for cell in cells]))
        console.print(summary(done), highlight=False)
    assert not failed, f"rounds failed: {'; '.join(failed)}"


def planned(console: Console, each: Round, directory: Path) -> list[Planned]:
    """Return the cells of a round, and print them."""
    directory.mkdir(parents=True)
    cells = plan(each.job, each.seeds, directory, each.victims, each.actions)
    for cell in cells:
        console.print(f"  seed {cell.seed}: {cell.kind.name}, passage {cell.nth} in {cell.where}", highlight=False)
    return cells


def table(done: list[Planned]) -> Table:
    """Return which cells hit how often, and the checkpoints that the attempts after them began with."""
    shown = Table(title="cells of the matrix")
    for column in ("point", "victim", "action", "hits", "recoveries"):
        shown.add_column(column, justify="right" if column in ("hits", "recoveries") else "left")
    groups: dict[tuple[str, str, str], list[Planned]] = {}
    for cell in done:
        groups.setdefault((cell.kind.where, cell.kind.victim, cell.kind.action), []).append(cell)
    for what, members in sorted(groups.items()):
        shown.add_row(*what, str(len(members)), str(sum(cell.restored_id > 0 for cell in members)))
    return shown


def summary(done: list[tuple[Round, list[Planned]]]) -> str:
    """Return the figures of all rounds."""
    cells = [cell for _, members in done for cell in members]
    by_victim = Counter(f"{cell.kind.victim} {cell.kind.action}" for cell in cells)
    by_job = Counter(each.job for each, members in done for _ in members)
    return (
        f"{len(cells)} seeds in {len(done)} jobs, each fault hit; {len({cell.kind.name for cell in cells})} of {len(CELLS)} cells; "
        f"{sum(cell.restored_id > 0 for cell in cells)} attempts were seen to go on from a checkpoint\n"
        f"by victim and action: {dict(sorted(by_victim.items()))}\nby job: {dict(sorted(by_job.items()))}"
    )
