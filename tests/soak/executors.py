"""Executors and workers of a cluster are killed or made to stand still, one after the other, in a job whose output must be exact."""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path

from rich.console import Console

from tests.faults.driver_process import Driver, must_be_exact
from tests.faults.executors import OPTIONS, lose

RECORDS = 6000


def run(console: Console, directory: Path, count: int, seed: random.Random) -> None:
    """Lose ``count`` executors or workers.

    Raises:
        AssertionError: a signal did not hit, nothing was recovered, processes were left over, or the output was wrong.
    """
    started_s = time.monotonic()
    job = Driver(directory, "--records", str(RECORDS), "--backend", "lmdb", *OPTIONS)
    try:
        for number in range(1, count + 1):
            what, how = seed.choice(("executor", "worker")), seed.choice((signal.SIGKILL, signal.SIGSTOP))
            after = lose(job, what, how)
            passed_s = time.monotonic() - started_s
            restored = after["checkpoints"]["restored_id"]
            console.print(f"{number} of {count}: {how.name}: {what}, back from checkpoint {restored} at {passed_s:.0f} s", highlight=False)
        job.release()
        assert job.wait_for_end() == 0, job.tail()
        job.family_must_vanish()
    finally:
        job.end()
    must_be_exact(directory, RECORDS)
