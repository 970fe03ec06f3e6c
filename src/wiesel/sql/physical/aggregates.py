"""Internal. GROUP BY and DISTINCT."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from wiesel.columnar.arrow_types import arrow_type
from wiesel.runtime.table.aggregate.incremental_aggregate import without_distinct
from wiesel.runtime.table.aggregate.partials import Partials
from wiesel.sql.physical.translator import Translator, single
from wiesel.sql.plan.bound_calls import calls_of_groups

if TYPE_CHECKING:
    from wiesel.columnar.aggregates.calls import BoundCall
    from wiesel.graph.transformations import Transformation
    from wiesel.sql.plan.relations import Aggregate

__all__ = ["aggregate"]


def aggregate(translator: Translator, relation: Aggregate) -> Transformation:
    """Return the groups of rows."""
    calls, phases = calls_of_groups(relation), relation.phases
    payload = {
        "keys": relation.keys,
        "calls": calls,
        "schema": translator.schema(relation),
        "ttl_ms": relation.ttl,
        "sends_before": translator.changes.sends_before(relation),
        "merges": phases.local,
        "mini_batch": phases.mini_batch,
    }
    source, name = translator.translate(relation.input), "GroupAggregate"
    if phases.local:
        source, name = _local(translator, relation, calls, source), "GlobalGroupAggregate"
        payload["keys"] = tuple(range(len(relation.keys)))
        if phases.buckets:
            payload["calls"] = without_distinct(calls)
    source = translator.by_key(source, payload["keys"])
    operator = translator.operator(name, "table_group_aggregate", payload, [source])
    return operator if relation.keys else single(operator)


def _local(translator: Translator, relation: Aggregate, calls: tuple[BoundCall, ...], source: Transformation) -> Transformation:
    """Return the partials of rows; those of the first phase, or behind it of what looks for new values of DISTINCT by bucket."""
    phases, types = relation.phases, [arrow_type(field.data_type) for field in relation.input.fields]
    keys = [pa.field(f"key${place}", types[index]) for place, index in enumerate(relation.keys)]
    bucket = [pa.field("bucket", pa.int64())] if phases.buckets else []
    schema = pa.schema([*keys, *bucket, *Partials(calls).fields(types)])
    payload: dict[str, Any] = {"keys": relation.keys, "calls": calls, "schema": schema, "mini_batch": phases.mini_batch}
    payload |= {"buckets": phases.buckets, "sampling": phases.sampling}
    partials = translator.operator("LocalGroupAggregate", "table_local_group_aggregate", payload, [source])
    partials.node.description = translator.plan.part(relation, "Local")
    if not phases.buckets:
        return partials
    payload = {"keys": len(keys), "calls": calls, "ttl_ms": relation.ttl, "mini_batch": phases.mini_batch}
    payload["schema"] = pa.schema([*keys, *Partials(without_distinct(calls)).fields(types)])
    source = translator.by_key(partials, range(len(keys) + 1))
    operator = translator.operator("IncrementalGroupAggregate", "table_incremental_group_aggregate", payload, [source])
    operator.node.uid = translator.uids.beside(relation, "IncrementalGroupAggregate")
    operator.node.description = translator.plan.part(relation, "Incremental")
    return operator
