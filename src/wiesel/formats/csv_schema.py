"""The schema of CSV files: columns with their types, and the characters that hold them apart."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from wiesel.core.errors import ArgumentTypeError, ProgramError
from wiesel.types.logical import DataType, DecimalType
from wiesel.types.logical_conversion import to_type_info
from wiesel.types.typeinfo import BasicArrayTypeInfo, BasicType, BasicTypeInfo, ObjectArrayTypeInfo, RowTypeInfo, TypeInformation

__all__ = ["CsvDialect", "CsvSchema", "CsvSchemaBuilder"]

_NUMBERS = frozenset(
    (
        BasicType.BYTE,
        BasicType.SHORT,
        BasicType.INT,
        BasicType.LONG,
        BasicType.FLOAT,
        BasicType.DOUBLE,
        BasicType.BIG_INT,
        BasicType.BIG_DEC,
    )
)


@dataclass(frozen=True)
class CsvDialect:
    r"""The characters of a CSV file.

    Attributes:
        separator: Between columns.
        quote: Around values; None for none.
        escape: Before a character that is to be taken as it is (and before n, r, t); None for none.
        line_separator: Behind each written row. Read are ``\n``, ``\r\n`` and ``\r``.
        null_literal: How a missing value is written; read as missing. None: written as nothing, never read.
        comments: Whether lines that begin with ``#`` are left out.
    """

    separator: str = ","
    quote: str | None = '"'
    escape: str | None = None
    line_separator: str = "\n"
    null_literal: str | None = None
    comments: bool = False


@dataclass(frozen=True)
class _Column:
    name: str
    kind: TypeInformation
    array_separator: str = ";"
    decimal: DecimalType | None = None
    """Of the numbers, or of the elements: how many digits they have."""


class CsvSchema:
    """Columns and characters of CSV files. Made by :meth:`builder`.

    Attributes:
        row_type: The type of the rows.
        dialect: The characters.
        skip_first_data_row: Whether the first row is left out.
        use_header: Whether the first row has the names of the columns (also written, then).
        strict_headers: Whether the names there must be those of the schema, in its order.
    """

    def __init__(
        self, columns: list[_Column], dialect: CsvDialect, *, use_header: bool, strict_headers: bool, skip_first_data_row: bool
    ) -> None:
        self._columns = columns
        # Made here, so that equal names are found where the schema is made.
        self.row_type = RowTypeInfo([c.kind for c in columns], [c.name for c in columns])
        self.dialect = dialect
        self.use_header = use_header
        self.strict_headers = strict_headers
        self.skip_first_data_row = skip_first_data_row

    @staticmethod
    def builder() -> CsvSchemaBuilder:
        """Return a builder without columns."""
        return CsvSchemaBuilder()

    @property
    def array_separators(self) -> list[str]:
        """Return what separates the elements of arrays, for each column."""
        return [c.array_separator for c in self._columns]

    @property
    def decimals(self) -> list[DecimalType | None]:
        """Return how many digits decimal numbers have, for each column; None if they are kept as they are."""
        return [c.decimal for c in self._columns]

    def size(self) -> int:
        """Return the number of columns."""
        return len(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        columns = ", ".join(f"{c.name}: {c.kind}" for c in self._columns)
        return f"CsvSchema({columns}; {self.dialect}, header={self.use_header})"


@dataclass
class _Settings:
    dialect: CsvDialect = field(default_factory=CsvDialect)
    use_header: bool = False
    strict_headers: bool = False
    skip_first_data_row: bool = False


class CsvSchemaBuilder:
    """Builds a :class:`CsvSchema`."""

    def __init__(self) -> None:
        self._columns: list[_Column] = []
        self._settings = _Settings()

    def build(self) -> CsvSchema:
        """Return the schema.

        Raises:
            ProgramError: If there is no column or two have one name.
        """
        if not self._columns:
            raise ProgramError("a CSV schema without columns", hint="add columns, in the order of the file")
        s = self._settings
        return CsvSchema(
            list(self._columns),
            s.dialect,
            use_header=s.use_header,
            strict_headers=s.strict_headers,
            skip_first_data_row=s.skip_first_data_row,
        )

    def add_column(self, name: str, type_info: TypeInformation | DataType) -> CsvSchemaBuilder:
        """Add a column of any type that has a text: basic types, dates, times, timestamps."""
        self._columns.append(_Column(name, _type(type_info, "type_info"), decimal=_decimal(type_info)))
        return self

    def add_array_column(self, name: str, separator: str = ";", element_type: TypeInformation | DataType | None = None) -> CsvSchemaBuilder:
        """Add a column of lists.

        Args:
            name: Name of the column.
            separator: Between the elements.
            element_type: Type of the elements, ``DataTypes.STRING()`` if it is None.
        """
        kind = _type(element_type or BasicTypeInfo(BasicType.STRING), "element_type")
        basic = isinstance(kind, BasicTypeInfo) and kind._basic_type not in (BasicType.BIG_DEC, BasicType.BIG_INT, BasicType.INSTANT)
        array = BasicArrayTypeInfo(kind) if basic else ObjectArrayTypeInfo(kind)
        self._columns.append(_Column(name, array, separator, _decimal(element_type)))
        return self

    def add_boolean_column(self, name: str) -> CsvSchemaBuilder:
        """Add a column of ``true`` and everything else, which is false."""
        return self.add_column(name, BasicTypeInfo(BasicType.BOOLEAN))

    def add_number_column(self, name: str, number_type: TypeInformation | DataType | None = None) -> CsvSchemaBuilder:
        """Add a column of numbers.

        Args:
            name: Name of the column.
            number_type: A type of numbers, ``DataTypes.BIGINT()`` if it is None.

        Raises:
            ProgramError: If it is not a type of numbers.
        """
        kind = _type(number_type or BasicTypeInfo(BasicType.LONG), "number_type")
        if not isinstance(kind, BasicTypeInfo) or kind._basic_type not in _NUMBERS:
            raise ProgramError(
                f"add_number_column({name!r}): {kind} is no type of numbers", hint="give DataTypes.INT(), DataTypes.DOUBLE(), ..."
            )
        return self.add_column(name, kind if number_type is None else number_type)

    def add_string_column(self, name: str) -> CsvSchemaBuilder:
        """Add a column of strings."""
        return self.add_column(name, BasicTypeInfo(BasicType.STRING))

    def add_columns_from(self, schema: CsvSchema) -> CsvSchemaBuilder:
        """Add all columns of another schema."""
        self._columns += schema._columns
        return self

    def clear_columns(self) -> CsvSchemaBuilder:
        """Remove all columns."""
        self._columns.clear()
        return self

    def set_allow_comments(self, allow: bool = True) -> CsvSchemaBuilder:
        """Set whether lines that begin with ``#`` are left out."""
        return self._with(comments=allow)

    def set_any_property_name(self, name: str) -> CsvSchemaBuilder:
        """Do nothing: rows have no place for values behind the last column."""
        return self

    def disable_array_element_separator(self) -> CsvSchemaBuilder:
        """Do nothing: each array column has its separator."""
        return self

    def remove_array_element_separator(self, index: int) -> CsvSchemaBuilder:
        """Set the separator of the column ``index`` back to ``;``."""
        self._columns[index] = replace(self._columns[index], array_separator=";")
        return self

    def set_array_element_separator(self, separator: str) -> CsvSchemaBuilder:
        """Do nothing: each array column has its separator."""
        return self

    def set_column_separator(self, char: str) -> CsvSchemaBuilder:
        """Set the character between columns, ``,`` by default.

        Raises:
            ValueError: If it is not one character.
        """
        return self._with(separator=_single(char, "Column separator"))

    def disable_escape_char(self) -> CsvSchemaBuilder:
        """Take no character as escape, as by default."""
        return self._with(escape=None)

    def set_escape_char(self, char: str) -> CsvSchemaBuilder:
        """Set the escape character.

        Raises:
            ValueError: If it is not one character.
        """
        return self._with(escape=_single(char, "Escape char"))

    def set_line_separator(self, separator: str) -> CsvSchemaBuilder:
        r"""Set what is written behind each row, ``\n`` by default."""
        return self._with(line_separator=separator)

    def set_null_value(self, null_value: str) -> CsvSchemaBuilder:
        """Set the text of a missing value."""
        return self._with(null_literal=null_value)

    def disable_quote_char(self) -> CsvSchemaBuilder:
        """Take quotes as any other character."""
        return self._with(quote=None)

    def set_quote_char(self, char: str) -> CsvSchemaBuilder:
        """Set the character around values, ``"`` by default.

        Raises:
            ValueError: If it is not one character.
        """
        return self._with(quote=_single(char, "Quote char"))

    def set_skip_first_data_row(self, skip: bool = True) -> CsvSchemaBuilder:
        """Set whether the first row is left out."""
        self._settings.skip_first_data_row = skip
        return self

    def set_strict_headers(self, strict: bool = True) -> CsvSchemaBuilder:
        """Set whether the header must have the names of the schema, in its order."""
        self._settings.strict_headers = strict
        return self

    def set_use_header(self, use: bool = True) -> CsvSchemaBuilder:
        """Set whether files begin with the names of the columns."""
        self._settings.use_header = use
        return self

    def size(self) -> int:
        """Return the number of columns."""
        return len(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def _with(self, **changes: Any) -> CsvSchemaBuilder:
        self._settings.dialect = replace(self._settings.dialect, **changes)
        return self


def _single(char: str, what: str) -> str:
    if len(char) != 1:
        raise ValueError(f"{what} must be a single char, got {char}")
    return char


def _type(given: object, what: str) -> TypeInformation:
    if isinstance(given, DataType):
        return to_type_info(given)
    if not isinstance(given, TypeInformation):
        raise ArgumentTypeError(f"CSV schema: {what} is {given!r}", hint="give a type of DataTypes or Types, such as DataTypes.INT()")
    return given


def _decimal(given: object) -> DecimalType | None:
    return given if isinstance(given, DecimalType) else None
