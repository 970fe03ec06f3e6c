"""Internal. The type of sets of whole numbers in SQL: ``BITMAP``."""

from __future__ import annotations

from wiesel.types.logical import AtomicType

__all__ = ["BitmapType"]


class BitmapType(AtomicType):
    """Sets of numbers of 32 bits; ``BITMAP``. Functions make them, no column of a table can be declared so."""

    _sql = "BITMAP"
