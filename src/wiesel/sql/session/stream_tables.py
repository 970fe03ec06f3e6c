"""Internal. Streams as tables with a schema: declared types, computed columns, event time of the records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from wiesel.columnar.expressions import InputRef
from wiesel.columnar.functions.registry import call, cast
from wiesel.core.errors import ProgramError
from wiesel.datastream import DataStream
from wiesel.spi.table.schema import ComputedColumn, MetadataColumn, PhysicalColumn, ResolvedSchema, Schema
from wiesel.sql.catalog.relations import bind_text, with_computed
from wiesel.sql.ddl.definitions import checked_schema, is_source_watermark
from wiesel.sql.plan.relations import Field, Project, Relation, StreamScan, WatermarkAssigner
from wiesel.sql.session.stream_rows import row_type
from wiesel.types.logical import DataType, RowType, quoted
from wiesel.types.row import RowKind

__all__ = ["stream_relation", "with_fields"]

_ROWTIME = "rowtime"
"""Metadata of the records of a stream in addition to their fields."""


def with_fields(stream: DataStream, schema: Schema) -> Schema:
    """Return a schema with the fields of a stream as columns in front of its own, if it declares none that is stored."""
    if any(isinstance(column, PhysicalColumn) for column in schema._columns):
        return schema
    key = () if schema._primary_key is None else schema._primary_key.columns
    fields = row_type(stream.get_type())
    stored = [PhysicalColumn(field.name, field.data_type.not_null() if field.name in key else field.data_type) for field in fields]
    return Schema([*stored, *schema._columns], schema._primary_key, schema._watermark)


def stream_relation(
    stream: DataStream, schema: Schema | None, kinds: frozenset[RowKind], rowtime_type: DataType | None = None
) -> tuple[Relation, ResolvedSchema | None]:
    """Return what a stream is read by, and its schema if all fields are columns.

    With a schema, fields get the types that columns of their names are declared with, and only declared columns are there; if no column
    of a field is declared, all fields are columns, in front of those that are. ``rowtime_type`` is the type of the time of the records.

    Raises:
        ProgramError: If a column is no field, or the schema contradicts itself.
    """
    derived = row_type(stream.get_type())
    if schema is None:
        return StreamScan(stream, ResolvedSchema.physical(derived), kinds), None
    completed = with_fields(stream, schema)
    declared = completed.resolve()
    own = [column for column in declared.columns if isinstance(column, PhysicalColumn)]
    types = {column.name: column.data_type for column in own}
    _check_names(list(types), derived)
    others = [column for column in declared.columns if not isinstance(column, PhysicalColumn)]
    hidden = {column.name for column in others}
    every = [PhysicalColumn(field.name, types.get(field.name, field.data_type)) for field in derived if field.name not in hidden]
    _check_metadata(declared.metadata_columns)
    checked = checked_schema([*every, *others], declared.primary_key, declared.watermark, as_written=True)
    scan = StreamScan(stream, ResolvedSchema.physical(derived), kinds, "$rowtime" if declared.metadata_columns else None)
    if rowtime_type is not None:
        scan = replace(scan, rowtime_type=rowtime_type)
    relation = _typed(scan, checked)
    wanted = [_named(checked, column.name) for column in declared.columns]
    if [column.name for column in wanted] != [field.name for field in relation.fields] or checked.has_computed_columns:
        relation = with_computed(relation, wanted)
    return _with_watermark(relation, checked), None if completed is schema else _as_written(checked, completed)


def _as_written(checked: ResolvedSchema, given: Schema) -> ResolvedSchema:
    """Return a schema with the expressions as the program wrote them, which is how Flink shows those of streams."""
    written = {column.name: column.expression for column in given._columns if isinstance(column, ComputedColumn)}
    columns = [
        replace(column, expression=written[column.name]) if isinstance(column, ComputedColumn) else column for column in checked.columns
    ]
    return replace(checked, columns=tuple(columns), watermark=given._watermark)


def _check_names(names: Sequence[str], derived: RowType) -> None:
    unknown = [name for name in names if name not in derived.names]
    if unknown:
        fields = ", ".join(map(quoted, derived.names))
        raise ProgramError(f"column {quoted(unknown[0])} is no field of the stream", hint=f"its fields are: {fields}")


def _check_metadata(columns: Sequence[MetadataColumn]) -> None:
    for column in columns:
        if (column.key or column.name) != _ROWTIME:
            message = f"column {quoted(column.name)}: a stream does not tell {column.key or column.name!r} of its records"
            raise ProgramError(message, hint="only 'rowtime', the time of the records, is known")


def _named(schema: ResolvedSchema, name: str) -> PhysicalColumn | MetadataColumn | ComputedColumn:
    return next(column for column in schema.columns if column.name == name)


def _typed(scan: StreamScan, schema: ResolvedSchema) -> Relation:
    """Return the fields of a stream as columns of their declared types, and the time of records under its names."""
    refs = [InputRef(field.data_type, index, field.name) for index, field in enumerate(scan.fields)]
    stored = [column for column in schema.columns if not isinstance(column, ComputedColumn)]
    fields = {ref.name: ref for ref in refs}
    sources = [fields[column.name] if isinstance(column, PhysicalColumn) else refs[-1] for column in stored]
    expressions = tuple(_cast(ref, _known(column.data_type), column.name) for ref, column in zip(sources, stored, strict=True))
    columns = tuple(Field(column.name, _known(column.data_type)) for column in stored)
    return scan if columns == scan.fields else Project(scan, expressions, columns)


def _known(data_type: DataType | str) -> DataType:
    assert isinstance(data_type, DataType)  # noqa: S101 - strings are read before
    return data_type


def _cast(ref: InputRef, wanted: DataType, name: str) -> InputRef:
    if ref.data_type.nullable() == wanted.nullable():
        return ref
    try:
        call("CAST", [ref], [wanted])
    except ProgramError as error:
        raise ProgramError(f"column {quoted(name)}: {error.message}", hint=error.hint) from error
    return cast(ref, wanted)  # type: ignore[return-value]


def _with_watermark(relation: Relation, schema: ResolvedSchema) -> Relation:
    if schema.watermark is None:
        return relation
    names = [field.name for field in relation.fields]
    if schema.watermark.column not in names:
        raise ProgramError(f"column {quoted(schema.watermark.column)} has the watermark, but is not declared", hint="declare it")
    text = schema.watermark.expression
    watermark = None if is_source_watermark(text) else bind_text(text, relation.fields)
    return WatermarkAssigner(relation, names.index(schema.watermark.column), watermark)
