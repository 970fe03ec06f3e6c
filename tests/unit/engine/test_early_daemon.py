"""Spark's Python daemon in a process that was started early: it takes the place of the one that the JVM starts, or that one goes on."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from wiesel.engine.spark import early_daemon
from wiesel.engine.spark.early_daemon import EARLY_DAEMON, start_daemon_early
from wiesel.engine.spark.preloading import PRELOADED_MODULES

pytestmark = pytest.mark.slow

LIMIT_S = 150


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Give the socket a place of its own, and end what was started."""
    path = os.path.join("/tmp", f"wiesel-test-{os.getpid()}-{tmp_path.name[-20:]}")
    monkeypatch.setattr(early_daemon, "early_daemon_socket", lambda: path)
    monkeypatch.setattr(early_daemon, "_started", started := [])
    yield path
    for process in started:
        process.stdin.close()
        process.wait(LIMIT_S)
    Path(path).unlink(missing_ok=True)


@pytest.fixture
def daemon(path: str) -> Iterator[Callable[[], subprocess.Popen[bytes]]]:
    """Return what starts a daemon as Spark's JVM does."""
    running: list[subprocess.Popen[bytes]] = []
    # Sockets have no room for long paths, such as those of pytest's folders.
    folder = tempfile.mkdtemp(prefix="wiesel-test-", dir="/tmp")

    def start() -> subprocess.Popen[bytes]:
        environment = {
            **os.environ,
            EARLY_DAEMON: path,
            "PYTHON_UNIX_DOMAIN_ENABLED": "true",
            "PYTHON_WORKER_FACTORY_SOCK_DIR": folder,
        }
        command = [sys.executable, "-m", "wiesel.engine.spark.daemon", "pyspark.worker"]
        running.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment))
        return running[-1]

    yield start
    for process in running:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            pipe.close()
    # The one that was started early removes its socket from there when it ends.
    for each in early_daemon._started:
        each.stdin.close()
        each.wait(LIMIT_S)
    shutil.rmtree(folder)


def parent_of_worker(daemon: subprocess.Popen[bytes]) -> int:
    """Ask a daemon for a worker, as Spark does; return the process that has forked it."""
    assert daemon.stdout is not None
    (length,) = struct.unpack("!i", daemon.stdout.read(4))
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(LIMIT_S)
        connection.connect(daemon.stdout.read(length).decode())
        (worker,) = struct.unpack("!i", connection.recv(4, socket.MSG_WAITALL))
        return int(psutil.Process(worker).ppid())


def started() -> Any:
    (process,) = early_daemon._started
    return process


def test_the_process_that_was_started_early_is_the_daemon(path: str, daemon: Callable[[], subprocess.Popen[bytes]]) -> None:
    start_daemon_early({}, ["colorsys"])
    one = daemon()
    assert parent_of_worker(one) == started().pid
    assert not os.path.exists(path)
    assert one.stdin is not None
    one.stdin.close()
    assert one.wait(LIMIT_S) == 0
    started().wait(LIMIT_S)


def test_it_ends_when_spark_ends_the_one_that_it_has_started(path: str, daemon: Callable[[], subprocess.Popen[bytes]]) -> None:
    start_daemon_early({}, [])
    one = daemon()
    parent_of_worker(one)
    one.terminate()
    started().wait(LIMIT_S)
    one.wait(LIMIT_S)


def test_an_end_that_comes_while_it_forks_reaches_it() -> None:
    program = (
        "import os, signal, sys, time\n"
        "from wiesel.engine.spark import daemon_process\n"
        "daemon_process.prepare()\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(17))\n"  # as PySpark's daemon does
        "os.register_at_fork(after_in_parent=lambda: os.kill(os.getpid(), signal.SIGTERM))\n"
        "if os.fork() == 0:\n"
        "    os._exit(0 if signal.SIGTERM not in signal.pthread_sigmask(signal.SIG_BLOCK, []) else 1)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))\n"
    )
    assert subprocess.run([sys.executable, "-c", program], timeout=LIMIT_S, check=False).returncode == 17


def test_an_end_that_comes_while_it_takes_over_reaches_it(path: str, daemon: Callable[[], subprocess.Popen[bytes]]) -> None:
    with socket.socket(socket.AF_UNIX) as listener, subprocess.Popen(["sleep", "600"]) as early:
        try:
            listener.settimeout(LIMIT_S)
            listener.bind(path)
            listener.listen()
            one = daemon()
            with listener.accept()[0] as connection:
                connection.settimeout(LIMIT_S)
                _, descriptors, _, _ = socket.recv_fds(connection, 1 << 20, 3)
                for descriptor in descriptors:
                    os.close(descriptor)
                one.terminate()
                connection.sendall(early_daemon._TAKEN + early.pid.to_bytes(8, "big"))
                assert early.wait(LIMIT_S) == -signal.SIGTERM
            assert one.wait(LIMIT_S) == 0
        finally:
            early.kill()


def test_a_second_daemon_starts_by_itself(path: str, daemon: Callable[[], subprocess.Popen[bytes]]) -> None:
    start_daemon_early({}, [])
    first, second = daemon(), None
    assert parent_of_worker(first) == started().pid
    second = daemon()
    assert parent_of_worker(second) == second.pid


def test_without_one_the_daemon_starts_by_itself(path: str, daemon: Callable[[], subprocess.Popen[bytes]]) -> None:
    one = daemon()
    assert parent_of_worker(one) == one.pid


def test_one_of_another_interpreter_is_not_taken(
    path: str, daemon: Callable[[], subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = tmp_path / "python"
    other.symlink_to(sys.executable)
    monkeypatch.setenv("PYSPARK_PYTHON", str(other))
    start_daemon_early({}, [])
    monkeypatch.delenv("PYSPARK_PYTHON")
    one = daemon()
    assert parent_of_worker(one) == one.pid


def test_one_that_has_failed_does_not_matter(path: str, daemon: Callable[[], subprocess.Popen[bytes]]) -> None:
    start_daemon_early({}, [])
    started().kill()
    started().wait(LIMIT_S)
    one = daemon()
    assert parent_of_worker(one) == one.pid


def test_it_is_started_in_the_environment_of_workers(path: str) -> None:
    start_daemon_early({"spark.executorEnv.GIVEN": "1", "spark.task.cpus": "2"}, ["colorsys"])
    process = psutil.Process(started().pid)
    # For a moment after a process has begun its program, the system has no environment of it yet.
    deadline_s = time.monotonic() + LIMIT_S
    while not (environment := process.environ()) and time.monotonic() < deadline_s:
        time.sleep(0.01)
    assert (environment["GIVEN"], environment["OMP_NUM_THREADS"], environment[PRELOADED_MODULES]) == ("1", "2", "colorsys")


def test_it_ends_with_the_driver(path: str) -> None:
    start_daemon_early({}, [])
    started().stdin.close()
    assert started().wait(LIMIT_S) == 0
