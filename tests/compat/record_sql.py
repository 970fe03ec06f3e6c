"""Writes the savepoint of the program in SQL, to be kept: ``python -m tests.compat.record_sql NAME``.

``state-format-1`` was written by the last commit that kept the rows of joins and of Top-N as tuples, in state files of format 1
(eb0afa5): in a worktree of it, with this file and ``sql_program.py`` copied there.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from tests.compat.sql_program import PER_SECOND, RECORDS, build
from tests.unit.engine.stored_job import environment, start

SAVEPOINTS = Path(__file__).with_name("sql_savepoints")


def record(name: str) -> None:
    """Stop the program half way.

    Raises:
        SystemExit: there is such a savepoint, or the program has not come half way.
    """
    target = SAVEPOINTS / name
    if target.exists():
        raise SystemExit(f"{target} exists: a savepoint that is kept is never written again")
    env = environment(None, 2, execution_checkpointing_data__inline__threshold="0 b")
    results = build(env)
    job = start(env)
    job.advance_processing_time(RECORDS // 2 * 1000 // PER_SECOND)
    with tempfile.TemporaryDirectory() as directory:
        path = job.savepoint(directory, stop=True, label=name)
        done = {table: len(results[table].values) for table in ("orders", "offers")}
        if not all(RECORDS // 3 <= count < RECORDS for count in done.values()):
            raise SystemExit(f"of {RECORDS} rows each the job had processed {done}")
        shutil.copytree(path, target)


if __name__ == "__main__":
    record(sys.argv[1])
