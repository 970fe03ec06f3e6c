"""Internal. The SQL type ``BITMAP``: sets of integers."""

from __future__ import annotations

from wiesel.types.logical import AtomicType

__all__ = ["BitmapType"]


class BitmapType(AtomicType):
    """Sets of 32-bit integers; ``BITMAP``. Returned by functions; not allowed for columns of tables."""

    _sql = "BITMAP"
