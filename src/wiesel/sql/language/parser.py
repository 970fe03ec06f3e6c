"""Internal. From scripts to statements, in the dialect that is set where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from wiesel.core.errors import SqlParseError
from wiesel.sql.language import statements as s
from wiesel.sql.language.cursor import Cursor
from wiesel.sql.language.errors import expected, parse_error
from wiesel.sql.language.flink_parser import parse_whole_statement

__all__ = [
    "DEFAULT_DIALECT",
    "DIALECT_OPTION",
    "HIVE_DIALECT",
    "VIEW_DIALECT",
    "check_script",
    "parse_in_dialect",
    "parse_script",
    "parse_statement",
]

DIALECT_OPTION = "table.sql-dialect"
DEFAULT_DIALECT = "default"
HIVE_DIALECT = "hive"
VIEW_DIALECT = "sql-dialect"
"""The option of a view whose query is not in Flink's dialect."""

_SWITCH = re.compile(
    r"""'(?:''|\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`[^`]*`|--[^\n]*|/\*.*?\*/"""
    r"""|(?:\A|(?<=;))(?P<blank>(?:\s|--[^\n]*\n|/\*.*?\*/)*)SET\s+'?table\.sql-dialect'?\s*=\s*'?(?P<name>\w+)'?\s*(?:;|\Z)""",
    re.DOTALL | re.IGNORECASE,
)
_NOT_LINES = re.compile(r"[^\n]")


def parse_script(sql: str, options: Mapping[str, str] = MappingProxyType({})) -> list[s.Statement]:
    """Return the statements of a script; semicolons stand between them.

    Args:
        sql: The script.
        options: Those of the session: the dialect, and values of variables.

    Raises:
        SqlParseError: A statement cannot be read; tells line and column.
    """
    found: list[s.Statement] = []
    for each in _read(sql, options):
        if isinstance(each, SqlParseError):
            raise each
        found.append(each)
    return found


def check_script(sql: str, options: Mapping[str, str] = MappingProxyType({})) -> tuple[list[s.Statement], list[SqlParseError]]:
    """Return the statements of a script that can be read, and an error for each of the others."""
    found = list(_read(sql, options))
    return [each for each in found if isinstance(each, s.Statement)], [each for each in found if isinstance(each, SqlParseError)]


def parse_statement(sql: str, options: Mapping[str, str] = MappingProxyType({})) -> s.Statement:
    """Return the one statement of a text; a semicolon may follow.

    Raises:
        SqlParseError: There is none, or more than one, or it cannot be read.
    """
    found = parse_script(sql, options)
    if len(found) != 1:
        place = (found[1].span.start, found[1].span.end) if found else (0, 1)
        problem = "one statement expected, found another one" if found else expected("a statement", None)
        raise parse_error(sql, place, problem, hint="execute_sql() takes one statement; run a script statement by statement")
    return found[0]


def parse_in_dialect(sql: str, dialect: str) -> s.Statement:
    """Return the one statement of a text in a dialect."""
    return parse_statement(sql, {DIALECT_OPTION: dialect})


def _read(sql: str, options: Mapping[str, str]) -> Iterator[s.Statement | SqlParseError]:
    """Yield statements, and errors in the place of those that cannot be read."""
    known = dict(options)
    for text in _parts(sql):
        dialect = known.get(DIALECT_OPTION, DEFAULT_DIALECT).lower()
        for each in _read_hive(text, known) if dialect == HIVE_DIALECT else _read_default(text):
            if isinstance(each, s.Set) and each.key is not None and each.value is not None:
                known[each.key] = each.value
            elif isinstance(each, s.Reset):
                known.pop(each.key or DIALECT_OPTION, None)
            yield each


def _parts(sql: str) -> Iterator[str]:
    """Yield the parts of a script by dialect: other parts are replaced by blanks."""
    begin = 0
    for found in _SWITCH.finditer(sql):
        if found["name"]:
            yield _part(sql, begin, found.end())
            begin = found.end()
    yield _part(sql, begin, len(sql)) if begin else sql


def _part(sql: str, begin: int, end: int) -> str:
    return _NOT_LINES.sub(" ", sql[:begin]) + sql[begin:end]


def _read_default(sql: str) -> Iterator[s.Statement | SqlParseError]:
    try:
        cursor = Cursor(sql)
    except SqlParseError as error:
        yield error
        return
    while cursor.another_follows():
        try:
            yield parse_whole_statement(cursor)
        except SqlParseError as error:
            yield error
            cursor.skip_statement()


def _read_hive(sql: str, known: dict[str, str]) -> Iterator[s.Statement | SqlParseError]:
    from wiesel.sql.language.hive.cursor import HiveCursor
    from wiesel.sql.language.hive.parser import parse_hive_statement

    # Values are put in when a statement is read: those before it may set them.
    begin = 0
    while True:
        try:
            cursor = HiveCursor(_part(sql, begin, HiveCursor.end_of_statement(sql, begin)), known)
        except SqlParseError as error:
            yield error
            return
        if cursor.another_follows():
            try:
                yield parse_hive_statement(cursor)
            except SqlParseError as error:
                yield error
        begin = len(cursor.sql)
        if begin >= len(sql):
            return
