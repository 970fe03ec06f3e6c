"""Internal. The coordinator of a streaming loop: relays the feedback, and proves that the loop is empty.

The proof. When the input of all heads has ended:

    Step 1. Every head emits the iteration barrier of round k, and reports the number of feedback entries processed before.
    Step 2. The barrier passes through the loop after all earlier records; every tail reports the number of entries received before.
    Step 3. If these numbers are equal for each head and its tail, the loop is empty. If not, round k + 1 follows, in which each head first
    processes the entries received by its tail.

Correctness: take the first record that a head emits after barrier k. It results from an entry that this head had not processed when it
emitted the barrier, so, by the equality, from one that the tail received after the barrier; that one results from a record that some head
emitted after barrier k, earlier than the first. So there is none, and all records emitted before the barrier have left the loop.

A nested loop is proven empty each time a barrier of the outer loop reaches its heads, which hold it back until then. Input may continue
meanwhile: the same argument, applied to records caused by input before the round, shows that those have left.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wiesel.core.logs import get_logger
from wiesel.runtime.feedback.messages import (
    BarrierArrived,
    BarrierSent,
    Feedback,
    FeedbackTaken,
    HeadEnded,
    InputEnded,
    InputPaused,
    LoopEmpty,
    LoopFlushed,
    SendBarrier,
    TailEnded,
)

__all__ = ["LoopCoordinator"]

_log = get_logger("wiesel.iteration")


class LoopCoordinator:
    """One loop in one attempt.

    Args:
        name: Name of the head.
        parallelism: Number of heads, which is that of tails.
    """

    def __init__(self, name: str, parallelism: int) -> None:
        self._name = name
        self._subtasks = range(parallelism)
        self._ended: set[int] = set()
        self._paused: set[int] = set()
        self._proving = False
        self._final = False
        self._taken: dict[int, int] = {}
        self._received: dict[int, int] = {}
        self._last_taken: dict[int, int] = {}
        self._last_received: dict[int, int] = {}
        self.round = 0

    def on_event(self, role: str, subtask: int, event: Any) -> Iterable[tuple[str, int, Any]]:
        """See ``OperatorCoordinator``."""
        if isinstance(event, Feedback):
            return [("head", subtask, event)]
        if isinstance(event, FeedbackTaken):
            return [("tail", subtask, event)]
        if isinstance(event, InputEnded | InputPaused):
            (self._ended if isinstance(event, InputEnded) else self._paused).add(subtask)
            return self._begin()
        if isinstance(event, BarrierSent) and event.round == self.round:
            self._taken[subtask] = event.taken
        elif isinstance(event, BarrierArrived) and event.round == self.round:
            self._received[subtask] = event.entries
        elif isinstance(event, HeadEnded):
            self._last_taken[subtask] = event.taken
            self._warn_of_lost(subtask)
        elif isinstance(event, TailEnded):
            self._last_received[subtask] = event.entries
            self._warn_of_lost(subtask)
        return self._judge()

    def _begin(self) -> list[tuple[str, int, Any]]:
        if self._proving or len(self._ended | self._paused) < len(self._subtasks):
            return []
        self._proving = True
        return self._begin_round(dict.fromkeys(self._subtasks, 0))

    def _begin_round(self, after: dict[int, int]) -> list[tuple[str, int, Any]]:
        self.round += 1
        self._taken, self._received = {}, {}
        self._final = len(self._ended) == len(self._subtasks)
        return [("head", i, SendBarrier(self.round, after[i])) for i in self._subtasks]

    def _judge(self) -> list[tuple[str, int, Any]]:
        if not (len(self._taken) == len(self._received) == len(self._subtasks)):
            return []
        if self._taken != self._received:
            return self._begin_round(self._received)
        self._taken, self._received = {}, {}
        if self._final:
            return [("head", i, LoopEmpty()) for i in self._subtasks]
        self._proving = False
        self._paused.clear()
        return [*(("head", i, LoopFlushed()) for i in self._subtasks), *self._begin()]

    def _warn_of_lost(self, subtask: int) -> None:
        taken, received = self._last_taken.get(subtask), self._last_received.get(subtask)
        if taken is not None and received is not None and received > taken:
            _log.warning(
                "%s, subtask %d, has ended before %d batches of feedback came back, which are lost: they came later than "
                "max_wait_time_ms, or an operator of the loop emitted them at the end of its input",
                self._name,
                subtask,
                received - taken,
            )
