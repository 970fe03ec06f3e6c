"""Internal. Errors of SQL show their place."""

from __future__ import annotations

import difflib
import re
from typing import Any

from sqlglot import exp

from wiesel.core.errors import ProgramError, SqlParseError

__all__ = ["expected", "foreign_habit", "missing_separator", "parse_error", "place_of", "type_problem"]

_MOST_SHOWN = 140
_WORD = re.compile(r"'[^']*'|`[^`]*`|\w+")
_LAST_WORD = re.compile(r"(\w+)\s*$")
_QUOTED = re.compile(r"'[^']*'|`[^`]*`|--[^\n]*")
_BEGINNINGS = frozenset("SELECT INSERT CREATE DROP SHOW SET USE DESCRIBE EXPLAIN BEGIN END ALTER EXECUTE WITH".split())
_CLAUSES = ("FROM", "WHERE", "GROUP", "ORDER", "HAVING", "JOIN", "LIMIT", "UNION", "VALUES")


def expected(what: str, found: str | None) -> str:
    """Return what an error says when something else was found."""
    return f"{what} expected, found {'the end' if found is None else repr(found)}"


def parse_error(sql: str, span: tuple[int, int], problem: str, *, hint: str | None = None, **details: Any) -> SqlParseError:
    """Return the error for a place in a script.

    Args:
        sql: The script.
        span: Offsets of the first character and behind the last one.
        problem: What is wrong there.
        hint: What to do.
        details: Further facts.
    """
    start = min(span[0], len(sql))
    line = sql.count("\n", 0, start) + 1
    begin = sql.rfind("\n", 0, start) + 1
    end = sql.find("\n", start)
    text = sql[begin : len(sql) if end < 0 else end].replace("\t", " ").rstrip("\r")
    column = start - begin + 1
    shift = max(0, column - _MOST_SHOWN // 2)
    marks = "^" * max(1, min(span[1] - start, len(text) - column + 1))
    shown = f"  {text[shift : shift + _MOST_SHOWN]}\n  {' ' * (column - 1 - shift)}{marks[:_MOST_SHOWN // 2]}"
    return SqlParseError(
        f"line {line}, column {column}: {problem}\n{shown}", hint=hint or "correct the statement", line=line, column=column, **details
    )


def foreign_habit(sql: str, at: int) -> str | None:
    """Return what to do about a place where a script is written as other databases have it; None if it is not that."""
    if '"' in sql[max(0, at - 1) : at + 1]:
        return "write strings between single quotes ('a'), names between backticks (`a`)"
    if sql.startswith("::", at):
        return "write CAST(a AS INT) for a::INT"
    if sql[max(0, at - 1) : at + 1] == "==":
        return "write ="
    return missing_separator(sql, at)


def missing_separator(sql: str, at: int) -> str | None:
    """Return what probably lacks in front of a word or text that is not expected; None if it is something else."""
    word = _WORD.match(sql, at)
    before = _LAST_WORD.search(sql[:at])
    if word is None:
        comma = sql[:at].rstrip().endswith(",") or sql.startswith(",", at)
        return "leave out the comma, or write what belongs behind it" if comma else None
    if word[0].upper() in _BEGINNINGS and not _inside_brackets(sql, at):
        return f"write ; in front of {word[0].upper()} if a new statement begins there"
    if before is not None and before[1].upper() not in ("FROM", "SELECT"):
        near = difflib.get_close_matches(before[1].upper(), _CLAUSES, n=1, cutoff=0.7)
        if near and near[0] != before[1].upper():
            return f"did you mean {near[0]} in place of {before[1]}?"
    if word[0].upper() in _CLAUSES:
        return "write ) in front of it: a bracket is not closed" if _inside_brackets(sql, at) else None
    behind = sql[:at].rstrip()[-1:]
    return f"is there a comma missing in front of {word[0]}?" if behind.isalnum() or (behind and behind in "'`)>") else None


def _inside_brackets(sql: str, at: int) -> bool:
    before = _QUOTED.sub("", sql[:at])
    return before.count("(") > before.count(")")


def type_problem(error: ProgramError) -> str:
    """Return what is wrong with a data type, without the place within it."""
    first = error.message.splitlines()[0]
    return first.rpartition("position ")[2].partition(": ")[2] or first


def place_of(node: exp.Expr) -> tuple[int, int] | None:
    """Return the offsets of the first name in a tree, None if there is none."""
    for part in node.walk(bfs=False):
        start, end = part.meta.get("start"), part.meta.get("end")
        if isinstance(start, int) and isinstance(end, int):
            return start, end + 1
    return None
