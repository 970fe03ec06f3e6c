"""Internal. Hive's dialect: sqlglot's own, with functions left as they were written and errors that know their place."""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import exp, parser
from sqlglot.dialects.hive import Hive as SqlglotHive
from sqlglot.errors import ParseError
from sqlglot.parsers.hive import HiveParser as SqlglotHiveParser
from sqlglot.tokenizer_core import TokenType

from wiesel.core.errors import ProgramError
from wiesel.sql.language import nodes
from wiesel.sql.language.dialect import FlinkParser, up_to_bracket
from wiesel.sql.language.hive.nodes import HiveCast
from wiesel.sql.language.hive.types import parse_hive_type

__all__ = ["Hive", "HiveParser"]

_PHRASES = frozenset({"CLUSTER BY", "DISTRIBUTE BY", "GROUP BY", "GROUPING SETS", "ORDER BY", "PARTITION BY", "SORT BY"})
"""Words that are one token where sqlglot reads queries."""

_KEPT_PARSERS = ("CEIL", "EXTRACT", "FLOOR")


class HiveParser(FlinkParser, SqlglotHiveParser):
    """Reads queries and expressions of Hive."""

    FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
        **{name: up_to_bracket(parser.Parser.FUNCTION_PARSERS[name]) for name in _KEPT_PARSERS},
        "CAST": up_to_bracket(lambda self: self._parse_hive_cast()),
    }
    NO_PAREN_FUNCTION_PARSERS = SqlglotHiveParser.NO_PAREN_FUNCTION_PARSERS
    IS_PREDICATE_PRECEDENCE = SqlglotHiveParser.IS_PREDICATE_PRECEDENCE
    QUERY_MODIFIER_PARSERS: ClassVar[dict[Any, Any]] = SqlglotHiveParser.QUERY_MODIFIER_PARSERS

    def _parse_hive_cast(self) -> exp.Expr:
        value = self._wanted(self._parse_disjunction(), "a value")
        if not self._match(TokenType.ALIAS):
            self.raise_error("AS and a data type expected")
        return self.expression(HiveCast(this=value, to=self.parse_flink_type()))

    def flink_type(self, text: str, token: Any) -> nodes.DataTypeNode:
        """Return the node of a type's text."""
        node = nodes.DataTypeNode(this=text)
        try:
            node.meta["data_type"] = parse_hive_type(text)
        except ProgramError as error:
            problem = ParseError(error.message)
            problem.span, problem.hint = (token.start, token.end + 1), error.hint  # type: ignore[attr-defined]
            raise problem from error
        return node

    def _parse_primary(self) -> exp.Expr | None:
        # Strings side by side are one, on one line too.
        found = parser.Parser._parse_primary(self)
        if isinstance(found, exp.Concat):
            return exp.Literal.string("".join(part.name for part in found.expressions))
        return found

    def _parse_bracket(self, this: exp.Expr | None = None) -> exp.Expr | None:
        if this is None and self._curr and self._curr.token_type in (TokenType.L_BRACKET, TokenType.L_BRACE):
            self.raise_error("an expression cannot begin like that; write array(...), map(...) or struct(...)")
        if not isinstance(this, exp.Anonymous) or not self._match(TokenType.L_BRACKET):
            return parser.Parser._parse_bracket(self, this)
        # To sqlglot array(1, 2)[0] is an array of other elements.
        index = self._wanted(self._parse_disjunction(), "an index or a key")
        if not self._match(TokenType.R_BRACKET):
            self.raise_error("Expecting ]")
        return self._parse_bracket(self.expression(exp.Bracket(this=this, expressions=[index])))


class Hive(SqlglotHive):
    """HiveQL."""

    class Tokenizer(SqlglotHive.Tokenizer):
        """Splits a text: names between backquotes, strings between single or double quotes, with backslashes."""

        # To sqlglot what follows these words is a text that it does not look at.
        COMMANDS: ClassVar[set[Any]] = set()
        KEYWORDS: ClassVar[dict[str, Any]] = {
            **{
                word: token
                for word, token in SqlglotHive.Tokenizer.KEYWORDS.items()
                if token != TokenType.COMMAND and (" " not in word or word in _PHRASES)
            },
        }

    Parser = HiveParser
