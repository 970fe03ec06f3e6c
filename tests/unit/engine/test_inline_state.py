"""``execution.checkpointing.data-inline-threshold``: which state files travel in the metadata of a checkpoint."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.engine.stored_job import totals
from wiesel.checkpoint.state_files import state_files
from wiesel.checkpoint.store import CheckpointStore
from wiesel.testing import ManualSource


def stored(directory: Path, keys: int, **options: str) -> list[tuple[int, bool]]:
    """Return the size of each state file of a checkpoint, and whether it is in the metadata."""
    numbers = ManualSource()
    job, _ = totals(numbers, directory, **options)
    with job:
        numbers.push_all([(f"key {n}", 1) for n in range(keys)])
        job.settle()
        job.store()
        job.settle()
        shared = job.directory / "shared"
        store = CheckpointStore(str(job.directory.parent), job.directory.name)
        checkpoint, _ = store.load(store.checkpoint_ids()[0])
        files = list(state_files(checkpoint))
        names = {path.name for path in shared.iterdir()} if shared.exists() else set()
        assert {file.name.rpartition("/")[2] for file in files if file.inline is None} == names
        return [(file.size, file.inline is not None) for file in files]


@pytest.mark.parametrize(("keys", "inline"), [(300, True), (3000, False)])
def test_as_in_flink_20_kb_are_the_limit_by_default(tmp_path: Path, keys: int, inline: bool) -> None:
    found = stored(tmp_path, keys)
    assert found and all(kept is (size <= 20 << 10) for size, kept in found)
    assert all(kept for _, kept in found) is inline


def test_the_limit_is_a_setting(tmp_path: Path) -> None:
    small = stored(tmp_path / "0", 300, execution_checkpointing_data__inline__threshold="0")
    assert small and not any(kept for _, kept in small)
    large = stored(tmp_path / "1", 3000, execution_checkpointing_data__inline__threshold="1 mb")
    assert max(size for size, _ in large) > 20 << 10 and all(kept for _, kept in large)
