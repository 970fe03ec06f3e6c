"""Internal. Errors of queries that can be read but not bound; they show their place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlglot import exp

from wiesel.core.errors import ProgramError, SqlParseError
from wiesel.sql.language.errors import parse_error, place_of

__all__ = ["at", "problem"]


def problem(sql: str, node: exp.Expr, message: str, hint: str | None = None) -> ProgramError:
    """Return the error for a node of a query."""
    span = place_of(node)
    return ProgramError(message, hint=hint) if span is None else parse_error(sql, span, message, hint=hint)


@contextmanager
def at(sql: str, node: exp.Expr) -> Iterator[None]:
    """Give errors that know no place the one of a node."""
    try:
        yield
    except SqlParseError:
        raise
    except ProgramError as error:
        raise problem(sql, node, error.message, error.hint) from error
