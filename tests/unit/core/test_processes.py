"""Which numbers are those of processes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from wiesel.core.processes import lives


def test_processes_live_until_they_have_ended() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert lives(child.pid) and lives(os.getpid()) and lives(1)
    child.communicate(b"\n")
    assert not lives(child.pid)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere threads have numbers of their own kind")
def test_a_thread_with_the_number_of_a_process_that_is_gone_is_no_process() -> None:
    found: list[bool] = []
    thread = threading.Thread(target=lambda: found.append(lives(threading.get_native_id())))
    thread.start()
    thread.join()
    assert found == [False]
