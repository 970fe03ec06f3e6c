"""Internal. ``INSERT``."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from wiesel.sql.language.cursor import Cursor
from wiesel.sql.language.statements import Insert, PartitionSpec

__all__ = ["parse_insert", "parse_partition"]

_CONFLICTS = ("DEDUPLICATE", "ERROR", "NOTHING")


def parse_insert(cursor: Cursor, start: int) -> Insert:
    """Read what follows INSERT."""
    overwrite = cursor.choose("INTO", "OVERWRITE") == "OVERWRITE"
    cursor.match("TABLE")
    first = cursor.at
    target = cursor.path("the name of a table")
    place = cursor.span_since(first)
    hints = cursor.hints_behind()
    partition = parse_partition(cursor) if cursor.match("PARTITION") else ()
    columns: tuple[str, ...] = ()
    if _columns_follow(cursor):
        columns = cursor.wrapped(lambda: cursor.name("a column"))
    query = cursor.query()
    conflict = cursor.choose(*_CONFLICTS) if cursor.match("ON", "CONFLICT", "DO") else None
    return Insert(cursor.span_since(start), target, query, columns, partition, overwrite, hints, conflict, place)


def _columns_follow(cursor: Cursor) -> bool:
    bracket, first = cursor.peek(), cursor.peek(1)
    if bracket is None or bracket.token_type != TokenType.L_PAREN or first is None:
        return False
    return first.token_type == TokenType.IDENTIFIER or first.text.upper() not in ("SELECT", "VALUES", "WITH", "(", "TABLE")


def parse_partition(cursor: Cursor, *, values: bool = True) -> PartitionSpec:
    """Read ``(a = 1, b = 2)`` behind PARTITION; a column may stand alone unless ``values`` must be given."""

    def entry() -> tuple[str, exp.Expr | None]:
        name = cursor.name("a column")
        if not values and not cursor.words("="):
            return name, None
        cursor.expect("=")
        return name, cursor.expression()

    return cursor.wrapped(entry)
