"""Timers: the names of ``pyflink.datastream.timerservice``."""

from wiesel.spi.timers import TimerService

__all__ = ["TimerService"]
