"""Internal. Declared types, checks of their values, and conversions to bytes and text."""

from wiesel.types.row import Row, RowKind
from wiesel.types.typeinfo import TypeInformation
from wiesel.types.types import Types

__all__ = ["Row", "RowKind", "TypeInformation", "Types"]
