"""Internal. Decimal numbers of CSV columns that say how many digits they have."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal

from wiesel.formats.java_text import text_parser
from wiesel.types.logical import DecimalType
from wiesel.types.typeinfo import BasicType, BasicTypeInfo

__all__ = ["decimal_reader", "decimal_writer", "without_zeros"]

# Python's own rounds to 28 digits.
_EXACT = Context(prec=100)


def _fitting(kind: DecimalType) -> Callable[[Decimal], Decimal | None]:
    """Return what rounds a number to the digits of its type; one that is too large becomes None."""
    unit, limit = Decimal(1).scaleb(-kind.scale), Decimal(10) ** (kind.precision - kind.scale)

    def fit(value: Decimal) -> Decimal | None:
        # Asked first: the context has no room for all digits of 1e100000.
        if abs(value) >= limit:
            return None
        rounded = value.quantize(unit, ROUND_HALF_UP, _EXACT)
        return rounded if abs(rounded) < limit else None

    return fit


def decimal_reader(kind: DecimalType) -> Callable[[str], Decimal | None]:
    """Return the function that reads the text of a number."""
    fit, parse = _fitting(kind), text_parser(BasicTypeInfo(BasicType.BIG_DEC), "decimal")
    return lambda text: fit(parse(text.strip()))


def decimal_writer(kind: DecimalType, null: str) -> Callable[[Decimal], str]:
    """Return the function that writes a number, without zeros behind its last digit as Flink does; ``null`` for one that is too large."""
    fit = _fitting(kind)

    def write(value: Decimal) -> str:
        fitting = fit(value)
        if fitting is None:
            return null
        return str(without_zeros(fitting))

    return write


def without_zeros(value: Decimal) -> Decimal:
    """Return a number without zeros behind its last digit, as ``stripTrailingZeros`` of Java does: 100000 is 1E+5 then."""
    return value.normalize(_EXACT) if value else Decimal(0)
