"""Internal. Control events that travel in the channels, in order with the records."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Watermark:
    """Event time has reached ``timestamp`` (ms): no more records with an earlier or equal timestamp are expected."""

    timestamp: int


class StreamStatus(enum.Enum):
    """Status of a channel: an idle one does not hold back the event time of its consumer."""

    ACTIVE = "ACTIVE"
    IDLE = "IDLE"


@dataclass(frozen=True, slots=True)
class SavepointOptions:
    """Options of a savepoint for tasks.

    Attributes:
        directory: Directory of its files.
        stop: Tasks stop behind the barrier, and finish once the savepoint is complete.
        drain: Before the barrier tasks end their inputs: event time advances to its end, operators emit pending results.
    """

    directory: str
    stop: bool = False
    drain: bool = False


@dataclass(frozen=True, slots=True)
class Barrier:
    """Separates the records of checkpoint ``checkpoint_id`` from those of the next one."""

    checkpoint_id: int
    timestamp_ms: int
    savepoint: SavepointOptions | None = None


@dataclass(frozen=True, slots=True)
class EndOfInput:
    """No more data follows in the channel. A bounded source sends ``Watermark(MAX_TIMESTAMP)`` before it."""


@dataclass(frozen=True, slots=True)
class LatencyMarker:
    """Carries the time (ms since the epoch) at which a source sent it."""

    marked_ms: int
    operator_id: str


@dataclass(frozen=True, slots=True)
class IterationBarrier:
    """Passes once through the loop of an iteration, behind all records that its heads have emitted before it.

    Attributes:
        iteration: Node id of the iteration's head.
        round: Counts the barriers of an iteration in one attempt.
    """

    iteration: int
    round: int


Event: TypeAlias = Watermark | StreamStatus | Barrier | EndOfInput | LatencyMarker | IterationBarrier
