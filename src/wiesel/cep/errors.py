"""Internal. The error of invalid patterns."""

from __future__ import annotations

from wiesel.core.errors import ProgramError
from wiesel.core.user_location import program_error

__all__ = ["MalformedPatternException", "malformed"]


class MalformedPatternException(ProgramError):
    """The pattern is contradictory or incomplete; raised where it is built, or when it is applied to the stream."""


def malformed(message: str, hint: str) -> MalformedPatternException:
    """Return the error for the call of the program that is going on, with its line."""
    error = program_error(message, hint)
    return MalformedPatternException(error.message, hint=error.hint, **error.details)
