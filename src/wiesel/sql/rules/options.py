"""Internal. Options of rules."""

from __future__ import annotations

from typing import Protocol

from wiesel.core.errors import ConfigurationError

__all__ = ["Options", "is_on", "number_of"]


class Options(Protocol):
    """Access to options."""

    def get_string(self, key: str, default: str) -> str:
        """Return the value of an option."""
        ...


def is_on(options: Options, key: str, default: str = "false") -> bool:
    """Return whether an option is ``true``."""
    return options.get_string(key, default).strip().lower() == "true"


def number_of(options: Options, key: str, default: int) -> int:
    """Return the value of an option that is a whole number.

    Raises:
        ConfigurationError: If it is none.
    """
    text = options.get_string(key, str(default)).strip()
    try:
        return int(text)
    except ValueError:
        raise ConfigurationError(f"option {key} is {text!r}", hint=f"write a whole number, such as {default}", key=key) from None
