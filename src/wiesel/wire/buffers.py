"""Internal. Buffers: the unit of an exchange. A row of the exchange is a sequence of buffers for tasks behind the same partition.

Layout of a buffer, little endian: target level u16, target partition u32, edge u16, source subtask u32, kind u8, sequence u32, payload
length u32, payload. The sequence number counts the buffers of a channel and is checked by the receiver, which detects lost, repeated and
reordered buffers.
"""

from __future__ import annotations

import pickle
import struct
from array import array
from collections.abc import Iterator
from typing import Any, NamedTuple

from wiesel.core import code_pickling
from wiesel.core.errors import SerializationError, invariant
from wiesel.core.unpicklable import why_not_pickled
from wiesel.wire.batch import Batch
from wiesel.wire.events import Barrier, EndOfInput, Event, IterationBarrier, LatencyMarker, SavepointOptions, StreamStatus, Watermark

_HEADER = struct.Struct("<HIHIBII")
HEADER_BYTES = _HEADER.size
_WATERMARK = struct.Struct("<q")
_BARRIER = struct.Struct("<qqB")
_SAVEPOINT, _STOP, _DRAIN = 1, 2, 4
_LATENCY = struct.Struct("<q")
_ITERATION = struct.Struct("<qq")

DATA, WATERMARK, BARRIER, STATUS, END, LATENCY, ITERATION = range(7)


class Buffer(NamedTuple):
    """A buffer as read from a row; ``raw`` is the whole buffer with its header, for relays."""

    level: int
    partition: int
    edge: int
    source: int
    kind: int
    sequence: int
    payload: memoryview
    raw: memoryview


def header(level: int, partition: int, edge: int, source: int, kind: int, sequence: int, length: int) -> bytes:
    """Pack a buffer's header."""
    return _HEADER.pack(level, partition, edge, source, kind, sequence & 0xFFFFFFFF, length)


def read_buffers(row: bytes | memoryview) -> Iterator[Buffer]:
    """Yield the buffers of a row; payloads are views into it."""
    view = memoryview(row)
    at, end = 0, len(view)
    while at < end:
        level, partition, edge, source, kind, sequence, length = _HEADER.unpack_from(view, at)
        stop = at + HEADER_BYTES + length
        invariant(stop <= end, "a row of the exchange ends inside a buffer")
        yield Buffer(level, partition, edge, source, kind, sequence, view[at + HEADER_BYTES : stop], view[at:stop])
        at = stop


def encode_batch(batch: Batch) -> bytes:
    """Serialise the records of a batch: one pickle for all, timestamps packed as 64-bit integers where all records have one.

    Raises:
        SerializationError: If a record cannot be pickled.
    """
    times: Any = batch.timestamps
    if times is not None:
        try:
            times = array("q", times).tobytes()
        except TypeError:
            times = list(times)  # some records have no timestamp
    record = (batch.values, times, batch.keys)
    try:
        return pickle.dumps(record, 5)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001, S110 - whatever pickling meets, also in methods of the user's classes
        # Instances of local classes and lambdas in records: slower, but they can be sent.
        pass
    try:
        return code_pickling.dumps(record)
    except Exception as error:
        problem, hint = why_not_pickled(batch.values, error)
        raise SerializationError(f"a record cannot be sent to the next operator: {problem}", hint=hint) from error


def decode_batch(payload: bytes | memoryview) -> Batch:
    """Decode a batch."""
    values, times, keys = pickle.loads(payload)
    if isinstance(times, bytes):
        packed = array("q")
        packed.frombytes(times)
        times = packed.tolist()
    return Batch(values, times, keys)


def encode_event(event: Event) -> tuple[int, bytes]:
    """Return the kind and payload of an event."""
    if isinstance(event, Watermark):
        return WATERMARK, _WATERMARK.pack(event.timestamp)
    if isinstance(event, Barrier):
        return BARRIER, _encode_barrier(event)
    if isinstance(event, StreamStatus):
        return STATUS, b"\x01" if event is StreamStatus.IDLE else b"\x00"
    if isinstance(event, EndOfInput):
        return END, b""
    if isinstance(event, IterationBarrier):
        return ITERATION, _ITERATION.pack(event.iteration, event.round)
    return LATENCY, _LATENCY.pack(event.marked_ms) + event.operator_id.encode()


def _encode_barrier(barrier: Barrier) -> bytes:
    options = barrier.savepoint
    if options is None:
        return _BARRIER.pack(barrier.checkpoint_id, barrier.timestamp_ms, 0)
    flags = _SAVEPOINT | (_STOP if options.stop else 0) | (_DRAIN if options.drain else 0)
    return _BARRIER.pack(barrier.checkpoint_id, barrier.timestamp_ms, flags) + options.directory.encode()


def _decode_barrier(payload: memoryview) -> Barrier:
    checkpoint_id, timestamp_ms, flags = _BARRIER.unpack_from(payload)
    if not flags:
        return Barrier(checkpoint_id, timestamp_ms)
    directory = bytes(payload[_BARRIER.size :]).decode()
    return Barrier(checkpoint_id, timestamp_ms, SavepointOptions(directory, bool(flags & _STOP), bool(flags & _DRAIN)))


def decode_event(kind: int, payload: memoryview) -> Event:
    """Decode an event."""
    if kind == WATERMARK:
        return Watermark(_WATERMARK.unpack(payload)[0])
    if kind == BARRIER:
        return _decode_barrier(payload)
    if kind == STATUS:
        return StreamStatus.IDLE if payload[0] else StreamStatus.ACTIVE
    if kind == END:
        return EndOfInput()
    if kind == ITERATION:
        return IterationBarrier(*_ITERATION.unpack(payload))
    invariant(kind == LATENCY, f"unknown kind of buffer {kind}")
    return LatencyMarker(_LATENCY.unpack(payload[:8])[0], bytes(payload[8:]).decode())
