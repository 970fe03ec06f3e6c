"""Internal. Errors of queries that can be read but not bound; they show their place."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from sqlglot import exp

from wiesel.core.errors import ProgramError, SqlParseError
from wiesel.sql.language.errors import parse_error, place_of

__all__ = ["at", "meant", "problem"]


def problem(sql: str, node: exp.Expr, message: str, hint: str | None = None) -> ProgramError:
    """Return the error for a node of a query."""
    span = place_of(node)
    return ProgramError(message, hint=hint) if span is None else parse_error(sql, span, message, hint=hint)


def meant(name: str, names: Iterable[str]) -> str | None:
    """Return the hint that names the one which is nearest to a wrong name; None if none is near."""
    near = difflib.get_close_matches(name, list(names), n=1)
    return f"did you mean {near[0]}?" if near else None


@contextmanager
def at(sql: str, node: exp.Expr) -> Iterator[None]:
    """Give errors that know no place the one of a node."""
    try:
        yield
    except SqlParseError:
        raise
    except ProgramError as error:
        raise problem(sql, node, error.message, error.hint) from error
