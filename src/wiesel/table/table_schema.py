"""The older class of schemas: the names of ``pyflink.table.table_schema``."""

from __future__ import annotations

from collections.abc import Sequence

from wiesel.core.argument_checks import require_instance
from wiesel.core.errors import ArgumentValueError
from wiesel.spi.table.schema import ResolvedSchema
from wiesel.sql.ddl.canonical_expressions import canonical_expression
from wiesel.table.catalogs.resolved_schema import ComputedColumn
from wiesel.table.catalogs.resolved_schema import ResolvedSchema as Resolved
from wiesel.types.logical import DataType, RowField, RowType

__all__ = ["TableSchema"]


class TableSchema:
    """Names and types of columns. Newer programs use :class:`~wiesel.table.Schema`.

    >>> from wiesel.table import DataTypes
    >>> TableSchema(["a", "b"], [DataTypes.INT(), DataTypes.STRING()]).get_field_names()
    ['a', 'b']
    """

    def __init__(self, field_names: Sequence[str] | None = None, data_types: Sequence[DataType] | None = None) -> None:
        names, types = list(field_names or ()), list(data_types or ())
        if len(names) != len(types):
            raise ArgumentValueError(f"a TableSchema got {len(names)} names and {len(types)} types", hint="give one type for each name")
        self._row_type = RowType([RowField(name, kind) for name, kind in zip(names, types, strict=True)], False)
        self._lines = [f"{field.name}: {field.data_type.as_summary_string()}" for field in self._row_type]

    @classmethod
    def _of(cls, schema: Resolved) -> TableSchema:
        """Return the older form of a schema; its text tells what else is known of the columns."""
        columns, names = schema.get_columns(), schema.get_column_names()
        made = cls(names, schema.get_column_data_types())
        lines = []
        for column in columns:
            time = "" if column._time is None else f" *{column._time}*"
            extras = column.explain_extras()
            if isinstance(column, ComputedColumn):
                extras = f"AS {canonical_expression(str(column.get_expression()), names)}"
            lines.append(f"{column.get_name()}: {column.get_data_type().as_summary_string()}{time}{'' if extras is None else f' {extras}'}")
        for spec in schema.get_watermark_specs():
            expression = canonical_expression(str(spec.get_watermark_expression()), names)
            kind = spec.get_watermark_expression().get_output_data_type().as_summary_string()
            lines.append(f"WATERMARK FOR {spec.get_rowtime_attribute()}: {kind} AS {expression}")
        if schema.primary_key is not None:
            lines.append(f"CONSTRAINT {schema.primary_key.name} PRIMARY KEY ({', '.join(schema.primary_key.columns)})")
        made._lines = lines
        return made

    @classmethod
    def builder(cls) -> TableSchema.Builder:
        """Return a builder of a schema."""
        return TableSchema.Builder()

    def copy(self) -> TableSchema:
        """Return the same schema."""
        return TableSchema(self.get_field_names(), self.get_field_data_types())

    def get_field_names(self) -> list[str]:
        """Return the names of the columns."""
        return list(self._row_type.field_names())

    def get_field_data_types(self) -> list[DataType]:
        """Return the types of the columns."""
        return list(self._row_type.field_types())

    def get_field_count(self) -> int:
        """Return how many columns there are."""
        return len(self.get_field_names())

    def get_field_name(self, field_index: int) -> str | None:
        """Return the name of the column at a place (from 0 on); None if there is none."""
        names = self.get_field_names()
        return names[field_index] if 0 <= field_index < len(names) else None

    def get_field_data_type(self, field: int | str) -> DataType | None:
        """Return the type of a column, by its name or place; None if there is none.

        Raises:
            TypeError: If it is neither.
        """
        if not isinstance(field, int | str):
            raise TypeError(f"Expected field index or field name, got {type(field)}")
        name = self.get_field_name(field) if isinstance(field, int) else field
        return next((known.data_type for known in self._row_type if known.name == name), None)

    def to_row_data_type(self) -> RowType:
        """Return the type of a row of these columns, which is NOT NULL."""
        return self._row_type

    def _resolved(self) -> ResolvedSchema:
        return ResolvedSchema.physical(self._row_type)

    def __repr__(self) -> str:
        return "root\n" + "".join(f" |-- {line}\n" for line in self._lines)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TableSchema) and self._row_type == other._row_type

    def __hash__(self) -> int:
        return hash(self._row_type)

    class Builder:
        """Builder of a :class:`TableSchema`."""

        def __init__(self) -> None:
            self._names: list[str] = []
            self._types: list[DataType] = []

        def field(self, name: str, data_type: DataType) -> TableSchema.Builder:
            """Add a column."""
            require_instance(name, str, "the name of a column", "give a text")
            require_instance(data_type, DataType, "the type of a column", "give one of DataTypes, such as DataTypes.INT()")
            self._names.append(name)
            self._types.append(data_type)
            return self

        def build(self) -> TableSchema:
            """Return the schema."""
            return TableSchema(self._names, self._types)
