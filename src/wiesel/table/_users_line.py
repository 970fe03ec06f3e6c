"""Internal. Where in the user's program an error comes from."""

from __future__ import annotations

from types import TracebackType

from wiesel.core.errors import WieselError
from wiesel.datastream._checks import user_location

__all__ = ["AtUsersLine"]


class AtUsersLine:
    """Adds the user's line to errors that do not name one."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        where = user_location()
        if where and isinstance(error, WieselError) and "location" not in error.details:
            raise type(error)(f"{error.message} (at {where})", hint=error.hint, **error.details, location=where) from error
