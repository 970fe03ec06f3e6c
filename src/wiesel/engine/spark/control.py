"""Internal. The control service: messages between the JobMaster and its tasks, over authenticated connections.

``multiprocessing.connection`` provides framed messages and a mutual HMAC challenge with a token; cloudpickle serialises users' split and
committable classes, which workers cannot import. Records are not sent this way, except for the feedback of iterations, in bounded windows.
"""

from __future__ import annotations

import pickle
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Client, Connection, Listener, answer_challenge, deliver_challenge
from typing import Any

from wiesel.checkpoint.messages import FromTask, MasterHeartbeat, RegisterTask, TaskKey, ToTask
from wiesel.core import code_pickling
from wiesel.core.logs import get_logger

_log = get_logger("wiesel.control")
_BACKLOG = 256
_ACCEPT_AGAIN_S = 0.1
_WAKE_S = 5.0
_MOST_UNPROVEN = 128
"""Maximal number of unauthenticated connections, each of which has a thread."""

_UNPROVEN_S = 1.0
"""Authentication timeout (s) when there are that many. A task needs some milliseconds."""



@contextmanager
def _socket_of(connection: Any) -> Iterator[socket.socket]:
    sock = socket.socket(fileno=connection.fileno())
    try:
        # With a default timeout of the program (socket.setdefaulttimeout) it would not block from now on.
        sock.setblocking(True)
        yield sock
    finally:
        sock.detach()


def _no_delay(connection: Any) -> None:
    """Disable Nagle's algorithm: small messages must not wait for acknowledgements of earlier ones."""
    with _socket_of(connection) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _wait_at_most(connection: Any, option: int, seconds: float) -> None:
    """Let a longer receive (SO_RCVTIMEO) or send (SO_SNDTIMEO) raise BlockingIOError; 0 waits forever.

    The kernel measures the time. After a process was suspended it checks for received data before the timeout applies.
    """
    with _socket_of(connection) as sock:
        sock.setsockopt(socket.SOL_SOCKET, option, struct.pack("ll", int(seconds), int(seconds % 1 * 1e6)))


def _shut_down(connection: Any, how: int = socket.SHUT_RDWR) -> None:
    """Shut down both directions, or one: closing alone would not wake a reading thread."""
    try:
        with _socket_of(connection) as sock:
            sock.shutdown(how)
    except OSError as error:
        _log.debug("connection was closed already: %s", error)


class _Peer:
    """The JobMaster's end of a connection. ``send`` is thread-safe."""

    def __init__(self, connection: Connection[Any, Any]) -> None:
        self.connection = connection
        self._sending = threading.Lock()
        self._ending = threading.Lock()

    def send(self, data: bytes) -> None:
        """Send a message; sending fails permanently once the peer is gone or blocked."""
        with self._sending:
            self._send(data)

    def send_if_idle(self, data: bytes) -> None:
        """Send a message unless another one is being sent, which may take long."""
        if self._sending.acquire(blocking=False):
            try:
                self._send(data)
            finally:
                self._sending.release()

    def _send(self, data: bytes) -> None:
        try:
            self.connection.send_bytes(data)
        except OSError as error:
            _log.debug("a task is gone: %s", error)
            self.end()

    def end(self) -> None:
        """Wake blocked readers and writers."""
        with self._ending:
            _shut_down(self.connection)

    def close(self) -> None:
        """Close the connection. Its descriptor may be reused from then on, so it must not be in use."""
        self.end()
        with self._sending, self._ending:
            self.connection.close()


