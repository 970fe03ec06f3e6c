"""Internal. The SQL type of Python objects: ``RAW``."""

from __future__ import annotations

from wiesel.types.logical import AtomicType

__all__ = ["RawType"]


class RawType(AtomicType):
    """Any Python object that can be pickled: records of streams without a declared type. SQL compares the pickles."""

    _sql = "RAW('[B', '...')"
    """Flink prints the Java class of its values, byte arrays."""
