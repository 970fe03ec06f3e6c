"""Schemas of tables: as declared (:class:`Schema`), and with all types resolved (:class:`ResolvedSchema`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from wiesel.core.errors import ArgumentTypeError, ArgumentValueError, ProgramError
from wiesel.types.logical import DataType, RowField, RowType, quoted
from wiesel.types.logical_parser import parse_data_type

__all__ = ["ComputedColumn", "MetadataColumn", "PhysicalColumn", "PrimaryKey", "ResolvedSchema", "Schema", "WatermarkSpec"]


def _type_text(data_type: DataType | str) -> str:
    """Return a type as printed by Flink; unresolved ones are in brackets."""
    return f"[{data_type}]" if isinstance(data_type, str) else data_type.as_summary_string()


def _comment_text(comment: str | None) -> str:
    return "" if comment is None else " COMMENT '" + comment.replace("'", "''") + "'"


@dataclass(frozen=True)
class PhysicalColumn:
    """A column that is stored."""

    name: str
    data_type: DataType | str
    comment: str | None = None

    def __str__(self) -> str:
        return f"{quoted(self.name)} {_type_text(self.data_type)}{_comment_text(self.comment)}"


@dataclass(frozen=True)
class MetadataColumn:
    """A metadata column, provided by the connector or format.

    Attributes:
        name: The name of the column.
        data_type: Its type.
        key: The connector's key; the column's name if it is None.
        is_virtual: Excluded when rows are written.
        comment: Description.
    """

    name: str
    data_type: DataType | str
    key: str | None = None
    is_virtual: bool = False
    comment: str | None = None

    def __str__(self) -> str:
        return f"{quoted(self.name)} {_type_text(self.data_type)} {self.extras}{_comment_text(self.comment)}"

    @property
    def extras(self) -> str:
        """Properties of the column after its type."""
        source = "" if self.key is None else " FROM '" + self.key.replace("'", "''") + "'"
        return f"METADATA{source}{' VIRTUAL' if self.is_virtual else ''}"


@dataclass(frozen=True)
class ComputedColumn:
    """A column computed from others when rows are read.

    Attributes:
        name: The name of the column.
        data_type: The type of the expression; None if unknown.
        expression: The expression, as SQL.
        comment: Description.
    """

    name: str
    data_type: DataType | None
    expression: str
    comment: str | None = None

    def __str__(self) -> str:
        known = "" if self.data_type is None else f" {self.data_type.as_summary_string()}"
        return f"{quoted(self.name)}{known} AS {self.expression if known else f'[{self.expression}]'}{_comment_text(self.comment)}"


@dataclass(frozen=True)
class WatermarkSpec:
    """Declares a column as the event time of a table: ``expression`` (SQL) is the watermark after each row."""

    column: str
    expression: str

    def __str__(self) -> str:
        return f"WATERMARK FOR {quoted(self.column)} AS [{self.expression}]"


@dataclass(frozen=True)
class PrimaryKey:
    """Columns that identify a row; NOT ENFORCED: the connector is responsible."""

    name: str
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return f"CONSTRAINT {quoted(self.name)} PRIMARY KEY ({', '.join(map(quoted, self.columns))}) NOT ENFORCED"


Column = PhysicalColumn | MetadataColumn | ComputedColumn


def _schema_text(columns: Sequence[Column], watermark: object, key: PrimaryKey | None) -> str:
    lines = [*columns, *(other for other in (watermark, key) if other is not None)]
    return "(\n" + ",\n".join(f"  {line}" for line in lines) + "\n)"


@dataclass(frozen=True)
class ResolvedSchema:
    """The columns of a table, all of known types, and its primary key."""

    columns: tuple[Column, ...]
    primary_key: PrimaryKey | None = None
    watermark: WatermarkSpec | None = None

    @property
    def physical_row_type(self) -> RowType:
        """The type of the rows that are stored."""
        stored = (column for column in self.columns if isinstance(column, PhysicalColumn))
        return RowType([RowField(column.name, _known(column.data_type)) for column in stored], nullable=False)

    @property
    def metadata_columns(self) -> tuple[MetadataColumn, ...]:
        """The metadata columns."""
        return tuple(column for column in self.columns if isinstance(column, MetadataColumn))

    @staticmethod
    def physical(row_type: RowType) -> ResolvedSchema:
        """Return the schema with the fields of a row as columns."""
        return ResolvedSchema(tuple(PhysicalColumn(field.name, field.data_type) for field in row_type))

    @property
    def has_computed_columns(self) -> bool:
        """Return whether there are computed columns."""
        return any(isinstance(column, ComputedColumn) for column in self.columns)

    def watermark_text(self) -> str | None:
        """Return the declaration of the watermark, with the type of its column; None if there is none."""
        if self.watermark is None:
            return None
        kind = next((_type_text(column.data_type or "") for column in self.columns if column.name == self.watermark.column), "")
        return f"WATERMARK FOR {quoted(self.watermark.column)}: {kind} AS {self.watermark.expression}"

    def __str__(self) -> str:
        return _schema_text(self.columns, self.watermark_text(), self.primary_key)


def _known(data_type: DataType | str) -> DataType:
    return parse_data_type(data_type) if isinstance(data_type, str) else data_type


class Schema:
    """The declared schema of a table; types given as strings are parsed when the table is created.

    >>> from wiesel.types.data_types import DataTypes
    >>> print(Schema.new_builder().column("id", DataTypes.BIGINT(False)).column("name", "STRING").primary_key("id").build())
    (
      `id` BIGINT NOT NULL,
      `name` [STRING],
      CONSTRAINT `PK_id` PRIMARY KEY (`id`) NOT ENFORCED
    )
    """

    def __init__(self, columns: Sequence[Column], primary_key: PrimaryKey | None, watermark: WatermarkSpec | None = None) -> None:
        self._columns = tuple(columns)
        self._primary_key = primary_key
        self._watermark = watermark

    @staticmethod
    def new_builder() -> Schema.Builder:
        """Return a builder of a schema."""
        return Schema.Builder()

    def resolve(self) -> ResolvedSchema:
        """Return the schema with all types resolved except those of computed columns.

        Raises:
            ProgramError: If a type cannot be parsed, two columns have one name, or the primary key is invalid.
        """
        columns = tuple(
            column if isinstance(column, ComputedColumn) else replace(column, data_type=self._resolved_type(column))
            for column in self._columns
        )
        counts = Counter(column.name for column in columns)
        duplicates = [name for name, count in counts.items() if count > 1]
        if duplicates:
            raise ProgramError(f"a schema must not have two columns of one name; found duplicates: {duplicates}", hint="rename the columns")
        if self._primary_key is not None:
            self._check_primary_key(self._primary_key, {column.name: column for column in columns})
        return ResolvedSchema(columns, self._primary_key, self._watermark)

    @staticmethod
    def _resolved_type(column: Column) -> DataType:
        try:
            return _known(column.data_type or "NULL")
        except ProgramError as error:
            raise ProgramError(f"column {quoted(column.name)}: {error.message}", hint=error.hint) from error

    @staticmethod
    def _check_primary_key(key: PrimaryKey, columns: dict[str, Column]) -> None:
        def wrong(problem: str, hint: str) -> ProgramError:
            return ProgramError(f"invalid primary key {quoted(key.name)}: {problem}", hint=hint)

        if len(set(key.columns)) < len(key.columns):
            raise wrong(f"a column occurs twice in {list(key.columns)}", "name each column once")
        for name in key.columns:
            column = columns.get(name)
            if not isinstance(column, PhysicalColumn):
                raise wrong(
                    f"column {quoted(name)} is not a stored column of the table", f"name columns among {[str(known) for known in columns]}"
                )
            if _known(column.data_type).is_nullable:
                raise wrong(f"column {quoted(name)} is nullable", "declare its type NOT NULL, for example DataTypes.INT(nullable=False)")

    def __str__(self) -> str:
        return _schema_text(self._columns, self._watermark, self._primary_key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((self._columns, self._primary_key, self._watermark))

    class Builder:
        """Builder of a :class:`Schema`; columns are in the order of the calls."""

        def __init__(self) -> None:
            self._columns: list[Column] = []
            self._primary_key: PrimaryKey | None = None
            self._watermark: WatermarkSpec | None = None

        def from_schema(self, unresolved_schema: Schema) -> Schema.Builder:
            """Add everything that another schema declares."""
            _require(unresolved_schema, Schema, "from_schema() takes a Schema")
            self._columns += unresolved_schema._columns
            if unresolved_schema._primary_key is not None:
                self._set_primary_key(unresolved_schema._primary_key)
            self._watermark = unresolved_schema._watermark or self._watermark
            return self

        def from_resolved_schema(self, resolved_schema: ResolvedSchema) -> Schema.Builder:
            """Add everything that the schema of a table has."""
            _require(resolved_schema, ResolvedSchema, "from_resolved_schema() takes the schema of a table")
            return self.from_schema(Schema(resolved_schema.columns, resolved_schema.primary_key, resolved_schema.watermark))

        def from_row_data_type(self, data_type: DataType) -> Schema.Builder:
            """Add the fields of a row type as columns."""
            if not isinstance(data_type, RowType):
                raise ArgumentTypeError(f"from_row_data_type() takes a row type, got {data_type!r}", hint="give a DataTypes.ROW([...])")
            return self.from_fields(data_type.field_names(), data_type.field_types())

        def from_fields(self, field_names: Sequence[str], field_data_types: Sequence[DataType]) -> Schema.Builder:
            """Add columns of these names and types."""
            if len(field_names) != len(field_data_types):
                raise ArgumentValueError(
                    f"from_fields() got {len(field_names)} names and {len(field_data_types)} types", hint="give one type for each name"
                )
            for name, data_type in zip(field_names, field_data_types, strict=True):
                self.column(name, data_type)
            return self

        def column(self, column_name: str, data_type: str | DataType) -> Schema.Builder:
            """Add a physical column; the type is one of ``DataTypes`` or a string such as ``'BIGINT NOT NULL'``."""
            self._columns.append(PhysicalColumn(*_checked_column(column_name, data_type)))
            return self

        def column_by_expression(self, column_name: str, expr: Any) -> Schema.Builder:
            """Add a computed column, by an expression or its SQL string."""
            _require(column_name, str, "the name of a column is a string")
            self._columns.append(ComputedColumn(column_name, None, _sql(expr)))
            return self

        def column_by_metadata(
            self, column_name: str, data_type: DataType | str, metadata_key: str | None = None, is_virtual: bool = False
        ) -> Schema.Builder:
            """Add a metadata column, under its own name or ``metadata_key``.

            Args:
                column_name: The name of the column.
                data_type: Its type.
                metadata_key: The connector's key.
                is_virtual: Exclude the column when rows are written.
            """
            self._columns.append(MetadataColumn(*_checked_column(column_name, data_type), metadata_key, is_virtual))
            return self

        def watermark(self, column_name: str, watermark_expr: Any) -> Schema.Builder:
            """Declare a column of type TIMESTAMP(3) or TIMESTAMP_LTZ(3) as the event time.

            Args:
                column_name: The column.
                watermark_expr: The watermark after each row, by an expression or its SQL string: ``ts - INTERVAL '5' SECOND``;
                    ``SOURCE_WATERMARK()`` uses the watermarks of a stream.
            """
            _require(column_name, str, "the name of a column is a string")
            if self._watermark is not None:
                raise ProgramError("a table has at most one watermark", hint="name one column")
            self._watermark = WatermarkSpec(column_name, _sql(watermark_expr))
            return self

        def primary_key(self, *column_names: str) -> Schema.Builder:
            """Set the columns that identify a row; the constraint is named after them."""
            return self.primary_key_named("PK_" + "_".join(map(str, column_names)), *column_names)

        def primary_key_named(self, constraint_name: str, *column_names: str) -> Schema.Builder:
            """Set the columns that identify a row, and the name of the constraint."""
            if not column_names:
                raise ProgramError("a primary key needs at least one column", hint="name the columns")
            for name in (constraint_name, *column_names):
                _require(name, str, "primary_key() takes names")
            self._set_primary_key(PrimaryKey(constraint_name, column_names))
            return self

        def _set_primary_key(self, key: PrimaryKey) -> None:
            if self._primary_key is not None:
                raise ProgramError("a table has at most one primary key", hint="name all its columns in one primary_key() call")
            self._primary_key = key

        def build(self) -> Schema:
            """Return the schema."""
            return Schema(self._columns, self._primary_key, self._watermark)


def _sql(expression: Any) -> str:
    """Return the SQL string of an expression of the Table API."""
    if isinstance(expression, str):
        return expression
    written = getattr(expression, "_as_sql", None)
    if written is None:
        raise ArgumentTypeError(f"an expression of a schema is {expression!r}", hint="give an expression, or its SQL string")
    return str(written())


def _require(value: object, wanted: type, what: str) -> None:
    if not isinstance(value, wanted):
        raise ArgumentTypeError(f"{what}, got {value!r} (a {type(value).__name__})", hint=f"give a {wanted.__name__}")


def _checked_column(name: str, data_type: str | DataType) -> tuple[str, str | DataType]:
    _require(name, str, "the name of a column is a string")
    if not isinstance(data_type, str | DataType):
        raise ArgumentTypeError(
            f"the type of column {quoted(name)} is {data_type!r}",
            hint="give one of DataTypes, such as DataTypes.INT(), or a string such as 'INT'",
        )
    return name, data_type
