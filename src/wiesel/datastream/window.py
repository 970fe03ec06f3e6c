"""Windows: the names of ``pyflink.datastream.window``."""

from typing import TypeVar

from wiesel.common.constants import MAX_LONG_VALUE, MIN_LONG_VALUE
from wiesel.spi import windows
from wiesel.spi.windows import *  # noqa: F403 - all of them have their place here for users

__all__ = ["MAX_LONG_VALUE", "MIN_LONG_VALUE"]
__all__ += windows.__all__

T, W, W2, IN, OUT, KEY = TypeVar("T"), TypeVar("W"), TypeVar("W2"), TypeVar("IN"), TypeVar("OUT"), TypeVar("KEY")
"""Type variables of PyFlink's module, imported by programs for annotations."""
