"""A worker whose task was cancelled ends without a word: what it says on standard error stands between the lines of the program."""

from __future__ import annotations

import subprocess
import sys

import pytest

LIMIT_S = 120
PROGRAM = """
import socket, sys
from pyspark import daemon
from wiesel.engine.spark import daemon_process

def flush(sock, authenticated):
    raise {error}("the JVM does not listen any more")

daemon_process._run_worker = flush
daemon_process.prepare()
ours, theirs = socket.socketpair()
daemon.worker(ours, True)
"""


@pytest.mark.parametrize("error", ["BrokenPipeError", "ConnectionResetError"])
def test_a_worker_that_nobody_listens_to_any_more_says_nothing(error: str) -> None:
    """A connection is reset, not broken, for who waits in the middle of a write until it is closed with something unread."""
    ended = subprocess.run([sys.executable, "-c", PROGRAM.format(error=error)], capture_output=True, text=True, timeout=LIMIT_S)
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", "")
