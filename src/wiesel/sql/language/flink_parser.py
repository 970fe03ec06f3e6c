"""Internal. The statements of Flink's dialect."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot.tokenizer_core import TokenType

from wiesel.sql.language import statements as s
from wiesel.sql.language.altering import parse_alter
from wiesel.sql.language.creating import parse_create, parse_drop, parse_replace
from wiesel.sql.language.cursor import Cursor
from wiesel.sql.language.errors import parse_error
from wiesel.sql.language.inserting import parse_insert, parse_partition
from wiesel.sql.language.showing import parse_describe, parse_show

__all__ = ["STATEMENTS", "parse_whole_statement", "statement_words"]

_DETAILS = ("ESTIMATED_COST", "CHANGELOG_MODE", "JSON_EXECUTION_PLAN", "PLAN_ADVICE")
_FILE = "the name of a file between single quotes"
_QUERIES = ("SELECT", "WITH", "VALUES", "TABLE")


def parse_whole_statement(cursor: Cursor) -> s.Statement:
    """Read one statement, up to its end.

    Raises:
        SqlParseError: It cannot be read; tells line and column.
    """
    statement = _statement(cursor)
    if not cursor.is_at_end:
        cursor.fail("';' or the end of the statement")
    return statement


def statement_words() -> list[str]:
    """Return the words with which statements begin."""
    return [*STATEMENTS, *_QUERIES]


def _statement(cursor: Cursor) -> s.Statement:
    start = cursor.at
    token = cursor.peek()
    if (token is not None and token.token_type == TokenType.L_PAREN) or any(cursor.words(word) for word in _QUERIES):
        tree = cursor.query()
        return s.Query(cursor.span_since(start), tree)
    for word, parse in STATEMENTS.items():
        if cursor.match(word):
            return parse(cursor, start)
    cursor.fail("a statement", [*STATEMENTS, *_QUERIES])


def _explain(cursor: Cursor, start: int) -> s.Statement:
    details: tuple[str, ...] = ()
    if not cursor.match("PLAN", "FOR") and any(cursor.words(detail) for detail in _DETAILS):
        first = cursor.at
        details = cursor.listed(lambda: cursor.choose(*_DETAILS))
        if len(set(details)) < len(details):
            span = cursor.span_since(first)
            raise parse_error(cursor.sql, (span.start, span.end), "a detail is named twice", hint="name each detail of EXPLAIN once")
    begin = cursor.at
    statement = _statement_set(cursor, begin) if cursor.match("STATEMENT", "SET") else _statement(cursor)
    return s.Explain(cursor.span_since(start), statement, details)


def _execute(cursor: Cursor, start: int) -> s.Statement:
    if cursor.match("STATEMENT", "SET"):
        return _statement_set(cursor, start)
    if cursor.match("PLAN"):
        file = cursor.string(_FILE)
        return s.ExecutePlan(cursor.span_since(start), file)
    return _statement(cursor)


def _compile(cursor: Cursor, start: int) -> s.Statement:
    executes = cursor.match("AND", "EXECUTE")
    cursor.expect("PLAN")
    file = cursor.string(_FILE)
    if_not_exists = not executes and cursor.match("IF", "NOT", "EXISTS")
    cursor.expect("FOR")
    begin = cursor.at
    if cursor.match("STATEMENT", "SET"):
        statement: s.Statement = _statement_set(cursor, begin)
    else:
        cursor.expect("INSERT")
        statement = parse_insert(cursor, begin)
    assert isinstance(statement, s.Insert | s.StatementSet)  # noqa: S101 - as they were read
    return s.CompilePlan(cursor.span_since(start), file, statement, if_not_exists, executes)


def _statement_set(cursor: Cursor, start: int) -> s.StatementSet:
    cursor.expect("BEGIN")
    inserts: list[s.Insert] = []
    while not cursor.match("END"):
        begin = cursor.at
        cursor.expect("INSERT")
        inserts.append(parse_insert(cursor, begin))
        if not cursor.match(";"):
            cursor.fail("';' behind the insert")
    if not inserts:
        cursor.fail("an INSERT")
    return s.StatementSet(cursor.span_since(start), tuple(inserts))


def _begin(cursor: Cursor, start: int) -> s.Statement:
    cursor.expect("STATEMENT", "SET")
    return s.BeginStatementSet(cursor.span_since(start))


def _end(cursor: Cursor, start: int) -> s.Statement:
    return s.EndStatementSet(cursor.span_since(start))


def _delete(cursor: Cursor, start: int) -> s.Statement:
    cursor.expect("FROM")
    target = cursor.path("the name of a table")
    condition = cursor.expression() if cursor.match("WHERE") else None
    return s.Delete(cursor.span_since(start), target, condition)


def _update(cursor: Cursor, start: int) -> s.Statement:
    target = cursor.path("the name of a table")
    cursor.expect("SET")

    def assignment() -> tuple[str, object]:
        name = cursor.name("a column")
        cursor.expect("=")
        return name, cursor.expression(stop=("WHERE",))

    assignments = cursor.listed(assignment)
    condition = cursor.expression() if cursor.match("WHERE") else None
    return s.Update(cursor.span_since(start), target, assignments, condition)  # type: ignore[arg-type]


def _truncate(cursor: Cursor, start: int) -> s.Statement:
    cursor.expect("TABLE")
    return s.Truncate(target=cursor.path("the name of a table"), span=cursor.span_since(start))


def _use(cursor: Cursor, start: int) -> s.Statement:
    if cursor.match("CATALOG"):
        name = cursor.name("the name of a catalog")
        return s.UseCatalog(cursor.span_since(start), name)
    if cursor.match("MODULES"):
        names = cursor.listed(lambda: cursor.name("the name of a module"))
        return s.UseModules(cursor.span_since(start), names)
    path = cursor.path("the name of a database")
    return s.Use(cursor.span_since(start), path)


def _load(cursor: Cursor, start: int) -> s.Statement:
    cursor.expect("MODULE")
    name = cursor.name("the name of a module")
    options = cursor.options() if cursor.match("WITH") else {}
    return s.LoadModule(cursor.span_since(start), name, options)


def _unload(cursor: Cursor, start: int) -> s.Statement:
    cursor.expect("MODULE")
    name = cursor.name("the name of a module")
    return s.UnloadModule(cursor.span_since(start), name)


def _set(cursor: Cursor, start: int) -> s.Statement:
    if cursor.is_at_end:
        return s.Set(cursor.span_since(start))
    if cursor.is_bare_option:
        key, value = cursor.bare_option()
        return s.Set(cursor.span_since(start), key, value)
    key = cursor.string("an option's key between single quotes")
    cursor.expect("=")
    value = cursor.string("an option's value between single quotes")
    return s.Set(cursor.span_since(start), key, value)


def _reset(cursor: Cursor, start: int) -> s.Statement:
    key = None if cursor.is_at_end else cursor.string("an option's key between single quotes")
    return s.Reset(cursor.span_since(start), key)


def _add(cursor: Cursor, start: int) -> s.Statement:
    cursor.expect("JAR")
    path = cursor.string()
    return s.AddJar(cursor.span_since(start), path)


def _remove(cursor: Cursor, start: int) -> s.Statement:
    cursor.expect("JAR")
    path = cursor.string()
    return s.RemoveJar(cursor.span_since(start), path)


def _analyze(cursor: Cursor, start: int) -> s.Statement:
    cursor.expect("TABLE")
    path = cursor.path("the name of a table")
    partition = parse_partition(cursor, values=False) if cursor.match("PARTITION") else ()
    cursor.expect("COMPUTE", "STATISTICS")
    columns: tuple[str, ...] | None = None
    if cursor.match("FOR"):
        columns = () if cursor.match("ALL", "COLUMNS") else None
        if columns is None:
            cursor.expect("COLUMNS")
            columns = cursor.listed(lambda: cursor.name("a column"))
    return s.Analyze(cursor.span_since(start), path, partition, columns)


def _call(cursor: Cursor, start: int) -> s.Statement:
    path = cursor.path("the name of a procedure")
    arguments = () if cursor.match("(", ")") else cursor.wrapped(cursor.expression)
    return s.Call(cursor.span_since(start), path, arguments)


def _stop(cursor: Cursor, start: int) -> s.Statement:
    cursor.expect("JOB")
    job_id = cursor.string("the id of a job between single quotes")
    with_savepoint = cursor.match("WITH", "SAVEPOINT")
    with_drain = cursor.match("WITH", "DRAIN")
    return s.StopJob(cursor.span_since(start), job_id, with_savepoint, with_drain)


STATEMENTS: dict[str, Callable[[Cursor, int], s.Statement]] = {
    "CREATE": parse_create,
    "REPLACE": parse_replace,
    "DROP": parse_drop,
    "ALTER": parse_alter,
    "INSERT": parse_insert,
    "EXECUTE": _execute,
    "COMPILE": _compile,
    "BEGIN": _begin,
    "END": _end,
    "DELETE": _delete,
    "UPDATE": _update,
    "TRUNCATE": _truncate,
    "EXPLAIN": _explain,
    "DESCRIBE": parse_describe,
    "DESC": parse_describe,
    "SHOW": parse_show,
    "USE": _use,
    "LOAD": _load,
    "UNLOAD": _unload,
    "SET": _set,
    "RESET": _reset,
    "ADD": _add,
    "REMOVE": _remove,
    "ANALYZE": _analyze,
    "CALL": _call,
    "STOP": _stop,
}
