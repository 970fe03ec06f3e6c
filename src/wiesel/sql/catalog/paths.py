"""Internal. Names of tables as users write them: ``t``, ``database.t``, ``catalog.database.t``, with backquotes where needed."""

from __future__ import annotations

import re

from wiesel.core.errors import ProgramError

__all__ = ["parse_path"]

_PART = re.compile(r"\s*(?:`((?:[^`]|``)+)`|((?:[^\W\d]|\$)[\w$]*))\s*")
_MOST_PARTS = 3


def parse_path(path: str) -> tuple[str, ...]:
    """Return the one to three parts of a name.

    Raises:
        ProgramError: If it is not a name; shows the place.
    """
    if not isinstance(path, str):
        raise ProgramError(f"a table's path is a text, got {path!r}", hint="give the name under which the table was created")
    parts: list[str] = []
    at = 0
    while True:
        match = _PART.match(path, at)
        if match is None:
            raise _error(path, at, "a name expected")
        parts.append(match[2] if match[1] is None else match[1].replace("``", "`"))
        at = match.end()
        if at == len(path):
            return tuple(parts)
        if path[at] != "." or len(parts) == _MOST_PARTS:
            raise _error(path, at, "the end expected" if len(parts) == _MOST_PARTS else "'.' or the end expected")
        at += 1


def _error(path: str, position: int, problem: str) -> ProgramError:
    shown = re.sub(r"\s", " ", path)
    return ProgramError(
        f"invalid table path {path!r}: {problem} at position {position}\n  {shown}\n  {' ' * position}^",
        hint="write name, database.name or catalog.database.name; put other than letters, digits, _ and $ between backquotes: `my table`",
    )
