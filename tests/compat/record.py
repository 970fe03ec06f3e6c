"""Writes the savepoint of the present version, to be kept: ``python -m tests.compat.record`` (once per version)."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from packaging.version import Version

import wiesel
from tests.compat.program import PER_SECOND, RECORDS, build
from tests.unit.engine.stored_job import environment, start

SAVEPOINTS = Path(__file__).with_name("savepoints")


def released_version() -> str:
    """Return the version, without what tells commits behind a release apart."""
    return Version(wiesel.__version__).base_version


def record() -> None:
    """Stop the program half way."""
    target = SAVEPOINTS / released_version()
    if target.exists():
        raise SystemExit(f"{target} exists: the savepoint of a version is never written again")
    env = environment(None)
    results = build(env)
    job = start(env)
    job.advance_processing_time(450 * 1000 // PER_SECOND)
    with tempfile.TemporaryDirectory() as directory:
        path = job.savepoint(directory, stop=True, label=f"of version {released_version()}")
        shutil.copytree(path, target)
    done = len(results["counts"].values)
    if not RECORDS // 3 <= done < RECORDS:
        shutil.rmtree(target)
        raise SystemExit(f"the job had processed {done} of {RECORDS} records")


if __name__ == "__main__":
    record()
