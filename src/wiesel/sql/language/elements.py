"""Internal. Elements of table definitions: columns, the watermark, the primary key."""

from __future__ import annotations

from sqlglot import exp

from wiesel.sql.language import statements as s
from wiesel.sql.language.cursor import Cursor
from wiesel.sql.language.errors import parse_error

__all__ = ["ElementsReader", "parse_columns", "parse_elements"]


def parse_elements(cursor: Cursor) -> s.TableElements:
    """Read elements in brackets."""
    reader = ElementsReader(cursor)
    cursor.expect("(")
    reader.read()
    while cursor.match(","):
        reader.read()
    cursor.expect(")")
    return reader.elements()


def parse_columns(cursor: Cursor) -> tuple[s.TableElements, tuple[str, ...]]:
    """Read elements in brackets, or the names alone that a table made of a query may have."""
    following = cursor.peek(2)
    if following is not None and following.text in (",", ")"):
        return s.TableElements(), cursor.wrapped(lambda: cursor.name("a column"))
    return parse_elements(cursor), ()


class ElementsReader:
    """Reads elements one by one."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._columns: list[s.ColumnDefinition] = []
        self._watermark: s.WatermarkDefinition | None = None
        self._primary_key: s.PrimaryKeyDefinition | None = None
        self.positions: dict[str, s.ColumnPosition] = {}

    def elements(self) -> s.TableElements:
        """Return what was read."""
        return s.TableElements(tuple(self._columns), self._watermark, self._primary_key)

    def read(self) -> None:
        """Read one element."""
        cursor = self._cursor
        if cursor.match("WATERMARK", "FOR"):
            self._read_watermark()
        elif cursor.words("CONSTRAINT") or cursor.words("PRIMARY", "KEY"):
            name = cursor.name("the name of the constraint") if cursor.match("CONSTRAINT") else None
            cursor.expect("PRIMARY", "KEY")
            columns = cursor.wrapped(lambda: cursor.name("a column"))
            self._add_key(columns, name)
        else:
            self._read_column()

    def _read_watermark(self) -> None:
        cursor = self._cursor
        begin = cursor.at - 2
        column = cursor.path("a column")
        cursor.expect("AS")
        expression, text = self._expression()
        if self._watermark is not None:
            span = cursor.span_since(begin)
            raise parse_error(cursor.sql, (span.start, span.end), "a table has one watermark at most", hint="leave one of them out")
        self._watermark = s.WatermarkDefinition(column, expression, text)

    def _add_key(self, columns: tuple[str, ...], name: str | None) -> None:
        cursor = self._cursor
        if not cursor.match("NOT", "ENFORCED"):
            hint = "write PRIMARY KEY (...) NOT ENFORCED: the connector sees to it, nothing checks it"
            raise parse_error(cursor.sql, cursor.span_of(cursor.peek()), "NOT ENFORCED expected behind a primary key", hint=hint)
        if self._primary_key is not None:
            place = cursor.span_of(cursor.peek(-1))
            raise parse_error(cursor.sql, place, "a table has one primary key at most", hint="name all its columns in one")
        self._primary_key = s.PrimaryKeyDefinition(columns, name)

    def _read_column(self) -> None:
        cursor = self._cursor
        name = cursor.name("the name of a column")
        column: s.ColumnDefinition
        if cursor.match("AS"):
            expression, text = self._expression()
            column = s.ComputedColumn(name, expression, self._comment(), text)
        else:
            data_type = cursor.data_type()
            if cursor.match("METADATA"):
                key = cursor.string("the connector's name of the metadata between single quotes") if cursor.match("FROM") else None
                virtual = cursor.match("VIRTUAL")
                column = s.MetadataColumnDefinition(name, data_type, key, virtual, self._comment())
            else:
                constraint = cursor.name("the name of the constraint") if cursor.match("CONSTRAINT") else None
                if constraint is not None or cursor.words("PRIMARY", "KEY"):
                    cursor.expect("PRIMARY", "KEY")
                    self._add_key((name,), constraint)
                column = s.PhysicalColumnDefinition(name, data_type, self._comment())
        self._columns.append(column)
        if cursor.match("FIRST"):
            self.positions[name] = s.ColumnPosition(None)
        elif cursor.match("AFTER"):
            self.positions[name] = s.ColumnPosition(cursor.name("a column"))

    def _expression(self) -> tuple[exp.Expr, str]:
        cursor = self._cursor
        begin = cursor.at
        expression = cursor.expression()
        span = cursor.span_since(begin)
        return expression, cursor.sql[span.start : span.end]

    def _comment(self) -> str | None:
        return self._cursor.string("a comment between single quotes") if self._cursor.match("COMMENT") else None
