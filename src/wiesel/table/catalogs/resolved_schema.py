"""Internal. Schemas of tables whose types are all known, as ``wiesel.table.catalog`` hands them out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any

from wiesel.core.argument_checks import require_instance
from wiesel.spi.table import schema as spi
from wiesel.table.resolved_expression import ResolvedExpression
from wiesel.types.logical import DataType, RowField, RowType, quoted

__all__ = [
    "Column",
    "ComputedColumn",
    "Constraint",
    "MetadataColumn",
    "PhysicalColumn",
    "ResolvedSchema",
    "UniqueConstraint",
    "WatermarkSpec",
    "resolved_schema",
]


class Column(ABC):
    """A column of a table. Made by :meth:`physical`, :meth:`computed` and :meth:`metadata`."""

    def __init__(self, column: Any, time: str | None = None) -> None:
        self._column = column
        self._time = time
        """``ROWTIME`` or ``PROCTIME`` if it is a time attribute of a table."""

    @staticmethod
    def physical(name: str, data_type: DataType) -> PhysicalColumn:
        """Return a column that is stored."""
        _check_column(name, data_type)
        return PhysicalColumn(spi.PhysicalColumn(name, data_type))

    @staticmethod
    def computed(name: str, resolved_expression: ResolvedExpression) -> ComputedColumn:
        """Return a column that is computed of others."""
        expression = resolved_expression.as_serializable_string()
        return ComputedColumn(spi.ComputedColumn(name, resolved_expression.get_output_data_type(), expression))

    @staticmethod
    def metadata(name: str, data_type: DataType, metadata_key: str | None, is_virtual: bool) -> MetadataColumn:
        """Return a column that the connector or format tells.

        Args:
            name: The name of the column.
            data_type: Its type.
            metadata_key: What the connector calls it; the column's name if it is None.
            is_virtual: Whether it is left out when rows are written.
        """
        _check_column(name, data_type)
        return MetadataColumn(spi.MetadataColumn(name, data_type, metadata_key, is_virtual))

    @abstractmethod
    def is_physical(self) -> bool:
        """Return whether it is stored."""

    @abstractmethod
    def is_persisted(self) -> bool:
        """Return whether it is written."""

    @abstractmethod
    def explain_extras(self) -> str | None:
        """Return the description of further properties after the type, if there are any."""

    def with_comment(self, comment: str | None) -> Any:
        """Return the column with a comment."""
        return type(self)(replace(self._column, comment=comment))

    def copy(self, new_type: DataType) -> Any:
        """Return the column with another type."""
        return type(self)(replace(self._column, data_type=new_type))

    def rename(self, new_name: str) -> Any:
        """Return the column with another name."""
        return type(self)(replace(self._column, name=new_name))

    def get_data_type(self) -> DataType:
        """Return its type."""
        return self._column.data_type  # type: ignore[no-any-return]

    def get_name(self) -> str:
        """Return its name."""
        return self._column.name  # type: ignore[no-any-return]

    def get_comment(self) -> str | None:
        """Return what it is about."""
        return self._column.comment  # type: ignore[no-any-return]

    def as_summary_string(self) -> str:
        """Return it as schemas show it."""
        return str(self)

    def __str__(self) -> str:
        text = str(self._column)
        if self._time is None:
            return text
        typed = f"{quoted(self._column.name)} {self._column.data_type.as_summary_string()}"
        return f"{typed} *{self._time}*{text.removeprefix(typed)}"

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Column) and self._column == other._column

    def __hash__(self) -> int:
        return hash(self._column)


def _check_column(name: Any, data_type: Any) -> None:
    require_instance(name, str, "the name of a column", "give a text")
    require_instance(data_type, DataType, "the type of a column", "give one of DataTypes, such as DataTypes.INT()")


class PhysicalColumn(Column):
    """A column that is stored."""

    def is_physical(self) -> bool:
        """Return whether it is stored: it is."""
        return True

    def is_persisted(self) -> bool:
        """Return whether it is written: it is."""
        return True

    def explain_extras(self) -> str | None:
        """Return no description of further properties."""
        return None

    def copy(self, new_data_type: DataType) -> PhysicalColumn:
        """Return the column with another type."""
        return super().copy(new_data_type)  # type: ignore[no-any-return]


class ComputedColumn(Column):
    """A column that is computed of others when rows are read."""

    def is_physical(self) -> bool:
        """Return whether it is stored: it is not."""
        return False

    def is_persisted(self) -> bool:
        """Return whether it is written: it is not."""
        return False

    def get_expression(self) -> ResolvedExpression:
        """Return what it is computed by."""
        return ResolvedExpression(self._column.expression, self._column.data_type)

    def explain_extras(self) -> str | None:
        """Return what it is computed by, as SQL."""
        return f"AS {self._column.expression}"

    def copy(self, new_data_type: DataType) -> ComputedColumn:
        """Return the column with another type."""
        return super().copy(new_data_type)  # type: ignore[no-any-return]


class MetadataColumn(Column):
    """A column that the connector or format tells."""

    def is_physical(self) -> bool:
        """Return whether it is stored: it is not."""
        return False

    def is_persisted(self) -> bool:
        """Return whether it is written."""
        return not self.is_virtual()

    def is_virtual(self) -> bool:
        """Return whether it is left out when rows are written."""
        return self._column.is_virtual  # type: ignore[no-any-return]

    def get_metadata_key(self) -> str | None:
        """Return what the connector calls it, if that is another name than the column's."""
        return self._column.key  # type: ignore[no-any-return]

    def explain_extras(self) -> str | None:
        """Return the description of further properties after the type."""
        return self._column.extras  # type: ignore[no-any-return]

    def copy(self, new_data_type: DataType) -> MetadataColumn:
        """Return the column with another type."""
        return super().copy(new_data_type)  # type: ignore[no-any-return]


