"""Internal. From CREATE TABLE and CREATE VIEW to what catalogs keep: types of computed columns are worked out, all is checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from wiesel.core.errors import ProgramError
from wiesel.spi.table.catalog import CatalogTable
from wiesel.spi.table.schema import (
    Column,
    ComputedColumn,
    MetadataColumn,
    PhysicalColumn,
    PrimaryKey,
    ResolvedSchema,
    WatermarkSpec,
)
from wiesel.sql.binding.expressions import ExpressionBinder
from wiesel.sql.binding.scope import Scope, Source
from wiesel.sql.ddl.canonical_expressions import canonical_expression
from wiesel.sql.language import statements as s
from wiesel.sql.language.cursor import Cursor
from wiesel.sql.plan.relations import Field
from wiesel.types.logical import DataType, LocalZonedTimestampType, TimestampType, quoted

__all__ = ["checked_schema", "columns_of", "is_source_watermark", "primary_key_of", "table_of", "watermark_of"]

_TIME_PRECISION = 3
_SOURCE_WATERMARK = "`SOURCE_WATERMARK`()"
"""The watermarks of the source, as Flink shows those of a table."""


def columns_of(elements: s.TableElements) -> list[Column]:
    """Return the columns of a definition; the types of computed ones are not known yet."""
    return [_column(column) for column in elements.columns]


def _column(column: s.ColumnDefinition) -> Column:
    if isinstance(column, s.ComputedColumn):
        return ComputedColumn(column.name, None, column.text, column.comment)
    if isinstance(column, s.MetadataColumnDefinition):
        return MetadataColumn(column.name, column.data_type, column.key, column.is_virtual, column.comment)
    return PhysicalColumn(column.name, column.data_type, column.comment)


def primary_key_of(elements: s.TableElements) -> PrimaryKey | None:
    """Return the primary key of a definition."""
    key = elements.primary_key
    return None if key is None else PrimaryKey(key.name or f"PK_{'_'.join(key.columns)}", key.columns)


def watermark_of(elements: s.TableElements) -> WatermarkSpec | None:
    """Return the watermark of a definition.

    Raises:
        ProgramError: If it is one for a field of a column.
    """
    watermark = elements.watermark
    if watermark is None:
        return None
    if len(watermark.column) > 1:
        raise ProgramError(
            f"the watermark is for {'.'.join(map(quoted, watermark.column))}: fields of columns cannot have event time in this version",
            hint="add a computed column of the field, and give that the watermark",
        )
    return WatermarkSpec(watermark.column[0], _SOURCE_WATERMARK if is_source_watermark(watermark.text) else watermark.text)


def table_of(statement: s.CreateTable, *, made_at: str) -> CatalogTable:
    """Return the table of a statement without LIKE and query.

    Raises:
        ProgramError: If the definition contradicts itself; tells how.
    """
    if statement.distribution is not None:
        raise ProgramError("DISTRIBUTED is not supported in this version", hint="leave it out")
    elements = statement.elements
    schema = checked_schema(columns_of(elements), primary_key_of(elements), watermark_of(elements))
    table = CatalogTable(schema, statement.options, statement.partition_keys, statement.comment, made_at)
    check_partition_keys(table)
    return table


def check_partition_keys(table: CatalogTable) -> None:
    """Refuse keys of partitions that are not stored columns.

    Raises:
        ProgramError: If there are any.
    """
    stored = [column.name for column in table.schema.columns if isinstance(column, PhysicalColumn)]
    for key in table.partition_keys:
        if key not in stored:
            raise ProgramError(f"partition column {quoted(key)} is not a stored column", hint=f"they are: {', '.join(map(quoted, stored))}")


def checked_schema(
    columns: Sequence[Column], key: PrimaryKey | None, watermark: WatermarkSpec | None, *, as_written: bool = False
) -> ResolvedSchema:
    """Return the schema with all types known.

    Args:
        columns: The columns.
        key: The primary key.
        watermark: The watermark.
        as_written: Whether expressions stay as they are written, as those of programs do; those of DDL get one way of writing.

    Raises:
        ProgramError: If columns have one name, expressions are wrong, or key and watermark name what they must not.
    """
    counts = Counter(column.name for column in columns)
    twice = [name for name, count in counts.items() if count > 1]
    if twice:
        raise ProgramError(f"column {quoted(twice[0])} is defined more than once", hint="rename one of them")
    if key is not None:
        columns = _with_key(columns, key)
    stored = tuple(Field(column.name, _data_type(column)) for column in columns if not isinstance(column, ComputedColumn))
    columns = [_typed(column, stored, as_written=as_written) for column in columns]
    if watermark is not None:
        _check_watermark(watermark, columns)
        if not as_written and watermark.expression != _SOURCE_WATERMARK:
            watermark = replace(watermark, expression=canonical_expression(watermark.expression, counts))
    return ResolvedSchema(tuple(columns), key, watermark)


def is_source_watermark(expression: str) -> bool:
    """Return whether the text of a watermark asks for those of the source."""
    return "".join(expression.split()).upper().replace("`", "") == "SOURCE_WATERMARK()"


def _data_type(column: Column) -> DataType:
    assert isinstance(column.data_type, DataType)  # noqa: S101 - strings are read before
    return column.data_type


def _with_key(columns: Sequence[Column], key: PrimaryKey) -> list[Column]:
    """Return the columns, those of the key NOT NULL."""
    by_name = {column.name: column for column in columns}
    if len(set(key.columns)) < len(key.columns):
        raise ProgramError(f"primary key {quoted(key.name)} names a column twice", hint="name each column once")
    for name in key.columns:
        if not isinstance(by_name.get(name), PhysicalColumn):
            known = "is not a stored column" if name in by_name else "was not found"
            raise ProgramError(f"primary key {quoted(key.name)}: column {quoted(name)} {known}", hint="name stored columns of the table")
    return [replace(column, data_type=_data_type(column).not_null()) if column.name in key.columns else column for column in columns]


def _typed(column: Column, stored: tuple[Field, ...], *, as_written: bool) -> Column:
    if not isinstance(column, ComputedColumn):
        return column
    bound = _bound(f"computed column {quoted(column.name)}", column.expression, stored)
    text = column.expression if as_written else canonical_expression(column.expression, {field.name for field in stored})
    return replace(column, data_type=bound.data_type, expression=text)


def _bound(what: str, text: str, fields: tuple[Field, ...]) -> Any:
    try:
        return ExpressionBinder(text, Scope([Source(None, fields, 0)])).bind(Cursor(text).expression())
    except ProgramError as error:
        raise ProgramError(f"{what}: {error.message}", hint=error.hint) from error


def _check_watermark(watermark: WatermarkSpec, columns: Sequence[Column]) -> None:
    fields = tuple(Field(column.name, _data_type(column)) for column in columns)
    what = f"watermark for {quoted(watermark.column)}"
    marked = next((field for field in fields if field.name == watermark.column), None)
    if marked is None:
        raise ProgramError(f"{what}: there is no such column", hint=f"the columns are: {', '.join(quoted(field.name) for field in fields)}")
    kinds = [(marked.data_type, "the column")]
    if not is_source_watermark(watermark.expression):
        kinds.append((_bound(what, watermark.expression, fields).data_type, "the expression"))
    for kind, where in kinds:
        if not isinstance(kind, TimestampType | LocalZonedTimestampType) or kind.precision > _TIME_PRECISION:
            raise ProgramError(
                f"{what}: {where} must be TIMESTAMP(p) or TIMESTAMP_LTZ(p) with p of 0 to 3, but is {kind.as_summary_string()}",
                hint="cast it: a computed column such as `ts3 AS CAST(ts AS TIMESTAMP(3))` may have the watermark",
            )
