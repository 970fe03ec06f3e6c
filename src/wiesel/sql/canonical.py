"""Internal. Expressions of table definitions as catalogs show them: columns between backquotes, functions in capitals."""

from __future__ import annotations

from collections.abc import Collection

from sqlglot.tokenizer_core import TokenType

from wiesel.sql.language.cursor import Cursor
from wiesel.types.logical import quoted

__all__ = ["canonical_expression"]

_OPERATIONS = frozenset(
    getattr(TokenType, name) for name in "PLUS DASH STAR SLASH MOD DPIPE EQ NEQ LT LTE GT GTE".split()
)
_VALUES = frozenset((TokenType.STRING, TokenType.NUMBER, TokenType.IDENTIFIER, TokenType.R_PAREN, TokenType.R_BRACKET))
_WORDS_BEFORE_VALUES = frozenset("AND BETWEEN CASE ELSE ESCAPE IN LIKE NOT OR THEN WHEN".split())
_TIGHT_BEFORE = frozenset((")", "]", ",", "."))
_TIGHT_BEHIND = frozenset(("(", "[", "."))


def canonical_expression(text: str, columns: Collection[str]) -> str:
    """Return an expression over columns in one way of writing it."""
    tokens = Cursor(text).tokens
    parts: list[str] = []
    at, operand = 0, False  # whether what stands before is a value, so that a sign behind it is that of an operation
    for index, token in enumerate(tokens):
        start, end = token.start, token.end + 1
        called = index + 1 < len(tokens) and tokens[index + 1].token_type == TokenType.L_PAREN
        written = text[start:end]
        word = token.token_type not in (TokenType.STRING, TokenType.NUMBER) and written.isidentifier()
        field = bool(parts) and parts[-1] == "."
        if (field or token.text in columns) and (word or token.token_type == TokenType.IDENTIFIER) and not (called and word):
            written, operand_now = quoted(token.text), True
        else:
            written = written.upper() if word else written
            operand_now = token.token_type in _VALUES or (word and written not in _WORDS_BEFORE_VALUES)
        operation = token.token_type in _OPERATIONS and operand
        if parts and (operation or text[at:start].isspace()) and not (written in _TIGHT_BEFORE or parts[-1] in _TIGHT_BEHIND):
            parts.append(" ")
        parts.append(written)
        signs = token.token_type == TokenType.DASH and tokens[index + 1].token_type != TokenType.NUMBER
        if (operation or signs or token.token_type == TokenType.COMMA) and end < len(text) and not text[end].isspace():
            parts.append(" ")
        at, operand = end, operand_now
    return "".join(parts)