_KINDS: dict[type, type[Column]] = {
    spi.PhysicalColumn: PhysicalColumn,
    spi.ComputedColumn: ComputedColumn,
    spi.MetadataColumn: MetadataColumn,
}


class WatermarkSpec:
    """Makes a column the event time of a table. Made by :meth:`of`."""

    def __init__(self, column: str, expression: ResolvedExpression) -> None:
        self._column_name = column
        self._expression = expression

    @staticmethod
    def of(rowtime_attribute: str, watermark_expression: ResolvedExpression) -> WatermarkSpec:
        """Return the watermark of a column, by the watermark behind each row."""
        require_instance(rowtime_attribute, str, "the name of the column of the event time", "give a text")
        require_instance(watermark_expression, ResolvedExpression, "the watermark", "give a resolved expression")
        return WatermarkSpec(rowtime_attribute, watermark_expression)

    def get_rowtime_attribute(self) -> str:
        """Return the name of the column."""
        return self._column_name

    def get_watermark_expression(self) -> ResolvedExpression:
        """Return the watermark behind each row."""
        return self._expression

    def as_summary_string(self) -> str:
        """Return it as schemas show it."""
        kind = self._expression.get_output_data_type().as_summary_string()
        return f"WATERMARK FOR {quoted(self._column_name)}: {kind} AS {self._expression}"

    def __str__(self) -> str:
        return self.as_summary_string()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WatermarkSpec) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


class Constraint:
    """A constraint of the rows of a table."""

    class ConstraintType(Enum):
        """Kinds of constraints."""

        PRIMARY_KEY = 0
        UNIQUE_KEY = 1

    def __init__(self, key: spi.PrimaryKey) -> None:
        self._key = key

    def get_name(self) -> str:
        """Return its name."""
        return self._key.name

    def is_enforced(self) -> bool:
        """Return whether rows are checked: they are not."""
        return False

    def get_type(self) -> Constraint.ConstraintType:
        """Return its kind."""
        return self.ConstraintType.PRIMARY_KEY

    def as_summary_string(self) -> str:
        """Return it as schemas show it."""
        return str(self._key)


class UniqueConstraint(Constraint):
    """A primary key. Made by :meth:`primary_key`."""

    @staticmethod
    def primary_key(name: str, columns: Sequence[str]) -> UniqueConstraint:
        """Return the primary key of these columns, which is not enforced."""
        return UniqueConstraint(spi.PrimaryKey(name, tuple(columns)))

    def get_columns(self) -> list[str]:
        """Return the names of its columns."""
        return list(self._key.columns)

    def get_type_string(self) -> str:
        """Return its kind as SQL has it."""
        return "PRIMARY KEY"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UniqueConstraint) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


