"""Internal. Windows as namespaces of state: small built-in values, which hash and compare at C speed and serialise to a few bytes.

A time window is ``(start, end)``, a count window its id, the global window a string (not None: that is the void namespace). A user-defined
window class is its own namespace.
"""

from __future__ import annotations

from typing import Any

from wiesel.spi.windows.window import CountWindow, GlobalWindow, TimeWindow

__all__ = ["GLOBAL", "decode_window", "encode_window"]

GLOBAL = "global"
_GLOBAL_WINDOW = GlobalWindow()


def encode_window(window: Any) -> Any:
    """Return the namespace of a window."""
    kind = type(window)
    if kind is TimeWindow:
        return (window.start, window.end)
    if kind is CountWindow:
        return window.id
    return GLOBAL if kind is GlobalWindow else window


def decode_window(namespace: Any) -> Any:
    """Return the window of a namespace."""
    kind = type(namespace)
    if kind is tuple:
        return TimeWindow(namespace[0], namespace[1])
    if kind is int:
        return CountWindow(namespace)
    return _GLOBAL_WINDOW if namespace == GLOBAL else namespace
