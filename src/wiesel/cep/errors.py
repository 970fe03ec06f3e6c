"""Internal. The error of a pattern that cannot be."""

from __future__ import annotations

from wiesel.core.errors import ProgramError
from wiesel.core.user_location import program_error

__all__ = ["MalformedPatternException", "malformed"]


class MalformedPatternException(ProgramError):
    """The pattern contradicts itself or lacks something; raised where it is built, or when the stream is given to it."""


def malformed(message: str, hint: str) -> MalformedPatternException:
    """Return the error for the call of the program that is going on, with its line."""
    error = program_error(message, hint)
    return MalformedPatternException(error.message, hint=error.hint, **error.details)
