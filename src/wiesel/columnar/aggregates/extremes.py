"""Internal. MIN and MAX."""

from __future__ import annotations

from collections.abc import Callable

from wiesel.columnar.aggregates.registry import Accumulator, AggregateFunction, Spec, register
from wiesel.columnar.aggregates.slots import Slot
from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.functions.registry import Arguments, Signature
from wiesel.types import logical as t
from wiesel.types.logical_raw import RawType
from wiesel.types.logical_variant import VariantType

__all__: list[str] = []

_UNORDERED = (t.ArrayType, t.MapType, t.MultisetType, t.RowType, t.BinaryType, t.VarBinaryType, RawType, VariantType)


def _comparable(arguments: Arguments, may_be_empty: bool) -> Signature:
    types = arguments.types
    if len(types) != 1 or isinstance(types[0], _UNORDERED):
        raise arguments.refuse(f"{arguments.name}(<COMPARABLE>)")
    return Signature(types, types[0].nullable() if may_be_empty else types[0])


def _extreme(how: str) -> Callable[[Spec], Accumulator]:
    def make(spec: Spec) -> Accumulator:
        slot = Slot(how, arrow_type(spec.result))
        return Accumulator((slot,), lambda columns, signs: [columns[0]], lambda slots: slots[0], extreme=how if spec.retracts else None)

    return make


register(AggregateFunction("MIN", _comparable, _extreme("min")))
register(AggregateFunction("MAX", _comparable, _extreme("max")))
