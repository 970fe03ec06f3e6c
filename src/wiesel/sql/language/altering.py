"""Internal. ``ALTER``."""

from __future__ import annotations

from wiesel.sql.language import statements as s
from wiesel.sql.language.creating import parse_function_source
from wiesel.sql.language.cursor import Cursor
from wiesel.sql.language.elements import ElementsReader
from wiesel.sql.language.inserting import parse_partition

__all__ = ["parse_alter"]


def parse_alter(cursor: Cursor, start: int) -> s.Statement:
    """Read what follows ALTER."""
    temporary = cursor.match("TEMPORARY")
    system = temporary and cursor.match("SYSTEM")
    kinds = ("FUNCTION",) if temporary else ("TABLE", "VIEW", "DATABASE", "CATALOG", "FUNCTION", "MODEL")
    kind = cursor.choose(*kinds)
    if_exists = kind in ("TABLE", "VIEW", "FUNCTION", "MODEL") and cursor.match("IF", "EXISTS")
    if kind == "CATALOG":
        name = cursor.name("the name of a catalog")
        change: s.Change = _options(cursor) if not cursor.match("COMMENT") else s.SetComment(cursor.string())
        return s.AlterCatalog(cursor.span_since(start), name, change)
    path = cursor.path()
    if kind == "DATABASE":
        cursor.expect("SET")
        options = s.SetOptions(cursor.options())
        return s.AlterDatabase(cursor.span_since(start), path, options)
    if kind == "FUNCTION":
        identifier, language, _ = parse_function_source(cursor)
        return s.AlterFunction(cursor.span_since(start), path, identifier, language, temporary, system, if_exists)
    if kind == "MODEL":
        renamed = cursor.match("RENAME", "TO")
        change = s.Rename(cursor.path("a name")) if renamed else _options(cursor)
        return s.AlterModel(cursor.span_since(start), path, change, if_exists)
    if kind == "VIEW":
        return _view(cursor, start, path, if_exists)
    change = _table_change(cursor)
    return s.AlterTable(cursor.span_since(start), path, change, if_exists)


def _options(cursor: Cursor) -> s.SetOptions | s.ResetOptions:
    if cursor.choose("SET", "RESET") == "SET":
        return s.SetOptions(cursor.options())
    return s.ResetOptions(cursor.wrapped(lambda: cursor.string("an option's key between single quotes")))


def _view(cursor: Cursor, start: int, path: s.Path, if_exists: bool) -> s.AlterView:
    if cursor.match("RENAME", "TO"):
        rename = s.Rename(cursor.path("a name"))
        return s.AlterView(cursor.span_since(start), path, rename=rename, if_exists=if_exists)
    cursor.expect("AS")
    begin = cursor.at
    query = cursor.query()
    text = cursor.text_since(begin)
    return s.AlterView(cursor.span_since(start), path, query=query, query_text=text, if_exists=if_exists)


def _table_change(cursor: Cursor) -> s.Change:
    if cursor.words("SET") or cursor.words("RESET"):
        return _options(cursor)
    word = cursor.choose("RENAME", "ADD", "MODIFY", "DROP")
    if word == "RENAME":
        if cursor.match("TO"):
            return s.Rename(cursor.path("a name"))
        old = cursor.path("a column")
        cursor.expect("TO")
        return s.RenameColumn(old, cursor.name("a name"))
    if word == "DROP":
        return _drop(cursor)
    if word == "ADD" and (cursor.words("PARTITION") or cursor.words("IF", "NOT", "EXISTS")):
        return _add_partitions(cursor)
    reader = ElementsReader(cursor)
    if cursor.match("("):
        reader.read()
        while cursor.match(","):
            reader.read()
        cursor.expect(")")
    else:
        reader.read()
    return (s.AddColumns if word == "ADD" else s.ModifyColumns)(reader.elements(), reader.positions)


def _drop(cursor: Cursor) -> s.Change:
    if cursor.match("PRIMARY", "KEY"):
        return s.DropParts(primary_key=True)
    if cursor.match("CONSTRAINT"):
        return s.DropParts(constraint=cursor.name("the name of the constraint"))
    if cursor.match("WATERMARK"):
        return s.DropParts(watermark=True)
    if cursor.words("PARTITION") or cursor.words("IF", "EXISTS"):
        if_exists = cursor.match("IF", "EXISTS")

        def dropped() -> tuple[s.PartitionSpec, dict[str, str]]:
            cursor.expect("PARTITION")
            return parse_partition(cursor), {}

        return s.PartitionsChange(False, cursor.listed(dropped), if_exists)
    columns = cursor.wrapped(lambda: cursor.path("a column")) if cursor.words("(") else (cursor.path("a column"),)
    return s.DropParts(columns=columns)


def _add_partitions(cursor: Cursor) -> s.PartitionsChange:
    if_not_exists = cursor.match("IF", "NOT", "EXISTS")
    added = []
    while cursor.match("PARTITION"):
        spec = parse_partition(cursor)
        added.append((spec, cursor.options() if cursor.match("WITH") else {}))
    if not added:
        cursor.fail("PARTITION")
    return s.PartitionsChange(True, tuple(added), if_not_exists)
