"""Savepoints of tables that older versions wrote are restored by this one, in other backends and with another parallelism."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path

import pytest

from tests.compat.record_sql import SAVEPOINTS
from tests.compat.sql_program import all_rows, applied, build, expected
from tests.unit.engine.stored_job import environment, start
from wiesel.state.changelog import FORMAT_VERSION

pytestmark = pytest.mark.slow

KEPT = sorted(p.name for p in SAVEPOINTS.iterdir())


def formats_of(savepoint: Path) -> set[int]:
    """Return the format versions of the state files of a savepoint."""
    heads = [p.read_bytes()[:10] for p in savepoint.iterdir() if p.name != "_metadata"]
    return {struct.unpack("<8sH", head)[1] for head in heads if head.startswith(b"WSLSTATE")}


def test_there_is_one_of_format_1() -> None:
    assert formats_of(SAVEPOINTS / "state-format-1") == {1} and FORMAT_VERSION > 1


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize(("parallelism", "backend"), [(1, "hashmap"), (3, "lmdb"), (2, "rocksdb")])
def test_c23_rows_of_joins_and_top_n_are_restored(name: str, parallelism: int, backend: str, tmp_path: Path) -> None:
    moved = shutil.copytree(SAVEPOINTS / name, tmp_path / "savepoint")
    env = environment(None, parallelism, execution_state__recovery_path=str(moved), state_backend_type=backend)
    results = build(env)
    with start(env) as job:
        job.finish()
    given = all_rows()
    after = {table: {tuple(row) for row in results[table].values} for table in given}
    before = {table: [row for row in rows if row not in after[table]] for table, rows in given.items()}
    assert all(len(before[table]) > 100 and len(after[table]) > 100 for table in given)
    wanted = expected(**given)
    for query, rows in expected(**before).items():
        assert applied(rows, results[query].values) == wanted[query] != rows, query
