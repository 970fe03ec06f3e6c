"""Processes are killed with SIGKILL, at random and at named points of the protocol; the output is that of an undisturbed run.

A kill that did not hit, or after which nothing was recovered, fails the test: it would prove nothing.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.faults.driver_process import Driver, alive, all_run, has_own_checkpoint, kill_worker, must_be_exact, must_have_hit, published

RECORDS = 5000
"""Per split. Some are left to be read as long as something is killed, also where checkpoints take ten times as long as they should."""

SOURCE, COUNTS, WINDOWS = 0, 1, 2
"""The vertices of the job."""


@contextmanager
def driver(directory: Path, *options: str, faults: Any = ()) -> Iterator[Driver]:
    process = Driver(directory, "--records", str(RECORDS), *options, faults=faults)
    try:
        yield process
    finally:
        process.end()


def fault(point: str, where: str, directory: Path, *, attempt: int, nth: int = 1) -> dict[str, Any]:
    marker = directory / f"{attempt}-{where}-{point}"
    return {"point": point, "where": where, "attempt": attempt, "nth": nth, "marker": str(marker), "action": "kill"}


def test_undisturbed_run(tmp_path: Path) -> None:
    with driver(tmp_path) as job:
        job.release()
        assert job.wait_for_end() == 0, job.tail()
        assert job.last["status"] == "FINISHED" and job.last["attempt"] == 1
        job.family_must_vanish()
    must_be_exact(tmp_path, RECORDS)


def test_workers_killed_at_named_points_and_at_random(tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")
    points = [
        # The first attempt has two checkpoints before it is hit, so that there is something to recover.
        ("before-snapshot", f"task-{COUNTS}-0", 3),
        ("before-ack", f"task-{WINDOWS}-1", 1),
        ("after-ack", f"task-{SOURCE}-1", 2),
        # Before the attempt has any checkpoint of its own: the recovery itself is hit.
        ("before-barrier", f"task-{SOURCE}-0", 1),
    ]
    faults = [fault(point, where, tmp_path, attempt=n + 1, nth=nth) for n, (point, where, nth) in enumerate(points)]
    with driver(tmp_path, faults=faults) as job:
        job.wait_for(lambda look: look["attempt"] > len(points) and all_run(look), f"attempt {len(points) + 1}")
        for planned in faults:
            must_have_hit(Path(planned["marker"]))
        kill_worker(job, random.Random(seed).randrange(6))
        job.release()
        assert job.wait_for_end() == 0, job.tail()
        assert job.last["status"] == "FINISHED" and job.last["attempt"] == len(points) + 2, job.last
        assert all(restored > 0 for attempt, restored in job.restored.items() if attempt > 1), job.restored
        job.family_must_vanish()
    must_be_exact(tmp_path, RECORDS)


def killed_driver(directory: Path, planned: dict[str, Any], *options: str) -> None:
    """Run a driver that a fault kills; nothing of it may live on."""
    with driver(directory, *options, faults=[planned]) as job:
        assert job.wait_for_end() == -signal.SIGKILL, job.tail()
        must_have_hit(Path(planned["marker"]))
        workers = [task["pid"] for task in job.last.get("tasks", ()) if task["pid"]]
        job.family_must_vanish()
        print(f"{planned['point']}: JVM and workers gone after {time.time() - Path(planned['marker']).stat().st_mtime:.1f} s")
        assert not any(map(alive, workers))


@pytest.mark.slow
def test_driver_killed_at_named_points_goes_on_elsewhere(tmp_path: Path) -> None:
    points = [("before-publish", 3), ("after-publish", 2), ("during-commit", 2), ("running", 1)]
    restore: tuple[str, ...] = ()
    last = 0
    for attempt, (point, nth) in enumerate(points, start=1):
        killed_driver(tmp_path, fault(point, "driver", tmp_path, attempt=attempt, nth=nth), *restore)
        checkpoints = published(tmp_path)
        last = max(last, *checkpoints)
        restore = ("--restore", str(checkpoints[last].parent))
    with driver(tmp_path, *restore) as job:
        job.release()
        running = job.wait_for(all_run, "the last attempt")
        assert running["job_id"] == Path(restore[1]).name
        assert running["attempt"] == len(points) + 1
        assert running["checkpoints"]["restored_id"] >= last > 0
        assert job.wait_for_end() == 0, job.tail()
        job.family_must_vanish()
    must_be_exact(tmp_path, RECORDS)


def test_driver_killed_at_random_leaves_no_process_behind(tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")
    with driver(tmp_path) as job:
        before = job.wait_for(has_own_checkpoint, "a checkpoint")
        time.sleep(random.Random(seed).uniform(0, 0.5))
        assert len(job.family()) > len(before["tasks"])
        os.kill(job.pid, signal.SIGKILL)
        assert job.wait_for_end() == -signal.SIGKILL
        job.family_must_vanish()
    with driver(tmp_path, "--restore", str(tmp_path / "checkpoints" / before["job_id"])) as job:
        job.release()
        assert job.wait_for_end() == 0, job.tail()
        assert job.last["attempt"] == 2
        assert job.last["checkpoints"]["restored_id"] >= before["checkpoints"]["last_id"] > 0, "nothing was recovered"
        job.family_must_vanish()
    must_be_exact(tmp_path, RECORDS)


def test_jvm_killed_ends_the_driver_with_an_error(tmp_path: Path) -> None:
    with driver(tmp_path) as job:
        before = job.wait_for(has_own_checkpoint, "a checkpoint")
        job.jvm().kill()
        assert job.wait_for_end() == 1, "the driver did not notice"
        assert "Spark's JVM, a child of this process, has ended or was killed" in job.log.read_text()
        job.family_must_vanish()
    with driver(tmp_path, "--restore", str(tmp_path / "checkpoints" / before["job_id"])) as job:
        job.release()
        assert job.wait_for_end() == 0, job.tail()
        assert job.last["checkpoints"]["restored_id"] >= before["checkpoints"]["last_id"] > 0, "nothing was recovered"
    must_be_exact(tmp_path, RECORDS)
