"""Internal. Data types as Hive writes them."""

from __future__ import annotations

import re

from wiesel.core.errors import ProgramError
from wiesel.types import logical as t

__all__ = ["parse_hive_type"]

_TOKENS = re.compile(r"\s*(`[^`]+`|\w+|[<>(),:])")
_SIMPLE: dict[str, t.DataType] = {
    "TINYINT": t.TinyIntType(),
    "SMALLINT": t.SmallIntType(),
    "INT": t.IntType(),
    "INTEGER": t.IntType(),
    "BIGINT": t.BigIntType(),
    "FLOAT": t.FloatType(),
    "DOUBLE": t.DoubleType(),
    "BOOLEAN": t.BooleanType(),
    "STRING": t.VarCharType(t.MAX_LENGTH),
    "BINARY": t.VarBinaryType(t.MAX_LENGTH),
    "DATE": t.DateType(),
    "TIMESTAMP": t.TimestampType(6),
    "TIMESTAMPLOCALTZ": t.LocalZonedTimestampType(6),
}
_DECIMALS = ("DECIMAL", "NUMERIC", "DEC")
_PRECISION = (10, 0)
"""Of a DECIMAL without digits."""


class _Reader:
    """The tokens of a type and a place among them."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _TOKENS.findall(text)
        self._at = 0
        if "".join(self._tokens) != "".join(text.split()):
            raise self.wrong()

    def wrong(self) -> ProgramError:
        names = (
            "TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, DECIMAL(p, s), BOOLEAN, STRING, VARCHAR(n), CHAR(n), BINARY, DATE, TIMESTAMP"
        )
        return ProgramError(f"{self._text!r} is no data type of Hive", hint=f"write {names}, ARRAY<t>, MAP<k, v> or STRUCT<name: t, ...>")

    def match(self, token: str) -> bool:
        if self._at < len(self._tokens) and self._tokens[self._at].upper() == token:
            self._at += 1
            return True
        return False

    def expect(self, token: str) -> None:
        if not self.match(token):
            raise self.wrong()

    def word(self) -> str:
        if self._at >= len(self._tokens):
            raise self.wrong()
        self._at += 1
        return str(self._tokens[self._at - 1])

    def numbers(self) -> list[int]:
        """Take ``(n)`` or ``(n, m)``, if it is there."""
        if not self.match("("):
            return []
        found = [self.word()]
        while self.match(","):
            found.append(self.word())
        self.expect(")")
        if not all(each.isdigit() for each in found):
            raise self.wrong()
        return [int(each) for each in found]

    def whole(self) -> t.DataType:
        found = self.data_type()
        if self._at < len(self._tokens):
            raise self.wrong()
        return found

    def data_type(self) -> t.DataType:
        name = self.word().upper()
        if name == "ARRAY":
            self.expect("<")
            element = self.data_type()
            self.expect(">")
            return t.ArrayType(element)
        if name == "MAP":
            self.expect("<")
            key = self.data_type()
            self.expect(",")
            value = self.data_type()
            self.expect(">")
            return t.MapType(key, value)
        if name == "STRUCT":
            return self._struct()
        return self._primitive(name)

    def _primitive(self, name: str) -> t.DataType:
        if name == "UNIONTYPE":
            raise ProgramError("there is no type of unions", hint="use a STRUCT with a field for each type")
        if name == "DOUBLE":
            self.match("PRECISION")
        if name == "TIMESTAMP" and self.match("WITH"):
            for word in ("LOCAL", "TIME", "ZONE"):
                self.expect(word)
            return t.LocalZonedTimestampType(6)
        numbers = self.numbers()
        if name in _DECIMALS and len(numbers) <= 2:
            precision, scale = (*numbers, *_PRECISION[len(numbers) :])
            return t.DecimalType(precision, scale)
        if name in ("CHAR", "VARCHAR") and len(numbers) == 1:
            return t.CharType(numbers[0]) if name == "CHAR" else t.VarCharType(numbers[0])
        if name not in _SIMPLE or numbers:
            raise self.wrong()
        return _SIMPLE[name]

    def _struct(self) -> t.DataType:
        self.expect("<")
        fields: list[t.RowField] = []
        while not fields or self.match(","):
            name = self.word().strip("`").lower()
            self.expect(":")
            fields.append(t.RowField(name, self.data_type()))
            if self.match("COMMENT"):
                self.word()
        self.expect(">")
        return t.RowType(fields)


def parse_hive_type(text: str) -> t.DataType:
    """Return the type of a text.

    >>> parse_hive_type("map<string, array<int>>").as_summary_string()
    'MAP<STRING, ARRAY<INT>>'

    Raises:
        ProgramError: If it is none.
    """
    return _Reader(text).whole()
