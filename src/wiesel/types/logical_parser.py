"""Internal. Parser of data types in SQL notation: ``MAP<STRING, DECIMAL(10, 2) NOT NULL>``.

The grammar is that of Flink's type strings; keywords are case-insensitive.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from typing import NamedTuple

from wiesel.core.errors import ProgramError
from wiesel.types.logical import (
    MAX_LENGTH,
    ArrayType,
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    NullType,
    RowField,
    RowType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
    ZonedTimestampType,
)
from wiesel.types.logical_intervals import DayTimeIntervalType, Resolution, YearMonthIntervalType, interval_type
from wiesel.types.logical_structured import StructuredType
from wiesel.types.logical_variant import VariantType

__all__ = ["parse_data_type"]


def parse_data_type(text: str, *, in_queries: bool = False) -> DataType:
    """Parse a data type.

    Args:
        text: The text.
        in_queries: Use the maximal length for VARCHAR and VARBINARY without a length, as in SQL, instead of 1, as in type strings of Flink.

    Raises:
        ProgramError: If it cannot be parsed; the message has the position.
    """
    parser = _Parser(text, in_queries)
    parsed = parser.nullable_type()
    parser.expect_end()
    return parsed


class _Token(NamedTuple):
    kind: str
    text: str
    start: int


_TOKEN = re.compile(
    r"\s*(?:(?P<quoted>`(?:[^`]|``)+`)|(?P<comment>'(?:[^']|'')*')|(?P<number>[0-9]+)(?!\w)|(?P<word>[^\W\d][\w$]*)|(?P<mark>[<>(),.]))"
)
_IN_BYTES = "declare BYTES, of which functions make objects by pickle.loads(); streams without a declared type have RAW columns"
_CLOSING = {"<": ">", "(": ")"}


def _tokens(text: str) -> list[_Token]:
    tokens, at = [], 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None:
            raise _error(text, len(text) - len(text[at:].lstrip()), "unexpected character")
        kind = match.lastgroup or ""
        tokens.append(_Token(kind, match[kind], match.start(kind)))
        at = match.end()
    return tokens


def _error(text: str, position: int, problem: str, hint: str | None = None) -> ProgramError:
    shown = re.sub(r"\s", " ", text)
    return ProgramError(
        f"could not parse the type {text!r} at position {position}: {problem}\n  {shown}\n  {' ' * position}^",
        hint=hint or "write a type as in SQL, for example 'DECIMAL(10, 2) NOT NULL' or 'ARRAY<INT>'",
    )


class _Parser:
    def __init__(self, text: str, in_queries: bool) -> None:
        self._text = text
        self._in_queries = in_queries
        self._tokens = _tokens(text)
        self._next = 0

    # Tokens.

    def _peek(self) -> _Token:
        return self._tokens[self._next] if self._next < len(self._tokens) else _Token("end", "", len(self._text))

    def _fail(self, wanted: str) -> ProgramError:
        token = self._peek()
        found = f"{token.text!r} found" if token.text else "it ends"
        return _error(self._text, token.start, f"{wanted} expected, but {found}")

    def _take_word(self, *words: str) -> str | None:
        """Consume the next token if it is one of these keywords; return it."""
        token = self._peek()
        if token.kind != "word" or token.text.upper() not in words:
            return None
        self._next += 1
        return token.text.upper()

    def _take_words(self, *words: str) -> bool:
        """Consume a sequence of keywords, or nothing."""
        found = [token.text.upper() for token in self._tokens[self._next : self._next + len(words)] if token.kind == "word"]
        if found != list(words):
            return False
        self._next += len(words)
        return True

    def _take_mark(self, *marks: str) -> str | None:
        token = self._peek()
        if token.kind != "mark" or token.text not in marks:
            return None
        self._next += 1
        return token.text

    def _expect_mark(self, mark: str) -> None:
        if not self._take_mark(mark):
            raise self._fail(f"'{mark}'")

    def _expect_words(self, *words: str) -> None:
        if not self._take_words(*words):
            raise self._fail(" ".join(words))

    def expect_end(self) -> None:
        if self._peek().kind != "end":
            raise self._fail("the end")

    def _numbers(self, *defaults: int) -> list[int]:
        """Consume numbers in parentheses; missing ones have their default."""
        numbers: list[int] = []
        if not self._take_mark("("):
            return [*defaults]
        while True:
            token = self._peek()
            if token.kind != "number" or int(token.text) > MAX_LENGTH:
                raise self._fail("a whole number")
            self._next += 1
            numbers.append(int(token.text))
            if len(numbers) == len(defaults) or not self._take_mark(","):
                self._expect_mark(")")
                return [*numbers, *defaults[len(numbers) :]]

    def _number(self, default: int) -> int:
        return self._numbers(default)[0]

    # Types.

    def nullable_type(self) -> DataType:
        """Parse a type with its nullability, and a following ARRAY or MULTISET."""
        parsed = self._with_nullability(self._type())
        collection = self._take_word("ARRAY", "MULTISET")
        if collection:
            parsed = self._with_nullability(ArrayType(parsed) if collection == "ARRAY" else MultisetType(parsed))
        return parsed

    def _with_nullability(self, parsed: DataType) -> DataType:
        if self._take_words("NOT", "NULL"):
            return parsed.not_null()
        self._take_word("NULL")
        return parsed

    def _type(self) -> DataType:
        token = self._peek()
        name = token.text.upper() if token.kind == "word" else ""
        parse = _KEYWORDS.get(name)
        if parse is None:
            raise self._unknown(token)
        self._next += 1
        try:
            return parse(self)
        except ProgramError as error:
            if error.message.startswith("could not parse"):
                raise
            raise _error(self._text, token.start, error.message, error.hint) from error

    def _unknown(self, token: _Token) -> ProgramError:
        if token.kind not in ("word", "quoted"):
            return self._fail("a type")
        if token.text.upper() == "RAW":
            reason = "values of RAW are read by classes of Java, and there is no JVM in the workers"
            return _error(self._text, token.start, reason, _IN_BYTES)
        near = difflib.get_close_matches(token.text.upper(), _KEYWORDS, n=1)
        way_out = f"did you mean {near[0]}?" if near else f"use one of: {', '.join(sorted(_KEYWORDS))}."
        return _error(self._text, token.start, f"there is no type {token.text}", f"{way_out} User-defined types are not supported.")

    def text(self, kind: type[CharType | VarCharType | BinaryType | VarBinaryType]) -> DataType:
        return kind(self._number(MAX_LENGTH if self._in_queries and kind in (VarCharType, VarBinaryType) else 1))

    def decimal(self) -> DataType:
        precision, scale = self._numbers(10, 0)
        return DecimalType(precision, scale)

    def double(self) -> DataType:
        self._take_word("PRECISION")
        return DoubleType()

    def time(self) -> DataType:
        precision = self._number(0)
        self._take_words("WITHOUT", "TIME", "ZONE")
        return TimeType(precision)

    def timestamp(self) -> DataType:
        precision = self._number(6)
        if self._take_word("WITH"):
            kind = LocalZonedTimestampType if self._take_word("LOCAL") else ZonedTimestampType
            self._expect_words("TIME", "ZONE")
            return kind(precision)
        if self._take_word("WITHOUT"):
            self._expect_words("TIME", "ZONE")
        return TimestampType(precision)

    def timestamp_ltz(self) -> DataType:
        return LocalZonedTimestampType(self._number(6))

    def interval(self) -> DataType:
        upper = self._resolution("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
        if upper.unit is Resolution.IntervalUnit.MONTH or not self._take_word("TO"):
            return interval_type(upper)
        return interval_type(upper, self._resolution("MONTH", "HOUR", "MINUTE", "SECOND"))

    def _resolution(self, *units: str) -> Resolution:
        unit = self._take_word(*units)
        if unit is None:
            raise self._fail(f"one of {', '.join(units)}")
        return Resolution(Resolution.IntervalUnit[unit], self._number(_DIGITS[unit]) if unit in _DIGITS else -1)

    def array(self) -> DataType:
        return ArrayType(self._parts(1)[0])

    def multiset(self) -> DataType:
        return MultisetType(self._parts(1)[0])

    def map(self) -> DataType:
        key, value = self._parts(2)
        return MapType(key, value)

    def _parts(self, count: int) -> list[DataType]:
        self._expect_mark("<")
        parts = [self.nullable_type()]
        while len(parts) < count:
            self._expect_mark(",")
            parts.append(self.nullable_type())
        self._expect_mark(">")
        return parts

    def row(self) -> DataType:
        opening = self._take_mark("<", "(")
        if opening is None:
            raise self._fail("'<'")
        return RowType(self._fields(_CLOSING[opening]))

    def structured(self) -> DataType:
        self._expect_mark("<")
        token = self._peek()
        if token.kind != "comment":
            raise self._fail("the name of a class between quotes")
        self._next += 1
        if self._take_mark(">"):
            return StructuredType(token.text[1:-1])
        self._expect_mark(",")
        return StructuredType(token.text[1:-1], self._fields(">"))

    def _fields(self, closing: str) -> list[RowField]:
        fields: list[RowField] = []
        while not self._take_mark(closing):
            if fields:
                self._expect_mark(",")
            fields.append(self._row_field())
        return fields

    def _row_field(self) -> RowField:
        token = self._peek()
        # As in Flink, the name of a type must be quoted to be the name of a field: most likely the name was forgotten.
        if token.kind not in ("word", "quoted") or token.text.upper() in _KEYWORDS:
            raise self._fail("the name of a field")
        self._next += 1
        name = token.text[1:-1].replace("``", "`") if token.kind == "quoted" else token.text
        data_type, comment = self.nullable_type(), self._peek()
        if comment.kind != "comment":
            return RowField(name, data_type)
        self._next += 1
        return RowField(name, data_type, comment.text[1:-1].replace("''", "'"))


# Default precision of a unit of an interval.
_DIGITS = {
    "YEAR": YearMonthIntervalType.DEFAULT_PRECISION,
    "DAY": DayTimeIntervalType.DEFAULT_DAY_PRECISION,
    "SECOND": DayTimeIntervalType.DEFAULT_FRACTIONAL_PRECISION,
}

_KEYWORDS: dict[str, Callable[[_Parser], DataType]] = {
    "CHAR": lambda parser: parser.text(CharType),
    "VARCHAR": lambda parser: parser.text(VarCharType),
    "STRING": lambda parser: VarCharType(MAX_LENGTH),
    "BOOLEAN": lambda parser: BooleanType(),
    "BINARY": lambda parser: parser.text(BinaryType),
    "VARBINARY": lambda parser: parser.text(VarBinaryType),
    "BYTES": lambda parser: VarBinaryType(MAX_LENGTH),
    **dict.fromkeys(("DECIMAL", "DEC", "NUMERIC"), _Parser.decimal),
    "TINYINT": lambda parser: TinyIntType(),
    "SMALLINT": lambda parser: SmallIntType(),
    **dict.fromkeys(("INT", "INTEGER"), lambda parser: IntType()),
    "BIGINT": lambda parser: BigIntType(),
    "FLOAT": lambda parser: FloatType(),
    "DOUBLE": _Parser.double,
    "DATE": lambda parser: DateType(),
    "TIME": _Parser.time,
    "TIMESTAMP": _Parser.timestamp,
    "TIMESTAMP_LTZ": _Parser.timestamp_ltz,
    "INTERVAL": _Parser.interval,
    "ARRAY": _Parser.array,
    "MULTISET": _Parser.multiset,
    "MAP": _Parser.map,
    "ROW": _Parser.row,
    "STRUCTURED": _Parser.structured,
    "NULL": lambda parser: NullType(),
    "VARIANT": lambda parser: VariantType(),
}
