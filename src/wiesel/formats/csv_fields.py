"""Internal. Rows of CSV as strings and as typed values, a column at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from wiesel.core.errors import TypeMismatchError
from wiesel.formats.csv_decimals import decimal_reader, decimal_writer
from wiesel.formats.csv_schema import CsvDialect
from wiesel.formats.java_text import INTEGERS, is_integer, is_text, text_parser, text_writer
from wiesel.types.logical import DecimalType
from wiesel.types.row import Row, make_row
from wiesel.types.typeinfo import (
    BasicArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    ListTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TypeInformation,
)

__all__ = ["BadRow", "CsvRows", "CsvStrings", "quoter"]

_Parser: TypeAlias = Callable[[str], Any]


class BadRow(Exception):
    """Row ``index`` of those given cannot be read, for a reason."""

    def __init__(self, index: int, reason: str) -> None:
        super().__init__(reason)
        self.index = index
        self.reason = reason


def element_type(kind: TypeInformation) -> TypeInformation | None:
    """Return the type of a list's elements, None for other types and for bytes."""
    if isinstance(kind, BasicArrayTypeInfo | ObjectArrayTypeInfo | ListTypeInfo):
        return kind.children()[0]
    if isinstance(kind, PrimitiveArrayTypeInfo) and kind.element_type != BasicTypeInfo(BasicType.BYTE):
        return kind.element_type
    return None


def _parser(kind: TypeInformation, separator: str, where: str, decimal: DecimalType | None = None) -> _Parser:
    """Return the function that reads the text of one value."""
    element = element_type(kind)
    if element is not None:
        parse = _parser(element, separator, where, decimal)
        return lambda text: [parse(item) for item in text.split(separator)] if text else []
    if isinstance(kind, RowTypeInfo):
        names = kind.get_field_names()
        parsers = [_parser(k, separator, f"{where}.{n}") for n, k in zip(names, kind.get_field_types(), strict=True)]
        return lambda text: _nested(text, separator, names, parsers)
    parse = text_parser(kind, where)
    if decimal is not None:
        return decimal_reader(decimal)
    return parse if is_text(kind) else lambda text: parse(text.strip())


def _nested(text: str, separator: str, names: list[str], parsers: list[_Parser]) -> Row | None:
    if not text:
        return None
    items = text.split(separator)
    if len(items) != len(parsers):
        raise ValueError(f"{len(parsers)} fields expected but was {len(items)}: {text!r}")
    return make_row(names, [parse(item) for parse, item in zip(parsers, items, strict=True)])


class _Column:
    """Reads a column: at C speed where all is well, value by value where something is not."""

    def __init__(
        self, kind: TypeInformation, separator: str, where: str, null_literal: str | None, decimal: DecimalType | None = None
    ) -> None:
        self._parse = _parser(kind, separator, where, decimal)
        self._null = null_literal
        self._text = is_text(kind)
        self._range = INTEGERS[kind._basic_type] if is_integer(kind) and isinstance(kind, BasicTypeInfo) else None
        basic = kind._basic_type if isinstance(kind, BasicTypeInfo) else None
        self._double = basic is BasicType.DOUBLE
        self._boolean = basic is BasicType.BOOLEAN

    def read(self, strings: Sequence[str]) -> list[Any]:
        """Return the values; raises ``ValueError`` or so if one cannot be read."""
        null = self._null
        if null is not None and null in strings:
            parse = self._parse
            return [None if text == null else parse(text) for text in strings]
        if self._text:
            return list(strings)
        fast = self._fast(strings)
        return list(map(self._parse, strings)) if fast is None else fast

    def _fast(self, strings: Sequence[str]) -> list[Any] | None:
        """Return the values if Python's own conversions do what Java's do, else None."""
        try:
            if self._range is not None:
                numbers = list(map(int, strings))
                low, high = self._range
                # Python takes 1_000, Java does not.
                return numbers if low <= min(numbers) and max(numbers) <= high and "_" not in "".join(strings) else None
            if self._double:
                return None if _NOT_JAVA.search(" ".join(strings)) else list(map(float, strings))
        except ValueError:
            return None
        return [text == "true" for text in strings] if self._boolean and _BOOLEANS.issuperset(strings) else None

    def read_one(self, text: str) -> Any:
        """Return one value; raises ``ValueError`` or so if it cannot be read."""
        return None if text == self._null else self._parse(text)