class ResolvedSchema(spi.ResolvedSchema):
    """The columns of a table, all of known types, its watermark and primary key.

    >>> from wiesel.table import DataTypes
    >>> print(ResolvedSchema.physical(["x", "y"], [DataTypes.INT(), DataTypes.STRING()]))
    (
      `x` INT,
      `y` STRING
    )
    """

    def __init__(
        self,
        columns: Sequence[Column] | None = None,
        watermark_specs: Sequence[WatermarkSpec] | None = None,
        primary_key: UniqueConstraint | None = None,
    ) -> None:
        watermarks = [
            spi.WatermarkSpec(spec.get_rowtime_attribute(), spec.get_watermark_expression().as_serializable_string())
            for spec in watermark_specs or ()
        ]
        super().__init__(
            tuple(column._column for column in columns or ()),
            None if primary_key is None else primary_key._key,
            watermarks[0] if watermarks else None,
        )
        object.__setattr__(self, "_times", {column.get_name(): column._time for column in columns or () if column._time is not None})

    _times: Mapping[str, str]
    """The time attributes among the columns."""

    @staticmethod
    def of(columns: Sequence[Column]) -> ResolvedSchema:
        """Return the schema of these columns."""
        return ResolvedSchema(columns)

    @staticmethod
    def physical(column_names: Sequence[str], column_data_types: Sequence[DataType]) -> ResolvedSchema:  # type: ignore[override]
        """Return the schema of stored columns."""
        return ResolvedSchema([Column.physical(*column) for column in zip(column_names, column_data_types, strict=True)])

    def get_column_count(self) -> int:
        """Return how many columns there are."""
        return len(self.columns)

    def get_columns(self) -> list[Column]:
        """Return the columns."""
        return [_KINDS[type(column)](column, self._times.get(column.name)) for column in self.columns]

    def __str__(self) -> str:
        lines = [*self.get_columns(), *(other for other in (self.watermark_text(), self.primary_key) if other is not None)]
        return "(\n" + ",\n".join(f"  {line}" for line in lines) + "\n)"

    __repr__ = __str__

    def get_column_names(self) -> list[str]:
        """Return the names of the columns."""
        return [column.name for column in self.columns]

    def get_column_data_types(self) -> list[DataType]:
        """Return the types of the columns."""
        return [column.get_data_type() for column in self.get_columns()]

    def get_column(self, column_index_or_name: int | str) -> Column | None:
        """Return a column, by its name or its place from 0 on; None if there is none."""
        if isinstance(column_index_or_name, str):
            return next((column for column in self.get_columns() if column.get_name() == column_index_or_name), None)
        return self.get_columns()[column_index_or_name] if 0 <= column_index_or_name < len(self.columns) else None

    def get_watermark_specs(self) -> list[WatermarkSpec]:
        """Return the watermarks: one or none."""
        if self.watermark is None:
            return []
        column = self.get_column(self.watermark.column)
        assert column is not None  # noqa: S101 - schemas are checked when they are made
        return [WatermarkSpec(self.watermark.column, ResolvedExpression(self.watermark.expression, column.get_data_type()))]

    def get_primary_key(self) -> UniqueConstraint | None:
        """Return the primary key, if there is one."""
        return None if self.primary_key is None else UniqueConstraint(self.primary_key)

    def get_primary_key_indexes(self) -> list[int]:
        """Return the places of the columns of the primary key."""
        names = self.get_column_names()
        return [] if self.primary_key is None else [names.index(name) for name in self.primary_key.columns]

    def to_source_row_data_type(self) -> RowType:
        """Return the type of rows of all columns."""
        return _row_type(self.get_columns())

    def to_physical_row_data_type(self) -> RowType:
        """Return the type of rows of the columns that are stored."""
        return _row_type([column for column in self.get_columns() if column.is_physical()])

    def to_sink_row_data_type(self) -> RowType:
        """Return the type of rows that are written."""
        return _row_type([column for column in self.get_columns() if column.is_persisted()])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, spi.ResolvedSchema) and _parts(self) == _parts(other)

    def __hash__(self) -> int:
        return hash(_parts(self))


def _parts(schema: spi.ResolvedSchema) -> tuple[Any, ...]:
    return schema.columns, schema.primary_key, schema.watermark


def _row_type(columns: Sequence[Column]) -> RowType:
    return RowType([RowField(column.get_name(), column.get_data_type()) for column in columns], nullable=False)


def resolved_schema(schema: spi.ResolvedSchema, times: Mapping[str, str] | None = None) -> ResolvedSchema:
    """Return a schema as programs see it; ``times`` are its time attributes, ``ROWTIME`` and ``PROCTIME``."""
    if isinstance(schema, ResolvedSchema):
        return schema
    found = ResolvedSchema([_KINDS[type(column)](column, (times or {}).get(column.name)) for column in schema.columns])
    object.__setattr__(found, "primary_key", schema.primary_key)
    object.__setattr__(found, "watermark", schema.watermark)
    return found
