"""Durations and instants."""

from wiesel.core.durations import Duration, Instant, Time

__all__ = ["Duration", "Instant", "Time"]
