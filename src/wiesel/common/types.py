"""Rows."""

from wiesel.types.row import Row, RowKind

__all__ = ["Row", "RowKind"]