_BOOLEANS = frozenset(("true", "false"))
_NOT_JAVA = re.compile(r"[_a-df-zA-DF-Z]")
"""Letters with which Java and Python read different things as a number (NaN, inf, 1f, 1_0)."""


class CsvRows:
    """Reads rows.

    Args:
        row_type: Type of the rows.
        null_literal: The text of a missing value; None if there is none.
        array_separators: Between elements, for each column.
        ignore_errors: Make values that cannot be read None, fill short rows up with None, leave out long ones.
        decimals: How many digits decimal numbers have, for each column; None for none, or where they are kept as they are.
    """

    def __init__(
        self,
        row_type: RowTypeInfo,
        null_literal: str | None,
        array_separators: Sequence[str],
        *,
        ignore_errors: bool,
        decimals: Sequence[DecimalType | None] | None = None,
    ) -> None:
        self._names = row_type.get_field_names()
        self._ignore_errors = ignore_errors
        self._columns = [
            _Column(kind, separator, f"column {name}", null_literal, decimal)
            for name, kind, separator, decimal in zip(
                self._names, row_type.get_field_types(), array_separators, decimals or [None] * len(array_separators), strict=True
            )
        ]

    def read(self, rows: Sequence[list[str]]) -> list[Row]:
        """Return the rows; fewer if errors are ignored.

        Raises:
            BadRow: If one cannot be read and errors are not ignored.
        """
        width = len(self._columns)
        if rows and set(map(len, rows)) == {width}:
            try:
                columns = [c.read(strings) for c, strings in zip(self._columns, zip(*rows, strict=True), strict=True)]
            except (ValueError, ArithmeticError, TypeError):
                # The slow way finds the culprit.
                return self._read_singly(rows)
            names = self._names
            return [make_row(names, list(values)) for values in zip(*columns, strict=True)]
        return self._read_singly(rows)

    def _read_singly(self, rows: Sequence[list[str]]) -> list[Row]:
        result = []
        for index, row in enumerate(rows):
            # An empty line is a row of one empty value.
            strings: list[str] = row or [""]
            if len(strings) > len(self._columns):
                if self._ignore_errors:
                    continue
                raise BadRow(index, f"Too many entries: expected at most {len(self._columns)} and there are {len(strings)}")
            if len(strings) < len(self._columns) and not self._ignore_errors:
                raise BadRow(index, f"Row length mismatch. {len(self._columns)} fields expected but was {len(strings)}")
            values = [self._value(i, text, index) for i, text in enumerate(strings)]
            values += [None] * (len(self._columns) - len(values))
            result.append(make_row(self._names, values))
        return result

    def _value(self, column: int, text: str, index: int) -> Any:
        try:
            return self._columns[column].read_one(text)
        except (ValueError, ArithmeticError, TypeError) as error:
            if self._ignore_errors:
                return None
            raise BadRow(index, f"field {self._names[column]}: {error}") from error


