"""Internal. Aggregates of the rows around each row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wiesel.runtime.table.over_aggregate import OverSpec
from wiesel.sql.physical.aggregates import bound_call
from wiesel.sql.physical.translator import Translator, single

if TYPE_CHECKING:
    from wiesel.datastream._transformations import Transformation
    from wiesel.sql.over_plan import OverAggregate

__all__ = ["over_aggregate"]


def over_aggregate(translator: Translator, relation: OverAggregate) -> Transformation:
    """Return the rows with the results of the calls."""
    below, frame = relation.input, relation.frame
    calls = tuple(bound_call(call, below, retracts=False) for call in relation.calls)
    schema = translator.schema(relation)
    spec = OverSpec(relation.partition, relation.time, relation.by_clock, frame.by_rows, frame.preceding, calls, schema)
    source = translator.by_key(translator.translate(below), relation.partition)
    operator = translator.operator("OverAggregate", "table_over", {"spec": spec}, [source])
    return operator if relation.partition else single(operator)
