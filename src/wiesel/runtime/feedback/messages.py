"""Internal. What heads, tails and the coordinator of an iteration tell each other, by way of the JobMaster. Plain picklable data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Origin: TypeAlias = tuple[int, int, int]
"""(checkpoint from which the attempt was restored, subtask of the tail, number): names an entry for ever."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A batch of feedback.

    Attributes:
        payload: The encoded batch.
        origins: The names that it had in earlier attempts, if it comes from a checkpoint.
        round: The round in which it came to the tail; 0 where there are no rounds.
    """

    payload: bytes
    origins: tuple[Origin, ...] = ()
    round: int = 0


# From a tail to the head of the same index, and back.


@dataclass(frozen=True, slots=True)
class Feedback:
    """Entries ``first``, ``first + 1``, ...; ``waiting`` more have no room yet."""

    first: int
    entries: tuple[Entry, ...]
    waiting: int


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
