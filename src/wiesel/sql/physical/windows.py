"""Internal. Event time, tables of windows, and groups by windows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.evaluation import Session
from wiesel.columnar.expressions import Expression
from wiesel.core.durations import to_millis
from wiesel.core.errors import ProgramError
from wiesel.core.options import RUNTIME_MODE
from wiesel.runtime.table.source_watermarks import RowWatermarks
from wiesel.runtime.table.watermark import IDLE_TIMEOUT, WatermarkEmission
from wiesel.runtime.table.window.session_table import SessionTableSpec
from wiesel.runtime.table.window.spec import WindowSpec
from wiesel.spi.watermark import WatermarkAlignment, WatermarkStrategy
from wiesel.sql.physical.translator import Translator, single
from wiesel.sql.plan.bound_calls import calls_of_windows
from wiesel.sql.plan.changelog import changes_of
from wiesel.sql.plan.relations import Filter, Project, TableScan, TimeAttribute, WatermarkAssigner
from wiesel.sql.rules.optimizer import is_batch
from wiesel.sql.rules.project import read_through

if TYPE_CHECKING:
    from wiesel.graph.transformations import Transformation
    from wiesel.sql.plan.window_relations import WindowAggregate, WindowTable

__all__ = ["watermark_assigner", "window_aggregate", "window_table"]


def watermark_assigner(translator: Translator, relation: WatermarkAssigner) -> Transformation:
    """Return the rows with watermarks behind them."""
    if relation.watermark is None:
        return translator.translate(relation.input)
    name, emission = relation.fields[relation.column].name, relation.emission
    if emission.alignment is not None and not is_batch(translator.environment._config):
        emission = _aligned(translator, relation, relation.watermark, emission.alignment)
    payload = {"column": relation.column, "name": name, "watermark": relation.watermark, "emission": emission}
    return translator.operator("WatermarkAssigner", "table_watermark", payload, [translator.translate(relation.input)])


def _aligned(
    translator: Translator, relation: WatermarkAssigner, watermark: Expression, alignment: WatermarkAlignment
) -> WatermarkEmission:
    """Let the readers of a table wait for those of others; return how watermarks are emitted then.

    Who waits is not idle, which only the reader knows: so it looks at that, too.
    """
    below = relation.input
    while not isinstance(below, TableScan):
        assert isinstance(below, Project | Filter)  # noqa: S101 - a table's own columns are all that is there
        if isinstance(below, Project):
            watermark = read_through(below, watermark)
        below = below.input
    config = translator.environment._config
    idle = relation.emission.idle_ms
    if idle is None:
        idle = to_millis(config.get_string(IDLE_TIMEOUT, "0 ms"))
    zone = config.get_string("table.local-time-zone", "default")
    session = Session(time_zone="UTC" if zone == "default" else zone)
    strategy = WatermarkStrategy.for_generator(partial(RowWatermarks, watermark, translator.schema(below), session))
    strategy = strategy.with_watermark_alignment(alignment.group, alignment.max_drift_ms, alignment.update_interval_ms)
    translator.strategies[id(below)] = strategy.with_idleness(idle) if idle else strategy
    return replace(relation.emission, idle_ms=0)


def window_table(translator: Translator, relation: WindowTable) -> Transformation:
    """Return the rows with the bounds of their windows.

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


def window_aggregate(translator: Translator, relation: WindowAggregate) -> Transformation:
    """Return the groups of rows by keys and windows."""
    below = relation.input
    spec = WindowSpec(
        relation.keys,
        calls_of_windows(relation),
        relation.window,
        relation.time,
        relation.end,
        relation.by_clock,
        tuple(arrow_type(field.data_type) for field in below.fields),
        translator.schema(relation),
        relation.start,
        not changes_of(below).append_only,
    )
    sessions = relation.window.kind == "SESSION" and relation.end is None
    kind = "session" if sessions else "window"
    source, keys, name = translator.translate(below), relation.keys, "WindowAggregate"
    if relation.phases.local:
        payload = {"spec": spec, "sampling": relation.phases.sampling}
        source = translator.operator("LocalWindowAggregate", f"table_local_{kind}_aggregate", payload, [source])
        source.node.description = translator.plan.part(relation, "Local")
        spec, keys, name = replace(spec, merges=True), tuple(range(len(keys))), "GlobalWindowAggregate"
    operator = translator.operator(name, f"table_{kind}_aggregate", {"spec": spec}, [translator.by_key(source, keys)])
    return operator if keys else single(operator)
