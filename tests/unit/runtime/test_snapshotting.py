"""What a task says of its snapshot."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.state.backends import new_backend
from tests.unit.state.memory_files import MemoryFiles
from wiesel.core.clock import SystemClock
from wiesel.runtime.snapshotting import PendingSnapshot
from wiesel.state import snapshots
from wiesel.state.backend import StateBackend


def bytes_of(backend: StateBackend, checkpoint_id: int, files: MemoryFiles) -> tuple[int, int]:
    """Take a snapshot; return the bytes that it amounts to and those that were written for it."""
    pending = PendingSnapshot(SystemClock())
    pending.add("op", None, backend.snapshot(checkpoint_id))
    stats = pending.write(files).stats
    return stats.state_bytes, stats.checkpointed_bytes


@pytest.mark.parametrize("kind", ["hashmap", "lmdb", "rocksdb"])
def test_what_was_written_for_a_checkpoint_is_what_came_to_the_storage(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "_FILE_BYTES", 1000)  # so that one checkpoint writes several files
    files, backend = MemoryFiles(), new_backend(kind, tmp_path)
    table = backend.table("v")
    for key in range(20_000):
        table.put(key, f"value {key}" * 3)
    for checkpoint_id, changed in ((1, 20_000), (2, 0), (3, 10)):
        for key in range(changed):
            table.put(key, f"{checkpoint_id}" * 10)
        before = files.written
        total, written = bytes_of(backend, checkpoint_id, files)
        assert written == files.written - before
        assert (written == 0) == (changed == 0) and written <= total
    backend.close()
