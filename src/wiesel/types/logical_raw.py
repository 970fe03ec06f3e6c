"""Internal. The type of objects of Python in SQL: ``RAW``."""

from __future__ import annotations

from wiesel.types.logical import AtomicType

__all__ = ["RawType"]


class RawType(AtomicType):
    """Any Python object that can be pickled: records of streams without a declared type. SQL compares the pickles."""

    _sql = "RAW('[B', '...')"
    """Flink prints the class of its values in Java, arrays of bytes."""
