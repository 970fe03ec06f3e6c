"""Time domains and the timer service of functions."""

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
    """Reads the time and manages timers. All times are in ms since the epoch.

    A timer belongs to the key of the present record (or timer) and has a time: registering it again has no effect. Timers are part of
    checkpoints. When one fires, ``on_timer`` is called with its key as the current key.

    Raises:
        StateAccessError: By the four methods that change timers, if there is no current key.
    """

    @abstractmethod
    def current_processing_time(self) -> int:
        """Return the clock of the machine (a virtual one under test)."""

    @abstractmethod
    def current_watermark(self) -> int:
        """Return the watermark of this operator; -2**63 before the first one, 2**63 - 1 after the end of the input."""

    @abstractmethod
    def register_processing_time_timer(self, timestamp: int) -> None:
        """Call ``on_timer`` once the clock has reached ``timestamp``; immediately if it already has."""

    @abstractmethod
    def register_event_time_timer(self, timestamp: int) -> None:
        """Call ``on_timer`` once the watermark has reached ``timestamp``; with the next watermark if it already has."""

    @abstractmethod
    def delete_processing_time_timer(self, timestamp: int) -> None:
        """Remove the current key's processing-time timer for exactly ``timestamp``, if there is one."""

    @abstractmethod
    def delete_event_time_timer(self, timestamp: int) -> None:
        """Remove the current key's event-time timer for exactly ``timestamp``, if there is one."""
