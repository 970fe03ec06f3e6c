"""Internal. Expressions of table definitions as catalogs show them: columns between backquotes, functions in capitals."""

from __future__ import annotations

from collections.abc import Collection

from sqlglot.tokenizer_core import TokenType

from wiesel.sql.language.cursor import Cursor
from wiesel.types.logical import quoted

__all__ = ["canonical_expression"]


def canonical_expression(text: str, columns: Collection[str]) -> str:
    """Return an expression over columns in one way of writing it."""
    tokens = Cursor(text).tokens
    parts: list[str] = []
    at = 0
    for index, token in enumerate(tokens):
        start, end = token.start, token.end + 1
        called = index + 1 < len(tokens) and tokens[index + 1].token_type == TokenType.L_PAREN
        parts.append(text[at:start])
        written = text[start:end]
        if token.token_type not in (TokenType.STRING, TokenType.NUMBER):
            if token.text in columns and not (called and token.token_type != TokenType.IDENTIFIER):
                written = quoted(token.text)
            elif written.isidentifier():
                written = written.upper()
        parts.append(written)
        at = end
    return "".join([*parts, text[at:]])
