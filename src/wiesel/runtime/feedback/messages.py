"""Internal. What heads, tails and the coordinator of an iteration tell each other, by way of the JobMaster. Plain picklable data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

Origin: TypeAlias = tuple[int, int, int]
"""(checkpoint from which the attempt was restored, subtask of the tail, number): names an entry for ever."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A batch of feedback.

    Attributes:
        payload: The encoded batch.
        origins: The names that it had in earlier attempts, if it comes from a checkpoint.
        round: The round in which it came to the tail; 0 where there are no rounds. One without a payload marks the round's end.
        carried: Whether it goes with the round's records without being one of them.
    """

    payload: bytes
    origins: tuple[Origin, ...] = ()
    round: int = 0
    carried: bool = False


# From a tail to the head of the same index, and back.


@dataclass(frozen=True, slots=True)
class Feedback:
    """Entries ``first``, ``first + 1``, ...

    Attributes:
        first: Number of the first entry.
        entries: The entries.
        waiting: How many more have no room yet.
        restored: All entries from a checkpoint have smaller numbers.
    """

    first: int
    entries: tuple[Entry, ...]
    waiting: int
    restored: int = 0


@dataclass(frozen=True, slots=True)
class FeedbackTaken:
    """All entries before ``upto`` are processed."""

    upto: int


# The proof that the loop is empty.


@dataclass(frozen=True, slots=True)
class InputEnded:
    """A head: nothing comes any more but feedback."""


@dataclass(frozen=True, slots=True)
class InputPaused:
    """A head inside another loop: a barrier of that loop waits here until what came before it has left this one."""


@dataclass(frozen=True, slots=True)
class SendBarrier:
    """To a head: when all entries before ``after`` are processed, emit the barrier of this round."""

    round: int
    after: int


@dataclass(frozen=True, slots=True)
class BarrierSent:
    """A head: the barrier is emitted, behind the results of all entries before ``taken``."""

    round: int
    taken: int


@dataclass(frozen=True, slots=True)
class BarrierArrived:
    """A tail: the barrier is there, and until then ``entries`` had come."""

    round: int
    entries: int


@dataclass(frozen=True, slots=True)
class LoopEmpty:
    """To a head: nothing is in the loop, and nothing will be."""


@dataclass(frozen=True, slots=True)
class LoopFlushed:
    """To a head: what had come before it said ``InputPaused`` has left the loop."""


@dataclass(frozen=True, slots=True)
class HeadEnded:
    """A head: all entries before ``taken`` were processed, no more will be."""

    taken: int


@dataclass(frozen=True, slots=True)
class TailEnded:
    """A tail: ``entries`` have come, no more will."""

    entries: int


# Rounds.


@dataclass(frozen=True)
class RoundSummary:
    """What is known of a round when it is over.

    Attributes:
        round: Its number, from 1.
        records: How many records it gave: those that the next round starts from, or the result.
        value: What the aggregator made of the criterion's records; None without one.
    """

    round: int
    records: int
    value: Any = None


@dataclass(frozen=True)
class RoundDone:
    """A tail: it has all records of the round, so many, and this accumulator of the criterion's."""

    round: int
    records: int
    accumulator: Any = None


@dataclass(frozen=True)
class NextRound:
    """To a tail: the round is over everywhere, its records may go back. To a head: they are about to come."""

    summary: RoundSummary


@dataclass(frozen=True)
class LastRound:
    """To heads and tails: the round was the last one; its records are the result."""

    summary: RoundSummary


@dataclass(frozen=True)
class RoundsSoFar:
    """A tail that comes from a checkpoint: what had happened before; ``last`` says that the rounds were over."""

    summaries: tuple[RoundSummary, ...]
    last: bool
