"""Internal. Flink's dialect for sqlglot: queries and expressions.

sqlglot reads the languages of many databases and turns functions into nodes of its own, some with other arguments. Here a function stays
what was written. sqlglot also takes what Flink does not know (``PIVOT``, ``TABLESAMPLE`` ...): whoever binds names refuses the arguments
of nodes that are not Flink's.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar, NoReturn

from sqlglot import exp, parser, tokens
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import TokenType

from wiesel.core.errors import ProgramError
from wiesel.sql.language import nodes
from wiesel.sql.language.errors import expected, type_problem
from wiesel.types.logical_parser import parse_data_type

__all__ = ["CHARACTER_SETS", "Flink", "FlinkParser", "hints_between", "up_to_bracket"]

_WITH_WORDS = frozenset({"JSON_ARRAY", "JSON_ARRAYAGG", "JSON_EXISTS", "JSON_OBJECT", "JSON_OBJECTAGG", "JSON_QUERY", "JSON_VALUE"})
_KEPT_PARSERS = ("CEIL", "EXTRACT", "FLOOR", "OVERLAY", "POSITION", "SUBSTRING", "TRIM")
_KEPT = frozenset({"GROUP BY", "GROUPING SETS", "ORDER BY", "PARTITION BY", "SIMILAR TO", "/*+", "||", "<>", "!=", "<=", ">=", "=>"})
"""Multi-character tokens of sqlglot other than words; excluding those that Flink does not have, such as ``::`` and ``->``."""

_DROPPED = frozenset({"SESSION"})
"""Words that are names of functions here."""

_KEYWORDS = {
    word: token for word, token in tokens.Tokenizer.KEYWORDS.items() if word in _KEPT or (word.isidentifier() and word not in _DROPPED)
}

CHARACTER_SETS = {
    "UTF8": "utf-8",
    "UTF-8": "utf-8",
    "UTF16": "utf-16",
    "UTF-16": "utf-16",
    "UTF-16BE": "utf-16-be",
    "UTF-16LE": "utf-16-le",
    "LATIN1": "latin-1",
    "ISO-8859-1": "latin-1",
    "US-ASCII": "ascii",
}
"""Character set prefixes of strings, as in ``_UTF8'a'``, and their Python names."""

_UNITS = ("SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR")
_HINT = re.compile(r"/\*\+(.*?)\*/", re.DOTALL)
_CLOSING = {TokenType.L_PAREN: 1, TokenType.LT: 1, TokenType.R_PAREN: -1, TokenType.GT: -1}
_ON_EMPTY_OR_ERROR = ("NULL", "ERROR", "TRUE", "FALSE", "UNKNOWN", "EMPTY ARRAY", "EMPTY OBJECT")
_PHRASES: tuple[tuple[str, ...], ...] = (
    *((first, "ON", "NULL") for first in ("NULL", "ABSENT")),
    *((*first.split(), "ON", last) for first in _ON_EMPTY_OR_ERROR for last in ("EMPTY", "ERROR")),
    *(("ON", last) for last in ("EMPTY", "ERROR")),
    *(("WITH", *kind, *array, "WRAPPER") for kind in ((), ("CONDITIONAL",), ("UNCONDITIONAL",)) for array in ((), ("ARRAY",))),
    *(("WITHOUT", *array, "WRAPPER") for array in ((), ("ARRAY",))),
)
_AFTER_SEQUENCE = frozenset({TokenType.R_PAREN, TokenType.PIPE, TokenType.COMMA, TokenType.DASH, TokenType.DOLLAR})
_SIMPLE_QUANTIFIERS = {TokenType.STAR: (0, None), TokenType.PLUS: (1, None), TokenType.PLACEHOLDER: (0, 1)}


def hints_between(sql: str, start: int, end: int) -> list[tuple[str, int]]:
    """Return what stands in hints in a part of a script without tokens, and where: behind names sqlglot takes hints for comments."""
    return [(found[1], found.start(1)) for found in _HINT.finditer(sql, start, end)]


_MISSING = re.compile(r"Required keyword: '\w+' missing|Expected table name")
_EXPECTING = re.compile(r"Expect(?:ing|ed) (\S+)$")


def _in_our_words(message: str, found: str | None, before: str) -> str:
    """Return what an error of sqlglot says without its own terms: ``found`` is where it was met, None for the end, behind ``before``."""
    if _MISSING.match(message):
        what = "a table" if "table" in message else "a value"
        return expected(f"{what} behind {before.upper() if before.isalpha() else repr(before)}", found)
    wanted = _EXPECTING.match(message)
    if wanted is not None:
        return expected(repr(wanted[1]), found)
    return f"{found!r} is not expected here" if message.startswith("Invalid expression") and found is not None else message


def up_to_bracket(parse: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Have what reads a function's arguments refuse others behind them: sqlglot looks for the bracket behind usual functions only."""

    def parse_all(flink: Any) -> Any:
        found = parse(flink)
        if not flink._curr or flink._curr.token_type != TokenType.R_PAREN:
            flink.raise_error("Expecting )")
        return found

    return parse_all


