"""Internal. The interval types of SQL: ``INTERVAL DAY(2) TO SECOND(3)`` and similar."""

from __future__ import annotations

from enum import Enum

from wiesel.core.errors import UnknownNameError
from wiesel.types.logical import AtomicType, checked_range

__all__ = ["DayTimeIntervalType", "Resolution", "YearMonthIntervalType", "interval_type"]


class Resolution:
    """One end of an interval: a unit and an optional precision."""

    class IntervalUnit(Enum):
        """The units."""

        SECOND = 0
        MINUTE = 1
        HOUR = 2
        DAY = 3
        MONTH = 4
        YEAR = 5

    def __init__(self, unit: IntervalUnit, precision: int = -1) -> None:
        self._unit = unit
        self._precision = precision

    @property
    def unit(self) -> IntervalUnit:
        """The unit."""
        return self._unit

    @property
    def precision(self) -> int:
        """The precision (number of digits); -1 where the unit has none."""
        return self._precision

    def __str__(self) -> str:
        return f"{self._unit}({self._precision})"


class YearMonthIntervalType(AtomicType):
    """Numbers of months, displayed in years and months."""

    class YearMonthResolution(Enum):
        """The displayed units."""

        YEAR = 1
        MONTH = 2
        YEAR_TO_MONTH = 3

    DEFAULT_PRECISION = 2

    def __init__(self, resolution: YearMonthResolution, precision: int = DEFAULT_PRECISION, nullable: bool = True) -> None:
        super().__init__(nullable)
        self._resolution = resolution
        most = self.DEFAULT_PRECISION if resolution is self.YearMonthResolution.MONTH else 4
        self._precision = checked_range(precision, "the number of digits of years of an interval", 1, most)

    @property
    def resolution(self) -> YearMonthResolution:
        """The displayed units."""
        return self._resolution

    @property
    def precision(self) -> int:
        """The precision of years."""
        return self._precision

    def __repr__(self) -> str:
        return f"YearMonthIntervalType({str(self._nullable).lower()})"

    def _notation(self) -> str:
        units = self.YearMonthResolution
        if self._resolution is units.MONTH:
            return "INTERVAL MONTH"
        return f"INTERVAL YEAR({self._precision}){' TO MONTH' if self._resolution is units.YEAR_TO_MONTH else ''}"


class DayTimeIntervalType(AtomicType):
    """Durations of up to a million days, displayed in days, hours, minutes and seconds."""

    class DayTimeResolution(Enum):
        """The displayed units."""

        DAY = 1
        DAY_TO_HOUR = 2
        DAY_TO_MINUTE = 3
        DAY_TO_SECOND = 4
        HOUR = 5
        HOUR_TO_MINUTE = 6
        HOUR_TO_SECOND = 7
        MINUTE = 8
        MINUTE_TO_SECOND = 9
        SECOND = 10

    DEFAULT_DAY_PRECISION = 2
    DEFAULT_FRACTIONAL_PRECISION = 6

    def __init__(
        self,
        resolution: DayTimeResolution,
        day_precision: int = DEFAULT_DAY_PRECISION,
        fractional_precision: int = DEFAULT_FRACTIONAL_PRECISION,
        nullable: bool = True,
    ) -> None:
        super().__init__(nullable)
        self._resolution = resolution
        self._day_precision = checked_range(day_precision, "the number of digits of days of an interval", 1, 6)
        self._fractional_precision = checked_range(fractional_precision, "the number of digits of fractions of a second", 0, 9)

    @property
    def resolution(self) -> DayTimeResolution:
        """The displayed units."""
        return self._resolution

    @property
    def day_precision(self) -> int:
        """The precision of days."""
        return self._day_precision

    @property
    def fractional_precision(self) -> int:
        """The number of fractional digits of seconds."""
        return self._fractional_precision

    def __repr__(self) -> str:
        return f"DayTimeIntervalType({str(self._nullable).lower()})"

    def _notation(self) -> str:
        digits = {"DAY": f"({self._day_precision})", "SECOND": f"({self._fractional_precision})"}
        return "INTERVAL " + " TO ".join(unit + digits.get(unit, "") for unit in self._resolution.name.split("_TO_"))


def interval_type(upper: Resolution, lower: Resolution | None = None) -> DayTimeIntervalType | YearMonthIntervalType:
    """Return the type of intervals from one unit down to another, or of one unit alone.

    Raises:
        ProgramError: If there is no interval of these units.
    """
    name = upper.unit.name if lower is None else f"{upper.unit.name}_TO_{lower.unit.name}"
    digits = {resolution.unit.name: resolution.precision for resolution in (upper, lower) if resolution is not None}
    if name in YearMonthIntervalType.YearMonthResolution.__members__:
        return YearMonthIntervalType(
            YearMonthIntervalType.YearMonthResolution[name], digits.get("YEAR", YearMonthIntervalType.DEFAULT_PRECISION)
        )
    if name not in DayTimeIntervalType.DayTimeResolution.__members__:
        raise UnknownNameError(
            f"there is no interval type {name.replace('_', ' ')}",
            hint="go from a larger unit to a smaller one: YEAR to MONTH, or DAY to SECOND",
        )
    return DayTimeIntervalType(
        DayTimeIntervalType.DayTimeResolution[name],
        digits.get("DAY", DayTimeIntervalType.DEFAULT_DAY_PRECISION),
        digits.get("SECOND", DayTimeIntervalType.DEFAULT_FRACTIONAL_PRECISION),
    )
