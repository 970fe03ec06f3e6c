"""Internal. ``CREATE`` and ``DROP``."""

from __future__ import annotations

from sqlglot import exp

from wiesel.sql.language import statements as s
from wiesel.sql.language.cursor import Cursor
from wiesel.sql.language.elements import parse_columns, parse_elements

__all__ = ["parse_create", "parse_drop", "parse_function_source", "parse_replace"]

_LANGUAGES = ("JAVA", "SCALA", "PYTHON", "SQL")
_WHICH = ("INCLUDING", "EXCLUDING", "OVERWRITING")
_LIKE_PARTS = ("ALL", "CONSTRAINTS", "DISTRIBUTION", "PARTITIONS", "METADATA", "GENERATED", "WATERMARKS", "OPTIONS")


def parse_create(cursor: Cursor, start: int) -> s.Statement:
    """Read what follows CREATE."""
    or_replace = cursor.match("OR", "REPLACE")
    temporary = cursor.match("TEMPORARY")
    system = temporary and cursor.match("SYSTEM")
    if system or or_replace:
        kinds: tuple[str, ...] = ("FUNCTION",) if system else ("TABLE",)
    else:
        kinds = ("TABLE", "VIEW", "FUNCTION", "MODEL") if temporary else ("TABLE", "VIEW", "FUNCTION", "CATALOG", "DATABASE", "MODEL")
    kind = cursor.choose(*kinds)
    if kind == "CATALOG":
        return _catalog(cursor, start)
    if kind == "DATABASE":
        return _database(cursor, start)
    exists = _if_not_exists(cursor)
    if kind == "VIEW":
        return _view(cursor, start, temporary, exists)
    if kind == "FUNCTION":
        path = cursor.path("the name of a function")
        identifier, language, jars = parse_function_source(cursor)
        return s.CreateFunction(cursor.span_since(start), path, identifier, language, jars, temporary, system, exists)
    if kind == "MODEL":
        return _model(cursor, start, temporary, exists)
    return _table(cursor, start, temporary, exists, "OR REPLACE" if or_replace else "")


def parse_replace(cursor: Cursor, start: int) -> s.Statement:
    """Read what follows REPLACE."""
    cursor.expect("TABLE")
    return _table(cursor, start, temporary=False, exists=False, replaces="REPLACE")


def _if_not_exists(cursor: Cursor) -> bool:
    return cursor.match("IF", "NOT", "EXISTS")


def _comment(cursor: Cursor) -> str | None:
    return cursor.string("a comment between single quotes") if cursor.match("COMMENT") else None


def _with(cursor: Cursor) -> dict[str, str]:
    return cursor.options() if cursor.match("WITH") else {}


def _table(cursor: Cursor, start: int, temporary: bool, exists: bool, replaces: str) -> s.CreateTable:
    path = cursor.path("the name of a table")
    elements = s.TableElements()
    columns: tuple[str, ...] = ()
    if cursor.words("("):
        elements, columns = parse_columns(cursor)
    comment = _comment(cursor)
    distribution = _distribution(cursor) if cursor.match("DISTRIBUTED") else None
    keys: tuple[str, ...] = ()
    if cursor.match("PARTITIONED", "BY"):
        keys = cursor.wrapped(lambda: cursor.name("a column"))
    options = _with(cursor)
    like = _like(cursor) if cursor.match("LIKE") else None
    if columns and not cursor.words("AS"):
        cursor.fail("AS and a query, from which columns without types get theirs,")
    query = cursor.query() if like is None and cursor.match("AS") else None
    return s.CreateTable(
        cursor.span_since(start),
        path,
        elements=elements,
        columns=columns,
        comment=comment,
        distribution=distribution,
        partition_keys=keys,
        options=options,
        like=like,
        query=query,
        is_temporary=temporary,
        if_not_exists=exists,
        replaces=replaces,
    )


