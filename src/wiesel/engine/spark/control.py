"""Internal. The control service: messages between the JobMaster and its tasks, over authenticated connections.

``multiprocessing.connection`` gives framed messages and a mutual HMAC challenge by a token; cloudpickle carries the users' own split and
committable classes, which workers cannot import. Records do not go this way, but for the feedback of iterations, in bounded windows.
"""

from __future__ import annotations

import logging
import pickle
import socket
import threading
from collections import Counter
from collections.abc import Callable
from multiprocessing.connection import Client, Connection, Listener
from typing import Any

import cloudpickle

from wiesel.checkpoint.messages import FromTask, RegisterTask, TaskKey, ToTask

_log = logging.getLogger("wiesel.control")
_BACKLOG = 256


def _no_delay(connection: Any) -> None:
    """Small messages must not wait for acknowledgements of earlier ones (Nagle)."""
    sock = socket.socket(fileno=connection.fileno())
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    finally:
        sock.detach()


def _shut_down(connection: Any, how: int = socket.SHUT_RDWR) -> None:
    """End both directions, or one: closing alone would not wake a thread that reads."""
    try:
        sock = socket.socket(fileno=connection.fileno())
        try:
            sock.shutdown(how)
        finally:
            sock.detach()
    except OSError as error:
        _log.debug("connection was closed already: %s", error)


class ControlServer:
    """Accepts tasks and hands their messages on. ``deliver`` and ``lost`` are called from reader threads."""

    def __init__(
        self,
        host: str,
        token: bytes,
        deliver: Callable[[int, FromTask], None],
        lost: Callable[[int, TaskKey], None],
    ) -> None:
        self._deliver = deliver
        self._lost = lost
        self._listener = Listener((host, 0), backlog=_BACKLOG, authkey=token)
        self._lock = threading.Lock()
        self._task_ended = threading.Condition(self._lock)
        self._ended: Counter[int] = Counter()
        self._tasks: dict[tuple[int, TaskKey], Connection[Any, Any]] = {}
        self._connections: set[Connection[Any, Any]] = set()
        self._closed = False
        threading.Thread(target=self._accept, name="wiesel-control-accept", daemon=True).start()

    @property
    def address(self) -> tuple[str, int]:
        """Return (host, port)."""
        host, port = self._listener.address
        return str(host), int(port)

    def _accept(self) -> None:
        while True:
            try:
                connection = self._listener.accept()
            except Exception as error:  # noqa: BLE001 - a stranger's failed handshake must not end the service
                if self._closed:
                    return
                _log.warning("refused a connection: %s", error)
                continue
            if self._closed:
                connection.close()
                return
            _no_delay(connection)
            with self._lock:
                self._connections.add(connection)
            threading.Thread(target=self._read, args=(connection,), name="wiesel-control-read", daemon=True).start()

    def _read(self, connection: Connection[Any, Any]) -> None:
        known: tuple[int, TaskKey] | None = None
        try:
            while True:
                attempt, message = pickle.loads(connection.recv_bytes())
                if isinstance(message, RegisterTask):
                    known = (attempt, message.task)
                    with self._lock:
                        self._tasks[known] = connection
                self._deliver(attempt, message)
        except (EOFError, OSError):
            pass  # the task has ended or died; reported below
        finally:
            with self._lock:
                self._connections.discard(connection)
                if known is not None:
                    if self._tasks.get(known) is connection:
                        del self._tasks[known]
                    self._ended[known[0]] += 1
                    self._task_ended.notify_all()
            connection.close()
            if known is not None and not self._closed:
                self._lost(*known)

    def send(self, attempt: int, task: TaskKey, message: ToTask) -> None:
        """Send a message to a task; one that is gone gets nothing (its end is reported by ``lost``)."""
        data = cloudpickle.dumps(message, 5)
        with self._lock:
            connection = self._tasks.get((attempt, task))
            if connection is not None:
                try:
                    connection.send_bytes(data)
                except OSError as error:
                    _log.debug("task %s of attempt %d is gone: %s", task, attempt, error)

    def wait_until_heard(self, attempt: int, tasks: int, timeout_s: float) -> bool:
        """Wait until every message of the attempt's tasks, all of which have ended, has been delivered.

        Args:
            attempt: The attempt.
            tasks: How many tasks have registered, or will yet: the last messages of a task that has ended may still be on their way.
            timeout_s: How long to wait at most, in seconds: a process that was killed may never have registered.

        Returns:
            Whether all ``tasks`` have been heard to their end.
        """
        with self._task_ended:
            return self._task_ended.wait_for(lambda: self._ended[attempt] >= tasks, timeout_s)

    def registered(self, attempt: int) -> int:
        """Return how many tasks of the attempt have registered until now, those that have ended included."""
        with self._lock:
            return self._ended[attempt] + sum(number == attempt for number, _ in self._tasks)

    def close(self) -> None:
        """End the service; tasks that are still there notice and end themselves."""
        self._closed = True
        try:
            # Wake the accepting thread: closing the socket alone would not.
            socket.create_connection(self.address, timeout=1).close()
        except OSError as error:
            _log.debug("the control service was closed already: %s", error)
        self._listener.close()
        with self._lock:
            connections = list(self._connections)
        for connection in connections:
            _shut_down(connection)


class ControlClient:
    """A task's end of the connection. ``send`` may be called from any thread."""

    def __init__(self, address: tuple[str, int], token: bytes, attempt: int) -> None:
        self._connection = Client(address, authkey=token)
        _no_delay(self._connection)
        self._attempt = attempt
        self._lock = threading.Lock()

    def send(self, message: FromTask) -> None:
        """Send a message to the JobMaster.

        Raises:
            OSError: the JobMaster is gone.
        """
        data = cloudpickle.dumps((self._attempt, message), 5)
        with self._lock:
            self._connection.send_bytes(data)

    def receive(self) -> ToTask:
        """Wait for the next message.

        Raises:
            EOFError, OSError: the JobMaster is gone.
        """
        message: ToTask = pickle.loads(self._connection.recv_bytes())
        return message

    def end(self) -> None:
        """Send no more: once the JobMaster has read everything it ends its side, and a thread in ``receive`` gets EOFError.

        Closing at once instead would let TCP reset the connection if a message of the JobMaster were still unread here, and a reset
        takes with it what the JobMaster has not read yet.
        """
        _shut_down(self._connection, socket.SHUT_WR)

    def close(self) -> None:
        """End the connection; a thread that waits in ``receive`` gets EOFError."""
        _shut_down(self._connection)
        self._connection.close()