class ControlServer:
    """Accepts connections of tasks and delivers their messages. ``deliver`` and ``lost`` are called from reader threads.

    Args:
        host: Name or address to listen at.
        token: The shared secret of the job's tasks.
        deliver: Receives the attempt's number and a message of a task.
        lost: Called when the connection of a task has ended.
        heartbeat_s: Interval of heartbeats to tasks, in seconds. A separate thread sends them, so that user code in the master's thread
            (enumerators, the writing of results) may be slow.
        patience_s: Timeout (s) of a task that is blocked or not authenticated, after which its connection is closed.
        known_as: Name or address of the host for tasks; ``host`` itself if not given.
    """

    def __init__(
        self,
        host: str,
        token: bytes,
        deliver: Callable[[int, FromTask], None],
        lost: Callable[[int, TaskKey], None],
        *,
        heartbeat_s: float,
        patience_s: float,
        known_as: str | None = None,
    ) -> None:
        self._token = token
        self._deliver = deliver
        self._lost = lost
        self._listener = Listener((host, 0), backlog=_BACKLOG)
        self._lock = threading.Lock()
        self._task_ended = threading.Condition(self._lock)
        self._ended: set[tuple[int, TaskKey]] = set()
        self._tasks: dict[tuple[int, TaskKey], _Peer] = {}
        self._peers: set[_Peer] = set()
        self._room = threading.Condition(self._lock)
        self._unproven: dict[_Peer, float] = {}
        self._patience_s = patience_s
        self._known_as = known_as
        self._closed = threading.Event()
        threading.Thread(target=self._beat, args=(heartbeat_s,), name="wiesel-control-beat", daemon=True).start()
        self._accepting = threading.Thread(target=self._accept, name="wiesel-control-accept", daemon=True)
        self._accepting.start()

    @property
    def address(self) -> tuple[str, int]:
        """Return (host, port)."""
        host, port = self._listener.address
        return self._known_as or str(host), int(port)

    def _beat(self, every_s: float) -> None:
        beat = code_pickling.dumps(MasterHeartbeat())
        while not self._closed.wait(every_s):
            with self._lock:
                peers = list(self._tasks.values())
            for peer in peers:
                # A blocked one must not delay the others.
                peer.send_if_idle(beat)

    def _wait_for_room(self) -> None:
        """Wait while too many connections are unauthenticated; then close those that exceed the timeout."""
        with self._room:
            while len(self._unproven) >= _MOST_UNPROVEN and not self._closed.is_set():
                if not self._room.wait(_UNPROVEN_S):
                    before_s = time.monotonic() - _UNPROVEN_S
                    for peer in [peer for peer, since_s in self._unproven.items() if since_s <= before_s]:
                        peer.end()

    def _no_longer_unproven(self, peer: _Peer) -> None:
        with self._room:
            self._unproven.pop(peer, None)
            self._room.notify_all()

    def _accept(self) -> None:
        while not self._closed.is_set():
            self._wait_for_room()
            try:
                peer = _Peer(self._listener.accept())
            except OSError as error:
                if self._closed.is_set():
                    return
                _log.warning("a connection could not be accepted: %s", error)
                self._closed.wait(_ACCEPT_AGAIN_S)
                continue
            with self._lock:
                self._peers.add(peer)
                self._unproven[peer] = time.monotonic()
            if self._closed.is_set():
                peer.end()
            threading.Thread(target=self._serve, args=(peer,), name="wiesel-control-read", daemon=True).start()

    def _serve(self, peer: _Peer) -> None:
        """Read the messages of a task to the end, in a thread from the first byte on, as an unauthenticated peer may send nothing."""
        known: list[tuple[int, TaskKey]] = []
        try:
            if self._proves_itself(peer):
                self._no_longer_unproven(peer)
                self._read(peer, known)
        finally:
            self._no_longer_unproven(peer)
            with self._lock:
                self._peers.discard(peer)
                for task in known:
                    if self._tasks.get(task) is peer:
                        del self._tasks[task]
                    self._ended.add(task)
                    self._task_ended.notify_all()
            peer.close()
            for task in known:
                if not self._closed.is_set():
                    self._lost(*task)

    def _proves_itself(self, peer: _Peer) -> bool:
        connection = peer.connection
        try:
            _no_delay(connection)
            _wait_at_most(connection, socket.SO_RCVTIMEO, self._patience_s)
            _wait_at_most(connection, socket.SO_SNDTIMEO, self._patience_s)
            deliver_challenge(connection, self._token)
            answer_challenge(connection, self._token)
            _wait_at_most(connection, socket.SO_RCVTIMEO, 0)
        except Exception as error:  # noqa: BLE001 - whatever an unauthenticated peer sends, it must not end the service
            if not self._closed.is_set():
                _log.warning("refused a connection: %s", error)
            return False
        return True

    def _read(self, peer: _Peer, known: list[tuple[int, TaskKey]]) -> None:
        try:
            while True:
                attempt, message = pickle.loads(peer.connection.recv_bytes())
                if isinstance(message, RegisterTask):
                    with self._lock:
                        known.append((attempt, message.task))
                        self._tasks[attempt, message.task] = peer
                self._deliver(attempt, message)
        except (EOFError, OSError):
            pass  # the task has ended or died; its end is reported by the caller
        except Exception:  # noqa: BLE001 - of a user's class; the task ends with the connection
            _log.exception("a message of %s cannot be read", known)

    def send(self, attempt: int, task: TaskKey, message: ToTask) -> None:
        """Send a message to a task; it is dropped if the task is gone (reported by ``lost``)."""
        with self._lock:
            peer = self._tasks.get((attempt, task))
        if peer is not None:
            peer.send(code_pickling.dumps(message))

    def wait_until_heard(self, attempt: int, tasks: Iterable[TaskKey], timeout_s: float) -> bool:
        """Wait until every message of these ended tasks of an attempt has been delivered.

        Args:
            attempt: The attempt.
            tasks: Tasks that have registered, or will: the last messages of an ended task may still be in flight.
            timeout_s: Timeout in seconds: a process that was killed may never have registered.

        Returns:
            True if all messages of ``tasks`` have been delivered.
        """
        wanted = {(attempt, task) for task in tasks}
        with self._task_ended:
            return self._task_ended.wait_for(lambda: wanted <= self._ended, timeout_s)

    def registered(self, attempt: int, tasks: Iterable[TaskKey]) -> set[TaskKey]:
        """Return which of these tasks of the attempt have registered, including ended ones."""
        with self._lock:
            return {task for task in tasks if (attempt, task) in self._ended or (attempt, task) in self._tasks}

    def forget(self, attempt: int, tasks: Iterable[TaskKey]) -> None:
        """Drop the records of these tasks of an attempt."""
        with self._lock:
            self._ended.difference_update((attempt, task) for task in tasks)

    def close(self) -> None:
        """Stop the service; remaining tasks notice and end themselves."""
        self._closed.set()
        try:
            # Wake the accepting thread: closing the socket alone would not, and it would listen on.
            socket.create_connection(self._listener.address, timeout=_WAKE_S).close()
            self._accepting.join(_WAKE_S)
        except OSError as error:
            _log.debug("the control service was closed already: %s", error)
        self._listener.close()
        with self._lock:
            peers = list(self._peers)
        for peer in peers:
            peer.end()


