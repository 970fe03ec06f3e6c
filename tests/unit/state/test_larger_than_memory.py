"""State of which there is more than memory: each backend in a process of its own that may have no more than so much."""

from __future__ import annotations

import gc
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.unit.state.backends import new_backend
from tests.unit.state.much_state import SMALL, value_of

pytestmark = pytest.mark.slow

PROGRAM = Path(__file__).with_name("much_state.py")
MEMORY_MB, STATE_MB = 160, 240


def run(backend: str, directory: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(PROGRAM), backend, str(directory), str(MEMORY_MB), str(STATE_MB)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=170)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the limit is not kept")
@pytest.mark.parametrize("backend", ["lmdb", "rocksdb"])
def test_b3_a_backend_on_disk_goes_on_with_more_state_than_memory(tmp_path: Path, backend: str) -> None:
    done = run(backend, tmp_path)
    assert (done.returncode, done.stdout.split()) == (0, ["all", "there"]), done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the limit is not kept")
def test_b3_the_backend_in_memory_does_not(tmp_path: Path) -> None:
    done = run("hashmap", tmp_path)
    assert done.returncode == 1 and "MemoryError" in done.stderr, done.stderr


def test_b4_the_backend_in_memory_is_faster_than_those_on_disk(tmp_path: Path) -> None:
    took: dict[str, list[float]] = {"hashmap": [], "lmdb": [], "rocksdb": []}
    for number_of_try in range(3):
        for kind, times in took.items():
            backend = new_backend(kind, tmp_path / str(number_of_try), **SMALL)
            # Of this thread alone: other tests may have left threads behind. The garbage is that of the whole process.
            gc.disable()
            try:
                table, began_s = backend.table("v"), time.thread_time()
                for number in range(30_000):
                    table.put(number, value_of(number))
                assert all(table.get(number) is not None for number in range(30_000))
                times.append(time.thread_time() - began_s)
            finally:
                gc.enable()
            backend.close()
    print(took)
    # Whatever else the machine does makes tries longer, none shorter.
    assert 2 * min(took["hashmap"]) < min(*took["lmdb"], *took["rocksdb"]), took
