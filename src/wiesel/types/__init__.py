"""Internal. Types that a program declares, the values they allow, and how those become bytes and text."""

from wiesel.types.row import Row, RowKind
from wiesel.types.typeinfo import TypeInformation
from wiesel.types.types import Types

__all__ = ["Row", "RowKind", "TypeInformation", "Types"]
