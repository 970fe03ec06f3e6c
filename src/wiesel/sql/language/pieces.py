"""Internal. A script as pieces for the formatter: tokens, comments and brackets, none of which is ever lost or changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import TokenType

from wiesel.sql.language.dialect import Flink
from wiesel.sql.language.errors import parse_error

__all__ = ["Comment", "Group", "Piece", "Word", "pieces_of", "signature", "units"]

_DIALECT = Flink()
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}
_TYPES_OF_ELEMENTS = frozenset({"ARRAY", "MAP", "ROW", "MULTISET"})
_BRACKETS = "correct the brackets: each that is opened has to be closed"
_WHOLE_WORDS = re.compile(r"[A-Za-z_][\w ]*")


@dataclass(frozen=True)
class Word:
    """A token: its text, as a keyword in capitals, and whether a gap and an empty line stood before it."""

    text: str
    upper: str = ""
    spaced: bool = False
    blank_before: bool = False

    @property
    def is_name(self) -> bool:
        """Return whether it is a word or a quoted name."""
        return bool(self.upper) or self.text.startswith("`")


@dataclass(frozen=True)
class Comment:
    """A comment; ``own_line`` if nothing stands before it on its line, ``ends_line`` if nothing can stand behind it."""

    text: str
    own_line: bool
    blank_before: bool = False
    ends_line: bool = False
    spaced: bool = True


@dataclass
class Group:
    """Brackets and what is between them."""

    opening: str
    content: list[Piece] = field(default_factory=list)
    spaced: bool = False
    blank_before: bool = False

    @property
    def closing(self) -> str:
        """The bracket that ends it."""
        return _CLOSING[self.opening]


Piece = Word | Comment | Group


def _flat_pieces(sql: str) -> Iterator[Word | Comment]:
    """Yield tokens and comments in their order; literals continued on the next line become one, before their comments.

    Raises:
        SqlParseError: If the text cannot be split into tokens.
    """
    try:
        tokens = _DIALECT.tokenize(sql)
    except TokenError as error:
        raise parse_error(sql, (len(sql.rstrip()), len(sql)), f"the text cannot be read: {str(error).splitlines()[0]}") from error
    end = 0
    held: list[Word | Comment] = []  # a string literal and the comments behind it: the next line may continue it

    for token in tokens:
        gap = sql[end : token.start]
        comments = _comments(gap, at_start=end == 0)
        behind = gap[gap.rfind("/") + 1 :] if "*/" in gap else gap
        text = sql[token.start : token.end + 1]
        end = token.end + 1
        if token.token_type == TokenType.STRING:
            if held and "\n" in gap:
                held[0] = replace(held[0], text=held[0].text[:-1] + text[1:])
                held += comments
                continue
            yield from (*held, *comments)
            held = [Word(text, "", bool(gap), behind.count("\n") > 1)]
            continue
        yield from (*held, *comments)
        held = []
        upper = ""
        if token.token_type not in (TokenType.IDENTIFIER, TokenType.HINT):
            text = _joined(text)
            upper = text.upper() if _WHOLE_WORDS.fullmatch(text) else ""
        yield Word(text, upper, bool(gap), behind.count("\n") > 1)
    yield from (*held, *_comments(sql[end:], at_start=end == 0))


def _joined(text: str) -> str:
    """Return keywords of several words with one space between them."""
    joined = re.sub(r"\s+", " ", text)
    return joined if _WHOLE_WORDS.fullmatch(joined) else text


def _comments(gap: str, *, at_start: bool) -> Iterator[Comment]:
    end = 0
    for found in _COMMENT.finditer(gap):
        before = gap[end : found.start()]
        own_line = "\n" in before or (at_start and end == 0)
        text = found[0].rstrip()
        yield Comment(text, own_line, before.count("\n") > 1, text.startswith("--"))
        end = found.end()


def pieces_of(sql: str) -> list[Piece]:
    """Return the pieces of a script, those in brackets in groups.

    Raises:
        SqlParseError: If the text cannot be split into tokens, or brackets do not belong together.
    """
    top: list[Piece] = []
    open_groups: list[Group] = []
    before = ""
    for piece in _flat_pieces(sql):
        content = open_groups[-1].content if open_groups else top
        text = piece.text if isinstance(piece, Word) else ""
        if text in ("(", "[", "{") or (text == "<" and before in _TYPES_OF_ELEMENTS):
            assert isinstance(piece, Word)  # noqa: S101 - for the type checker
            group = Group(text, spaced=piece.spaced, blank_before=piece.blank_before)
            content.append(group)
            open_groups.append(group)
        elif open_groups and text == open_groups[-1].closing:
            open_groups.pop()
        elif text in (")", "]", "}"):
            raise parse_error(sql, (0, 1), f"a bracket {text!r} was not opened", hint=_BRACKETS)
        else:
            content.append(piece)
        if isinstance(piece, Word):
            before = piece.upper
    if open_groups:
        raise parse_error(sql, (0, 1), f"a bracket {open_groups[-1].opening!r} is not closed", hint=_BRACKETS)
    return top


def units(pieces: list[Piece]) -> list[list[Piece]]:
    """Return the pieces of each statement, its semicolon with it; comments that follow on the same line too."""
    found: list[list[Piece]] = [[]]
    for piece in pieces:
        ended = bool(found[-1]) and any(isinstance(each, Word) and each.text == ";" for each in found[-1])
        if ended and not (isinstance(piece, Comment) and not piece.own_line):
            found.append([])
        found[-1].append(piece)
    return [unit for unit in found if unit]


def signature(sql: str) -> list[str]:
    """Return what formatting must not change: all tokens and comments, capitals of words aside."""
    return [piece.upper if isinstance(piece, Word) and piece.upper else piece.text for piece in _flat_pieces(sql)]