class ControlClient:
    """A task's end of the connection. ``send`` is thread-safe.

    Args:
        address: The JobMaster's host and port.
        token: The secret of the job.
        attempt: The attempt that the task belongs to.
        patience_s: Timeout (s) of a silent JobMaster.

    Raises:
        OSError: If the JobMaster is gone or silent.
    """

    def __init__(self, address: tuple[str, int], token: bytes, attempt: int, *, patience_s: float) -> None:
        self._connection = Client(address)
        self._attempt = attempt
        self._patience_s = patience_s
        self._lock = threading.Lock()
        _no_delay(self._connection)
        _wait_at_most(self._connection, socket.SO_RCVTIMEO, patience_s)
        answer_challenge(self._connection, token)
        deliver_challenge(self._connection, token)

    def send(self, message: FromTask) -> None:
        """Send a message to the JobMaster.

        Raises:
            OSError: If the JobMaster is gone.
        """
        data = code_pickling.dumps((self._attempt, message))
        with self._lock:
            self._connection.send_bytes(data)

    def receive(self) -> ToTask:
        """Wait for the next message.

        Raises:
            EOFError, OSError: If the JobMaster is gone or silent.
        """
        try:
            message: ToTask = pickle.loads(self._connection.recv_bytes())
        except BlockingIOError:
            raise TimeoutError(f"the JobMaster has been silent for {self._patience_s:.3g} s") from None
        return message

    def end(self) -> None:
        """Stop sending: once the JobMaster has read everything it ends its side, and a thread in ``receive`` gets EOFError.

        Closing immediately would let TCP reset the connection if a message of the JobMaster were unread here, and a reset discards data
        that the JobMaster has not read yet.
        """
        _shut_down(self._connection, socket.SHUT_WR)

    def close(self) -> None:
        """End the connection; a thread that waits in ``receive`` gets EOFError."""
        _shut_down(self._connection)
        with self._lock:
            self._connection.close()
