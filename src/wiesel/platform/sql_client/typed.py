"""Internal. Parser of user input: completeness of statements, and commands of the client."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

from wiesel.sql.language.dialect import Flink
from wiesel.sql.language.hive.dialect import Hive

__all__ = ["Command", "command_of", "is_complete", "readable_tokens"]

_COMMAND = re.compile(r"\s*(?:(help|quit|exit|clear)|(source)\s+(.+?))\s*;?\s*", re.IGNORECASE | re.DOTALL)
_SETS = (("EXECUTE", "STATEMENT", "SET"), ("EXPLAIN", "STATEMENT", "SET"), ("EXPLAIN", "PLAN", "FOR", "STATEMENT", "SET"))
_DIALECT = Flink()
_HIVE = Hive()


@dataclass(frozen=True)
class Command:
    """A command: its name in capitals, and the file of SOURCE."""

    name: str
    argument: str = ""


def command_of(text: str) -> Command | None:
    """Return the client command in an input, or None if it is none.

    >>> command_of("source 'a b.sql';")
    Command(name='SOURCE', argument='a b.sql')
    """
    found = _COMMAND.fullmatch(text)
    if found is None:
        return None
    if found[1]:
        return Command("QUIT" if found[1].upper() == "EXIT" else found[1].upper())
    argument = found[3].strip()
    if len(argument) > 1 and argument[0] == argument[-1] and argument[0] in "'\"":
        argument = argument[1:-1]
    return Command("SOURCE", argument)


def is_complete(text: str, *, hive: bool = False) -> bool:
    """Return whether an input is complete: a client command, or statements that end with a semicolon.

    Semicolons in quotes, comments and statement sets do not count.

    >>> is_complete("SELECT ';'"), is_complete("SELECT ';';"), is_complete("quit")
    (False, True, True)
    """
    if not text.strip() or command_of(text) is not None:
        return True
    tokens = readable_tokens(text, hive=hive)
    if not tokens or tokens[-1].token_type != TokenType.SEMICOLON:
        return False
    last = _last_statement(tokens)
    words = [token.text.upper() for token in last]
    return not any(tuple(words[: len(start)]) == start for start in _SETS) or words[-2:] == ["END", ";"]


def _last_statement(tokens: list[Token]) -> list[Token]:
    """Return the tokens of the last statement; a statement set counts as one statement."""
    start, in_set = 0, False
    for place, token in enumerate(tokens[:-1]):
        words = tuple(each.text.upper() for each in tokens[start : start + 5])
        in_set = any(words[: len(begin)] == begin for begin in _SETS)
        ends_set = place > 0 and tokens[place - 1].text.upper() == "END"
        if token.token_type == TokenType.SEMICOLON and (not in_set or ends_set):
            start = place + 1
    return tokens[start:]


def readable_tokens(text: str, *, hive: bool = False) -> list[Token]:
    """Return the tokens of an input in Flink's or Hive's dialect; none if a quote or comment is not closed."""
    try:
        return list((_HIVE if hive else _DIALECT).tokenize(text))
    except TokenError:
        return []
