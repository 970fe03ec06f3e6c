"""Internal. Errors of SQL show their place."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from wiesel.core.errors import ProgramError, SqlParseError

__all__ = ["expected", "foreign_habit", "parse_error", "place_of", "type_problem"]

_MOST_SHOWN = 140


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
        return "texts stand between single quotes ('a'), names between backticks (`a`)"
    if sql.startswith("::", at):
        return "write CAST(a AS INT) for a::INT"
    if sql[max(0, at - 1) : at + 1] == "==":
        return "write ="
    return None


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
