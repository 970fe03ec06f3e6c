"""Internal. Event time, tables of windows, and groups by windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wiesel.columnar.arrow_types import arrow_type
from wiesel.core.errors import ProgramError
from wiesel.runtime.table.window_aggregate import WindowSpec
from wiesel.sql.physical.aggregates import bound_call
from wiesel.sql.physical.translator import Translator, single
from wiesel.sql.plan import TimeAttribute, WatermarkAssigner

if TYPE_CHECKING:
    from wiesel.datastream._transformations import Transformation
    from wiesel.sql.window_plan import WindowAggregate, WindowTable

__all__ = ["watermark_assigner", "window_aggregate", "window_table"]


def watermark_assigner(translator: Translator, relation: WatermarkAssigner) -> Transformation:
    """Return the rows with watermarks behind them."""
    payload = {"column": relation.column, "name": relation.fields[relation.column].name, "watermark": relation.watermark}
    return translator.operator("WatermarkAssigner", "table_watermark", payload, [translator.translate(relation.input)])


def window_table(translator: Translator, relation: WindowTable) -> Transformation:
    """Return the rows with the borders of their windows.

    Raises:
        ProgramError: If the rows' windows are not known before others have come, or at all.
    """
    if relation.window.kind == "SESSION" or relation.fields[relation.time].time is TimeAttribute.PROCTIME:
        raise ProgramError(
            "windows of sessions or of processing time without groups by window_start and window_end are not supported in this version",
            hint="group the rows by window_start and window_end",
        )
    payload = {"time": relation.time, "window": relation.window, "schema": translator.schema(relation)}
    return translator.operator("WindowTable", "table_windows", payload, [translator.translate(relation.input)])


def window_aggregate(translator: Translator, relation: WindowAggregate) -> Transformation:
    """Return the groups of rows by keys and windows."""
    below = relation.input
    spec = WindowSpec(
        relation.keys,
        tuple(bound_call(call, below, retracts=False) for call in relation.calls),
        relation.window,
        relation.time,
        relation.end,
        relation.by_clock,
        tuple(arrow_type(field.data_type) for field in below.fields),
        translator.schema(relation),
    )
    source = translator.by_key(translator.translate(below), relation.keys)
    kind = "table_session_aggregate" if relation.window.kind == "SESSION" else "table_window_aggregate"
    operator = translator.operator("WindowAggregate", kind, {"spec": spec}, [source])
    return operator if relation.keys else single(operator)
