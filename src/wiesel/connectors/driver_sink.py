"""Internal. Sinks whose records go back to the process that started the job: print and collect.

Their writers hand payloads to ``context.to_driver(channel, payload)``. The engine brings the payloads of a subtask, in order and
before the result of the job is known, to the receiver that :meth:`DriverSink.create_receiver` made there, and tells it what
happens to checkpoints. Payloads written before a checkpoint's barrier arrive before the checkpoint is reported as complete.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from wiesel.core.errors import InvariantError
from wiesel.spi.sink import Sink, WriterInitContext

__all__ = ["DriverReceiver", "DriverSink", "driver_channel"]


class DriverReceiver:
    """The end of a channel in the driver. Calls may come from any thread, one at a time; they must return soon."""

    def receive(self, payload: Any) -> None:
        """Take what a writer has sent."""

    def checkpoint_complete(self, checkpoint_id: int) -> None:
        """The checkpoint is complete and will be used for recovery."""

    def restored(self, checkpoint_id: int, attempt: int) -> None:
        """The job starts again as ``attempt`` from this checkpoint (0: from the beginning); older attempts send nothing of worth."""

    def finished(self) -> None:
        """The job has finished; all payloads have come."""

    def failed(self, error: BaseException) -> None:
        """The job has failed or was cancelled; no more payloads will come."""


class DriverSink(Sink):
    """A sink whose writers send to the driver.

    Attributes:
        channel: Name of the channel; sinks with one name share the first one's receiver.
    """

    channel: str

    @abstractmethod
    def create_receiver(self) -> DriverReceiver:
        """Return the receiver. Called once per job in the process that starts it, on the sink itself and not on an unpickled copy."""


def driver_channel(context: WriterInitContext) -> Callable[[str, Any], None]:
    """Return the function by which a writer sends to the driver.

    Raises:
        InvariantError: If the engine offers none.
    """
    if context.to_driver is None:
        raise InvariantError("this engine gives writers no way to the driver, which print and collect need")
    return context.to_driver
