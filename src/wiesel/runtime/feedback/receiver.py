"""Internal. The head's end of the feedback edge: tracks processed entries, of this attempt and earlier ones.

State: operator union list ``feedback-taken`` with ``(generation, subtask of the tail, number)``: all entries of that tail in that
generation before the number are processed. It is a union list as entries may be restored in another tail after rescaling.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wiesel.core.errors import invariant
from wiesel.runtime.feedback.messages import Entry, Feedback, FeedbackTaken
from wiesel.runtime.operator import OperatorContext
from wiesel.state.backend import OperatorStateStore

__all__ = ["FeedbackReceiver"]

_STATE = "feedback-taken"


class FeedbackReceiver:
    """Receives entries, skips those processed before the checkpoint, and acknowledges them to the tail."""

    def __init__(self, context: OperatorContext, send: Callable[[Any], None]) -> None:
        self._generation = context.restored_checkpoint_id
        self._subtask = context.subtask_index
        self._send = send
        self._store: OperatorStateStore = context.backend.operator_state
        self._before: dict[tuple[int, int], int] = {}
        self.taken = 0
        self.waiting = 0

    def restore(self) -> None:
        """Read which entries this and the other subtasks processed before the checkpoint."""
        state = self._store.get_union_list(_STATE)
        for generation, subtask, taken in state:
            known = self._before.get((generation, subtask), 0)
            self._before[(generation, subtask)] = max(known, taken)
        state.clear()

    def on_feedback(self, feedback: Feedback, process: Callable[[list[Entry]], None]) -> None:
        """Process entries, and acknowledge them."""
        invariant(feedback.first == self.taken, f"expected feedback {self.taken}, got {feedback.first}")
        process(self._not_yet_processed(feedback.entries))
        self.taken += len(feedback.entries)
        if self.taken >= feedback.restored:
            self._before.clear()  # no more entries have an id of an earlier attempt
        self.waiting = feedback.waiting
        self._send(FeedbackTaken(self.taken))

    def _not_yet_processed(self, entries: tuple[Entry, ...]) -> list[Entry]:
        before = self._before
        if not before:
            return list(entries)
        return [e for e in entries if not any(number < before.get((gen, subtask), 0) for gen, subtask, number in e.origins)]

    def snapshot(self) -> None:
        """Store the processed entries in state."""
        known = [(generation, subtask, taken) for (generation, subtask), taken in self._before.items()]
        self._store.get_union_list(_STATE)[:] = [*known, (self._generation, self._subtask, self.taken)]
