"""Time domains: the names of ``pyflink.datastream.time_domain``."""

from wiesel.spi.timers import TimeDomain

__all__ = ["TimeDomain"]
