"""Internal. Columns of streams by expressions, and tables as streams with a schema."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from wiesel.columnar.expressions import InputRef
from wiesel.columnar.functions.registry import cast
from wiesel.core.errors import ProgramError
from wiesel.datastream import DataStream
from wiesel.spi.table.schema import PhysicalColumn, Schema
from wiesel.sql.language.built_nodes import WindowProperty
from wiesel.sql.plan import Field, Project, Relation
from wiesel.sql.sink_types import is_writable
from wiesel.sql.stream_rows import row_type
from wiesel.table.expression import Expression
from wiesel.types.logical import DataType, LocalZonedTimestampType, quoted

__all__ = ["field_name", "fitted_to", "schema_of_fields"]


def field_name(given: Any) -> str:
    """Return the name of the column that an expression describes."""
    node = given._node if isinstance(given, Expression) else None
    if isinstance(node, exp.Alias):
        return node.alias
    inner = node.this if isinstance(node, WindowProperty) else node
    if not isinstance(inner, exp.Column):
        raise ProgramError(f"{given} is no column of a stream", hint="give col('a'), col('a').alias('b'), or col('ts').rowtime")
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
                builder.column_by_metadata(name, LocalZonedTimestampType(3), "rowtime", True)
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


def fitted_to(plan: Relation, schema: Schema) -> Relation:
    """Return a relation with the names and types of the columns of a schema, by their order.

    Raises:
        ProgramError: If their number or types do not fit.
    """
    columns = [column for column in schema.resolve().columns if isinstance(column, PhysicalColumn)]
    if len(columns) != len(plan.fields):
        raise ProgramError(f"the schema has {len(columns)} columns, the table {len(plan.fields)}", hint="declare each column of the table")
    expressions, fields = [], []
    for index, (field, column) in enumerate(zip(plan.fields, columns, strict=True)):
        wanted = column.data_type
        assert isinstance(wanted, DataType)  # noqa: S101 - texts are read by resolve()
        if not is_writable(field.data_type, wanted):
            kinds = f"{field.data_type.as_summary_string()} is no {wanted.as_summary_string()}"
            raise ProgramError(f"column {quoted(column.name)}: {kinds}", hint="cast it with select() before")
        bound = cast(InputRef(field.data_type, index, field.name), wanted)
        expressions.append(bound)
        fields.append(Field(column.name, bound.data_type, field.time if isinstance(bound, InputRef) else None))
    return Project(plan, tuple(expressions), tuple(fields))
