"""Internal. Events of operators, which come past the channels, kept in order with the barriers of checkpoints.

A checkpoint is a cut through the job: nothing that happened before it may depend on something that happened after it. In the channels
that holds by alignment. An event that was sent behind barrier n but received before it would break it, so it waits here until the task
has taken checkpoint n, or knows that n was given up.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from wiesel.checkpoint.messages import EventToOperator

__all__ = ["OperatorEvents"]


class OperatorEvents:
    """Delivers the events of a task's operators in the order in which they came, none too early.

    Args:
        deliver: Gives an event to its operator.
        epoch: The checkpoint from which the task was restored, 0 if from none.
    """

    def __init__(self, deliver: Callable[[EventToOperator], None], epoch: int) -> None:
        self._deliver = deliver
        self._epoch = epoch
        self._held: deque[EventToOperator] = deque()

    @property
    def waiting(self) -> bool:
        """Whether an event waits for a barrier: the task has to take input then, or the barrier would not come."""
        return bool(self._held)

    def on_event(self, event: EventToOperator) -> None:
        """Take an event."""
        self._held.append(event)
        self._release()

    def passed(self, checkpoint_id: int) -> None:
        """The task has taken a checkpoint, or the checkpoint was given up."""
        if checkpoint_id > self._epoch:
            self._epoch = checkpoint_id
            self._release()

    def _release(self) -> None:
        while self._held and self._held[0].epoch <= self._epoch:
            self._deliver(self._held.popleft())
