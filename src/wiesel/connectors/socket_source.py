"""Text from a socket, like Flink's ``socketTextStream``; with a write-ahead log data is not lost once it was read."""

from __future__ import annotations

import contextlib
import select
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from wiesel.connectors.write_ahead_log import BEGINNING, LogPosition, WriteAheadLog
from wiesel.core.errors import ConnectorError, ProgramError
from wiesel.spi.source import (
    Boundedness,
    RecordsBySplits,
    Source,
    SourceReader,
    SourceReaderBase,
    SourceReaderContext,
    SplitEnumerator,
    SplitEnumeratorContext,
    SplitReader,
    SplitRecords,
)
from wiesel.types.typeinfo import BasicType, BasicTypeInfo, TypeInformation

__all__ = ["SocketSource"]

_CHUNK_BYTES = 64 << 10
_RETRY_AFTER_S = 0.5
_SPLIT_ID = "socket"


@dataclass(frozen=True)
class SocketSplit:
    """All of the data. The log up to ``position`` has been emitted."""

    position: LogPosition = BEGINNING

    @property
    def split_id(self) -> str:
        """Return the split's name."""
        return _SPLIT_ID


class SocketSource(Source[SocketSplit]):
    """Strings from a TCP server, to which this source connects; one subtask reads, whatever the parallelism.

    A connection closed by the server is reopened up to ``max_retries`` times in total, every half second; then the source ends, with the
    remaining data as the last string. An unreachable server fails the job, whose restart strategy applies.

    A socket cannot repeat its data. With ``log`` each string is written to a folder, durably, before it is emitted, and after a failure the
    job reads it from there: all data read from the connection is processed exactly once. Data received by the operating system for a killed
    process is lost, as the sender gets no acknowledgement. The folder belongs to one source of one job; a job that starts without a
    checkpoint reads its contents first.

    Args:
        host: Name or address of the server.
        port: Its port.
        delimiter: Delimiter of strings. With a line feed, a preceding carriage return is removed as well.
        max_retries: Number of reconnections, -1 for unlimited.
        log: Folder of the write-ahead log, accessible by all workers; None for no log.
        log_retention: Number of completed checkpoints for which the log is retained; older ones (and savepoints) can no longer be restored.

    Raises:
        ProgramError: If an argument is invalid.
    """

    def __init__(
        self,
        host: str,
        port: int,
        delimiter: str = "\n",
        max_retries: int = 0,
        *,
        log: str | None = None,
        log_retention: int = 10,
    ) -> None:
        if not 0 < port < 65536:
            raise ProgramError(f"SocketSource: port is {port}", hint="give a number from 1 to 65535")
        if not delimiter:
            raise ProgramError("SocketSource: delimiter is empty", hint="give the characters that end a text")
        if max_retries < -1:
            raise ProgramError(f"SocketSource: max_retries is {max_retries}", hint="give a number of times, or -1 for ever")
        if log is not None and "://" in log:
            raise ProgramError(f"SocketSource: log is {log}", hint="give a local folder, or one that all workers have mounted")
        if log_retention < 1:
            raise ProgramError(f"SocketSource: log_retention is {log_retention}", hint="give a number of checkpoints, at least 1")
        self._address = host, port
        self._delimiter = delimiter.encode()
        self._max_retries = max_retries
        self._log = log
        self._log_retention = log_retention

    @property
    def boundedness(self) -> Boundedness:
        """Return CONTINUOUS_UNBOUNDED, though the server may end it."""
        return Boundedness.CONTINUOUS_UNBOUNDED

    @property
    def produced_type(self) -> TypeInformation:
        """Return ``Types.STRING()``."""
        return BasicTypeInfo(BasicType.STRING)

    def create_enumerator(self, context: SplitEnumeratorContext[SocketSplit], state: Any | None = None) -> SplitEnumerator[SocketSplit]:
        """Create the enumerator, which has one split."""
        return _SocketEnumerator(context, [SocketSplit()] if state is None else state)

    def create_reader(self, context: SourceReaderContext) -> SourceReader[SocketSplit]:
        """Create the reader of one subtask."""
        log = None if self._log is None else WriteAheadLog(self._log)

        def split_reader() -> _SocketSplitReader:
            return _SocketSplitReader(_Connection(self._address, self._delimiter, self._max_retries), log)

        return _SocketReader(context, split_reader, log, self._log_retention)


class _SocketEnumerator(SplitEnumerator[SocketSplit]):
    def __init__(self, context: SplitEnumeratorContext[SocketSplit], splits: Sequence[SocketSplit]) -> None:
        self._context = context
        self._splits = list(splits)

    def add_reader(self, subtask: int) -> None:
        if self._splits:
            self._context.assign_splits({subtask: self._splits})
            self._splits = []
        self._context.signal_no_more_splits(subtask)

    def snapshot_state(self, checkpoint_id: int) -> list[SocketSplit]:
        return list(self._splits)


