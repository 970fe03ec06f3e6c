"""Internal. ``CREATE``, ``DROP`` and ``ALTER`` of Hive."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from wiesel.sql.language import statements as s
from wiesel.sql.language.creating import parse_create, parse_drop
from wiesel.sql.language.errors import parse_error
from wiesel.sql.language.hive.cursor import HiveCursor

__all__ = ["WAREHOUSE", "parse_hive_alter", "parse_hive_create", "parse_hive_drop"]

WAREHOUSE = "hive.metastore.warehouse.dir"
"""The option with the directory of tables that have no LOCATION."""

_FORMATS = {"PARQUET": "parquet", "ORC": "orc", "AVRO": "avro", "TEXTFILE": "csv", "JSONFILE": "json"}
_SERDES = {
    "LazySimpleSerDe": "csv",
    "OpenCSVSerde": "csv",
    "JsonSerDe": "json",
    "ParquetHiveSerDe": "parquet",
    "OrcSerde": "orc",
    "AvroSerDe": "avro",
}
_DELIMITERS = {"FIELDS": "csv.field-delimiter", "COLLECTION ITEMS": "csv.array-element-delimiter"}


@dataclass
class _Storage:
    """Storage clauses of a table."""

    format: str = "csv"
    location: str | None = None
    properties: dict[str, str] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    comment: str | None = None
    keys: list[s.PhysicalColumnDefinition] = field(default_factory=list)


def parse_hive_create(cursor: HiveCursor, start: int) -> s.Statement:
    """Read what follows CREATE."""
    following = cursor.peek()
    if cursor.words("FUNCTION") or cursor.words("TEMPORARY", "FUNCTION") or cursor.words("CATALOG"):
        return parse_create(cursor, start)
    if cursor.words("TEMPORARY", "MACRO") or cursor.words("INDEX") or cursor.words("ROLE") or cursor.words("MATERIALIZED"):
        hint = "write a function or view"
        raise parse_error(
            cursor.sql, cursor.span_of(following), f"CREATE {following.text if following else ''} is not supported", hint=hint
        )
    temporary = cursor.match("TEMPORARY")
    cursor.match("EXTERNAL")
    kind = cursor.choose("TABLE", "VIEW", "DATABASE", "SCHEMA")
    exists = cursor.match("IF", "NOT", "EXISTS")
    path = tuple(name.lower() for name in cursor.path(f"the name of a {kind.lower()}"))
    if kind == "TABLE":
        return _table(cursor, start, path, temporary, exists)
    if kind == "VIEW":
        return _view(cursor, start, path, exists)
    comment = cursor.string() if cursor.match("COMMENT") else None
    if cursor.match("LOCATION"):
        cursor.string("a path between quotes")
    options = cursor.options() if cursor.match("WITH", "DBPROPERTIES") else {}
    return s.CreateDatabase(cursor.span_since(start), path, comment, options, exists)


def _column(cursor: HiveCursor) -> s.PhysicalColumnDefinition:
    name = cursor.name("a column").lower()
    data_type = cursor.data_type()
    if cursor.match("NOT", "NULL"):
        data_type = data_type.not_null()
    comment = cursor.string() if cursor.match("COMMENT") else None
    return s.PhysicalColumnDefinition(name, data_type, comment)


def _table(cursor: HiveCursor, start: int, path: s.Path, temporary: bool, exists: bool) -> s.CreateTable:
    columns = cursor.wrapped(lambda: _column(cursor)) if cursor.words("(") else ()
    if not columns and cursor.match("LIKE"):
        like = s.LikeClause(cursor.path("the name of a table"))
        storage = _storage(cursor)
        options = {**storage.properties, **({"path": storage.location} if storage.location else {})}
        span = cursor.span_since(start)
        return s.CreateTable(span, path, like=like, options=options, is_temporary=temporary, if_not_exists=exists)
    begin = cursor.at
    storage = _storage(cursor)
    query = cursor.query() if cursor.match("AS") else None
    options = storage.properties if "connector" in storage.properties else _file_options(cursor, path, storage, begin)
    return s.CreateTable(
        cursor.span_since(start),
        path,
        elements=s.TableElements((*columns, *storage.keys)),
        comment=storage.comment,
        partition_keys=tuple(key.name for key in storage.keys),
        options=options,
        query=query,
        is_temporary=temporary,
        if_not_exists=exists,
    )


def _file_options(cursor: HiveCursor, path: s.Path, storage: _Storage, begin: int) -> dict[str, str]:
    location = storage.location
    if location is None:
        warehouse = cursor.variable(WAREHOUSE)
        if warehouse is None:
            at = cursor.span_of(cursor.tokens[min(begin, len(cursor.tokens)) - 1])
            hint = f"write LOCATION 'a path', or SET {WAREHOUSE} = a directory; or TBLPROPERTIES ('connector' = ...)"
            raise parse_error(cursor.sql, at, "the table has no LOCATION, and there is no warehouse directory", hint=hint)
        database = path[-2] if len(path) > 1 else cursor.variable("$database") or "default"
        folder = "" if database in ("default", "default_database") else f"/{database.lower()}.db"
        location = f"{warehouse.rstrip('/')}{folder}/{path[-1].lower()}"
    options = {"connector": "filesystem", "path": location, "format": storage.format}
    if storage.format == "csv":
        options |= {"csv.field-delimiter": "\x01", "csv.disable-quote-character": "true", "csv.null-literal": "\\N", **storage.options}
    return options


def _storage(cursor: HiveCursor) -> _Storage:
    """Read the clauses behind the columns, in any order."""
    storage = _Storage()
    while not cursor.is_at_end and not cursor.words("AS"):
        clause = next((words for words in _CLAUSES if cursor.match(*words.split())), None)
        if clause is None:
            cursor.fail("a clause of CREATE TABLE, such as STORED AS", [words.split()[0] for words in _CLAUSES])
        _CLAUSES[clause](cursor, storage)
    return storage


def _partitioned(cursor: HiveCursor, storage: _Storage) -> None:
    storage.keys.extend(cursor.wrapped(lambda: _column(cursor)))


def _clustered(cursor: HiveCursor, storage: _Storage) -> None:
    """Read how rows are put into buckets: files here have none."""
    cursor.wrapped(lambda: cursor.name("a column"))
    if cursor.match("SORTED", "BY"):

        def key() -> None:
            cursor.name("a column")
            if not cursor.match("ASC"):
                cursor.match("DESC")

        cursor.wrapped(key)
    cursor.expect("INTO")
    cursor.number("how many buckets")
    cursor.expect("BUCKETS")


def _row_format(cursor: HiveCursor, storage: _Storage) -> None:
    if cursor.match("SERDE"):
        name = cursor.string("the class of a SerDe between quotes").rpartition(".")[2]
        if name not in _SERDES:
            at = cursor.span_of(cursor.tokens[cursor.at - 1])
            known = ", ".join(_SERDES)
            raise parse_error(cursor.sql, at, f"the SerDe {name} is not supported", hint=f"there are {known}; or write STORED AS")
        storage.format = _SERDES[name]
        if name == "OpenCSVSerde":
            storage.options |= {"csv.field-delimiter": ",", "csv.disable-quote-character": "false"}
        if cursor.match("WITH", "SERDEPROPERTIES"):
            given = cursor.options()
            for key, option in (("field.delim", "csv.field-delimiter"), ("separatorChar", "csv.field-delimiter")):
                if key in given:
                    storage.options[option] = given[key]
        return
    cursor.expect("DELIMITED")
    while True:
        if cursor.match("NULL", "DEFINED", "AS"):
            storage.options["csv.null-literal"] = cursor.string()
        elif cursor.match("ESCAPED", "BY"):
            storage.options["csv.escape-character"] = cursor.string()
        else:
            part = next((part for part in ("FIELDS", "COLLECTION ITEMS", "MAP KEYS", "LINES") if cursor.match(*part.split())), None)
            if part is None:
                return
            cursor.expect("TERMINATED", "BY")
            sign = cursor.string()
            if part in _DELIMITERS:
                storage.options[_DELIMITERS[part]] = sign


def _stored(cursor: HiveCursor, storage: _Storage) -> None:
    name = cursor.name("a format").upper()
    if name not in _FORMATS:
        at = cursor.span_of(cursor.tokens[cursor.at - 1])
        raise parse_error(cursor.sql, at, f"STORED AS {name} is not supported", hint=f"there are {', '.join(_FORMATS)}")
    storage.format = _FORMATS[name]


def _location(cursor: HiveCursor, storage: _Storage) -> None:
    storage.location = cursor.string("a path between quotes")


def _properties(cursor: HiveCursor, storage: _Storage) -> None:
    storage.properties.update(cursor.options())


def _comment(cursor: HiveCursor, storage: _Storage) -> None:
    storage.comment = cursor.string("a comment between quotes")


_CLAUSES: dict[str, Callable[[HiveCursor, _Storage], None]] = {
    "COMMENT": _comment,
    "PARTITIONED BY": _partitioned,
    "CLUSTERED BY": _clustered,
    "ROW FORMAT": _row_format,
    "STORED AS": _stored,
    "LOCATION": _location,
    "TBLPROPERTIES": _properties,
}


def _view(cursor: HiveCursor, start: int, path: s.Path, exists: bool) -> s.CreateView:
    def column() -> str:
        name = cursor.name("a column").lower()
        if cursor.match("COMMENT"):
            cursor.string()
        return name

    columns = cursor.wrapped(column) if cursor.words("(") else ()
    comment = cursor.string() if cursor.match("COMMENT") else None
    if cursor.match("TBLPROPERTIES"):
        cursor.options()
    cursor.expect("AS")
    begin = cursor.at
    query = cursor.query()
    return s.CreateView(cursor.span_since(start), path, query, cursor.text_since(begin), columns, comment, False, exists, dialect="hive")


def parse_hive_drop(cursor: HiveCursor, start: int) -> s.Statement:
    """Read what follows DROP."""
    if cursor.match("SCHEMA"):
        if_exists = cursor.match("IF", "EXISTS")
        path = cursor.path()
        cascade = not cursor.match("RESTRICT") and cursor.match("CASCADE")
        return s.Drop(cursor.span_since(start), "DATABASE", path, if_exists, cascade=cascade)
    found = parse_drop(cursor, start)
    cursor.match("PURGE")
    return found


def parse_hive_alter(cursor: HiveCursor, start: int) -> s.Statement:
    """Read what follows ALTER."""
    kind = cursor.choose("TABLE", "VIEW")
    path = cursor.path(f"the name of a {kind.lower()}")
    if cursor.match("RENAME", "TO"):
        rename = s.Rename(tuple(name.lower() for name in cursor.path()))
        span = cursor.span_since(start)
        return s.AlterTable(span, path, rename) if kind == "TABLE" else s.AlterView(span, path, rename)
    if kind == "VIEW":
        cursor.expect("AS")
        begin = cursor.at
        query = cursor.query()
        return s.AlterView(cursor.span_since(start), path, query=query, query_text=cursor.text_since(begin), dialect="hive")
    if cursor.match("SET", "TBLPROPERTIES"):
        return s.AlterTable(path=path, change=s.SetOptions(cursor.options()), span=cursor.span_since(start))
    if cursor.match("ADD", "COLUMNS"):
        columns = cursor.wrapped(lambda: _column(cursor))
        return s.AlterTable(cursor.span_since(start), path, s.AddColumns(s.TableElements(columns)))
    cursor.fail("RENAME TO, SET TBLPROPERTIES or ADD COLUMNS")
