"""Internal. The type of values of any shape in SQL: ``VARIANT``."""

from __future__ import annotations

from wiesel.types.logical import AtomicType

__all__ = ["VariantType"]


class VariantType(AtomicType):
    """Values of JSON: each has a shape of its own; ``VARIANT``."""

    _sql = "VARIANT"
