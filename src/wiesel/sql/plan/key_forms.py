"""Internal. Rows, arrays and maps as keys.

Flink compares them by their bytes, in which -0.0 is not 0.0 and the order of a map's entries counts. Here equal values are one key, as they
are for ``=``: they get one form below what compares them, so that a retracted row equals the inserted one.
"""

from __future__ import annotations

from wiesel.columnar.expressions import Expression
from wiesel.columnar.functions.registry import call
from wiesel.columnar.type_rules import NESTED
from wiesel.types import logical as t

__all__ = ["MAPS", "canonical", "holds"]

MAPS = (t.MapType, t.MultisetType)
_OF_SEVERAL_FORMS = (*MAPS, t.FloatType, t.DoubleType)


def canonical(expression: Expression) -> Expression:
    """Return an expression of which equal values have one form, if it is of rows, arrays or maps."""
    of = expression.data_type
    return call("CANONICAL VALUE OF", [expression]) if isinstance(of, NESTED) and holds(of, _OF_SEVERAL_FORMS) else expression


def holds(of: t.DataType, kinds: tuple[type[t.DataType], ...]) -> bool:
    """Return whether a type is one of some kinds, or a part of it is."""
    if isinstance(of, kinds):
        return True
    if isinstance(of, t.ArrayType):
        return holds(of.element_type, kinds)
    return isinstance(of, t.RowType) and any(holds(field.data_type, kinds) for field in of)
