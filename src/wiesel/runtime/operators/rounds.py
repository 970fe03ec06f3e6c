"""Internal. Head, tail and further inputs of an iteration in rounds.

Within the iteration event time is the number of the round: the head stamps the records of round n with n, and emits watermark n after the
last of them. So event-time operators work by rounds, above all windows and timers, and no operator begins with round n + 1 before it has
all of round n. The tail stores its records until its coordinator has received from all tails that round n is over, and decided whether
another one follows.

State of the tail: operator list ``iteration-partials`` with ``(round, records, accumulator)`` of unfinished rounds, operator union list
``iteration-rounds`` with ``(summaries of finished rounds, whether the last one is among them)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from wiesel.core.ids import MAX_TIMESTAMP
from wiesel.runtime.feedback.messages import (
    Entry,
    Feedback,
    FeedbackTaken,
    LastRound,
    NextRound,
    RoundDone,
    RoundsSoFar,
    RoundSummary,
)
from wiesel.runtime.feedback.receiver import FeedbackReceiver
from wiesel.runtime.feedback.records import decoded, events_of
from wiesel.runtime.feedback.sender import FeedbackSender
from wiesel.runtime.operator import OperatorSnapshot, StreamOperator
from wiesel.wire.batch import Batch
from wiesel.wire.buffers import encode_batch
from wiesel.wire.events import IterationBarrier

__all__ = ["CARRIED_TAG", "VALUE_TAG", "RoundHead", "RoundInput", "RoundTail", "round_input_operator"]

CARRIED_TAG, VALUE_TAG = "wiesel-carried", "wiesel-value-of-round"
_PARTIALS, _ROUNDS = "iteration-partials", "iteration-rounds"
_END_OF_ROUND = b""


class RoundHead(StreamOperator):
    """Emits the input in round 1, and feedback in the round after that of its origin.

    The value of a round's criterion, if sent by its coordinator, is emitted to the side output ``VALUE_TAG`` before the next round's end.
    """

    holds_records = True

    def __init__(self) -> None:
        self._input_ended = False
        self._over = False
        self._time = 0

    def open(self) -> None:
        """Restore the processed entries."""
        self._feedback = FeedbackReceiver(self.context, events_of(self.context))
        self._feedback.restore()

    @property
    def busy(self) -> bool:
        """True if another round may follow."""
        return not self._over

    def process_batch(self, batch: Batch, input_index: int = 0) -> None:
        """Emit records into the first round."""
        self.output.emit(Batch(batch.values, [1] * len(batch.values)))

    def process_watermark(self, timestamp: int) -> None:
        """Time is that of the rounds."""

    def process_status(self, idle: bool) -> None:
        """Rounds are never idle."""

    def process_iteration_barrier(self, barrier: IterationBarrier) -> None:
        """Drop the barrier, which belongs to a loop before this iteration."""

    def on_event(self, event: Any) -> None:
        """Process feedback, or the end."""
        if isinstance(event, Feedback):
            self._feedback.on_feedback(event, self._emit)
        elif isinstance(event, NextRound):
            self.output.emit_side(VALUE_TAG, Batch([event.summary.value]))
        elif isinstance(event, LastRound):
            self._over = True
            self._advance(MAX_TIMESTAMP)

    def _advance(self, time: int) -> None:
        """Advance time; after a restore the ends of rounds arrive again in any order."""
        if time > self._time:
            self._time = time
            self.output.emit_watermark(time)

    def _emit(self, entries: list[Entry]) -> None:
        for (round_before, ends, carried), group in groupby(entries, key=lambda e: (e.round, e.payload == _END_OF_ROUND, e.carried)):
            if ends:
                self._advance(round_before + 1)
                continue
            values = decoded(list(group)).values
            batch = Batch(values, [round_before + 1] * len(values))
            if carried:
                self.output.emit_side(CARRIED_TAG, batch)
            else:
                self.output.emit(batch)

    def finish(self) -> None:
        """The first round has all its records."""
        if not self._input_ended:
            self._input_ended = True
            self._advance(1)

    def snapshot_state(self, checkpoint_id: int, timestamp_ms: int = 0) -> OperatorSnapshot | None:
        """Store the processed entries."""
        self._feedback.snapshot()
        return None


class RoundInput(StreamOperator):
    """Passes a stream from outside into the rounds, which do not advance before it has ended."""

    def process_batch(self, batch: Batch, input_index: int = 0) -> None:
        """Its records are earlier than the first round."""
        self.output.emit(Batch(batch.values, [0] * len(batch.values)))

    def process_watermark(self, timestamp: int) -> None:
        """Ignore all watermarks but the final one: other times are not those of rounds."""
        if timestamp == MAX_TIMESTAMP:
            self.output.emit_watermark(timestamp)

    def process_status(self, idle: bool) -> None:
        """Ignore the status: rounds wait for the end."""

    def process_iteration_barrier(self, barrier: IterationBarrier) -> None:
        """Drop the barrier, which belongs to a loop before this iteration."""


class RoundTail(StreamOperator):
    """Stores the records of a round until the decision whether they start the next round or are the result.

    Args:
        aggregator: Aggregates the records of the second input, the criterion; or None.
        emits_result: Emit the records of the last round.
        roles: Role of each input: ``records`` of the next round, the ``criterion``, or records ``carried`` into the next round, where they
        are emitted to the head's side output ``CARRIED_TAG``, without counting as records of the round.
    """

    holds_records = True

    def __init__(self, aggregator: Any, emits_result: bool, roles: Sequence[str] = ("records", "criterion")) -> None:
        self._aggregator = aggregator
        self._emits_result = emits_result
        self._roles = tuple(roles)
        self._summaries: list[RoundSummary] = []
        self._partials: dict[int, tuple[int, Any]] = {}
        self._end_of_round: dict[int, int] = {}
        self._sendable = 0
        self._last = False
        self._emitted = False
        self._input_ended = False

    def open(self) -> None:
        """Restore the state of the rounds."""
        self._send = events_of(self.context)
        self._feedback = FeedbackSender(self.context, self._send)
        store = self.context.backend.operator_state
        for summaries, last in store.get_union_list(_ROUNDS):
            self._summaries = max(self._summaries, list(summaries), key=len)
            self._last = self._last or last
        self._complete = len(self._summaries) - (1 if self._last else 0)
        for round_number, records, accumulator in store.get_list(_PARTIALS):
            if round_number > len(self._summaries):
                self._add(round_number, records, accumulator)
        self._feedback.restore(self._arrange)
        if not self._last:
            self._feedback.send(self._sendable)
        if self._summaries:
            self._send(RoundsSoFar(tuple(self._summaries), self._last))

    def _arrange(self, entries: list[Entry]) -> list[Entry]:
        """Sort restored entries by round, whichever subtask stored them, and mark the end of the last round that may be sent back."""
        entries = sorted((e for e in entries if e.payload != _END_OF_ROUND), key=lambda e: e.round)
        if not self._complete:
            return entries
        at = sum(e.round <= self._complete for e in entries)
        self._sendable = at + 1
        return [*entries[:at], Entry(_END_OF_ROUND, (), self._complete), *entries[at:]]

    @property
    def busy(self) -> bool:
        """True if the decision on stored records is pending."""
        return not self._emitted

    # Rounds

    def process_batch(self, batch: Batch, input_index: int = 0) -> None:
        """Store records of the present round."""
        if self._last:
            return  # from timers and windows at the end of time: the rounds have ended
        round_number = self._complete + 1
        role = self._roles[input_index]
        if role != "criterion":
            self._feedback.add(Entry(encode_batch(Batch(batch.values)), (), round_number, carried=role == "carried"))
            self._add(round_number, len(batch.values) if role == "records" else 0, None)
        else:
            accumulator = self._partials.get(round_number, (0, None))[1]
            if accumulator is None:
                accumulator = self._aggregator.create_accumulator()
            for value in batch.values:
                accumulator = self._aggregator.add(value, accumulator)
            self._partials[round_number] = (self._partials.get(round_number, (0, None))[0], accumulator)

    def _add(self, round_number: int, records: int, accumulator: Any) -> None:
        before, known = self._partials.get(round_number, (0, None))
        if accumulator is not None and known is not None:
            known = self._aggregator.merge(known, accumulator)
        self._partials[round_number] = (before + records, accumulator if known is None else known)

    def process_watermark(self, timestamp: int) -> None:
        """A round has all its records here."""
        if timestamp == MAX_TIMESTAMP:
            self._input_ended = True
            self._end()
            return
        while self._complete < timestamp:
            self._complete += 1
            self._end_of_round[self._complete] = self._feedback.entries
            self._feedback.add(Entry(_END_OF_ROUND, (), self._complete))
            self._send(RoundDone(self._complete, *self._partials.get(self._complete, (0, None))))

    def process_status(self, idle: bool) -> None:
        """Rounds are never idle."""

    def process_iteration_barrier(self, barrier: IterationBarrier) -> None:
        """Drop barriers of other loops, which have no meaning after the rounds."""

    def on_event(self, event: Any) -> None:
        """Process decisions, and send records back as decided."""
        if isinstance(event, FeedbackTaken):
            self._feedback.on_taken(event)
        elif isinstance(event, NextRound):
            self._over(event.summary)
            self._sendable = self._end_of_round.pop(event.summary.round) + 1
        elif isinstance(event, LastRound) and not self._emitted:
            if not self._last:
                self._over(event.summary)
            self._last = self._emitted = True
            self._emit_result(event.summary.round)
            self._end()
        if not self._last:
            self._feedback.send(self._sendable)

    def _over(self, summary: RoundSummary) -> None:
        self._summaries.append(summary)
        self._partials.pop(summary.round, None)

    def _emit_result(self, last_round: int) -> None:
        for entry in self._feedback.take_all():
            if self._emits_result and entry.round == last_round and entry.payload != _END_OF_ROUND:
                self.output.emit(decoded([entry]))

    def _end(self) -> None:
        if self._emitted and self._input_ended:
            self.output.emit_watermark(MAX_TIMESTAMP)

    def snapshot_state(self, checkpoint_id: int, timestamp_ms: int = 0) -> OperatorSnapshot | None:
        """Store the records and the state of the rounds."""
        self._feedback.snapshot()
        store = self.context.backend.operator_state
        store.get_list(_PARTIALS)[:] = [(number, *partial) for number, partial in self._partials.items()]
        store.get_union_list(_ROUNDS)[:] = [(tuple(self._summaries), self._last)]
        return None

    def close(self) -> None:
        """Release the stored records."""
        if hasattr(self, "_feedback"):
            self._feedback.close()


def round_input_operator(params: dict[str, Any], payload: Any) -> RoundInput:
    """Create the operator of a further input."""
    return RoundInput()
