"""Internal. Writes rows to tables."""

from __future__ import annotations

from wiesel.core.config import ConfigOption
from wiesel.core.errors import ProgramError
from wiesel.graph.specs import OperatorSpec
from wiesel.graph.transformations import OperatorTransformation, Transformation
from wiesel.runtime.table.changelog.sink_rows import SinkRowsSpec, has_constraints
from wiesel.runtime.table.changelog.upsert_conflicts import UpsertConflictsSpec
from wiesel.runtime.table.changelog.upsert_materialize import UpsertMaterializeSpec
from wiesel.spi.table.factory import INSERT_ONLY, TableSink
from wiesel.sql.catalog.table_factories import create_table_sink
from wiesel.sql.dml.insert import Insertion
from wiesel.sql.dml.upsert_materialization import CONFLICTS, check_conflict, key_columns, why_materialized
from wiesel.sql.physical.translator import Translator, runs_alone
from wiesel.sql.plan.changelog import changes_of
from wiesel.sql.plan.relations import Relation
from wiesel.sql.plan.upsert_keys import smallest_key
from wiesel.sql.rules.optimizer import Options
from wiesel.sql.session.stream_rows import table_row_info
from wiesel.types.row import RowKind

__all__ = ["add_sink", "sink_of"]

KEYED_SHUFFLE = ConfigOption[str](
    "table.exec.sink.keyed-shuffle",
    "enum",
    "AUTO",
    "Whether inserts are hash-distributed by the primary key of a sink: if its parallelism differs from its input's, always, or never.",
    choices=("AUTO", "FORCE", "NONE"),
)


def sink_of(insertion: Insertion, options: Options, *, in_batch: bool) -> TableSink:
    """Return the sink of an insertion; in batch mode it gets the last rows only, whatever changes lead to them.

    Raises:
        ProgramError: If it cannot take the changes of the rows; tells what to do.
    """
    rows = table_row_info(insertion.relation.row_type)
    sink = create_table_sink(insertion.identifier, insertion.table, rows, overwrite=insertion.overwrite)
    changes = changes_of(insertion.relation)
    if not in_batch:
        check_conflict(insertion, sink, options)
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
    key = key_columns(insertion)
    materialized = why_materialized(insertion, sink, translator.environment._config) is not None
    upserts = RowKind.UPDATE_BEFORE not in sink.kinds and not changes_of(insertion.relation).append_only
    shuffles = bool(key) and (materialized or upserts or _shuffles(translator, sink, source))
    # Before the exchange, so that nothing stands between it and the writers, which may be more or fewer than its receivers else.
    source = _checked(translator, insertion, source, keep_before=materialized or not upserts)
    if materialized and insertion.conflict in CONFLICTS:
        source = translator.operator("WatermarkStamps", "table_watermark_stamps", None, [source])
    if shuffles:
        source = translator.by_key(source, key)
    elif sink.shuffle_by:
        names = insertion.relation.row_type.names
        source = translator.by_key(source, tuple(map(names.index, sink.shuffle_by)))
    if materialized:
        source = _materialized(translator, insertion, key, sink, source)
    writer = _add_writer(translator, insertion.identifier.object_name, sink, source)
    writer.node.uid = translator.uids.unique(f"Sink({insertion.identifier})")
    fields = ", ".join(field.name for field in insertion.relation.fields)
    writer.node.description = f"Sink(table=[{insertion.identifier}], fields=[{fields}])"


def _checked(translator: Translator, insertion: Insertion, source: Transformation, *, keep_before: bool) -> Transformation:
    """Return the rows that fit the columns of the table."""
    types = tuple(field.data_type for field in insertion.relation.row_type)
    if keep_before and not any(map(has_constraints, types)):
        return source
    spec = SinkRowsSpec(insertion.identifier.sql, types, keep_before)
    return translator.operator("SinkRows", "table_sink_rows", spec, [source])


def _materialized(
    translator: Translator, insertion: Insertion, key: tuple[int, ...], sink: TableSink, source: Transformation
) -> Transformation:
    """Return the changes of the rows of each primary key, from as many subtasks as there are writers."""
    relation = insertion.relation
    row_key, schema = smallest_key(relation), translator.schema(relation)
    if insertion.conflict in CONFLICTS:
        conflicts = UpsertConflictsSpec(insertion.identifier.sql, key, row_key, insertion.conflict == "ERROR", schema)
        operator = translator.operator("SinkMaterializer", "table_upsert_conflicts", conflicts, [source])
    else:
        spec = UpsertMaterializeSpec(key, row_key, schema)
        operator = translator.operator("SinkMaterializer", "table_upsert_materialize", spec, [source])
    if sink.parallelism is not None:
        operator.node.parallelism, operator.node.parallelism_set = sink.parallelism, True
    operator.node.uid = translator.uids.unique(f"SinkMaterializer({insertion.identifier})")
    return operator


def _shuffles(translator: Translator, sink: TableSink, source: Transformation) -> bool:
    """Return whether inserts are hash-distributed by key: as in Flink if the parallelism of the sink differs from its input."""
    wanted = KEYED_SHUFFLE.parse(translator.environment._config.get_string(KEYED_SHUFFLE.key, "AUTO"))
    if wanted == "AUTO" and sink.parallelism is not None:
        return sink.parallelism != _parallelism(translator, source)
    return wanted == "FORCE"


def _parallelism(translator: Translator, source: Transformation) -> int:
    known = source.node.parallelism if isinstance(source, OperatorTransformation) else None
    return translator.environment.get_parallelism() if known is None else known


def _add_writer(translator: Translator, name: str, sink: TableSink, source: Transformation) -> OperatorTransformation:
    spec = OperatorSpec("sink", payload={"sink": sink.sink, "input_type": source.output_type})
    operator = translator.environment._add_operator(name, spec, (source,), source.output_type, name_pattern="Sink: {}")
    operator.node.is_sink = True
    if sink.parallelism is not None:
        operator.node.parallelism = sink.parallelism
    elif runs_alone(source):
        # Changes of one subtask must not be dealt out to several writers.
        operator.node.parallelism = 1
    return operator
