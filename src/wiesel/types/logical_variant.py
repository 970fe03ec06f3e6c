"""Internal. The SQL type of semi-structured values: ``VARIANT``."""

from __future__ import annotations

from wiesel.types.logical import AtomicType

__all__ = ["VariantType"]


class VariantType(AtomicType):
    """JSON values, each with its own structure; ``VARIANT``."""

    _sql = "VARIANT"