def _distribution(cursor: Cursor) -> s.Distribution:
    kind = ""
    columns: tuple[str, ...] = ()
    if cursor.match("BY"):
        kind = cursor.choose("HASH", "RANGE") if not cursor.words("(") else ""
        columns = cursor.wrapped(lambda: cursor.name("a column"))
        buckets = cursor.number("how many buckets") if cursor.match("INTO") else None
    else:
        cursor.expect("INTO")
        buckets = cursor.number("how many buckets")
    if buckets is not None:
        cursor.expect("BUCKETS")
    return s.Distribution(kind, columns, buckets)


def _like(cursor: Cursor) -> s.LikeClause:
    source = cursor.path("the name of a table")
    options: list[tuple[str, str]] = []
    if cursor.match("("):
        while not cursor.match(")"):
            options.append((cursor.choose(*_WHICH), cursor.choose(*_LIKE_PARTS)))
    return s.LikeClause(source, tuple(options))


def _view(cursor: Cursor, start: int, temporary: bool, exists: bool) -> s.CreateView:
    path = cursor.path("the name of a view")
    columns = cursor.wrapped(lambda: cursor.name("a column")) if cursor.words("(") else ()
    comment = _comment(cursor)
    cursor.expect("AS")
    query, text = _query_with_text(cursor)
    return s.CreateView(cursor.span_since(start), path, query, text, columns, comment, temporary, exists)


def _query_with_text(cursor: Cursor) -> tuple[exp.Expr, str]:
    begin = cursor.at
    query = cursor.query()
    return query, cursor.text_since(begin)


def parse_function_source(cursor: Cursor) -> tuple[str, str, tuple[str, ...]]:
    """Read ``AS 'identifier' [LANGUAGE ...] [USING JAR '...', ...]``."""
    cursor.expect("AS")
    identifier = cursor.string("the identifier of the function between single quotes")
    language = cursor.choose(*_LANGUAGES) if cursor.match("LANGUAGE") else "JAVA"
    jars: tuple[str, ...] = ()
    if cursor.match("USING"):

        def jar() -> str:
            cursor.choose("JAR", "ARTIFACT")
            return cursor.string()

        jars = cursor.listed(jar)
    return identifier, language, jars


def _model(cursor: Cursor, start: int, temporary: bool, exists: bool) -> s.CreateModel:
    path = cursor.path("the name of a model")
    inputs = parse_elements(cursor).columns if cursor.match("INPUT") else ()
    outputs = parse_elements(cursor).columns if cursor.match("OUTPUT") else ()
    comment = _comment(cursor)
    options = _with(cursor)
    return s.CreateModel(cursor.span_since(start), path, inputs, outputs, comment, options, temporary, exists)


def _catalog(cursor: Cursor, start: int) -> s.CreateCatalog:
    exists = _if_not_exists(cursor)
    name = cursor.name("the name of a catalog")
    comment = _comment(cursor)
    options = _with(cursor)
    return s.CreateCatalog(cursor.span_since(start), name, comment, options, exists)


def _database(cursor: Cursor, start: int) -> s.CreateDatabase:
    exists = _if_not_exists(cursor)
    path = cursor.path("the name of a database")
    comment = _comment(cursor)
    options = _with(cursor)
    return s.CreateDatabase(cursor.span_since(start), path, comment, options, exists)


def parse_drop(cursor: Cursor, start: int) -> s.Drop:
    """Read what follows DROP."""
    temporary = cursor.match("TEMPORARY")
    system = temporary and cursor.match("SYSTEM")
    kinds: tuple[str, ...] = ("FUNCTION",) if system else ("TABLE", "VIEW", "FUNCTION", "MODEL")
    kind = cursor.choose(*kinds, *(() if temporary else ("CATALOG", "DATABASE")))
    if_exists = cursor.match("IF", "EXISTS")
    path = cursor.path()
    cascade = kind == "DATABASE" and not cursor.match("RESTRICT") and cursor.match("CASCADE")
    return s.Drop(cursor.span_since(start), kind, path, if_exists, temporary, system, cascade)
