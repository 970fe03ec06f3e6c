"""Internal. Completion of keywords, functions, options and catalog names at the cursor."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from sqlglot.tokenizer_core import Token, TokenType

from wiesel.core.config import declared_options
from wiesel.core.errors import WieselError
from wiesel.platform.sql_client import words
from wiesel.platform.sql_client.typed import readable_tokens
from wiesel.sql.catalog.manager import CatalogManager
from wiesel.sql.ddl.information import named_functions
from wiesel.sql.language.flink_parser import statement_words
from wiesel.types.logical import quoted

__all__ = ["SqlCompleter", "Suggestion", "suggestions"]

_TYPED = re.compile(r"[\w$.`]*$")
_OPTION = re.compile(r"\b(?:SET|RESET)\s+'([^']*)$", re.IGNORECASE)
_PLAIN = re.compile(r"[A-Za-z_]\w*")
_BEFORE_TABLES = frozenset({"FROM", "JOIN", "INTO", "OVERWRITE", "TABLE", "VIEW", "DESCRIBE", "DESC", "UPDATE", "LIKE"})
_BEFORE_RELATIONS = frozenset({"FROM", "JOIN", ",", "INTO", "UPDATE"})


@dataclass(frozen=True)
class Suggestion:
    """A completion and its kind; ``typed`` letters before the cursor are replaced."""

    text: str
    kind: str
    typed: int


class SqlCompleter(Completer):
    """Completer of SQL for the prompt.

    Args:
        catalogs: Catalogs for looking up names.
    """

    def __init__(self, catalogs: CatalogManager) -> None:
        self._catalogs = catalogs

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        """Yield the completions at the cursor."""
        for found in suggestions(self._catalogs, document.text_before_cursor, document.text_after_cursor):
            yield Completion(found.text, start_position=-found.typed, display_meta=found.kind)


def suggestions(catalogs: CatalogManager, before: str, after: str = "") -> list[Suggestion]:
    """Return the possible words between ``before`` and ``after``, the most likely first."""
    option = _OPTION.search(before)
    if option is not None:
        keys = [each.key for each in declared_options() if each.key.startswith(option[1])]
        return [Suggestion(key, "option", len(option[1])) for key in keys]
    typed = _TYPED.search(before)
    prefix = typed[0] if typed is not None else ""
    tokens = readable_tokens(before[: len(before) - len(prefix)])
    if before[: len(before) - len(prefix)].strip() and not tokens:
        return []  # # Inside of a string or comment.
    tokens = _statement_tokens(tokens)
    parts = [part.strip("`") for part in prefix.split(".")]
    statement = [*tokens, *_until_end(readable_tokens(after))]
    found = _behind_dots(catalogs, parts[:-1], statement) if len(parts) > 1 else _single(catalogs, tokens, statement, prefix)
    start = parts[-1].upper()
    last = len(prefix.rpartition(".")[2])
    kept: dict[str, Suggestion] = {}
    for text, kind in found:
        if text.strip("`").upper().startswith(start):
            kept.setdefault(text, Suggestion(text, kind, last))
    return list(kept.values())


def _statement_tokens(tokens: list[Token]) -> list[Token]:
    ends = [place for place, token in enumerate(tokens) if token.token_type == TokenType.SEMICOLON]
    return tokens[ends[-1] + 1 :] if ends else tokens


def _until_end(tokens: list[Token]) -> list[Token]:
    ends = [place for place, token in enumerate(tokens) if token.token_type == TokenType.SEMICOLON]
    return tokens[: ends[0]] if ends else tokens


def _single(catalogs: CatalogManager, tokens: list[Token], statement: list[Token], prefix: str) -> Iterator[tuple[str, str]]:
    if not tokens:
        yield from _all("statement", words.STATEMENTS)
        yield from _all("statement", sorted(statement_words()))
        yield from _all("command", words.COMMANDS)
        return
    last = tokens[-1].text.upper()
    first = tokens[0].text.upper()
    if first == "SHOW":
        yield from _all("word", words.BEHIND_SHOW)
    if last == "CATALOG" or (last == "USE" and first == "USE"):
        yield from _all("catalog", map(_name, sorted(catalogs.catalogs)))
    if last in ("USE", "DATABASE"):
        yield from _all("database", map(_name, sorted(catalogs.catalog(catalogs.current[0]).databases)))
        return
    if last in _BEFORE_TABLES or (last == "," and _in_from(tokens)):
        yield from _tables(catalogs, catalogs.current)
        yield from _all("database", map(_name, sorted(catalogs.catalog(catalogs.current[0]).databases)))
        yield from _all("catalog", map(_name, sorted(catalogs.catalogs)))
        yield from _all("word", ("TABLE", "LATERAL TABLE", "UNNEST"))
        return
    relations = _relations(statement)
    yield from _all("word", _phrase_ends(tokens))
    if first in ("SELECT", "WITH", "EXPLAIN", "INSERT") and not relations:
        # # FROM is not written yet: offer the columns of all tables of the database.
        for name in catalogs.names(*catalogs.current):
            yield from _columns(catalogs, (name,))
    for path in relations.values():
        yield from _columns(catalogs, path)
    yield from _all("word", words.CLAUSES if prefix else ())
    yield from _all("function", [f"{name}(" for name in catalogs.function_names()])
    yield from _all("function", [f"{name}(" for name in named_functions(catalogs)])
    yield from _all("type", words.TYPES)
    yield from _all("alias", map(_name, relations))


def _phrase_ends(tokens: list[Token]) -> Iterator[str]:
    """Yield the remaining words of multi-word keywords that the last tokens begin, such as BY behind GROUP."""
    written = [token.text.upper() for token in tokens]
    starting = [phrase for phrase in (*words.STATEMENTS, *(f"SHOW {each}" for each in words.BEHIND_SHOW)) if " " in phrase]
    for phrase in (*starting, *words.CLAUSES):
        parts = phrase.split()
        for count in range(1, len(parts)):
            if written[-count:] == parts[:count] and (phrase not in starting or len(written) == count):
                yield " ".join(parts[count:])


def _all(kind: str, strings: Iterable[str]) -> Iterator[tuple[str, str]]:
    return ((text, kind) for text in strings)


def _name(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else quoted(name)


def _in_from(tokens: list[Token]) -> bool:
    """Return whether the last token is in a FROM clause."""
    for token in reversed(tokens):
        word = token.text.upper()
        if word in ("SELECT", "WHERE", "BY", "ON", "WITH", "(", "HAVING"):
            return False
        if word == "FROM":
            return True
    return False


def _tables(catalogs: CatalogManager, database: tuple[str, str]) -> Iterator[tuple[str, str]]:
    views = set(catalogs.names(*database, views_only=True))
    return ((_name(name), "view" if name in views else "table") for name in catalogs.names(*database))


def _relations(tokens: list[Token]) -> dict[str, tuple[str, ...]]:
    """Return the tables that a statement names, by their names in it."""
    found: dict[str, tuple[str, ...]] = {}
    place = 0
    while place < len(tokens) - 1:
        place += 1
        if tokens[place - 1].text.upper() not in _BEFORE_RELATIONS or tokens[place].token_type == TokenType.L_PAREN:
            continue
        path = [tokens[place].text]
        while place + 2 < len(tokens) and tokens[place + 1].token_type == TokenType.DOT:
            path.append(tokens[place + 2].text)
            place += 2
        found[path[-1]] = tuple(path)
        behind = [token for token in tokens[place + 1 : place + 3] if token.text.upper() != "AS"]
        if behind and (behind[0].token_type in (TokenType.VAR, TokenType.IDENTIFIER)):
            found[behind[0].text] = tuple(path)
    return found


def _columns(catalogs: CatalogManager, path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    try:
        entry = catalogs.find(path)[1]
    except WieselError:
        return
    yield from _all("column", (_name(column.name) for column in entry.schema.columns))


def _behind_dots(catalogs: CatalogManager, parts: list[str], statement: list[Token]) -> Iterator[tuple[str, str]]:
    relations = _relations(statement)
    if len(parts) == 1:
        if parts[0] in relations:
            yield from _columns(catalogs, relations[parts[0]])
        if parts[0] in catalogs.catalogs:
            yield from _all("database", map(_name, sorted(catalogs.catalogs[parts[0]].databases)))
        yield from _tables(catalogs, (catalogs.current[0], parts[0]))
    else:
        yield from _tables(catalogs, (parts[0], parts[1]))
