"""Internal. Operator events, which bypass the channels, ordered relative to the barriers of checkpoints.

A checkpoint is a consistent cut: no event before it may depend on one after it. In the channels the alignment guarantees this. An event
that was sent after barrier n but received before it would violate it, so it waits here until the task has taken checkpoint n, or learns
that n was aborted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from wiesel.checkpoint.messages import EventToOperator

__all__ = ["OperatorEvents"]


class OperatorEvents:
    """Delivers the events of a task's operators in order of arrival, delayed as needed.

    Args:
        deliver: Passes an event to its operator.
        epoch: The checkpoint that the task was restored from, 0 if none.
    """

    def __init__(self, deliver: Callable[[EventToOperator], None], epoch: int) -> None:
        self._deliver = deliver
        self._epoch = epoch
        self._held: deque[EventToOperator] = deque()

    @property
    def waiting(self) -> bool:
        """True if an event waits for a barrier: the task must take input then, as the barrier would not arrive otherwise."""
        return bool(self._held)

    def on_event(self, event: EventToOperator) -> None:
        """Add an event."""
        self._held.append(event)
        self._release()

    def passed(self, checkpoint_id: int) -> None:
        """Deliver the events that waited for a checkpoint, which was taken or aborted."""
        if checkpoint_id > self._epoch:
            self._epoch = checkpoint_id
            self._release()

    def _release(self) -> None:
        while self._held and self._held[0].epoch <= self._epoch:
            self._deliver(self._held.popleft())
