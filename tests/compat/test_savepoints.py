"""Savepoints of all versions so far are restored by this one."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.compat.program import RECORDS, build, expected
from tests.compat.record import SAVEPOINTS, released_version
from tests.unit.engine.stored_job import environment, start
from wiesel.state_processor import SavepointReader
from wiesel.state_processor.compatibility import check_savepoint

VERSIONS = sorted(p.name for p in SAVEPOINTS.iterdir())


def test_there_is_one_of_this_version() -> None:
    assert released_version() in VERSIONS


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("parallelism", "backend"), [(1, "hashmap"), (3, "lmdb"), (2, "rocksdb")])
def test_c23_a_savepoint_of_another_version_is_restored(version: str, parallelism: int, backend: str, tmp_path: Path) -> None:
    moved = shutil.copytree(SAVEPOINTS / version, tmp_path / "savepoint")
    env = environment(None, parallelism, execution_state__recovery_path=str(moved), state_backend_type=backend)
    results = build(env)
    with start(env) as job:
        job.finish()
    found = {name: Counter(result.values) for name, result in results.items()}
    assert all(found[name] <= wanted for name, wanted in expected().items()), "nothing wrong"
    # What comes at the end of event time comes now; of the rest the part that was not processed before.
    assert found["everything"] == expected()["everything"]
    left = found["counts"].total()
    assert 0 < left < RECORDS and set(found["counts"]) == set(range(RECORDS - left + 1, RECORDS + 1))
    assert 0 < found["ruled"].total() < RECORDS
    last_window = Counter({w: n for w, n in expected()["windows"].items() if w in found["windows"]})
    assert found["windows"] == last_window and found["windows"].total() > 0


@pytest.mark.parametrize("version", VERSIONS)
def test_a_savepoint_of_another_version_is_read_and_checked(version: str) -> None:
    env = environment(None)
    build(env)
    found = check_savepoint(env._generate_stream_graph(), str(SAVEPOINTS / version))
    assert {v.verdict for v in found.verdicts} == {"kept"} and not found.drops
    sums = {key: row["sum"] for key, row in SavepointReader.read(str(SAVEPOINTS / version)).keyed_state("everything")}
    assert len(sums) > 30 and 0 < sum(sums.values()) < sum(range(RECORDS))
