"""Internal. Early start of Spark's Python daemon: it imports modules while the driver's JVM creates the session.

The driver starts a process that imports the modules of workers and then listens on a socket. The daemon that the JVM starts later, without
imports, passes its standard streams, environment and search path to that process, and only waits for its end from then on. If there is no
such process, or it has another interpreter, or it has failed, the JVM's process is the daemon.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any

from wiesel.core.temporary import make_directory
from wiesel.engine.spark.preloading import PRELOADED_MODULES

__all__ = ["EARLY_DAEMON", "early_daemon_socket", "hand_over", "start_daemon_early"]

EARLY_DAEMON = "WIESEL_EARLY_DAEMON"
"""The environment variable with the path of the socket."""

_ENVIRONMENT = "spark.executorEnv."
_TAKEN = b"t"
_MOST_BYTES = 1 << 20


@cache
def early_daemon_socket() -> str:
    """Return the path of this process's socket, whether or not it exists."""
    return os.path.join(make_directory("wiesel-daemon-"), "socket")


def start_daemon_early(settings: Mapping[str, str], modules: Sequence[str]) -> None:
    """Start a process for the daemon of a session with these settings of Spark; without one, the daemon starts later.

    Args:
        settings: Spark's settings.
        modules: Modules of the session's first job.
    """
    path = early_daemon_socket()
    if os.path.exists(path):
        return
    given = {key.removeprefix(_ENVIRONMENT): value for key, value in settings.items() if key.startswith(_ENVIRONMENT)}
    # Needed before modules are imported, as in Spark's workers.
    environment = {"PYTHONHASHSEED": "0", **os.environ, "OMP_NUM_THREADS": settings.get("spark.task.cpus", "1"), **given}
    environment[PRELOADED_MODULES] = ",".join(modules)
    python = os.environ.get("PYSPARK_PYTHON", sys.executable)
    with suppress(OSError), socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        command = [python, "-m", __name__, str(listener.fileno())]
        # It ends when this process does: the other end of its standard input.
        _started.append(
            subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, pass_fds=[listener.fileno()])
        )


_started: list[subprocess.Popen[bytes]] = []


# The JVM's process


def hand_over() -> int | None:
    """Delegate this process's work to the one started early, and return its exit code; None if there is none."""
    path = os.environ.get(EARLY_DAEMON)
    if not path:
        return None
    with socket.socket(socket.AF_UNIX) as connection:
        # Spark ends the process that it has started, and the daemon then ends its workers. Until the daemon is known, the signal is
        # deferred: the other process may have taken over already, and nothing else would notify it.
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
        try:
            pid = _hand_to(connection, path)
            if pid is None:
                return None
            signal.signal(signal.SIGTERM, lambda number, frame: _signal(pid, number))
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
        _leave_streams()
        with suppress(OSError):
            connection.recv(1)
    return 0


def _hand_to(connection: socket.socket, path: str) -> int | None:
    """Return the process that has taken over, None if there is none."""
    told = {"python": _python(), "argv": sys.argv, "path": sys.path, "directory": os.getcwd(), "environment": dict(os.environ)}
    try:
        connection.connect(path)
        socket.send_fds(connection, [json.dumps(told).encode() + b"\n"], [0, 1, 2])
        if connection.recv(1) != _TAKEN:
            return None
        return int.from_bytes(connection.recv(8, socket.MSG_WAITALL), "big")
    except OSError:
        return None


def _leave_streams() -> None:
    """Close the pipes to the JVM, so that each side sees the other's end."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1):
        os.dup2(nothing, number)


def _signal(pid: int, number: int) -> None:
    with suppress(OSError):
        os.kill(pid, number)


def _python() -> list[Any]:
    return [sys.executable, sys.version]


# The process that was started early


def _wait_for_work(listener: socket.socket) -> socket.socket | None:
    """Return the connection of the JVM's process; None if the driver has ended before."""
    waited_for: list[Any] = [listener, sys.stdin]
    ready, _, _ = select.select(waited_for, [], [])
    return listener.accept()[0] if listener in ready else None


def _take_over(connection: socket.socket) -> bool:
    """Take over the role of the other process; return False if it is incompatible."""
    data, descriptors, _, _ = socket.recv_fds(connection, _MOST_BYTES, 3)
    while not data.endswith(b"\n"):
        more = connection.recv(_MOST_BYTES)
        if not more:
            return False
        data += more
    told = json.loads(data)
    if told["python"] != _python() or len(descriptors) != 3:
        return False
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(told["directory"])
    os.environ.clear()
    os.environ.update(told["environment"])
    sys.argv[:], sys.path[:] = told["argv"], told["path"]
    connection.sendall(_TAKEN + os.getpid().to_bytes(8, "big"))
    return True


def _serve(descriptor: int, prepare: Callable[[], None], run: Callable[[socket.socket], None]) -> None:
    with socket.socket(fileno=descriptor) as listener:
        prepare()
        connection = _wait_for_work(listener)
        path = listener.getsockname()
    # There is only one: another daemon finds nothing here, and starts by itself.
    with suppress(OSError):
        os.unlink(path)
    if connection is not None and _take_over(connection):
        run(connection)


def _main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from wiesel.engine.spark import daemon_process

    _serve(int(sys.argv[1]), daemon_process.prepare, daemon_process.run)


if __name__ == "__main__":
    _main()
