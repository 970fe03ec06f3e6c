"""Internal. From a script of Hive to statements."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from wiesel.sql.language import statements as s
from wiesel.sql.language.errors import parse_error
from wiesel.sql.language.flink_parser import STATEMENTS
from wiesel.sql.language.hive.creating import parse_hive_alter, parse_hive_create, parse_hive_drop
from wiesel.sql.language.hive.cursor import HiveCursor
from wiesel.sql.language.inserting import parse_partition
from wiesel.sql.language.showing import parse_describe, parse_show

__all__ = ["parse_hive_statement"]

_QUERIES = ("SELECT", "WITH", "FROM", "VALUES")
_PAIR = re.compile(r"SET\s+(?:(-v)|'(?P<quoted>[^']+)'|(?P<key>[^\s=;]+))\s*(?:=\s*(?P<value>.*?))?\s*\Z", re.IGNORECASE | re.DOTALL)
_REFUSED = {
    "LOAD DATA": "write INSERT INTO ... SELECT, or CREATE TABLE ... LOCATION where the files are",
    "EXPORT": "write INSERT INTO a table of files",
    "IMPORT": "write CREATE TABLE ... LOCATION where the files are",
    "MSCK": "tables of files find their partitions themselves",
    "GRANT": "rights are those of the files and systems themselves",
    "REVOKE": "rights are those of the files and systems themselves",
    "LOCK": "leave it out",
    "UNLOCK": "leave it out",
    "MERGE": "write INSERT INTO a table with a primary key",
    "RELOAD": "leave it out",
    "TRANSFORM": "write a table function in Python, and call it in LATERAL VIEW",
    "MAP": "write a table function in Python, and call it in LATERAL VIEW",
    "REDUCE": "write a table function in Python, and call it in LATERAL VIEW",
}


def parse_hive_statement(cursor: HiveCursor) -> s.Statement:
    """Read one statement, up to its end.

    Raises:
        SqlParseError: It cannot be read; tells line and column.
    """
    start = cursor.at
    statement = _statement(cursor, start)
    if not cursor.is_at_end:
        cursor.fail("';' or the end of the statement")
    return _ignoring_case(statement)


def _ignoring_case(statement: s.Statement) -> s.Statement:
    if isinstance(statement, s.StatementSet):
        statement = replace(statement, inserts=tuple(replace(insert, ignores_case=True) for insert in statement.inserts))
    elif isinstance(statement, s.Explain):
        statement = replace(statement, statement=_ignoring_case(statement.statement))
    return replace(statement, ignores_case=True)


def _statement(cursor: HiveCursor, start: int) -> s.Statement:
    token = cursor.peek()
    if (token is not None and token.token_type == TokenType.L_PAREN) or any(cursor.words(word) for word in _QUERIES):
        return _query_or_inserts(cursor, start)
    for words, hint in _REFUSED.items():
        if cursor.words(*words.split()):
            raise parse_error(cursor.sql, cursor.span_of(token), f"{words} of Hive is not supported", hint=hint)
    for word, parse in _STATEMENTS.items():
        if cursor.match(word):
            return parse(cursor, start)
    cursor.fail("a statement of Hive", [*_STATEMENTS, *_QUERIES])


# Queries and inserts


def _rest_of_statement(cursor: HiveCursor) -> list[Token]:
    """Return the tokens up to the end of the statement."""
    end = cursor.at
    while end < len(cursor.tokens) and cursor.tokens[end].token_type != TokenType.SEMICOLON:
        end += 1
    return cursor.tokens[cursor.at : end]


def _insert_places(tokens: list[Token]) -> list[int]:
    """Return where INSERT stands outside of brackets."""
    depth, found = 0, []
    for place, token in enumerate(tokens):
        depth += {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}.get(token.token_type, 0)
        if not depth and token.token_type not in (TokenType.STRING, TokenType.IDENTIFIER) and token.text.upper() == "INSERT":
            found.append(place)
    return found


def _query_or_inserts(cursor: HiveCursor, start: int) -> s.Statement:
    """Read a query; with FROM or WITH in front of INSERT, the inserts that read it."""
    tokens = _rest_of_statement(cursor)
    places = [cursor.at + place for place in _insert_places(tokens)]
    if not places:
        tree = cursor.query()
        return s.Query(cursor.span_since(start), tree)
    shared = cursor.tokens[cursor.at : places[0]]
    ends = [*places[1:], cursor.at + len(tokens)]
    inserts = []
    for place, end in zip(places, ends, strict=True):
        cursor.at = place + 1
        inserts.append(_insert(cursor, place, shared, end))
    return inserts[0] if len(inserts) == 1 else s.StatementSet(cursor.span_since(start), tuple(inserts))


def _insert_alone(cursor: HiveCursor, start: int) -> s.Insert:
    return _insert(cursor, start, [], cursor.at + len(_rest_of_statement(cursor)))


def _insert(cursor: HiveCursor, start: int, shared: list[Token], end: int) -> s.Insert:
    """Read what follows INSERT up to a token; ``shared`` stands in front of its SELECT."""
    overwrite = cursor.choose("INTO", "OVERWRITE") == "OVERWRITE"
    if cursor.words("DIRECTORY") or cursor.words("LOCAL"):
        hint = "CREATE TABLE ... LOCATION 'the directory', and INSERT OVERWRITE TABLE"
        raise parse_error(cursor.sql, cursor.span_of(cursor.peek()), "INSERT OVERWRITE DIRECTORY is not supported", hint=hint)
    cursor.match("TABLE")
    first = cursor.at
    target = cursor.path("the name of a table")
    place = cursor.span_since(first)
    partition = _partition(cursor) if cursor.match("PARTITION") else ()
    cursor.match("IF", "NOT", "EXISTS")
    columns: tuple[str, ...] = ()
    following = cursor.peek(1)
    if cursor.words("(") and following is not None and following.text.upper() not in ("SELECT", "FROM", "WITH", "("):
        columns = cursor.wrapped(lambda: cursor.name("a column").lower())
    tokens = cursor.tokens[cursor.at : end]
    if not tokens:
        cursor.fail("a query")
    query = cursor.query_of([*shared, *tokens])
    cursor.at = end
    return s.Insert(cursor.span_since(start), target, query, columns, partition, overwrite, (), None, place)


def _partition(cursor: HiveCursor) -> s.PartitionSpec:
    """Read ``(ds = 'x', hr)``: a column without a value gets those of the last columns of the query."""

    def entry() -> tuple[str, exp.Expr | None]:
        name = cursor.name("a column").lower()
        return name, cursor.expression() if cursor.match("=") else None

    return cursor.wrapped(entry)


def _explain(cursor: HiveCursor, start: int) -> s.Statement:
    for word in ("EXTENDED", "FORMATTED", "DEPENDENCY", "LOGICAL", "AUTHORIZATION"):
        if cursor.match(word):
            break
    statement = _statement(cursor, cursor.at)
    return s.Explain(cursor.span_since(start), statement)


# The session


def _set(cursor: HiveCursor, start: int) -> s.Statement:
    rest = _rest_of_statement(cursor)
    begin = cursor.tokens[start].start
    cursor.at += len(rest)
    found = cursor.sql.find(";", rest[-1].end + 1 if rest else cursor.tokens[start].end + 1)
    text = cursor.plain(begin, len(cursor.sql) if found < 0 else found).strip()
    return set_of(cursor.span_since(start), text)


def set_of(span: s.Span, text: str) -> s.Set:
    """Return the statement of a text such as ``SET key = value``, whose quotes may be left out."""
    pair = _PAIR.match(text)
    if pair is None or pair[1]:
        return s.Set(span)
    value = pair["value"]
    if value is not None and len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        value = value[1:-1]
    return s.Set(span, pair["quoted"] or pair["key"], value)


def _use(cursor: HiveCursor, start: int) -> s.Statement:
    if cursor.words("CATALOG") or cursor.words("MODULES"):
        return STATEMENTS["USE"](cursor, start)
    path = cursor.path("the name of a database")
    return s.Use(cursor.span_since(start), path)


def _show(cursor: HiveCursor, start: int) -> s.Statement:
    token = cursor.peek()
    if cursor.words("SCHEMAS") and token is not None:
        cursor.tokens[cursor.at] = Token(token.token_type, "DATABASES", token.line, token.col, token.start, token.end, [])
    if cursor.words("PARTITIONS"):
        cursor.match("PARTITIONS")
        of = cursor.path()
        partition = parse_partition(cursor) if cursor.match("PARTITION") else ()
        return s.Show(cursor.span_since(start), "PARTITIONS", of, partition=partition)
    for what in ("TABLES", "DATABASES", "VIEWS", "FUNCTIONS"):
        if cursor.words(what):
            return _show_names(cursor, start, what)
    return parse_show(cursor, start)


def _show_names(cursor: HiveCursor, start: int, what: str) -> s.Show:
    """Read ``SHOW TABLES [IN db] [[LIKE] 'a*']``: the star of Hive's patterns stands for any characters."""
    cursor.expect(what)
    of = cursor.path() if cursor.match("IN") or cursor.match("FROM") else ()
    cursor.match("LIKE")
    pattern = None if cursor.is_at_end else cursor.string("a pattern between quotes").replace("*", "%")
    return s.Show(cursor.span_since(start), what, of, pattern, ignore_case=True)


def _describe(cursor: HiveCursor, start: int) -> s.Statement:
    if cursor.words("FORMATTED"):
        cursor.match("FORMATTED")
        return replace(parse_describe(cursor, start), extended=True)
    if cursor.match("SCHEMA"):
        return s.Describe(path=cursor.path(), kind="DATABASE", span=cursor.span_since(start))
    return parse_describe(cursor, start)


_KEPT = ("TRUNCATE", "LOAD", "UNLOAD", "RESET", "ADD", "REMOVE", "ANALYZE", "STOP")
_STATEMENTS: Mapping[str, Callable[[HiveCursor, int], s.Statement]] = {
    "CREATE": parse_hive_create,
    "DROP": parse_hive_drop,
    "ALTER": parse_hive_alter,
    "INSERT": _insert_alone,
    "EXPLAIN": _explain,
    "DESCRIBE": _describe,
    "DESC": _describe,
    "SHOW": _show,
    "USE": _use,
    "SET": _set,
    **{word: STATEMENTS[word] for word in _KEPT},
}
