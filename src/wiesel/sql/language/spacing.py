"""Internal. Spacing between the tokens of a line, and upper case of keywords."""

from __future__ import annotations

from collections.abc import Sequence

from wiesel.sql.language.pieces import Comment, Group, Piece, Word

__all__ = ["CAPITALS", "CAPITALS_BEFORE", "CAPITALS_BEHIND", "joined", "stands_apart"]

CAPITALS = frozenset(
    {
        *("ALL", "ALTER", "AND", "AS", "ASC", "BEGIN", "BETWEEN", "BY", "CASE", "CREATE", "CROSS", "CUBE", "DEFINE", "DELETE", "DESC"),
        *("DESCRIBE", "DISTINCT", "DROP", "ELSE", "END", "EXCEPT", "EXECUTE", "EXISTS", "EXPLAIN", "FETCH", "FILTER", "FOR", "FROM"),
        *("FULL", "GROUP BY", "GROUPING SETS"),
        *("HAVING", "IN", "INNER", "INSERT", "INTERSECT", "INTERVAL", "INTO", "IS", "JOIN", "LATERAL", "LEFT"),
        *("LIKE", "LIMIT", "MATCH_RECOGNIZE", "MEASURES", "NATURAL", "NOT", "NULL", "OFFSET", "ON", "OR", "ORDER BY", "OUTER", "OVER"),
        *("OVERWRITE", "PARTITION BY", "PATTERN", "PRECEDING", "PRIMARY", "RIGHT", "ROLLUP", "SELECT", "SET", "SHOW", "TABLE"),
        *("THEN", "TRUE", "FALSE", "UNBOUNDED", "UNION", "USING", "VALUES", "WHEN", "WHERE", "WINDOW", "WITH", "WITHIN"),
    }
)
_MADE = frozenset({"CREATE", "DROP", "ALTER", "TEMPORARY", "SYSTEM", "REPLACE"})
_THINGS = frozenset({"TABLE", "VIEW", "DATABASE", "CATALOG", "FUNCTION"})
CAPITALS_BEHIND: dict[str, frozenset[str]] = {
    "KEY": frozenset({"PRIMARY"}),
    "ENFORCED": frozenset({"NOT"}),
    "IF": _THINGS,
    **dict.fromkeys((*_THINGS, "TEMPORARY", "SYSTEM"), _MADE),
}
"""Words that may be names elsewhere, with those behind which they are not."""

CAPITALS_BEFORE = {"WATERMARK": frozenset({"FOR"}), "ROWS": frozenset({"BETWEEN"}), "RANGE": frozenset({"BETWEEN"})}
"""Words that may be names elsewhere, with those before which they are not."""

_NO_SPACE_AROUND = frozenset({"."})
_OPERATORS = frozenset({"=", "<>", "!=", "<", ">", "<=", ">=", "=>", "||", "+", "-", "*", "/", "%"})
_BRACKET_APART = frozenset(
    {
        *CAPITALS - {"GROUPING SETS", "CUBE", "ROLLUP", "TABLE", "LEFT", "RIGHT", "INTERVAL"},
        *("WITH", "KEY", "PARTITIONED", "SUBSET", "SETS", "GROUPING SETS", "ENFORCED"),
    }
)


def joined(pieces: Sequence[Piece]) -> str | None:
    """Return pieces as one line, None if comments do not let them."""
    text, before = "", None
    for place, piece in enumerate(pieces):
        if isinstance(piece, Comment) and (piece.own_line or (piece.ends_line and place + 1 < len(pieces))):
            return None
        shown: str | None = piece.text if not isinstance(piece, Group) else _group(piece)
        if shown is None:
            return None
        if "\n" in shown and isinstance(piece, Comment):
            return None
        text += (" " if text and _apart(pieces, place, before, piece) else "") + shown
        before = piece
    return text


def _group(group: Group) -> str | None:
    inside = joined(group.content)
    ends_line = bool(group.content) and isinstance(last := group.content[-1], Comment) and last.ends_line
    return None if inside is None or ends_line else f"{group.opening}{inside}{group.closing}"


def _apart(pieces: Sequence[Piece], place: int, before: Piece | None, piece: Piece) -> bool:
    if place > 1 and isinstance(before, Word) and before.text in ("-", "+") and _is_sign(pieces[place - 2]):
        return piece.spaced  # a sign, as it was written
    if place == 1 and isinstance(before, Word) and before.text in ("-", "+"):
        return piece.spaced
    return stands_apart(before, piece)


def _is_sign(before: Piece) -> bool:
    """Return whether what follows a piece as + or - is a sign."""
    return isinstance(before, Word) and (before.text in (*_OPERATORS, ",") or before.upper in CAPITALS)


def stands_apart(before: Piece | None, piece: Piece) -> bool:
    """Return whether a space stands between two pieces of a line."""
    if before is None:
        return False
    if isinstance(before, Comment) or isinstance(piece, Comment):
        return True
    if isinstance(piece, Word):
        return _before_word(before, piece)
    if isinstance(before, Group):
        return piece.opening == "(" and piece.spaced
    if before.text in _NO_SPACE_AROUND:
        return False
    if piece.opening == "<":
        return False
    if before.upper in _BRACKET_APART:
        return True
    if before.is_name:
        return piece.spaced
    return before.text in _OPERATORS or before.text == "," or piece.spaced


def _before_word(before: Word | Group, piece: Word) -> bool:
    if piece.text in (",", ";", ".") or (isinstance(before, Word) and before.text in _NO_SPACE_AROUND):
        return False
    if isinstance(before, Word) and before.text == ",":
        return True
    if piece.is_name and (isinstance(before, Group) or before.is_name):
        return True
    if piece.text in _OPERATORS or (isinstance(before, Word) and before.text in _OPERATORS):
        # In patterns of rows they are quantifiers, which stand where they were written.
        return piece.spaced if _may_be_quantifier(before, piece) else True
    return True


def _may_be_quantifier(before: Word | Group, piece: Word) -> bool:
    quantifiers = ("+", "*", "-")
    return piece.text in quantifiers or (isinstance(before, Word) and before.text in quantifiers)
