"""Internal. The first rows in an order."""

from __future__ import annotations

from wiesel.columnar.arrow_types import arrow_type
from wiesel.core.errors import ProgramError
from wiesel.core.options import RUNTIME_MODE
from wiesel.datastream._transformations import Transformation
from wiesel.runtime.table.top_n import TopNSpec
from wiesel.sql.changelog import changes_of
from wiesel.sql.physical.translator import Translator, single
from wiesel.sql.plan import TimeAttribute, TopN, Values
from wiesel.sql.window_plan import borders_of, window_of_top

__all__ = ["top_n"]


def top_n(translator: Translator, relation: TopN) -> Transformation:
    """Return the rows at the first places of each partition.

    Raises:
        ProgramError: If a job without end would have to number or sort all rows.
    """
    if relation.last is None and translator.environment._config.get(RUNTIME_MODE) != "BATCH":
        raise ProgramError(
            "in a job without end rows can be sorted or numbered up to a last place only",
            hint="add LIMIT, or a condition such as row_number <= 10 outside; or set execution.runtime-mode to BATCH",
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
    source = translator.by_key(translator.translate(below), relation.partition)
    end, borders = window_of_top(relation), borders_of(below)
    if end is not None and borders is not None and translator.environment._config.get(RUNTIME_MODE) != "BATCH":
        payload = {"spec": spec, "end": end, "time": arrow_type(borders.of.data_type)}
        return translator.operator("WindowTopN", "table_window_top_n", payload, [source])
    operator = translator.operator("TopN", "table_top_n", spec, [source])
    return operator if relation.partition else single(operator)
