"""Collected results of a stream of a job under test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wiesel.connectors.collect_sink import Collected
from wiesel.connectors.driver_sink import DriverReceiver, DriverSink, driver_channel
from wiesel.spi.sink import SinkWriter, WriterInitContext
from wiesel.testing.events import Record

__all__ = ["CollectedStream"]


class CollectedStream:
    """The records of a stream, as an exactly-once sink would receive them.

    After a failure records that came after the restored checkpoint are dropped, as the job emits them again. They are in the order
    in which they came; those of one subtask keep their order.
    """

    def __init__(self, receiver: _Receiver) -> None:
        self._receiver = receiver

    @property
    def records(self) -> list[Record]:
        """All records so far, with timestamps."""
        return [record for collected in self._receiver.collected for record in collected.values]

    @property
    def values(self) -> list[Any]:
        """The values of all records so far."""
        return [record.value for record in self.records]

    @property
    def committed(self) -> list[Any]:
        """The values made final by a checkpoint (or the end of the job): no failure drops them."""
        until = self._receiver.committed_until
        return [record.value for c in self._receiver.collected if until is None or c.epoch < until for record in c.values]


class _Receiver(DriverReceiver):
    """Collects results, and drops those that a restart will repeat."""

    def __init__(self) -> None:
        self.collected: list[Collected] = []
        self.committed_until: int | None = 0
        """The newest complete checkpoint; None when the job has finished."""
        self._attempt = 0

    def receive(self, payload: Collected) -> None:
        if payload.attempt >= self._attempt:
            self.collected.append(payload)

    def checkpoint_complete(self, checkpoint_id: int) -> None:
        self.committed_until = checkpoint_id

    def restored(self, checkpoint_id: int, attempt: int) -> None:
        self._attempt = attempt
        self.committed_until = checkpoint_id
        self.collected = [c for c in self.collected if c.epoch < checkpoint_id]

    def finished(self) -> None:
        self.committed_until = None


class CollectingSink(DriverSink):
    """Internal. Brings records with their timestamps to the receiver.

    Args:
        channel: Name of the channel, unique in the job.
        receiver: Where they arrive; stays with the test.
    """

    def __init__(self, channel: str, receiver: _Receiver | None = None) -> None:
        self.channel = channel
        self.receiver = _Receiver() if receiver is None else receiver

    def create_writer(self, context: WriterInitContext, state: Sequence[Any] = ()) -> SinkWriter:
        """Create the writer of one subtask."""
        return _Writer(context, self.channel)

    def create_receiver(self) -> DriverReceiver:
        """Return the receiver."""
        return self.receiver

    def __reduce__(self) -> tuple[Any, ...]:
        return CollectingSink, (self.channel,)


class _Writer(SinkWriter):
    def __init__(self, context: WriterInitContext, channel: str) -> None:
        self._context = context
        self._send = driver_channel(context)
        self._channel = channel
        self._epoch = context.restored_checkpoint_id

    def write_batch(self, values: list[Any], timestamps: list[int] | None) -> None:
        records = [Record(v) for v in values] if timestamps is None else list(map(Record, values, timestamps))
        self._send(self._channel, Collected(self._context.subtask_index, self._context.attempt, self._epoch, records))

    def flush(self, end_of_input: bool) -> None:
        # Every batch has been sent already.
        return

    def snapshot_state(self, checkpoint_id: int) -> Any:
        self._epoch = checkpoint_id
        return None
