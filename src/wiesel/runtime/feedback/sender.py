"""Internal. The tail's end of the feedback edge: stores entries until the head has processed them, and sends them within its credit.

State: operator list ``feedback`` with all stored entries, as ``(payload, origins, round, carried)``; the last origin of each is its id at
the time of the checkpoint. The head drops an entry with that id if it had processed it before its own part of the checkpoint, so that both
states together hold exactly the entries in flight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from wiesel.runtime.feedback.log import FeedbackLog
from wiesel.runtime.feedback.messages import Entry, Feedback, FeedbackTaken
from wiesel.runtime.operator import OperatorContext
from wiesel.state.backend import OperatorStateStore

__all__ = ["FeedbackSender"]

_STATE = "feedback"
_MEMORY_BYTES = 16 << 20
_WINDOW_ENTRIES = 64
_WINDOW_BYTES = 1 << 20


class FeedbackSender:
    """Sends entries to the head, at most a window ahead of those processed."""

    def __init__(self, context: OperatorContext, send: Callable[[Any], None]) -> None:
        self._generation = context.restored_checkpoint_id
        self._subtask = context.subtask_index
        self._send = send
        self._store: OperatorStateStore = context.backend.operator_state
        self._log = FeedbackLog(int(context.config.get("wiesel.iteration.feedback-memory", _MEMORY_BYTES)))
        self._sent = 0
        self._sent_bytes = 0
        self._restored = 0

    def restore(self, arrange: Callable[[list[Entry]], list[Entry]] = list) -> None:
        """Restore the entries of the checkpoint, which are sent first.

        Args:
            arrange: Reorders the entries, adds and removes some.
        """
        state = self._store.get_list(_STATE)
        for entry in arrange([Entry(*stored) for stored in state]):
            self._log.append(entry)
        state.clear()
        self._restored = self._log.next

    @property
    def entries(self) -> int:
        """Number of entries so far."""
        return self._log.next

    @property
    def kept_bytes(self) -> int:
        """Size of the stored entries."""
        return self._log.bytes

    @property
    def bytes_on_disk(self) -> int:
        """Size of the entries stored in files."""
        return self._log.bytes_on_disk

    def add(self, entry: Entry) -> None:
        """Store an entry."""
        self._log.append(entry)

    def send(self, until: int | None = None) -> None:
        """Send entries within the credit.

        Args:
            until: Only entries before this one; all if it is None.
        """
        end = self._log.next if until is None else until
        first, entries = self._sent, list[Entry]()
        while self._sent < end and self._has_room():
            entry = self._log.read(self._sent)
            entries.append(entry)
            self._sent += 1
            self._sent_bytes += len(entry.payload)
        if entries:
            self._send(Feedback(first, tuple(entries), end - self._sent, self._restored))

    def _has_room(self) -> bool:
        on_the_way = self._sent - self._log.first
        return on_the_way < _WINDOW_ENTRIES and (on_the_way == 0 or self._sent_bytes < _WINDOW_BYTES)

    def take_all(self) -> Iterator[Entry]:
        """Yield and remove all stored entries: they are not sent back any more."""
        for _, entry in self._log:
            yield entry
        self._log.close()
        self._sent, self._sent_bytes = self._log.next, 0

    def on_taken(self, taken: FeedbackTaken) -> None:
        """Drop entries that the head has processed."""
        self._sent_bytes -= sum(map(self._log.size_of, range(self._log.first, taken.upto)))
        self._log.drop_before(taken.upto)

    def snapshot(self) -> None:
        """Write all stored entries to the state."""
        self._store.get_list(_STATE)[:] = [
            (entry.payload, (*entry.origins, (self._generation, self._subtask, number)), entry.round, entry.carried)
            for number, entry in self._log
        ]

    def close(self) -> None:
        """Release the files."""
        self._log.close()
