"""Internal. Writes rows to tables."""

from __future__ import annotations

from wiesel.core.errors import ProgramError
from wiesel.datastream._transformations import OperatorTransformation, Transformation
from wiesel.graph.specs import OperatorSpec
from wiesel.spi.table.factory import INSERT_ONLY, TableSink
from wiesel.sql.changelog import changes_of
from wiesel.sql.inserting import Insertion
from wiesel.sql.physical.translator import Translator
from wiesel.sql.plan import Relation
from wiesel.sql.stream_rows import table_row_info
from wiesel.sql.table_factories import create_table_sink
from wiesel.types.row import RowKind

__all__ = ["add_sink", "sink_of"]


def sink_of(insertion: Insertion, *, in_batch: bool) -> TableSink:
    """Return the sink of an insertion; in batch mode it gets the last rows only, whatever changes lead to them.

    Raises:
        ProgramError: If it cannot take the changes of the rows; tells what to do.
    """
    rows = table_row_info(insertion.relation.row_type)
    sink = create_table_sink(insertion.identifier, insertion.table, rows, overwrite=insertion.overwrite)
    changes = changes_of(insertion.relation)
    if changes.append_only or in_batch or sink.kinds == frozenset(RowKind):
        return sink
    shown = f"table {insertion.identifier.sql}"
    if sink.kinds == INSERT_ONLY or (changes.deletes and RowKind.DELETE not in sink.kinds):
        what = "updates" if changes.updates else "deletes"
        raise ProgramError(
            f"{shown} takes new rows only, but the query {what} rows that it has returned before (by {_changing(insertion.relation)})",
            hint="write to a connector that takes changes, or use a query that only adds rows, such as an aggregation by windows",
        )
    if RowKind.UPDATE_BEFORE not in sink.kinds and insertion.table.schema.primary_key is None:
        raise ProgramError(f"{shown} is written by key, but it has no primary key", hint="declare one: PRIMARY KEY (...) NOT ENFORCED")
    return sink


def _changing(relation: Relation) -> str:
    """Return the name of the relation from which changes come."""
    below = next((each for each in relation.inputs if not changes_of(each).append_only), None)
    return relation.name if below is None else _changing(below)


def add_sink(translator: Translator, insertion: Insertion, sink: TableSink, source: Transformation) -> None:
    """Add the operators that write rows."""
    schema = insertion.relation.row_type
    by_key = RowKind.UPDATE_BEFORE not in sink.kinds and not changes_of(insertion.relation).append_only
    key = insertion.table.schema.primary_key
    if by_key and key is not None:
        source = translator.by_key(source, [schema.names.index(name) for name in key.columns])
    not_null = [index for index, field in enumerate(schema) if not field.data_type.is_nullable]
    if not_null or by_key:
        payload = {"table": insertion.identifier.sql, "not_null": not_null, "keep_before": not by_key}
        source = translator.operator("SinkRows", "table_sink_rows", payload, [source])
    writer = _add_writer(translator, insertion.identifier.object_name, sink, source)
    writer.node.uid = translator.uids.unique(f"Sink({insertion.identifier})")


def _add_writer(translator: Translator, name: str, sink: TableSink, source: Transformation) -> OperatorTransformation:
    spec = OperatorSpec("sink", payload={"sink": sink.sink, "input_type": source.output_type})
    operator = translator.environment._add_operator(name, spec, (source,), source.output_type, name_pattern="Sink: {}")
    operator.node.is_sink = True
    if sink.parallelism is not None:
        operator.node.parallelism = sink.parallelism
    return operator