def _call_with_words(name: str, flink: Any) -> Any:
    return flink._parse_call_with_words(name)


class FlinkParser(parser.Parser):
    """Reads queries and expressions."""

    FUNCTIONS: ClassVar[dict[str, Any]] = {}
    FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
        **{name: up_to_bracket(parser.Parser.FUNCTION_PARSERS[name]) for name in _KEPT_PARSERS},
        **{name: up_to_bracket(partial(_call_with_words, name)) for name in _WITH_WORDS},
        "CAST": up_to_bracket(lambda self: self._parse_flink_cast(exp.Cast)),
        "TRY_CAST": up_to_bracket(lambda self: self._parse_flink_cast(exp.TryCast)),
        "DESCRIPTOR": up_to_bracket(lambda self: self.expression(nodes.Descriptor(expressions=self._parse_csv(self._parse_id_var)))),
    }
    IS_PREDICATE_PRECEDENCE = parser.IsPredicatePrecedence.LOW
    IS_PREDICATE_TOKENS: ClassVar[set[Any]] = {TokenType.IS}
    QUERY_MODIFIER_PARSERS: ClassVar[dict[Any, Any]] = {
        token: parse for token, parse in parser.Parser.QUERY_MODIFIER_PARSERS.items() if token != TokenType.MATCH_RECOGNIZE
    }

    def raise_error(self, message: str, token: Any = None) -> NoReturn:
        """Raise an error that knows its place; sqlglot catches some where it tries another way."""
        found = token or self._curr or None
        token = found or self._prev
        error = ParseError(_in_our_words(message, None if found is None else found.text, self._prev.text if self._prev else ""))
        error.span = None if token is None else (token.start, token.end + 1)  # type: ignore[attr-defined]
        raise error

    def _wanted(self, found: exp.Expr | None, what: str) -> exp.Expr:
        """Return what was read.

        Raises:
            ParseError: If it is nothing.
        """
        if found is None:
            self.raise_error(expected(what, self._curr.text if self._curr else None))
        return found

    def _parse_csv(self, parse_method: Any, sep: TokenType = TokenType.COMMA) -> list[Any]:
        # That of sqlglot passes over what is missing before and between commas.
        first = parse_method()
        if first is None and self._curr and self._curr.token_type == sep:
            self.raise_error("nothing that belongs there stands before the comma")
        found = [] if first is None else [first]
        while self._match(sep):
            comma = self._prev
            following = parse_method()
            if following is None:
                self.raise_error("nothing that belongs there stands behind the comma", comma)
            found.append(following)
        return found

    # Types

    def parse_flink_type(self) -> nodes.DataTypeNode:
        """Read a data type: all up to the comma, bracket or end behind it."""
        start, last, depth = self._curr, None, 0
        while self._curr and (depth or self._curr.token_type not in (TokenType.COMMA, TokenType.R_PAREN)):
            depth += _CLOSING.get(self._curr.token_type, 0)
            last = self._curr
            self._advance()
        if last is None:
            self.raise_error("a data type expected", start)
        return self.flink_type(self._spelled(start, last), start)

    def _spelled(self, first: Any, last: Any) -> str:
        """Return the tokens from one to another without comments between them."""
        between = [token for token in self._tokens if first.start <= token.start <= last.start]
        return " ".join(self.sql[token.start : token.end + 1] for token in between)

    def flink_type(self, text: str, token: Any) -> nodes.DataTypeNode:
        """Return the node of a type's text."""
        node = nodes.DataTypeNode(this=text)
        try:
            node.meta["data_type"] = parse_data_type(text, in_queries=True)
        except ProgramError as error:
            self.raise_error(type_problem(error), token)
        return self.expression(node)

    def _parse_flink_cast(self, kind: type[exp.Cast]) -> exp.Expr:
        this = self._parse_disjunction()
        if not self._match(TokenType.ALIAS):
            self.raise_error("AS and a data type expected")
        return self.expression(kind(this=this, to=self.parse_flink_type()))

    # Functions

    def _parse_position(self, haystack_first: bool = False) -> exp.StrPosition:
        found = super()._parse_position(haystack_first)
        if self._match(TokenType.FROM):
            found.set("position", self._wanted(self._parse_bitwise(), "a number"))
        return found

    def _parse_primary(self) -> exp.Expr | None:
        """Read a text in parts, which stand on lines of their own, as one."""
        first = self._curr
        found = super()._parse_primary()
        if not isinstance(found, exp.Concat):
            return found
        parts = [token for token in self._tokens if first.start <= token.start <= self._prev.start]
        for before, behind in pairwise(parts):
            if "\n" not in self.sql[before.end + 1 : behind.start]:
                self.raise_error("the parts of a text stand on lines of their own", behind)
        return self.expression(exp.Literal.string("".join(part.name for part in found.expressions)), first)

    def _parse_lambda(self, alias: bool = False) -> exp.Expr | None:
        if self._match(TokenType.TABLE):
            return self._parse_table_argument()
        if self._model_follows():
            self._advance()
            return self.expression(nodes.ModelArgument(this=self._parse_table_parts()))
        if self._next and self._next.token_type == TokenType.FARROW:
            name = self._parse_id_var()
            self._advance()
            return self.expression(nodes.NamedArgument(this=name, expression=self._parse_lambda()))
        return super()._parse_lambda(alias)

    def _model_follows(self) -> bool:
        # No expression has two names side by side.
        names = (TokenType.VAR, TokenType.IDENTIFIER)
        here, following = self._curr, self._next
        if not here or not following or following.token_type not in names:
            return False
        return bool(here.token_type == TokenType.VAR and here.text.upper() == "MODEL")

    def _parse_table_argument(self) -> exp.Expr:
        bracket = self._curr and self._curr.token_type == TokenType.L_PAREN
        table = self._parse_wrapped(self._parse_select) if bracket else self._parse_table_parts()
        partition = self._parse_argument_partition() if self._match(TokenType.PARTITION_BY) else None
        return self.expression(nodes.TableArgument(this=table, partition_by=partition, order=self._parse_argument_order()))

    def _parse_argument_order(self) -> exp.Order | None:
        # As in PARTITION BY, several columns are in brackets.
        if not self._match(TokenType.ORDER_BY):
            return None
        if not self._curr or self._curr.token_type != TokenType.L_PAREN:
            return self.expression(exp.Order(expressions=[self._parse_argument_direction()]))
        return self.expression(exp.Order(expressions=self._parse_wrapped_csv(self._parse_argument_direction)))

    def _parse_argument_direction(self) -> exp.Ordered:
        column = self._wanted(self._parse_column(), "a column")
        descending = not self._match(TokenType.ASC) and bool(self._match(TokenType.DESC))
        first = bool(self._match_text_seq("NULLS", "FIRST"))
        last = not first and bool(self._match_text_seq("NULLS", "LAST"))
        return self.expression(exp.Ordered(this=column, desc=descending, nulls_first=first or (descending and not last)))

    def _parse_argument_partition(self) -> list[Any]:
        # Without brackets it is one column: a comma ends the argument.
        if not self._curr or self._curr.token_type != TokenType.L_PAREN:
            return [self._wanted(self._parse_column(), "a column")]
        columns = self._parse_wrapped_csv(self._parse_column)
        self._wanted(columns[0] if columns else None, "a column")
        return columns

    def _parse_bracket(self, this: exp.Expr | None = None) -> exp.Expr | None:
        if this is None and self._curr and self._curr.token_type in (TokenType.L_BRACKET, TokenType.L_BRACE):
            self.raise_error("an expression cannot begin like that; write ARRAY[...], MAP[...] or ROW(...)")
        return super()._parse_bracket(this)

    def _parse_paren(self) -> exp.Expr | None:
        """Read what is in brackets, and a unit behind a difference: ``(a - b) DAY``."""
        this = super()._parse_paren()
        if isinstance(this, exp.Paren) and isinstance(this.this, exp.Sub) and self._match_texts(_UNITS):
            return self.expression(exp.Interval(this=this, unit=exp.var(self._prev.text.upper())))
        return this

    def _parse_call_with_words(self, name: str) -> exp.Expr:
        arguments: list[exp.Expr | None] = []
        words: list[str] = []
        defaults: list[exp.Expr | None] = []
        returning = None
        while self._curr and self._curr.token_type != TokenType.R_PAREN:
            phrase = next((phrase for phrase in _PHRASES if self._match_text_seq(*phrase)), None)
            if phrase is not None:
                words.append(" ".join(phrase))
            elif self._match_text_seq("DEFAULT"):
                defaults.append(self._wanted(self._parse_bitwise(), "a value"))
                words.append("DEFAULT")
            elif self._match_text_seq("RETURNING"):
                returning = self._parse_returned_type()
            elif not (self._match(TokenType.COMMA) or self._match_text_seq("KEY") or self._match_text_seq("VALUE")):
                arguments.append(self._wanted(self._parse_lambda(), "an argument"))
        return self.expression(nodes.Call(this=name, expressions=arguments, words=words, returning=returning, defaults=defaults))

    def _parse_returned_type(self) -> nodes.DataTypeNode:
        """Read a data type in front of words: a name, maybe with lengths or with types in it."""
        start = last = self._curr
        depth = 0
        while self._curr:
            depth += _CLOSING.get(self._curr.token_type, 0)
            last = self._curr
            self._advance()
            if not depth and (not self._curr or self._curr.token_type not in (TokenType.L_PAREN, TokenType.LT)):
                break
        return self.flink_type(self._spelled(start, last), start)

    # Tables

    def _parse_table_parts(self, *args: Any, **kwargs: Any) -> Any:
        table = super()._parse_table_parts(*args, **kwargs)
        if table is not None:
            hints = self._hints_behind()
            if hints:
                table.set("hints", hints)
        return table

    def _hints_behind(self) -> list[exp.Expr]:
        """Return the hints that stand behind the last token."""
        if not self._prev:
            return []
        end = self._curr.start if self._curr else len(self.sql)
        return [hint for text, at in hints_between(self.sql, self._prev.end + 1, end) for hint in self.hints_of(text, at)]

    def hints_of(self, text: str, at: int) -> list[exp.Expr]:
        """Return the hints of a comment, which stands at this place of the script."""
        inner = FlinkParser(dialect=self.dialect)
        try:
            tokens = self.dialect.tokenize(text)
            trees = inner._parse(lambda _: exp.Tuple(expressions=inner._parse_csv(inner._parse_one_hint)), tokens, text)
        except ParseError as error:
            start, end = getattr(error, "span", None) or (0, len(text))
            error.span = (at + start, at + end)  # type: ignore[attr-defined]
            raise
        except TokenError as error:
            problem = ParseError("this hint cannot be read")
            problem.span = (at, at + len(text))  # type: ignore[attr-defined]
            raise problem from error
        return [hint for tree in trees if tree is not None for hint in tree.expressions]

    def _parse_hint(self) -> exp.Hint | None:
        if not self._match(TokenType.HINT):
            return None
        comments = [comment for comment in self._prev_comments or [] if comment]
        begin = self._prev.start
        hints = (self.hints_of(comment, self.sql.find(comment, begin)) for comment in comments)
        return exp.Hint(expressions=[hint for of_comment in hints for hint in of_comment])

    def _parse_one_hint(self) -> exp.Expr:
        name = self._advance_any()
        if name is None:
            self.raise_error("the name of a hint expected")
        made = nodes.Hint(this=name.text.upper())
        made.meta["arguments"] = tuple(self._parse_wrapped_csv(self._parse_hint_argument)) if self._curr else ()
        return made

    def _parse_hint_argument(self) -> str | tuple[str, str]:
        first = self._advance_any()
        text = "" if first is None else first.text
        while self._match(TokenType.DOT):
            part = self._advance_any()
            text += f".{part.text}" if part else ""
        if not self._match(TokenType.EQ):
            return text
        value = self._advance_any()
        return text, "" if value is None else value.text

    def _parse_table(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        table = super()._parse_table(*args, **kwargs)
        # TABLE(f(...)) is another way to write f(...).
        if isinstance(table, exp.Table | exp.Lateral):
            call = table.this
            if isinstance(call, exp.Anonymous) and call.name.upper() == "TABLE" and len(call.expressions) == 1:
                table.set("this", call.expressions[0])
        return self._parse_matched(table) if table is not None and self._match(TokenType.MATCH_RECOGNIZE) else table

    # MATCH_RECOGNIZE

    def _parse_matched(self, table: exp.Expr) -> exp.Expr:
        self._match_l_paren()
        parts: dict[str, Any] = {"this": table, "partition_by": self._parse_partition_by(), "order": self._parse_order()}
        if self._match_text_seq("MEASURES"):
            parts["measures"] = self._parse_csv(self._parse_measure)
        for rows in (("ONE", "ROW", "PER", "MATCH"), ("ALL", "ROWS", "PER", "MATCH")):
            if self._match_text_seq(*rows):
                parts["rows"] = " ".join(rows)
        if self._match_text_seq("AFTER", "MATCH"):
            parts["after"], parts["skip_to"] = self._parse_skip()
        if not self._match_text_seq("PATTERN"):
            self.raise_error("PATTERN expected")
        parts["pattern"] = self._parse_wrapped(self._parse_pattern)
        if self._match_text_seq("WITHIN"):
            parts["within"] = self._parse_interval()
        if self._match_text_seq("SUBSET"):
            parts["subsets"] = self._parse_csv(self._parse_subset)
        if not self._match_text_seq("DEFINE"):
            self.raise_error("DEFINE expected")
        parts["define"] = self._parse_csv(self._parse_definition)
        self._match_r_paren()
        parts["alias"] = self._parse_table_alias()
        return self.expression(nodes.MatchRecognize(**parts))

    def _parse_measure(self) -> exp.Expr | None:
        kind = self._match_texts(("FINAL", "RUNNING")) and self._prev.text.upper()
        measure = self._parse_expression()
        if kind and measure is not None:
            measure.meta["semantics"] = kind
        return measure

    def _parse_skip(self) -> tuple[str, exp.Expr | None]:
        for words in ("SKIP PAST LAST ROW", "SKIP TO NEXT ROW"):
            if self._match_text_seq(*words.split()):
                return words, None
        for words in ("SKIP TO FIRST", "SKIP TO LAST", "SKIP TO"):
            if self._match_text_seq(*words.split()):
                return words, self._parse_id_var()
        self.raise_error("SKIP PAST LAST ROW, SKIP TO NEXT ROW or SKIP TO FIRST or LAST and a variable expected")

    def _parse_subset(self) -> exp.Expr:
        name = self._parse_id_var()
        if not self._match(TokenType.EQ):
            self.raise_error("= and variables in brackets expected")
        return self.expression(exp.Alias(this=exp.Tuple(expressions=self._parse_wrapped_id_vars()), alias=name))

    def _parse_definition(self) -> exp.Expr:
        name = self._parse_id_var()
        if not self._match(TokenType.ALIAS):
            self.raise_error("AS and a condition expected")
        return self.expression(exp.Alias(this=self._parse_disjunction(), alias=name))

    def _parse_pattern(self) -> exp.Expr:
        branches = [self._parse_pattern_sequence()]
        while self._match(TokenType.PIPE):
            branches.append(self._parse_pattern_sequence())
        return branches[0] if len(branches) == 1 else self.expression(nodes.PatternAlternatives(expressions=branches))

    def _parse_pattern_sequence(self) -> exp.Expr:
        starts = bool(self._match(TokenType.CARET))
        parts = []
        while self._curr and self._curr.token_type not in _AFTER_SEQUENCE:
            parts.append(self._parse_quantified())
        if not parts:
            self.raise_error("a variable of the pattern expected")
        ends = bool(self._match(TokenType.DOLLAR))
        if len(parts) == 1 and not starts and not ends:
            return parts[0]
        return self.expression(nodes.PatternSequence(expressions=parts, starts=starts, ends=ends))

    def _parse_quantified(self) -> exp.Expr:
        part = self._parse_pattern_part()
        bounds = self._parse_quantifier()
        if bounds is None:
            return part
        return nodes.PatternQuantifier.of(part, *bounds, reluctant=bool(self._match(TokenType.PLACEHOLDER)))

    def _parse_quantifier(self) -> tuple[int, int | None] | None:
        if self._match_set(_SIMPLE_QUANTIFIERS):
            return _SIMPLE_QUANTIFIERS[self._prev.token_type]
        if not self._match(TokenType.L_BRACE):
            return None
        least = self._parse_count()
        most = least
        if self._match(TokenType.COMMA):
            most = self._parse_count()
        if least is None and most is None:
            self.raise_error("a number expected")
        if not self._match(TokenType.R_BRACE):
            self.raise_error("} expected")
        return least or 0, most

    def _parse_count(self) -> int | None:
        return int(self._prev.text) if self._match(TokenType.NUMBER) else None

    def _parse_pattern_part(self) -> exp.Expr:
        if self._match_text_seq("PERMUTE"):
            return self.expression(nodes.PatternPermutation(expressions=self._parse_wrapped_csv(self._parse_pattern)))
        if self._match(TokenType.L_PAREN):
            part = self._parse_pattern()
            self._match_r_paren()
            return part
        if self._match_pair(TokenType.L_BRACE, TokenType.DASH):
            part = self._parse_pattern()
            if not self._match_pair(TokenType.DASH, TokenType.R_BRACE):
                self.raise_error("-} expected")
            return self.expression(nodes.PatternExclusion(this=part))
        name = self._parse_id_var()
        if name is None:
            self.raise_error("a variable of the pattern expected")
        return self.expression(nodes.PatternVariable(this=name))


class Flink(Dialect):
    """Flink's SQL."""

    class Tokenizer(tokens.Tokenizer):
        """Splits a text: names between backquotes, strings between single quotes."""

        IDENTIFIERS: ClassVar[list[Any]] = ["`"]
        QUOTES: ClassVar[list[Any]] = ["'"]
        STRING_ESCAPES: ClassVar[list[str]] = ["'"]
        HEX_STRINGS: ClassVar[list[Any]] = [("x'", "'"), ("X'", "'")]
        UNICODE_STRINGS: ClassVar[list[Any]] = [("u&'", "'"), ("U&'", "'")]
        COMMENTS: ClassVar[list[Any]] = ["--", ("/*", "*/")]
        KEYWORDS: ClassVar[dict[str, Any]] = {
            **_KEYWORDS,
            "MATCH_RECOGNIZE": TokenType.MATCH_RECOGNIZE,
            **{f"_{name}": TokenType.INTRODUCER for name in CHARACTER_SETS},
        }
        # To sqlglot what follows these words is a text that it does not look at.
        COMMANDS: ClassVar[set[Any]] = set()

    Parser = FlinkParser
