"""Internal. Options of tables about their watermarks: when they are emitted, and what happens while no rows come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from wiesel.core.config import ConfigOption
from wiesel.core.durations import Duration
from wiesel.core.errors import ConfigurationError, ProgramError
from wiesel.runtime.table.watermark import WatermarkEmission
from wiesel.spi.table.catalog import CatalogTable
from wiesel.spi.table.factory import TableOptions
from wiesel.spi.watermark import WatermarkAlignment

__all__ = ["emission_of", "without_watermark_options"]

_PREFIX = "scan.watermark."
_STRATEGY = ConfigOption[str](
    f"{_PREFIX}emit.strategy",
    "enum",
    "on-periodic",
    "Whether a watermark comes behind rows, or by the clock (pipeline.auto-watermark-interval).",
    choices=("on-periodic", "on-event"),
)
_GAP = ConfigOption[int](f"{_PREFIX}emit.on-event.gap", "int", 1, "Behind how many rows each.", minimum=1)
_IDLE = ConfigOption[Duration](f"{_PREFIX}idle-timeout", "duration", None, "After which time without rows a reader is idle.", minimum=1)
_GROUP = ConfigOption[str](f"{_PREFIX}alignment.group", "str", None, "Tables whose readers wait for each other.")
_DRIFT = ConfigOption[Duration](f"{_PREFIX}alignment.max-drift", "duration", None, "How far one may be ahead of the last.", minimum=0)
_INTERVAL = ConfigOption[Duration](
    f"{_PREFIX}alignment.update-interval",
    "duration",
    Duration.of_seconds(1),
    "How often they tell how far they are.",
    minimum=1,
)


def emission_of(table: CatalogTable) -> WatermarkEmission:
    """Return how the watermarks of a table are emitted.

    Raises:
        ConfigurationError: If an option is unknown or has a value that it must not have.
        ProgramError: If there are options, but the table has no watermark.
    """
    own = {key: value for key, value in table.options.items() if key.startswith(_PREFIX)}
    if own and table.schema.watermark is None:
        message = f"the option '{min(own)}' is of no use: the table has no watermark"
        raise ProgramError(message, hint="declare WATERMARK FOR, or leave it out")
    options = TableOptions("watermarks", own)
    gap, strategy = options.get(_GAP), options.get(_STRATEGY)
    idle = options.get(_IDLE).to_millis() if options.is_set(_IDLE) else None
    alignment = _alignment(options)
    options.refuse_unknown()
    return WatermarkEmission(strategy if options.is_set(_STRATEGY) else "", gap, idle, alignment)


def _alignment(options: TableOptions) -> WatermarkAlignment | None:
    group, interval_ms = options.get(_GROUP), options.get(_INTERVAL).to_millis()
    has_group, has_drift = options.is_set(_GROUP), options.is_set(_DRIFT)
    if not (has_group or has_drift or options.is_set(_INTERVAL)):
        return None
    if not (has_group and has_drift):
        hint = "set both: which tables wait for each other, and how far one may be ahead"
        raise ConfigurationError(f"'{_GROUP.key}' and '{_DRIFT.key}' belong together, but one of them is missing", hint=hint)
    return WatermarkAlignment(group, options.get(_DRIFT).to_millis(), interval_ms)


def without_watermark_options(table: CatalogTable) -> CatalogTable:
    """Return a table as its connector gets it, which does not know of watermarks."""
    return replace(table, options=_others(table.options))


def _others(options: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in options.items() if not key.startswith(_PREFIX)}
