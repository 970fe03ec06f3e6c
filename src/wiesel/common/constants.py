"""Limits of 64-bit timestamps, and the name of the main output."""

from wiesel.core.ids import MAX_TIMESTAMP as MAX_LONG_VALUE
from wiesel.core.ids import MIN_TIMESTAMP as MIN_LONG_VALUE

__all__ = ["DEFAULT_OUTPUT_TAG", "MAX_LONG_VALUE", "MIN_LONG_VALUE"]

DEFAULT_OUTPUT_TAG = ""
