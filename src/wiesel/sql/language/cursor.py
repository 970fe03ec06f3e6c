"""Internal. Goes through the tokens of a script."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable
from typing import NoReturn, TypeVar

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from wiesel.core.errors import ProgramError
from wiesel.sql.language.checks import find_foreign
from wiesel.sql.language.dialect import Flink, FlinkParser, hints_between
from wiesel.sql.language.errors import expected, foreign_habit, missing_separator, parse_error, place_of, type_problem
from wiesel.sql.language.statements import Path, Span
from wiesel.types.logical import DataType
from wiesel.types.logical_parser import parse_data_type

__all__ = ["Cursor"]

T = TypeVar("T")

_DEPTH = {
    TokenType.L_PAREN: 1,
    TokenType.R_PAREN: -1,
    TokenType.L_BRACKET: 1,
    TokenType.R_BRACKET: -1,
}
_TYPE_DEPTH = {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1, TokenType.LT: 1, TokenType.GT: -1}
_NOT_WORDS = frozenset({TokenType.STRING, TokenType.IDENTIFIER})
_MOST_NAMED = 6
_NEVER_LAST = frozenset({"ON", "BY"})
_DIALECT = Flink()
_WITH_END = re.compile(r"""'(?:''|[^'])*'|`(?:``|[^`])*`|"(?:""|[^"])*"|--[^\n]*|/\*.*?\*/""", re.DOTALL)
_BARE_OPTION = re.compile(r"([A-Za-z][\w.-]*)\s*=\s*(?:'([^']*)'|([^\s;']+))\s*(?=;|\Z)")
_OPENING = re.compile(r"""['`"]|/\*""")


