"""Time as functions see it: the two time domains, and the service that tells the time and keeps timers."""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod

__all__ = ["TimeDomain", "TimerService"]


class TimeDomain(enum.Enum):
    """The kind of time of a timer."""

    EVENT_TIME = 0
    """The watermark has reached the timer."""

    PROCESSING_TIME = 1
    """The clock of the machine has reached the timer."""


class TimerService(ABC):
    """Tells the time and keeps timers. All times are in ms since the epoch.

    A timer belongs to the key of the record (or timer) being processed and to a time: registering it again has no effect.
    Timers are part of checkpoints. When one fires, ``on_timer`` is called with its key as the current key.

    Raises:
        StateAccessError: By the four methods that change timers, where there is no current key.
    """

    @abstractmethod
    def current_processing_time(self) -> int:
        """Return the clock of the machine (a virtual one under test)."""

    @abstractmethod
    def current_watermark(self) -> int:
        """Return the watermark that this operator has reached; -2**63 before the first one, 2**63 - 1 after the end of the input."""

    @abstractmethod
    def register_processing_time_timer(self, timestamp: int) -> None:
        """Have ``on_timer`` called once the clock has reached ``timestamp``; at once if it has already."""

    @abstractmethod
    def register_event_time_timer(self, timestamp: int) -> None:
        """Have ``on_timer`` called once the watermark has reached ``timestamp``; with the next watermark if it has already."""

    @abstractmethod
    def delete_processing_time_timer(self, timestamp: int) -> None:
        """Remove the current key's processing-time timer for exactly ``timestamp``, if there is one."""

    @abstractmethod
    def delete_event_time_timer(self, timestamp: int) -> None:
        """Remove the current key's event-time timer for exactly ``timestamp``, if there is one."""
