"""Internal. The type of values of any shape in SQL: ``VARIANT``."""

from __future__ import annotations

from collections.abc import Iterator

from wiesel.types.logical import ArrayType, AtomicType, DataType, MapType, MultisetType, RowType

__all__ = ["VariantType", "holds_variant"]


class VariantType(AtomicType):
    """Values of JSON: each has a shape of its own; ``VARIANT``."""

    _sql = "VARIANT"


def holds_variant(of: DataType) -> bool:
    """Return whether values are VARIANTs, or have parts that are."""
    return isinstance(of, VariantType) or any(map(holds_variant, _parts(of)))


def _parts(of: DataType) -> Iterator[DataType]:
    if isinstance(of, ArrayType | MultisetType):
        yield of.element_type
    elif isinstance(of, MapType):
        yield from (of.key_type, of.value_type)
    elif isinstance(of, RowType):
        yield from of.field_types()
