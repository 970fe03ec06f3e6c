"""Internal. Event time, tables of windows, and groups by windows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from wiesel.columnar.arrow_types import arrow_type
from wiesel.core.errors import ProgramError
from wiesel.core.options import RUNTIME_MODE
from wiesel.runtime.table.session_table import SessionTableSpec
from wiesel.runtime.table.window_aggregate import WindowSpec
from wiesel.sql.changelog import changes_of
from wiesel.sql.physical.aggregates import bound_call
from wiesel.sql.physical.translator import Translator, single
from wiesel.sql.plan import AggregateCall, Relation, TimeAttribute, WatermarkAssigner

if TYPE_CHECKING:
    from wiesel.columnar.aggregates.calls import BoundCall
    from wiesel.datastream._transformations import Transformation
    from wiesel.sql.window_plan import WindowAggregate, WindowTable

__all__ = ["watermark_assigner", "window_aggregate", "window_table"]


def watermark_assigner(translator: Translator, relation: WatermarkAssigner) -> Transformation:
    """Return the rows with watermarks behind them."""
    if relation.watermark is None:
        return translator.translate(relation.input)
    payload = {"column": relation.column, "name": relation.fields[relation.column].name, "watermark": relation.watermark}
    return translator.operator("WatermarkAssigner", "table_watermark", payload, [translator.translate(relation.input)])


def window_table(translator: Translator, relation: WindowTable) -> Transformation:
    """Return the rows with the borders of their windows.

    Raises:
        ProgramError: If the rows' windows are not known before others have come, or at all.
    """
    if relation.fields[relation.time].time is TimeAttribute.PROCTIME:
        raise ProgramError(
            "windows of processing time without groups by window_start and window_end are not supported in this version",
            hint="group the rows by window_start and window_end",
        )
    if relation.window.kind == "SESSION":
        return _sessions(translator, relation)
    payload = {"time": relation.time, "window": relation.window, "schema": translator.schema(relation)}
    return translator.operator("WindowTable", "table_windows", payload, [translator.translate(relation.input)])


def _sessions(translator: Translator, relation: WindowTable) -> Transformation:
    if translator.environment._config.get(RUNTIME_MODE) == "BATCH":
        raise ProgramError(
            "rows of sessions that are not grouped by them are not supported in BATCH mode, as in Flink",
            hint="set execution.runtime-mode to STREAMING, which reads bounded tables to their end, too",
        )
    keys = relation.partition or ()
    schemas = translator.schema(relation.input), translator.schema(relation)
    spec = SessionTableSpec(keys, relation.time, relation.window.size, *schemas)
    source = translator.by_key(translator.translate(relation.input), keys)
    operator = translator.operator("SessionTable", "table_sessions", spec, [source])
    return operator if keys else single(operator)


def _bound(call: AggregateCall, below: Relation, retracts: bool) -> BoundCall:
    """Return a call; where rows are taken back, MIN and MAX are of the different values, which are counted as those of DISTINCT."""
    if retracts and (call.distinct or call.function in ("MIN", "MAX")):
        return bound_call(replace(call, distinct=True), below, retracts=False)
    return bound_call(call, below, retracts=retracts)


def window_aggregate(translator: Translator, relation: WindowAggregate) -> Transformation:
    """Return the groups of rows by keys and windows."""
    below = relation.input
    retracts = not changes_of(below).append_only
    spec = WindowSpec(
        relation.keys,
        tuple(_bound(call, below, retracts) for call in relation.calls),
        relation.window,
        relation.time,
        relation.end,
        relation.by_clock,
        tuple(arrow_type(field.data_type) for field in below.fields),
        translator.schema(relation),
        relation.start,
        retracts,
    )
    source = translator.by_key(translator.translate(below), relation.keys)
    sessions = relation.window.kind == "SESSION" and relation.end is None
    kind = "table_session_aggregate" if sessions else "table_window_aggregate"
    operator = translator.operator("WindowAggregate", kind, {"spec": spec}, [source])
    return operator if relation.keys else single(operator)
