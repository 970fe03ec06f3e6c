"""Internal. The tokens of statements of Hive, with the values of variables in their places."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from wiesel.core.errors import ProgramError
from wiesel.sql.language.cursor import Cursor
from wiesel.sql.language.dialect import FlinkParser
from wiesel.sql.language.errors import missing_separator, parse_error, place_of
from wiesel.sql.language.hive.dialect import Hive, HiveParser
from wiesel.sql.language.hive.trees import HiveProblem, hive_query, hive_tree
from wiesel.sql.language.hive.types import parse_hive_type
from wiesel.types.logical import DataType

__all__ = ["HiveCursor"]

_DIALECT = Hive()
_VARIABLE = re.compile(r"\$\{([^}\s]+)\}")
_STAND_IN = 0xE000
"""The first of the characters, which no text has, that stand for variables while the script is split into tokens."""
_STAND_INS = re.compile("([\ue000-\uf8ff])\\1*")
_UP_TO_END = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`[^`]*`|--[^\n]*|/\*.*?\*/|;""", re.DOTALL)
_DEPTH = {"(": 1, "<": 1, ")": -1, ">": -1}


class HiveCursor(Cursor):
    """The tokens of a script of Hive and a place among them.

    Args:
        sql: The script.
        variables: Values by name, such as ``hiveconf:x``.

    Raises:
        SqlParseError: The text cannot be split into tokens, or a variable is not set.
    """

    dialect = _DIALECT
    parser = HiveParser

    def __init__(self, sql: str, variables: Mapping[str, str] = MappingProxyType({})) -> None:
        self._values: list[str] = []
        self._variables = variables
        super().__init__(sql)

    def _tokens_of(self, sql: str) -> list[Token]:
        """Return the tokens; those of a variable's value all have the place of the variable."""

        def stand_in(found: re.Match[str]) -> str:
            self._values.append(self._value_of(found))
            return chr(_STAND_IN + len(self._values) - 1) * len(found[0])

        tokens = _DIALECT.tokenize(_VARIABLE.sub(stand_in, sql))
        return [part for token in tokens for part in self._with_values(token)] if self._values else list(tokens)

    def variable(self, name: str) -> str | None:
        """Return the value of a variable or option, None if it is not set."""
        return self._variables.get(name)

    @staticmethod
    def end_of_statement(sql: str, begin: int) -> int:
        """Return the place behind the next semicolon outside of quotes and comments, or that of the end."""
        return next((found.end() for found in _UP_TO_END.finditer(sql, begin) if found[0] == ";"), len(sql))

    def _value_of(self, found: re.Match[str]) -> str:
        name = found[1]
        kind, colon, key = name.partition(":")
        if colon and kind in ("env", "system"):
            value = os.environ.get(key)
        else:
            value = self._variables.get(name, self._variables.get(key if kind == "hiveconf" else f"hivevar:{name}"))
        if value is None:
            raise parse_error(self.sql, found.span(), f"the variable {name} is not set", hint=f"SET {name} = value; before the statement")
        return value

    def _with_values(self, token: Token) -> list[Token]:
        text = _STAND_INS.sub(lambda found: self._values[ord(found[1]) - _STAND_IN], token.text)
        if text == token.text:
            return [token]
        if token.token_type in (TokenType.STRING, TokenType.IDENTIFIER):
            return [_moved(token, token, text)]
        return [_moved(each, token, each.text) for each in _DIALECT.tokenize(text)]

    def plain(self, begin: int, end: int) -> str:
        """Return a part of the script with the values of its variables."""
        return _VARIABLE.sub(self._value_of, self.sql[begin:end]) if self._values else self.sql[begin:end]

    def text_since(self, begin: int) -> str:
        """Return the text from a token on to the last one taken, with the values of variables."""
        span = self.span_since(begin)
        return self.plain(span.start, span.end)

    def data_type(self) -> DataType:
        """Take a data type."""
        start, depth = self.at, 0
        while not self.is_at_end:
            token = self.tokens[self.at]
            text = token.text
            if not depth and self.at > start and text not in _DEPTH:
                break
            depth += _DEPTH.get(text, 0)
            if depth < 0:
                break
            self.at += 1
        if self.at == start:
            self.fail("a data type")
        span = self.span_since(start)
        try:
            return parse_hive_type(self.plain(span.start, span.end))
        except ProgramError as error:
            raise parse_error(self.sql, (span.start, span.end), error.message, hint=error.hint) from error

    def query_of(self, tokens: list[Token]) -> exp.Expr:
        """Return the query of some tokens."""
        return self._tree(tokens, _query)

    def _hint(self, at: int) -> str | None:
        return missing_separator(self.sql, at)

    def _tree(self, tokens: list[Token], read: Callable[[FlinkParser], exp.Expr | None]) -> exp.Expr:
        # All but expressions are queries.
        tree = super()._tree(tokens, read)
        try:
            return hive_query(tree) if isinstance(tree, exp.Query | exp.Values) else hive_tree(tree)
        except HiveProblem as error:
            span = place_of(error.node) or (tokens[0].start, tokens[0].end + 1)
            raise parse_error(self.sql, span, error.message, hint=error.hint) from error
        except RecursionError as error:
            raise parse_error(self.sql, self.span_of(tokens[0]), "this is nested too deeply", hint="split it into views") from error

    def _check(self, tree: exp.Expr, tokens: list[Token]) -> None:
        """Leave the check to the tree as it is bound."""


def _query(parser: FlinkParser) -> exp.Expr | None:
    tree = parser._parse_select(nested=True)
    return parser._parse_query_modifiers(parser._parse_set_operations(tree)) if tree is not None else None


def _moved(token: Token, to: Token, text: str) -> Token:
    return Token(token.token_type, text, to.line, to.col, to.start, to.end, list(token.comments))