class CsvStrings:
    """Writes rows.

    Args:
        row_type: Type of the rows.
        dialect: The characters.
        array_separators: Between elements, for each column.
        decimals: How many digits decimal numbers have, for each column; None for none, or where they are written as they are.
    """

    def __init__(
        self,
        row_type: RowTypeInfo,
        dialect: CsvDialect,
        array_separators: Sequence[str],
        decimals: Sequence[DecimalType | None] | None = None,
    ) -> None:
        self._names = row_type.get_field_names()
        self._dialect = dialect
        self._null = dialect.null_literal or ""
        self._quoted = quoter(dialect)
        self._writers = [
            self._writer(kind, separator, f"column {name}", decimal)
            for name, kind, separator, decimal in zip(
                self._names, row_type.get_field_types(), array_separators, decimals or [None] * len(array_separators), strict=True
            )
        ]

    def _writer(self, kind: TypeInformation, separator: str, where: str, decimal: DecimalType | None) -> Callable[[Any], str]:
        plain = self._plain_writer(kind, separator, where, decimal)
        if is_integer(kind) or (isinstance(kind, BasicTypeInfo) and not is_text(kind) and kind._basic_type is not BasicType.INSTANT):
            return plain
        quoted = self._quoted
        return lambda value: quoted(plain(value))

    def _plain_writer(
        self, kind: TypeInformation, separator: str, where: str, decimal: DecimalType | None = None
    ) -> Callable[[Any], str]:
        element, null = element_type(kind), self._null
        if element is not None:
            write = self._plain_writer(element, separator, where, decimal)
            return lambda value: separator.join([null if item is None else write(item) for item in value])
        if isinstance(kind, RowTypeInfo):
            names = kind.get_field_names()
            writers = [self._plain_writer(k, separator, f"{where}.{n}") for n, k in zip(names, kind.get_field_types(), strict=True)]
            return lambda value: separator.join(
                [null if item is None else write(item) for write, item in zip(writers, row_values(value, names), strict=True)]
            )
        return text_writer(kind, where) if decimal is None else decimal_writer(decimal, null)

    def header(self) -> str:
        """Return the line with the names of the columns."""
        return self._line([self._quoted(name) for name in self._names])

    def _line(self, strings: Iterable[str]) -> str:
        return self._dialect.separator.join(strings) + self._dialect.line_separator

    def write(self, values: Sequence[Any]) -> str:
        """Return the lines of rows, tuples or lists.

        Raises:
            TypeMismatchError: If a value is no row of these columns; names it.
        """
        if not values:
            return ""
        names, null = self._names, self._null
        rows = [row_values(value, names) for value in values]
        try:
            columns = [
                [null if item is None else write(item) for item in column]
                for write, column in zip(self._writers, zip(*rows, strict=True), strict=True)
            ]
        except (TypeError, ValueError, AttributeError) as error:
            raise self._mismatch(values, rows, error) from error
        separator, end = self._dialect.separator, self._dialect.line_separator
        return end.join(map(separator.join, zip(*columns, strict=True))) + end

    def _mismatch(self, values: Sequence[Any], rows: Sequence[Sequence[Any]], error: Exception) -> TypeMismatchError:
        for value, row in zip(values, rows, strict=True):
            for name, item, write in zip(self._names, row, self._writers, strict=False):
                try:
                    if item is not None:
                        write(item)
                except (TypeError, ValueError, AttributeError) as why:
                    return TypeMismatchError(f"cannot write column {name} of {value!r}: {why}", hint="check the schema and the record")
        return TypeMismatchError(f"cannot write rows of {len(self._names)} columns: {error}", hint="check the schema and the records")


def row_values(value: Any, names: list[str]) -> Sequence[Any]:
    """Return the values of a row, tuple or dict in the order of the names.

    Raises:
        TypeMismatchError: If it is none of these or has another number of values.
    """
    if isinstance(value, Row):
        values: Sequence[Any] = value.get_fields_by_names(names) if value._names is not None else value._values
    elif isinstance(value, dict):
        values = [value.get(name) for name in names]
    elif isinstance(value, tuple | list):
        values = value
    else:
        raise TypeMismatchError(f"{value!r} is not a row", hint=f"give rows, tuples or dicts with {', '.join(names)}")
    if len(values) != len(names):
        raise TypeMismatchError(f"{value!r} has {len(values)} fields instead of {len(names)}", hint=f"the fields are {', '.join(names)}")
    return values


def quoter(dialect: CsvDialect) -> Callable[[str], str]:
    """Return the function that quotes a text if Jackson, which writes CSV for Flink, would."""
    quote, escape = dialect.quote, dialect.escape
    if quote is None:
        return str
    safe_from = max(ord(dialect.separator), ord(quote)) + 1
    suspicious = re.compile(f"[\\x00-{re.escape(chr(safe_from - 1))}\\\\{re.escape(escape or '')}]").search
    doubled = quote * 2

    def quoted(text: str) -> str:
        # Long strings are quoted without a look at them.
        if len(text) <= 24 and suspicious(text) is None:
            return text
        if escape is not None:
            text = text.replace(escape, escape * 2)
        return f"{quote}{text.replace(quote, doubled)}{quote}"

    return quoted

