"""Internal. Columns of streams by expressions, and tables as streams with a schema."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from wiesel.columnar.expressions import InputRef
from wiesel.columnar.functions.registry import cast
from wiesel.core.errors import ArgumentValueError, ProgramError, TypeMismatchError
from wiesel.datastream import DataStream
from wiesel.spi.table.schema import MetadataColumn, PhysicalColumn, Schema
from wiesel.sql.binding.queries import QueryBinder
from wiesel.sql.catalog.relations import CatalogTables
from wiesel.sql.dml.sink_types import is_writable
from wiesel.sql.language.built_nodes import BuiltIn, WindowProperty
from wiesel.sql.plan.relations import Field, Project, Relation
from wiesel.sql.session.stream_rows import row_type
from wiesel.table.expression import Expression
from wiesel.types.logical import DataType, RowField, RowType, TimestampType, quoted

__all__ = ["ROWTIME_OF_FIELDS", "expressions_of_rows", "field_name", "fitted_to", "schema_of_fields"]


ROWTIME_OF_FIELDS = TimestampType(3)
"""The type of ``col("ts").rowtime``: as in Flink, the wall clock of UTC whatever the session's time zone is."""


def field_name(given: Any) -> str:
    """Return the name of the column that an expression describes."""
    node = given._node if isinstance(given, Expression) else None
    if isinstance(node, exp.Alias):
        return node.alias
    inner = node.this if isinstance(node, WindowProperty) else node
    if not isinstance(inner, exp.Column):
        raise TypeMismatchError(f"{given} is no column of a stream", hint="give col('a'), col('a').alias('b'), or col('ts').rowtime")
    return inner.name


def schema_of_fields(stream: DataStream, given: Sequence[Any]) -> Schema:
    """Return the schema of the columns that expressions describe: by the names of fields, or by their order if no name is one.

    Raises:
        ProgramError: If there are more columns than fields, or two with event time.
    """
    names = row_type(stream.get_type()).names
    nodes = [each._node if isinstance(each, Expression) else None for each in given]
    by_name = all(_source(node) in names for node in nodes if not isinstance(node, WindowProperty))
    types = dict(zip(names, (field.data_type for field in row_type(stream.get_type())), strict=True))
    builder, place = Schema.new_builder(), 0
    for each, node in zip(given, nodes, strict=True):
        name = field_name(each)
        if isinstance(node, WindowProperty):
            if node.args["kind"] == "PROCTIME":
                builder.column_by_expression(name, "PROCTIME()")
            else:
                builder.column_by_metadata(name, ROWTIME_OF_FIELDS, "rowtime", True)
                builder.watermark(name, "SOURCE_WATERMARK()")
            place += name in names or not by_name
            continue
        if not by_name and place >= len(names):
            raise ProgramError(f"the stream has {len(names)} fields, but there are more columns", hint="leave some out")
        source = _source(node) if by_name else names[place]
        place += 1
        builder.column(str(source), types[str(source)])
    return builder.build()


def _source(node: Any) -> str | None:
    inner = node.this if isinstance(node, exp.Alias) else node
    return inner.name if isinstance(inner, exp.Column) else None


def expressions_of_rows(tables: CatalogTables, elements: Sequence[Any], schema: DataType | Sequence[str] | None) -> Relation:
    """Return the rows that expressions describe: ``row(...)``, or a value for a row of one column.

    Raises:
        ProgramError: If only some elements are expressions, or their number or types do not fit the schema.
    """
    nodes = [element._node for element in elements if isinstance(element, Expression)]
    if len(nodes) < len(elements):
        raise TypeMismatchError("only some of the elements are expressions", hint="write all rows with row(...), or none")
    rows = [node.expressions if isinstance(node, BuiltIn) and node.name == "ROW" else [node] for node in nodes]
    plan = QueryBinder("", tables).bind(exp.Values(expressions=[exp.Tuple(expressions=list(row)) for row in rows]))
    if isinstance(schema, DataType):
        fields = schema.fields if isinstance(schema, RowType) else [RowField("f0", schema)]
    else:
        names = [f"f{place}" for place in range(len(plan.fields))] if schema is None else list(schema)
        fields = [RowField(name, field.data_type) for name, field in zip(names, plan.fields, strict=False)]
    if len(fields) != len(plan.fields):
        message = f"the rows have {len(plan.fields)} values, but there are {len(fields)} columns"
        raise ArgumentValueError(message, hint="give one column for each value")
    refs = (InputRef(field.data_type, index, field.name) for index, field in enumerate(plan.fields))
    casts = tuple(cast(ref, field.data_type) for ref, field in zip(refs, fields, strict=True))
    return Project(plan, casts, tuple(Field(field.name, field.data_type) for field in fields))


def fitted_to(plan: Relation, schema: Schema) -> tuple[Relation, int | None]:
    """Return a relation with the names and types of the columns of a schema, by their order, and which one is the metadata ``rowtime``.

    Raises:
        ProgramError: If their number or types do not fit, or there is other metadata.
    """
    columns = [column for column in schema.resolve().columns if _is_written(column)]
    if len(columns) != len(plan.fields):
        raise ProgramError(f"the schema has {len(columns)} columns, the table {len(plan.fields)}", hint="declare each column of the table")
    expressions, fields = [], []
    for index, (field, column) in enumerate(zip(plan.fields, columns, strict=True)):
        wanted = column.data_type
        assert isinstance(wanted, DataType)  # noqa: S101 - strings are read by resolve()
        if isinstance(column, MetadataColumn) and (column.key or column.name) != "rowtime":
            message = f"column {quoted(column.name)}: a stream has no metadata {column.key or column.name!r}"
            raise ProgramError(message, hint="'rowtime' is the time of its records")
        if not is_writable(field.data_type, wanted):
            kinds = f"{field.data_type.as_summary_string()} is no {wanted.as_summary_string()}"
            raise ProgramError(f"column {quoted(column.name)}: {kinds}", hint="cast it with select() before")
        bound = cast(InputRef(field.data_type, index, field.name), wanted)
        expressions.append(bound)
        fields.append(Field(column.name, bound.data_type, field.time if isinstance(bound, InputRef) else None))
    times = [index for index, column in enumerate(columns) if isinstance(column, MetadataColumn)]
    if len(times) > 1:
        raise ProgramError("two columns are the metadata 'rowtime'", hint="declare one of them")
    return Project(plan, tuple(expressions), tuple(fields)), times[0] if times else None


def _is_written(column: Any) -> bool:
    return isinstance(column, PhysicalColumn) or (isinstance(column, MetadataColumn) and not column.is_virtual)
