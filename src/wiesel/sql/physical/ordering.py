"""Internal. The first rows in an order."""

from __future__ import annotations

from typing import Any

from wiesel.columnar.arrow_types import arrow_type
from wiesel.core.errors import ProgramError
from wiesel.core.options import RUNTIME_MODE
from wiesel.graph.transformations import Transformation
from wiesel.runtime.table.rank.top_n import TopNSpec
from wiesel.sql.physical.final_rows import last_rows
from wiesel.sql.physical.over import over_aggregate
from wiesel.sql.physical.placement import lies_by
from wiesel.sql.physical.translator import Translator, single
from wiesel.sql.plan.changelog import changes_of
from wiesel.sql.plan.over_relations import Frame, OverAggregate
from wiesel.sql.plan.relations import AggregateCall, TimeAttribute, TopN, Values
from wiesel.sql.plan.window_relations import window_bounds_of, window_of_top

__all__ = ["top_n"]


def top_n(translator: Translator, relation: TopN) -> Transformation:
    """Return the rows at the first places of each partition.

    Raises:
        ProgramError: If a job without end would have to number or sort all rows.
    """
    endless = translator.environment._config.get(RUNTIME_MODE) != "BATCH"
    in_time = endless and _in_time(relation)
    if relation.last is None and endless and relation.numbered and relation.first == 1:
        return over_aggregate(translator, _numbers(relation))
    if relation.last is None and endless and not in_time:
        raise ProgramError(
            "in a job without end rows can be sorted or numbered up to a last place only",
            hint="put the event time first in ORDER BY, or add LIMIT, or row_number <= 10 outside; or set execution.runtime-mode to BATCH",
        )
    if relation.last is not None and relation.last < max(relation.first, 1):
        # LIMIT 0, or a condition that no number fulfils: nothing is read for it.
        return translator.translate(Values((), relation.fields))
    below = relation.input
    times = {below.fields[key.index].time for key in relation.keys}
    by_arrival = times == {TimeAttribute.PROCTIME}
    descending = bool(relation.keys) and not relation.keys[0].ascending
    spec = TopNSpec(
        partition=relation.partition,
        keys=() if by_arrival else tuple((key.index, key.ascending, key.nulls_first) for key in relation.keys),
        latest_first=descending and (by_arrival or relation.deduplicates),
        first=relation.first,
        last=relation.last,
        numbered=relation.numbered,
        in_place=relation.deduplicates,
        appends=changes_of(below).append_only,
        schema=translator.schema(below),
        results=translator.schema(relation),
    )
    in_place = endless and lies_by(below, relation.partition)
    source = translator.by_key(last_rows(translator, below), relation.partition, in_place=in_place)
    end, bounds = window_of_top(relation), window_bounds_of(below)
    if end is not None and bounds is not None and translator.environment._config.get(RUNTIME_MODE) != "BATCH":
        payload = {"spec": spec, "end": end, "time": arrow_type(bounds.of.data_type)}
        return translator.operator("WindowTopN", "table_window_top_n", payload, [source])
    name, kind = ("TimeSort", "table_time_sort") if in_time else ("TopN", "table_top_n")
    if endless and spec.appends and relation.waits_for_watermark:
        name, kind = "FirstRow", "table_first_row"
    made: Any = spec
    if endless and relation.row_key is not None:
        kind, made = "table_updated_top_n", {"spec": spec, "row_key": relation.row_key}
    operator = translator.operator(name, kind, made, [source])
    return operator if relation.partition else single(operator)


def _numbers(relation: TopN) -> OverAggregate:
    """Return the rows with their numbers, of which none is left out."""
    call = AggregateCall("ROW_NUMBER", (), relation.number.data_type)
    return OverAggregate(relation.input, relation.partition, relation.keys, Frame(False, None), (call,), relation.fields)


def _in_time(relation: TopN) -> bool:
    """Return whether rows can be sorted as the watermark passes them."""
    first = relation.keys[0] if relation.keys else None
    if first is None or not first.ascending or not relation.sorts_only or not changes_of(relation.input).append_only:
        return False
    return relation.input.fields[first.index].time is TimeAttribute.ROWTIME
