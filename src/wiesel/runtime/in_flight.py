"""Internal. Channel state of unaligned checkpoints: buffers in flight to a task, written next to its state and redistributed at a restore.

They are stored as received. At another parallelism each new subtask gets the buffers of all old ones that may contain records for it and
selects its own; watermarks are dropped then, as buffers of several channels are read in sequence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import compress

from wiesel.runtime.descriptor import InputEdge, RestoredEdge, TaskDescriptor
from wiesel.state.backend import StateFileReader, StateFileWriter, StateHandle
from wiesel.state.key_groups import ChannelSelector
from wiesel.wire.batch import Batch
from wiesel.wire.buffers import DATA, Buffer, decode_batch, encode_batch, header, read_buffers

KIND = "in-flight"
_VERSION = 1


def data_buffer(edge: int, source: int, payload: bytes | memoryview, kind: int = DATA) -> Buffer:
    """Return a data buffer that was not received over the exchange."""
    row = header(0, 0, edge, source, kind, 0, len(payload)) + bytes(payload)
    return next(read_buffers(row))


def rest_of_buffer(edge: int, source: int, rest: Batch) -> Buffer:
    """Return the unprocessed records of a buffer as another buffer."""
    return data_buffer(edge, source, encode_batch(rest))


class InFlightSnapshot:
    """Buffers to be stored in a checkpoint (a ``SnapshotTask``)."""

    def __init__(self, buffers: list[Buffer], edges: tuple[InputEdge, ...]) -> None:
        self._buffers = buffers
        self._edges = edges
        self.bytes = sum(len(b.raw) for b in buffers)

    def run(self, writer: StateFileWriter) -> StateHandle:
        """Write them; called once, from any thread."""
        file = writer.write(KIND, [b.raw for b in self._buffers])
        edges = [[e.edge, e.operator_id, e.side_tag, e.input_index, e.kind, e.sources] for e in self._edges]
        return StateHandle((file,), 0, 0, {"kind": KIND, "version": _VERSION, "edges": edges})


def edges_of(handle: StateHandle) -> Iterator[InputEdge]:
    """Yield the incoming edges of the buffers of a handle."""
    for edge, operator_id, side_tag, input_index, kind, sources in handle.meta["edges"]:
        yield InputEdge(edge, operator_id, side_tag, input_index, kind, sources)


def restored_buffers(descriptor: TaskDescriptor, reader: StateFileReader) -> Iterator[Buffer]:
    """Yield the buffers that a task has to process first."""
    vertex = descriptor.vertex
    subtask_of = ChannelSelector(vertex.max_parallelism, vertex.parallelism)
    for part in descriptor.in_flight:
        for buffer in read_buffers(reader.read(part.handle.files[0])):
            edge = part.edges.get(buffer.edge)
            if edge is None:
                continue
            if not edge.rescaled:
                yield data_buffer(edge.edge, buffer.source, buffer.payload, buffer.kind)
            elif buffer.kind == DATA:
                yield from _own_part(buffer, edge, descriptor.subtask, subtask_of)


def _own_part(buffer: Buffer, edge: RestoredEdge, subtask: int, subtask_of: ChannelSelector) -> Iterable[Buffer]:
    source = buffer.source % edge.sources
    if not edge.by_key:
        return (data_buffer(edge.edge, source, buffer.payload),)
    batch = decode_batch(buffer.payload)
    if edge.columns is not None:
        from wiesel.runtime.table.exchange import rows_of_channel  # loads Arrow

        rows = rows_of_channel(batch.values, edge.columns, subtask, subtask_of)
        return (rest_of_buffer(edge.edge, source, Batch(rows)),) if rows else ()
    keys = batch.keys or []
    own = [target == subtask for target in subtask_of.channels(keys)]
    if not any(own):
        return ()
    times = None if batch.timestamps is None else list(compress(batch.timestamps, own))
    kept = Batch(list(compress(batch.values, own)), times, list(compress(keys, own)))
    return (rest_of_buffer(edge.edge, source, kept),)
