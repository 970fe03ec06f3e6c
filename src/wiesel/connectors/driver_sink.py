"""Internal. Sinks that send records to the process that started the job: print and collect.

Their writers pass payloads to ``context.to_driver(channel, payload)``. The engine delivers the payloads of a subtask, in order and before
the result of the job is known, to the receiver created by :meth:`DriverSink.create_receiver`, and notifies it of checkpoints. Payloads
written before a checkpoint's barrier are delivered before the checkpoint is reported as complete.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from wiesel.core.errors import InvariantError
from wiesel.spi.sink import Sink, WriterInitContext

__all__ = ["DriverReceiver", "DriverSink", "driver_channel"]


class DriverReceiver:
    """The driver's end of a channel. Calls may come from any thread, one at a time; they must return quickly."""

    def receive(self, payload: Any) -> None:
        """Process a payload of a writer."""

    def checkpoint_complete(self, checkpoint_id: int) -> None:
        """The checkpoint is complete and will be used for recovery."""

    def restored(self, checkpoint_id: int, attempt: int) -> None:
        """Handle a restart as ``attempt`` from this checkpoint (0: from the beginning); payloads of older attempts are obsolete."""

    def finished(self) -> None:
        """Handle the end of the job; all payloads have been delivered."""

    def failed(self, error: BaseException) -> None:
        """Handle the failure or cancellation of the job; no more payloads will be delivered."""


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
    """Return the function of a writer that sends to the driver.

    Raises:
        InvariantError: If the engine does not support it.
    """
    if context.to_driver is None:
        raise InvariantError("this engine gives writers no way to the driver, which print and collect need")
    return context.to_driver
