"""The file sink under SIGKILL: what was visible stays as it is, and in the end every record is there once."""

from __future__ import annotations

import random
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.faults.driver_process import Driver, all_run, has_own_checkpoint, kill_worker, must_have_hit, published
from tests.faults.file_job import BUCKETS, PART_BYTES, expected

WRITERS, CHECKPOINTS = 2, 8
PROGRAM = Path(__file__).with_name("file_job.py")
RECORDS = 5000
RATE = 100
"""Records per second and split, so slow that every attempt has some to write."""


def driver(directory: Path, *options: str, faults: Any = ()) -> Driver:
    return Driver(directory, "--records", str(RECORDS), "--rate", str(RATE), *options, faults=faults, program=PROGRAM)


def fault(point: str, where: str, directory: Path, *, attempt: int, nth: int) -> dict[str, Any]:
    marker = directory / f"{attempt}-{where}-{point}"
    return {"point": point, "where": where, "attempt": attempt, "nth": nth, "marker": str(marker), "action": "kill"}


def visible(directory: Path) -> dict[str, bytes]:
    """Return the contents of all files that a reader of the output sees."""
    found = {}
    for sink in ("text", "bulk"):
        for path in (directory / sink).rglob("*"):
            if path.is_file() and not any(part.startswith((".", "_")) for part in path.relative_to(directory).parts):
                found[str(path.relative_to(directory))] = path.read_bytes()
    return found


def text_records(files: dict[str, bytes]) -> Counter[tuple[str, int]]:
    lines = [line for name, content in files.items() if name.startswith("text/") for line in content.decode().splitlines()]
    return Counter((key, int(n)) for key, n in map(str.split, lines))


def bulk_records(directory: Path, files: dict[str, bytes]) -> Counter[tuple[str, int]]:
    rows = [row for name in files if name.startswith("bulk/") for row in pq.read_table(directory / name).to_pylist()]
    return Counter((row["key"], row["n"]) for row in rows)


class Watch:
    """Compares looks at the output: a visible file never changes and never goes."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.before: dict[str, bytes] = {}

    def look(self) -> None:
        now = visible(self.directory)
        changed = [name for name, content in self.before.items() if now.get(name) != content]
        assert not changed, f"visible files have changed: {changed}"
        self.before = now


def must_be_exact(directory: Path) -> None:
    want, files = expected(RECORDS), visible(directory)
    for name, got in (("text", text_records(files)), ("bulk", bulk_records(directory, files))):
        missing, surplus = want - got, got - want
        problem = f"{name}: {len(missing)} missing, {len(surplus)} too many: {list(missing)[:3]}, {list(surplus)[:3]}"
        assert not missing and not surplus, problem
    assert [p for p in directory.rglob(".inprogress-*") if any(p.iterdir())] == []


def test_workers_killed_at_named_points_and_at_random(tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")
    watch = Watch(tmp_path)
    planned = [
        fault("before-ack", "task-1-0", tmp_path, attempt=1, nth=4),
        fault("before-snapshot", "task-2-1", tmp_path, attempt=2, nth=2),
        fault("after-ack", "task-1-1", tmp_path, attempt=3, nth=1),
    ]
    job = driver(tmp_path, faults=planned)
    try:
        for n, hit in enumerate(planned, start=2):
            job.wait_for(lambda look, n=n: look["attempt"] >= n and all_run(look), f"attempt {n}")  # type: ignore[misc]
            must_have_hit(Path(hit["marker"]))
            watch.look()
        kill_worker(job, random.Random(seed).randrange(6))
        watch.look()
        job.wait_for(has_own_checkpoint, "a checkpoint after the last kill")
        job.release()
        assert job.wait_for_end() == 0, job.tail()
        assert job.last["attempt"] == len(planned) + 2
        assert all(restored > 0 for attempt, restored in job.restored.items() if attempt > 1), job.restored
        watch.look()
    finally:
        job.end()
    must_be_exact(tmp_path)


@pytest.mark.slow
def test_driver_killed_around_publishing_and_committing(tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    points = [("before-publish", 4), ("after-publish", 3), ("before-commit", 2), ("during-commit", 2)]
    restore: tuple[str, ...] = ()
    last = 0
    for attempt, (point, nth) in enumerate(points, start=1):
        hit = fault(point, "driver", tmp_path, attempt=attempt, nth=nth)
        job = driver(tmp_path, *restore, faults=[hit])
        try:
            assert job.wait_for_end() == -signal.SIGKILL, job.tail()
            must_have_hit(Path(hit["marker"]))
            job.family_must_vanish()
            checkpoints = published(tmp_path)
            last = max(last, *checkpoints)
            restore = restore or ("--restore", str(checkpoints[last].parent))
        finally:
            job.end()
        watch.look()
    job = driver(tmp_path, *restore)
    try:
        job.release()
        assert job.wait_for_end() == 0, job.tail()
        assert job.last["attempt"] == len(points) + 1 and job.last["checkpoints"]["restored_id"] >= last > 0
    finally:
        job.end()
    watch.look()
    must_be_exact(tmp_path)


def test_parts_go_on_over_checkpoints(tmp_path: Path) -> None:
    # By size alone: how many parts come to their time in a checkpoint depends on how long that takes.
    job = driver(tmp_path, "--rolls-after", "3600000")
    try:
        job.wait_for(lambda look: look["checkpoints"]["completed"] >= CHECKPOINTS, "checkpoints")
        job.release()
        assert job.wait_for_end() == 0, job.tail()
        completed = job.last["checkpoints"]["completed"]
    finally:
        job.end()
    must_be_exact(tmp_path)
    files = visible(tmp_path)
    parts = Counter(name.split("/")[0] for name in files)
    # If each checkpoint closed the parts of all buckets, there would be more.
    full = sum(len(content) for name, content in files.items() if name.startswith("text/")) // PART_BYTES
    assert parts["text"] <= full + WRITERS * BUCKETS < CHECKPOINTS * WRITERS * BUCKETS, (parts, completed)
    assert parts["bulk"] <= WRITERS * (completed + 1)
