"""Collect: returns the records of a stream to the program that started the job.

The time of returning a record depends on the handling of failures, because it cannot be retracted:

* *exactly once* (checkpoints on): a record is returned when a checkpoint covers it, so it is never repeated;
* *at least once* (checkpoints in that mode): immediately; after a failure some are repeated;
* *no restart* (checkpoints off): immediately; a restart would start from the beginning, so it is an error once records were returned.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from enum import Enum
from typing import Any, NamedTuple

from wiesel.connectors.driver_sink import DriverReceiver, DriverSink, driver_channel
from wiesel.core.errors import JobExecutionError
from wiesel.spi.sink import SinkWriter, WriterInitContext

__all__ = ["CollectDelivery", "CollectReceiver", "CollectResultBuffer", "CollectSink", "Collected"]


class Collected(NamedTuple):
    """Values sent to the driver. ``epoch``: the last checkpoint before them; the next one covers them."""

    subtask: int
    attempt: int
    epoch: int
    values: list[Any]


class CollectDelivery(Enum):
    """Condition for returning values; see the module's docstring."""

    EXACTLY_ONCE = 0
    AT_LEAST_ONCE = 1
    NO_RESTART = 2


class CollectResultBuffer:
    """Decides which values may be returned. Pure: it processes events, and never waits.

    Args:
        delivery: Condition for returning values.
    """

    def __init__(self, delivery: CollectDelivery) -> None:
        self._delivery = delivery
        self._pending: list[Collected] = []
        self._ready: deque[Any] = deque()
        self._attempt = 0
        self._taken = 0
        self._last_epoch = -1  # the newest epoch with ready values
        self._done = False
        self._error: BaseException | None = None

    def add(self, collected: Collected) -> None:
        """Add values; those of older attempts are dropped."""
        if self._done or collected.attempt < self._attempt:
            return
        if self._delivery is CollectDelivery.EXACTLY_ONCE:
            self._pending.append(collected)
        else:
            self._release(collected)

    def checkpoint_complete(self, checkpoint_id: int) -> None:
        """All values before this checkpoint are final."""
        covered = [c for c in self._pending if c.epoch < checkpoint_id]
        self._pending = [c for c in self._pending if c.epoch >= checkpoint_id]
        for collected in covered:
            self._release(collected)

    def restored(self, checkpoint_id: int, attempt: int) -> None:
        """Handle a new attempt from this checkpoint: later values will be repeated."""
        self._attempt = attempt
        self.checkpoint_complete(checkpoint_id)
        self._pending.clear()
        if self._delivery is CollectDelivery.NO_RESTART and not self._taken:
            self._ready.clear()
            return
        repeated = self._taken > 0 if self._delivery is CollectDelivery.NO_RESTART else self._last_epoch >= checkpoint_id
        if repeated and self._delivery is not CollectDelivery.AT_LEAST_ONCE:
            self.failed(_repeated(self._delivery, checkpoint_id))

    def finished(self) -> None:
        """The job has finished: all values are final."""
        for collected in self._pending:
            self._release(collected)
        self._pending.clear()
        self._done = True

    def failed(self, error: BaseException) -> None:
        """Handle a failed job: values that are not final are dropped."""
        if not self._done:
            self._pending.clear()
            self._done = True
            self._error = error

    def _release(self, collected: Collected) -> None:
        self._ready.extend(collected.values)
        self._last_epoch = max(self._last_epoch, collected.epoch)

    def take(self) -> list[Any]:
        """Return all values that may be returned now; empty if there are none."""
        values = list(self._ready)
        self._ready.clear()
        self._taken += len(values)
        return values

    def __len__(self) -> int:
        return len(self._ready)

    @property
    def done(self) -> bool:
        """Return whether no more values will become ready."""
        return self._done

    @property
    def error(self) -> BaseException | None:
        """Why the job did not finish."""
        return self._error


def _repeated(delivery: CollectDelivery, checkpoint_id: int) -> JobExecutionError:
    if delivery is CollectDelivery.NO_RESTART:
        return JobExecutionError(
            "the job was restarted from its beginning while its results were being collected, so results would come twice",
            hint="switch checkpoints on (env.enable_checkpointing), or restarts off (restart-strategy.type: none)",
        )
    return JobExecutionError(
        f"the job went back to checkpoint {checkpoint_id}, but results of later checkpoints have been handed out and would come twice",
        hint="look in the log for why newer checkpoints could not be used",
    )


class CollectReceiver(DriverReceiver):
    """The buffer with a lock and a way to wait for values."""

    def __init__(self, delivery: CollectDelivery) -> None:
        self._buffer = CollectResultBuffer(delivery)
        self._changed = threading.Condition()

    def receive(self, payload: Collected) -> None:
        """Add values."""
        with self._changed:
            self._buffer.add(payload)
            self._changed.notify_all()

    def checkpoint_complete(self, checkpoint_id: int) -> None:
        """All values before this checkpoint are final."""
        with self._changed:
            self._buffer.checkpoint_complete(checkpoint_id)
            self._changed.notify_all()

    def restored(self, checkpoint_id: int, attempt: int) -> None:
        """A new attempt starts from this checkpoint."""
        with self._changed:
            self._buffer.restored(checkpoint_id, attempt)
            self._changed.notify_all()

    def finished(self) -> None:
        """The job has finished."""
        with self._changed:
            self._buffer.finished()
            self._changed.notify_all()

    def failed(self, error: BaseException) -> None:
        """The job has failed."""
        with self._changed:
            self._buffer.failed(error)
            self._changed.notify_all()

    def take(self, timeout_s: float) -> list[Any] | None:
        """Wait for values and return all of them; an empty list after the timeout, None if there will be no more.

        Raises:
            BaseException: The failure of the job, once all values that may be returned have been.
        """
        with self._changed:
            self._changed.wait_for(lambda: len(self._buffer) or self._buffer.done, timeout_s)
            values = self._buffer.take()
            if values or not self._buffer.done:
                return values
            if self._buffer.error is not None:
                raise self._buffer.error
            return None


class CollectSink(DriverSink):
    """Sends records to the driver.

    Args:
        channel: Name of the channel, unique in the job.
        receiver: Their receiver; stays in the process that created the sink.
    """

    def __init__(self, channel: str, receiver: CollectReceiver | None = None) -> None:
        self.channel = channel
        self.receiver = receiver

    def create_writer(self, context: WriterInitContext, state: Sequence[Any] = ()) -> SinkWriter:
        """Create the writer of one subtask."""
        return _CollectWriter(context, self.channel)

    def create_receiver(self) -> DriverReceiver:
        """Return the given receiver; one that drops all values in other processes."""
        return self.receiver or DriverReceiver()

    def __getstate__(self) -> dict[str, Any]:
        return {"channel": self.channel, "receiver": None}


class _CollectWriter(SinkWriter):
    def __init__(self, context: WriterInitContext, channel: str) -> None:
        self._context = context
        self._send = driver_channel(context)
        self._channel = channel
        self._epoch = context.restored_checkpoint_id

    def write_batch(self, values: list[Any], timestamps: list[int] | None) -> None:
        context = self._context
        self._send(self._channel, Collected(context.subtask_index, context.attempt, self._epoch, values))

    def flush(self, end_of_input: bool) -> None:
        # Every batch has been sent already.
        return

    def snapshot_state(self, checkpoint_id: int) -> Any:
        self._epoch = checkpoint_id
        return None
