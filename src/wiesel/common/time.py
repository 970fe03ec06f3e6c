"""Lengths and points of time."""

from wiesel.core.durations import Duration, Instant, Time

__all__ = ["Duration", "Instant", "Time"]
