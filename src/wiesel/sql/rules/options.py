"""Internal. Where rules find their options."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Options", "is_on"]


class Options(Protocol):
    """Where options are found."""

    def get_string(self, key: str, default: str) -> str:
        """Return the value of an option."""
        ...


def is_on(options: Options, key: str, default: str = "false") -> bool:
    """Return whether an option is ``true``."""
    return options.get_string(key, default).strip().lower() == "true"