class Cursor:
    """The tokens of a script and a place among them.

    Raises:
        SqlParseError: The text cannot be split into tokens.
    """

    dialect: Dialect = _DIALECT
    parser: type[FlinkParser] = FlinkParser

    def __init__(self, sql: str) -> None:
        self.sql = sql
        try:
            self.tokens: list[Token] = self._tokens_of(sql)
        except TokenError as error:
            raise _token_error(sql, error) from error
        self.at = 0

    def _tokens_of(self, sql: str) -> list[Token]:
        return self.dialect.tokenize(sql)

    # Looking

    def peek(self, ahead: int = 0) -> Token | None:
        """Return the token some tokens ahead, None behind the end."""
        index = self.at + ahead
        return self.tokens[index] if index < len(self.tokens) else None

    @property
    def is_at_end(self) -> bool:
        """Return whether no token is left in the statement."""
        token = self.peek()
        return token is None or token.token_type == TokenType.SEMICOLON

    def words(self, *words: str) -> bool:
        """Return whether these words come next."""
        return all(self._is_word(self.peek(i), word) for i, word in enumerate(words))

    @staticmethod
    def _is_word(token: Token | None, word: str) -> bool:
        return token is not None and token.token_type not in _NOT_WORDS and token.text.upper() == word

    # Taking

    def take(self) -> Token:
        """Take the next token."""
        token = self.peek()
        if token is None:
            self.fail("the statement goes on", None)
        self.at += 1
        return token

    def match(self, *words: str) -> bool:
        """Take these words, or symbols, if they come next."""
        if not self.words(*words):
            return False
        self.at += len(words)
        return True

    def choose(self, *words: str) -> str:
        """Take one of several words, and return it."""
        for word in words:
            if self.match(*word.split()):
                return word
        shown = [*words[:_MOST_NAMED], "..."] if len(words) > _MOST_NAMED else words
        self.fail(" or ".join(shown), words)

    def expect(self, *words: str) -> None:
        """Take these words.

        Raises:
            SqlParseError: Others come next.
        """
        for word in words:
            if not self.match(word):
                self.fail(word, [word])

    def fail(self, what: str, words: Iterable[str] | None = None, *, hint: str | None = None) -> NoReturn:
        """Raise the error that something else is expected here; ``words`` may be meant by what is here, ``hint`` says what to do."""
        token = None if self.is_at_end else self.peek()
        near = difflib.get_close_matches(token.text.upper(), list(words), n=1, cutoff=0.7) if token is not None and words else []
        if hint is None and token is not None:
            hint = f"did you mean {near[0]}?" if near else missing_separator(self.sql, self.span_of(token)[0])
        raise parse_error(self.sql, self.span_of(token), expected(what, None if token is None else token.text), hint=hint)

    def span_of(self, token: Token | None) -> tuple[int, int]:
        """Return the place of a token; that behind the last one if it is None."""
        if token is not None:
            return token.start, token.end + 1
        end = self.tokens[self.at - 1].end + 1 if 0 < self.at <= len(self.tokens) else len(self.sql)
        return end, end + 1

    def span_since(self, index: int) -> Span:
        """Return the span from the token of an index to the last one taken."""
        first = self.tokens[min(index, len(self.tokens) - 1)]
        return Span(first.start, self.tokens[self.at - 1].end + 1)

    def another_follows(self) -> bool:
        """Go behind semicolons, and return whether there is another statement."""
        while self.match(";"):
            pass
        return self.peek() is not None

    def skip_statement(self) -> None:
        """Go behind the next semicolon."""
        while self.at < len(self.tokens):
            self.at += 1
            if self.tokens[self.at - 1].token_type == TokenType.SEMICOLON:
                return

    # Parts

    def name(self, what: str = "a name") -> str:
        """Take a name: between backquotes, or a word."""
        token = self.peek()
        if token is None or self.is_at_end or token.token_type == TokenType.STRING:
            self.fail(what)
        if token.token_type != TokenType.IDENTIFIER and not (token.text[:1].isalpha() or token.text[:1] in "_$"):
            self.fail(what)
        self.at += 1
        return token.text

    def path(self, what: str = "a name") -> Path:
        """Take one to three names with points between them."""
        parts = [self.name(what)]
        while self.match("."):
            parts.append(self.name(what))
        return tuple(parts)

    def string(self, what: str = "a text between single quotes") -> str:
        """Take a text."""
        token = self.peek()
        if token is None or token.token_type not in (TokenType.STRING, TokenType.UNICODE_STRING):
            self.fail(what, hint="write strings between single quotes, options as 'key' = 'value'")
        self.at += 1
        return token.text

    def number(self, what: str) -> int:
        """Take a whole number."""
        token = self.peek()
        if token is None or token.token_type != TokenType.NUMBER or not token.text.isdigit():
            self.fail(what)
        self.at += 1
        return int(token.text)

    def listed(self, read: Callable[[], T]) -> tuple[T, ...]:
        """Take one or more of something with commas between them."""
        found = [read()]
        while self.match(","):
            found.append(read())
        return tuple(found)

    def wrapped(self, read: Callable[[], T]) -> tuple[T, ...]:
        """Take such a list in brackets."""
        self.expect("(")
        found = self.listed(read)
        self.expect(")")
        return found

    def options(self) -> dict[str, str]:
        """Take ``('key' = 'value', ...)``; the brackets may be empty."""
        if self.match("(", ")"):
            return {}
        return dict(self.wrapped(self._option))

    @property
    def is_bare_option(self) -> bool:
        """Return whether ``key = value`` is next, without quotes."""
        return self._bare_option() is not None

    def bare_option(self) -> tuple[str, str]:
        """Take ``key = value`` without quotes."""
        found = self._bare_option()
        if found is None:
            self.fail("an option as 'key' = 'value'")
        while not self.is_at_end:
            self.at += 1
        return found[1], found[2] or found[3]

    def _bare_option(self) -> re.Match[str] | None:
        token = self.peek()
        return None if token is None else _BARE_OPTION.match(self.sql, token.start)

    def _option(self) -> tuple[str, str]:
        key = self.string("an option's key between single quotes")
        self.expect("=")
        return key, self.string("an option's value between single quotes")

    def data_type(self) -> DataType:
        """Take a data type: a name with lengths, types in it, NOT NULL, and the words of zones and collections."""
        start, depth = self.at, 0
        while not self.is_at_end:
            token = self.tokens[self.at]
            if not depth and self.at > start and not self._continues_type(token):
                break
            depth += _TYPE_DEPTH.get(token.token_type, 0)
            if depth < 0:
                break
            self.at += 1
        if self.at == start:
            self.fail("a data type")
        first, last = self.tokens[start], self.tokens[self.at - 1]
        try:
            text = " ".join(self.sql[token.start : token.end + 1] for token in self.tokens[start : self.at])
            return parse_data_type(text, in_queries=True)
        except ProgramError as error:
            problem = type_problem(error)
            raise parse_error(self.sql, (first.start, last.end + 1), problem, hint=error.hint) from error

    def _continues_type(self, token: Token) -> bool:
        if token.token_type in (TokenType.L_PAREN, TokenType.LT):
            return True
        if self._is_word(token, "WITH") or self._is_word(token, "WITHOUT"):
            return self._is_word(self.peek(1), "TIME") or self._is_word(self.peek(1), "LOCAL")
        previous = self.tokens[self.at - 1].text.upper()
        word = token.text.upper()
        if word == "NOT":
            return self._is_word(self.peek(1), "NULL")
        behind = {"NOT": {"NULL"}, "DOUBLE": {"PRECISION"}, "WITH": {"TIME", "LOCAL"}, "WITHOUT": {"TIME"}, "LOCAL": {"TIME"}}
        return word in behind.get(previous, ()) or word in ("NULL", "ZONE", "ARRAY", "MULTISET") or (word == "TIME" and previous == "LOCAL")

    # Trees

    def expression(self, stop: tuple[str, ...] = ("COMMENT", "FIRST", "AFTER")) -> exp.Expr:
        """Take an expression: all up to the comma, bracket or word that ends it."""
        start, depth = self.at, 0
        while not self.is_at_end:
            token = self.tokens[self.at]
            if not depth and (token.token_type in (TokenType.COMMA, TokenType.R_PAREN) or any(self._is_word(token, word) for word in stop)):
                break
            depth += _DEPTH.get(token.token_type, 0)
            self.at += 1
        if self.at == start:
            self.fail("an expression")
        return self._tree(self.tokens[start : self.at], lambda parser: parser._parse_disjunction())

    def hints_behind(self) -> tuple[exp.Expr, ...]:
        """Return the hints that stand behind the last token taken."""
        following = self.peek()
        strings = hints_between(self.sql, self.tokens[self.at - 1].end + 1, len(self.sql) if following is None else following.start)
        try:
            return tuple(hint for text, at in strings for hint in self.parser(dialect=self.dialect).hints_of(text, at))
        except ParseError as error:
            raise parse_error(self.sql, getattr(error, "span", None) or self.span_of(None), str(error)) from error

    def text_since(self, begin: int) -> str:
        """Return the text from a token on to the last one taken, and to the end of hints behind it."""
        span, following = self.span_since(begin), self.peek()
        behind = self.sql[span.end : len(self.sql) if following is None else following.start]
        hinted = behind.rfind("*/") + 2 if hints_between(self.sql, span.end, span.end + len(behind)) else 0
        return self.sql[span.start : span.end + hinted]

    def query(self) -> exp.Expr:
        """Take a query: all up to the end of the statement, or to ``ON CONFLICT DO``."""
        start = self.at
        while not self.is_at_end and not self.words("ON", "CONFLICT", "DO"):
            self.at += 1
        if self.at == start:
            self.fail("a query")
        return self._tree(self.tokens[start : self.at], _query)

    def _tree(self, tokens: list[Token], read: Callable[[FlinkParser], exp.Expr | None]) -> exp.Expr:
        parser = self.parser(dialect=self.dialect)
        try:
            tree = parser._parse(read, list(tokens), self.sql)[0]  # type: ignore[arg-type]
        except ParseError as error:
            span = getattr(error, "span", None) or self.span_of(None)
            raise parse_error(self.sql, span, str(error), hint=getattr(error, "hint", None) or self._hint(span[0])) from error
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            # What is nothing like SQL can take sqlglot where it does not look at what it has.
            token = parser._curr or parser._prev or tokens[-1]
            span = self.span_of(token)
            raise parse_error(self.sql, span, f"{token.text!r} is not expected here", hint=self._hint(span[0])) from error
        except RecursionError as error:
            raise parse_error(self.sql, self.span_of(tokens[0]), "this is nested too deeply", hint="split it into views") from error
        if tree is None:
            raise parse_error(self.sql, (tokens[0].start, tokens[0].end + 1), expected("a query", tokens[0].text))
        self._check(tree, tokens)
        return tree

    def _hint(self, at: int) -> str | None:
        """Return what to do about a place that cannot be read."""
        return foreign_habit(self.sql, at)

    def _check(self, tree: exp.Expr, tokens: list[Token]) -> None:
        foreign = find_foreign(tree)
        if foreign is not None:
            node, problem = foreign
            raise parse_error(self.sql, place_of(node) or (tokens[0].start, tokens[0].end + 1), problem)
        last = tokens[-1]
        if last.text.upper() in _NEVER_LAST and last.token_type not in _NOT_WORDS:
            raise parse_error(self.sql, self.span_of(None), expected(f"what belongs behind {last.text.upper()}", None))


def _query(parser: FlinkParser) -> exp.Expr | None:
    tree = parser._parse_select(nested=True)
    return parser._parse_query_modifiers(parser._parse_set_operations(tree)) if tree is not None else None


def _token_error(sql: str, error: TokenError) -> ProgramError:
    opened = _OPENING.search(_WITH_END.sub(lambda found: " " * len(found[0]), sql))
    if opened is None:
        return parse_error(sql, (len(sql.rstrip()), len(sql)), f"the text cannot be read: {str(error).splitlines()[0]}")
    closing = "*/" if opened[0] == "/*" else opened[0]
    return parse_error(sql, opened.span(), f"what begins with {opened[0]} has no end", hint=f"write {closing} behind it")
