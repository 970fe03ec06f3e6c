"""Internal. Spark's Python daemon with Wiesel imported before it forks: workers start with all modules loaded.

Only modules without threads of their own may be imported here.
"""

from __future__ import annotations

import faulthandler
import io
import os
import signal
import socket
from typing import Any

from wiesel.engine.spark.preloading import leave_archives, preload

leave_archives()

# ruff: noqa: E402 - where they are found has been decided only now
import pyarrow as pa
from pyspark import daemon

import wiesel.engine.spark.worker  # noqa: F401 - loaded for the forked workers
from wiesel.engine.spark.arrow_rows import row_batch
from wiesel.engine.spark.kept_memory import keep_freed_memory
from wiesel.engine.spark.major_collections import leave_major_collections_to_memory

_SEND_BUFFER_BYTES = 32768
_STANDARD_ERROR = 2
_run_worker = daemon.worker
_fork = os.fork
_of_daemon: list[socket.socket] = []


def _worker(sock: Any, authenticated: bool) -> Any:
    """Run a worker; output not consumed by the JVM yet is in flight and adds to the latency of a saturated job."""
    while _of_daemon:
        _of_daemon.pop().close()
    # When native code crashes, the Python stack is printed; Spark's own setting writes it to a file instead.
    faulthandler.enable(_STANDARD_ERROR, all_threads=False)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER_BYTES)
    try:
        return _run_worker(sock, authenticated)
    except ConnectionError:
        # The JVM has cancelled the task and does not listen any more; the daemon would print a traceback of it. Who is waiting in a
        # write at that moment, with the JVM's end of the socket full, finds the connection not broken but reset.
        os._exit(1)


def _fork_without_sigterm() -> int:
    """Fork with SIGTERM blocked: its handler raises SystemExit, which Python ignores in the hooks of a fork, and the daemon would go on."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    try:
        return _fork()
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])


def _use_arrow() -> None:
    """Initialise Arrow's lazy data: 6 MB that are shared then, instead of one copy per worker."""
    stream = io.BytesIO()
    batch = row_batch([(0, b"row"), (1, b"row")], [0])
    with pa.ipc.new_stream(stream, batch.schema) as writer:
        writer.write_batch(batch)
    for batch in pa.ipc.open_stream(stream.getvalue()):
        for value in batch.column(1):
            value.as_py()


def prepare() -> None:
    """Import what workers need."""
    daemon.worker = _worker
    os.fork = _fork_without_sigterm
    keep_freed_memory()
    preload()
    _use_arrow()
    # Objects shared with the daemon need no garbage collection.
    leave_major_collections_to_memory()


def run(*connections: socket.socket) -> None:
    """Run the daemon to its end; the connections are closed in the workers."""
    _of_daemon.extend(connections)
    # Its environment may have become that of another process.
    leave_archives()
    daemon.manager()
