"""Internal. Call locations in the user's program, and errors with the line.

The traceback of an error that is found when a job starts does not show the line that built the operator.
"""

from __future__ import annotations

import os
import sys
from types import FrameType, TracebackType

import wiesel
from wiesel.core.errors import ProgramError, WieselError

__all__ = ["AtUsersLine", "program_error", "user_location"]

_PACKAGE = os.path.dirname(os.path.abspath(wiesel.__file__)) + os.sep


def user_location() -> str:
    """Return ``file:line`` of the innermost call outside of Wiesel, or an empty text if there is none."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if not frame.f_code.co_filename.startswith(_PACKAGE):
            if frame.f_globals.get("__name__", "").partition(".")[0] == "click":
                return ""  # the command line runs statements without a program
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def program_error(message: str, hint: str, kind: type[ProgramError] = ProgramError, *, location: str | None = None) -> ProgramError:
    """Return the error for something that the program must not do, with the line that does it.

    Args:
        message: What is wrong.
        hint: What to do instead.
        kind: Class of the error.
        location: ``file:line``; the current call if it is None.
    """
    where = user_location() if location is None else location
    return kind(f"{message} (at {where})" if where else message, hint=hint, location=where)


class AtUsersLine:
    """Adds the user's line to errors that do not name one."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        where = user_location()
        if where and isinstance(error, WieselError) and "location" not in error.details:
            raise type(error)(f"{error.message} (at {where})", hint=error.hint, **error.details, location=where) from error
