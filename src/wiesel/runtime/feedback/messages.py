"""Internal. Messages between heads, tails and the coordinator of an iteration, relayed by the JobMaster. Plain picklable data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

Origin: TypeAlias = tuple[int, int, int]
"""(checkpoint restored by the attempt, subtask of the tail, number): the unique id of an entry."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A batch of feedback.

    Attributes:
        payload: The encoded batch.
        origins: Its ids in earlier attempts, if it is restored.
        round: The round in which it reached the tail; 0 without rounds. One without a payload marks the round's end.
        carried: True if it accompanies the round's records without being one of them.
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
        waiting: Number of further entries without credit.
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
    """From a head: its input has ended except for feedback."""


@dataclass(frozen=True, slots=True)
class InputPaused:
    """From a head inside another loop: a barrier of that loop waits until all earlier records have left this one."""


@dataclass(frozen=True, slots=True)
class SendBarrier:
    """To a head: when all entries before ``after`` are processed, emit the barrier of this round."""

    round: int
    after: int


@dataclass(frozen=True, slots=True)
class BarrierSent:
    """From a head: the barrier is emitted, after the results of all entries before ``taken``."""

    round: int
    taken: int


@dataclass(frozen=True, slots=True)
class BarrierArrived:
    """From a tail: the barrier has arrived, after ``entries`` entries."""

    round: int
    entries: int


@dataclass(frozen=True, slots=True)
class LoopEmpty:
    """To a head: the loop is empty and stays so."""


@dataclass(frozen=True, slots=True)
class LoopFlushed:
    """To a head: all records before its ``InputPaused`` have left the loop."""


@dataclass(frozen=True, slots=True)
class HeadEnded:
    """From a head: all entries before ``taken`` were processed, no more will be."""

    taken: int


@dataclass(frozen=True, slots=True)
class TailEnded:
    """From a tail: it has received ``entries`` entries and will receive no more."""

    entries: int


# Rounds.


@dataclass(frozen=True)
class RoundSummary:
    """Summary of a finished round.

    Attributes:
        round: Its number, from 1.
        records: Number of records for the next round, or in the result.
        value: Result of the aggregator over the criterion's records; None without one.
    """

    round: int
    records: int
    value: Any = None


@dataclass(frozen=True)
class RoundDone:
    """From a tail: it has received all records of the round, their number, and the accumulator of the criterion."""

    round: int
    records: int
    accumulator: Any = None


@dataclass(frozen=True)
class NextRound:
    """To a tail: the round is over everywhere, its records may be sent back. To a head: they are about to arrive."""

    summary: RoundSummary


@dataclass(frozen=True)
class LastRound:
    """To heads and tails: the round was the last one; its records are the result."""

    summary: RoundSummary


@dataclass(frozen=True)
class RoundsSoFar:
    """From a restored tail: the earlier rounds; ``last`` says that the rounds had ended."""

    summaries: tuple[RoundSummary, ...]
    last: bool
