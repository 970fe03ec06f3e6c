"""Internal. Rows of SQL tests: conversion from YAML to columns, and to comparable strings."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from wiesel.columnar.row_batch import RowBatch
from wiesel.core.errors import ProgramError
from wiesel.formats.table.json import READ_ERRORS, JsonObjects, ObjectsToBatch
from wiesel.sql.session.result_strings import NULL, batch_strings
from wiesel.types.logical import RowType

__all__ = ["Change", "as_object", "difference", "final_rows", "row_strings", "write_changes", "write_rows"]

Change = tuple[str, tuple[str, ...]]
"""The kind of a change and its row, as strings."""


def as_object(row: Any, names: Sequence[str], at: str, *, whole: bool = False) -> dict[str, Any]:
    """Return a row of YAML as a dict by column name.

    Args:
        row: Values by name, or all of them in order.
        names: The columns.
        at: Location of the row in messages.
        whole: Reject rows with missing columns.

    Raises:
        ProgramError: If names or their number do not match.
    """
    hint = f"the columns are: {', '.join(names)}"
    if isinstance(row, dict):
        unknown = [name for name in row if name not in names]
        missing = [name for name in names if name not in row] if whole else []
        if unknown or missing:
            problem = f"there is no column {unknown[0]!r}" if unknown else f"there is no value for column {missing[0]!r}"
            raise ProgramError(f"{at}: {problem} in {row!r}", hint=hint)
        return row
    values = row if isinstance(row, list) else [row]
    if len(values) != len(names):
        raise ProgramError(f"{at}: {row!r} has {len(values)} values for {len(names)} columns", hint=hint)
    return dict(zip(names, values, strict=True))


def row_strings(rows: Iterable[Any], columns: RowType, zone: str, at: str) -> list[tuple[str, ...]]:
    """Return rows of YAML as strings in the form of results with these types.

    Raises:
        ProgramError: If a value does not match its column's type.
    """
    objects = [as_object(row, columns.names, at, whole=True) for row in rows]
    convert = ObjectsToBatch(JsonObjects(columns, iso=False, ignore=False, fail_on_missing=False))
    strings = []
    for each in objects:
        try:
            batch = RowBatch(convert.batch([each]))
        except READ_ERRORS as error:
            raise ProgramError(f"{at}: {each!r} is no row of {columns.as_summary_string()}: {error}", hint="correct the value") from error
        strings += [tuple(NULL if value is None else value for value in row) for row in batch_strings(batch, columns.field_types(), zone)]
    return strings


def write_rows(path: Path, rows: Sequence[Any], names: Sequence[str], at: str) -> None:
    """Write rows as a file of lines of JSON."""
    path.write_text("".join(json.dumps(as_object(row, names, at)) + "\n" for row in rows), encoding="utf-8")


def write_changes(path: Path, changes: Sequence[tuple[str, Any]], names: Sequence[str], at: str) -> None:
    """Write changes in Debezium's format.

    Raises:
        ProgramError: If a -U is not followed by its +U, or a +U has no -U.
    """
    lines = []
    before: dict[str, Any] | None = None
    for kind, row in changes:
        found = as_object(row, names, at)
        if (before is not None) != (kind == "+U"):
            raise ProgramError(f"{at}: a -U and its +U have to follow each other", hint="write them in pairs, or use -D and +I")
        if kind == "-U":
            before = found
            continue
        change = {"op": {"+I": "c", "+U": "u", "-D": "d"}[kind], "before": before if kind == "+U" else None, "after": found}
        lines.append(json.dumps({**change, "before": found, "after": None} if kind == "-D" else change))
        before = None
    if before is not None:
        raise ProgramError(f"{at}: a -U and its +U have to follow each other", hint="write them in pairs, or use -D and +I")
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def final_rows(changes: Sequence[Change], key: Sequence[int] | None) -> list[tuple[str, ...]]:
    """Return the final rows of changes.

    Args:
        changes: The changes, in order.
        key: Indexes of the primary key columns: a row replaces that of its key. None if there is none.
    """
    if key is not None:
        by_key: dict[tuple[str, ...], tuple[str, ...]] = {}
        for kind, row in changes:
            of = tuple(row[place] for place in key)
            if kind in ("+I", "+U"):
                by_key.pop(of, None)
                by_key[of] = row
            elif kind == "-D" or by_key.get(of) == row:
                by_key.pop(of, None)
        return list(by_key.values())
    rows: list[tuple[str, ...]] = []
    for kind, row in changes:
        if kind in ("+I", "+U"):
            rows.append(row)
        elif row in rows:
            del rows[len(rows) - 1 - rows[::-1].index(row)]
        else:
            raise AssertionError(f"{kind} {_shown(row)} takes a row back that is not there")
    return rows


def difference(found: Sequence[tuple[str, ...]], expected: Sequence[tuple[str, ...]], *, ordered: bool) -> str | None:
    """Return the missing and the unexpected rows, None if there are none."""
    if ordered:
        if list(found) == list(expected):
            return None
        return "\n".join(["expected, in this order:", *map(_line, expected), "found:", *map(_line, found)])
    missing, more = Counter(expected) - Counter(found), Counter(found) - Counter(expected)
    if not missing and not more:
        return None
    lines = ["missing:", *map(_line, missing.elements())] if missing else []
    return "\n".join([*lines, *(["not expected:", *map(_line, more.elements())] if more else [])])


def _line(row: tuple[str, ...]) -> str:
    return f"  {_shown(row)}"


def _shown(row: tuple[str, ...]) -> str:
    return f"[{', '.join(row)}]"
