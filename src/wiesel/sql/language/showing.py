"""Internal. ``SHOW`` and ``DESCRIBE``."""

from __future__ import annotations

from wiesel.sql.language.cursor import Cursor
from wiesel.sql.language.inserting import parse_partition
from wiesel.sql.language.statements import Describe, Path, Show

__all__ = ["parse_describe", "parse_show"]

_ONE = ("CREATE TABLE", "CREATE VIEW", "CREATE CATALOG", "CREATE MODEL", "PARTITIONS")
_FROM = ("TABLES", "VIEWS", "DATABASES", "COLUMNS", "FUNCTIONS", "USER FUNCTIONS", "PROCEDURES", "MODELS", "CATALOGS")
_ALONE = ("CURRENT CATALOG", "CURRENT DATABASE", "FULL MODULES", "MODULES", "JARS", "JOBS")
_DESCRIBED = ("CATALOG", "DATABASE", "FUNCTION", "MODEL", "JOB")


def parse_show(cursor: Cursor, start: int) -> Show:
    """Read what follows SHOW."""
    what = cursor.choose(*_ONE, *_FROM, *_ALONE)
    if what in _ALONE:
        return Show(cursor.span_since(start), what)
    if what in _ONE:
        of = cursor.path()
        partition = parse_partition(cursor) if what == "PARTITIONS" and cursor.match("PARTITION") else ()
        return Show(cursor.span_since(start), what, of, partition=partition)
    of = ()
    if cursor.match("FROM") or cursor.match("IN"):
        of = cursor.path()
    elif what == "COLUMNS":
        cursor.fail("FROM or IN")
    negated = cursor.match("NOT")
    pattern, ignore_case = None, False
    if negated or cursor.words("LIKE") or cursor.words("ILIKE"):
        ignore_case = cursor.choose("LIKE", "ILIKE") == "ILIKE"
        pattern = cursor.string()
    return Show(cursor.span_since(start), what, of, pattern, negated, ignore_case)


def parse_describe(cursor: Cursor, start: int) -> Describe:
    """Read what follows DESCRIBE."""
    kind = "TABLE"
    # A table may have such a name: then nothing follows.
    following = cursor.peek(1)
    if following is not None and following.text not in (";", "."):
        kind = next((kind for kind in _DESCRIBED if cursor.match(kind)), kind)
    extended = cursor.words("EXTENDED") and cursor.peek(1) is not None and cursor.match("EXTENDED")
    path: Path = (cursor.string(),) if kind == "JOB" else cursor.path()
    return Describe(cursor.span_since(start), path, kind, extended)
