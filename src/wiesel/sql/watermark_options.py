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
    aligned = [key for key in own if key.startswith(f"{_PREFIX}alignment.")]
    if aligned:
        message = f"'{min(aligned)}': readers do not wait for those of other tables in this version"
        raise ConfigurationError(message, hint="leave the option out; joins keep the rows of the table that is ahead")
    options = TableOptions("watermarks", own)
    gap, strategy = options.get(_GAP), options.get(_STRATEGY)
    idle = options.get(_IDLE).to_millis() if options.is_set(_IDLE) else None
    options.refuse_unknown()
    return WatermarkEmission(strategy if options.is_set(_STRATEGY) else "", gap, idle)


def without_watermark_options(table: CatalogTable) -> CatalogTable:
    """Return a table as its connector gets it, which does not know of watermarks."""
    return replace(table, options=_others(table.options))


def _others(options: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in options.items() if not key.startswith(_PREFIX)}
