"""Internal. Expressions of table definitions as catalogs show them, which is how Calcite writes them."""

from __future__ import annotations

from collections.abc import Collection

from sqlglot.tokenizer_core import TokenType

from wiesel.sql.language.cursor import Cursor
from wiesel.types.logical import quoted

__all__ = ["canonical_expression"]

_TEXT_AND_NUMBER = (TokenType.STRING, TokenType.NUMBER)
_OPERANDS_FOLLOW = frozenset({"(", "[", ",", "+", "-", "*", "/", "%", "||", "=", "<>", "!=", "<", ">", "<=", ">=", "AND", "OR", "NOT"}) | {
    *("WHEN", "THEN", "ELSE", "CASE", "BETWEEN", "ASYMMETRIC", "SYMMETRIC", "IN", "LIKE", "AS")
}
"""Behind these a minus is a sign, and a bracket opens an expression and no list of arguments."""
_NOT_CALLED = _OPERANDS_FOLLOW - {"CASE"}
_NAMES_OF_TYPES = {"INT": "INTEGER"}


def canonical_expression(text: str, columns: Collection[str]) -> str:
    """Return an expression over columns in one way of writing it.

    Columns and fields of rows are between backquotes, keywords and functions in capitals, and one space is around each operator.
    """
    tokens = Cursor(text).tokens
    written: list[str] = []
    for index, token in enumerate(tokens):
        called = index + 1 < len(tokens) and tokens[index + 1].token_type == TokenType.L_PAREN
        word = text[token.start : token.end + 1]
        if token.token_type not in _TEXT_AND_NUMBER:
            of_row = bool(written) and written[-1] == "." and (word.isidentifier() or token.token_type == TokenType.IDENTIFIER)
            if of_row or (token.text in columns and not (called and token.token_type != TokenType.IDENTIFIER)):
                word = quoted(token.text)
            elif word.isidentifier():
                word = word.upper()
        elif token.token_type == TokenType.NUMBER:
            word = word.upper()
        if word in _NAMES_OF_TYPES and _is_cast_to(written):
            word = _NAMES_OF_TYPES[word]
        written.append(word)
        if word == "BETWEEN" and not (index + 1 < len(tokens) and tokens[index + 1].text.upper() in ("SYMMETRIC", "ASYMMETRIC")):
            written.append("ASYMMETRIC")
    shown = ""
    for index, word in enumerate(written):
        shown += (" " if index and _apart(written, index) else "") + word
    return shown


def _is_cast_to(written: list[str]) -> bool:
    """Return whether a type follows: that of a CAST, not the name of a column."""
    return bool(written) and written[-1] == "AS"


def _apart(written: list[str], index: int) -> bool:
    before, word = written[index - 1], written[index]
    if before in "([." or word in ")],.":
        return False
    if before == "-" and word[0].isdigit():
        return index > 1 and written[index - 2] not in _OPERANDS_FOLLOW
    if word == "(":
        return not (before.isidentifier() or before.startswith("`")) or before in _NOT_CALLED
    if word == "[":
        return before in _OPERANDS_FOLLOW
    return True
