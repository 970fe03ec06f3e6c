"""Workers keep the memory of a batch for the next one."""

from __future__ import annotations

import subprocess
import sys

import pytest

ROUNDS, BLOCKS, BYTES = 20, 4, 7 << 20
WORK = f"""
import resource
from wiesel.engine.spark.kept_memory import keep_freed_memory
if {{kept}}:
    assert keep_freed_memory()
blocks = [bytearray(b"x") * {BYTES} for _ in range({BLOCKS})]
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range({ROUNDS}):
    blocks = None
    blocks = [bytearray(b"x") * {BYTES} for _ in range({BLOCKS})]
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the C library of Linux")
def test_pages_are_asked_for_once() -> None:
    runs = [[sys.executable, "-c", WORK.format(kept=kept)] for kept in (False, True)]
    faults = [int(subprocess.run(run, capture_output=True, text=True, check=True).stdout) for run in runs]
    pages = ROUNDS * BLOCKS * BYTES // 4096
    assert faults[0] > pages // 2, "without it each block has new pages"
    assert faults[1] < pages // 20