class _Connection:
    """The client's side, which blocks until there is something to read or ``wake_up`` is called."""

    def __init__(self, address: tuple[str, int], delimiter: bytes, max_retries: int) -> None:
        self._address = address
        self._delimiter = delimiter
        self._retries_left = max_retries
        self._socket: socket.socket | None = None
        self._connected = False
        self._not_before_s = 0.0
        self._rest = b""
        self.ended = False

    def open(self) -> None:
        """Prepare for wake-ups."""
        self._woken, self._waker = socket.socketpair()
        self._waker.setblocking(False)

    def wake_up(self) -> None:
        """Have a read that blocks return. Any thread may call it."""
        with contextlib.suppress(OSError):  # enough wake-ups wait, or the connection was closed
            self._waker.send(b"x")

    def read(self) -> list[str]:
        """Return the received strings; none if it was woken up, or if the connection was closed."""
        client = self._client()
        if client is None or not self._wait(client, select.POLLIN):
            return []
        try:
            data = client.recv(_CHUNK_BYTES)
        except OSError:
            data = b""  # a connection that was reset has ended, as for Flink
        if not data:
            return self._closed()
        *strings, self._rest = (self._rest + data).split(self._delimiter)
        return list(map(self._text, strings))

    def _wait(self, client: socket.socket | None, events: int, timeout_ms: float | None = None) -> bool:
        """Wait for an event of the connection; return False if it was woken up, or the timeout has passed."""
        waiting = select.poll()
        waiting.register(self._woken, select.POLLIN)
        if client is not None:
            waiting.register(client, events)
        ready = dict(waiting.poll(timeout_ms))
        if self._woken.fileno() in ready:
            self._woken.recv(_CHUNK_BYTES)
            return False
        return bool(ready)

    def _client(self) -> socket.socket | None:
        """Return the socket when it is connected, or None if it was woken up before."""
        if self._connected:
            return self._socket
        if self._socket is None:
            wait_ms = (self._not_before_s - time.monotonic()) * 1e3
            if wait_ms > 0:
                self._wait(None, 0, wait_ms)
                return None
            self._socket = self._connecting()
        if not self._wait(self._socket, select.POLLOUT):
            return None
        if error := self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            raise self._unreachable(OSError(error, "connection failed"))
        self._connected = True
        return self._socket

    def _connecting(self) -> socket.socket:
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(*self._address, type=socket.SOCK_STREAM)[0]
            client = socket.socket(family, kind, protocol)
            client.setblocking(False)
            client.connect_ex(address)
        except OSError as error:
            raise self._unreachable(error) from error
        return client

    def _unreachable(self, error: OSError) -> ConnectorError:
        host, port = self._address
        return ConnectorError(f"no connection to {host}:{port}: {error}", hint="start the server before the job")

    def _closed(self) -> list[str]:
        self._hang_up()
        if self._retries_left:
            self._retries_left -= self._retries_left > 0
            self._not_before_s = time.monotonic() + _RETRY_AFTER_S
            return []
        self.ended = True
        rest, self._rest = self._rest, b""
        return [self._text(rest)] if rest else []

    def _text(self, data: bytes) -> str:
        if self._delimiter == b"\n":
            data = data.removesuffix(b"\r")
        return data.decode("utf-8", "replace")

    def _hang_up(self) -> None:
        if self._socket is not None:
            self._socket.close()
        self._socket, self._connected = None, False

    def close(self) -> None:
        """Close the connection for good."""
        self._hang_up()
        self._woken.close()
        self._waker.close()


class _SocketSplitReader(SplitReader[SocketSplit]):
    """Returns the strings of the log behind the position, then those of the connection, which it logs before."""

    def __init__(self, connection: _Connection, log: WriteAheadLog | None) -> None:
        self._connection = connection
        self._log = log
        self._again: Iterator[tuple[LogPosition, list[str]]] = iter(())

    def open(self) -> None:
        self._connection.open()

    def handle_splits_changes(self, additions: Sequence[SocketSplit], removals: Sequence[str]) -> None:
        for split in additions:
            if self._log is not None:
                self._again = self._log.after(split.position)

    def fetch(self) -> RecordsBySplits:
        found = next(self._again, None)
        if found is not None:
            return RecordsBySplits([SplitRecords(_SPLIT_ID, found[1], found[0])])
        strings = self._connection.read()
        finished = [_SPLIT_ID] if self._connection.ended else []
        if not strings:
            return RecordsBySplits((), finished)
        position = None if self._log is None else self._log.append(strings)
        return RecordsBySplits([SplitRecords(_SPLIT_ID, strings, position)], finished)

    def wake_up(self) -> None:
        self._connection.wake_up()

    def close(self) -> None:
        self._connection.close()
        if self._log is not None:
            self._log.close()


class _SocketReader(SourceReaderBase[SocketSplit]):
    """Deletes what completed checkpoints no longer need of the log."""

    def __init__(
        self, context: SourceReaderContext, make: Callable[[], _SocketSplitReader], log: WriteAheadLog | None, retention: int
    ) -> None:
        super().__init__(context, make)
        self._log = log
        self._positions_at: dict[int, LogPosition] = {}
        self._completed: deque[LogPosition] = deque(maxlen=retention)

    def snapshot_state(self, checkpoint_id: int) -> list[SocketSplit]:
        splits = super().snapshot_state(checkpoint_id)
        if splits:
            self._positions_at[checkpoint_id] = splits[0].position
        return splits

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        if self._log is None or checkpoint_id not in self._positions_at:
            return
        self._completed.append(self._positions_at[checkpoint_id])
        self._positions_at = {number: position for number, position in self._positions_at.items() if number > checkpoint_id}
        if len(self._completed) == self._completed.maxlen:
            self._log.prune(self._completed[0])
