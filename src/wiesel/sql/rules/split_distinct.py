"""Internal. Split DISTINCT aggregates: buckets of values, so that the values of one key are distributed over several tasks."""

from __future__ import annotations

from dataclasses import replace

from wiesel.core.errors import ConfigurationError
from wiesel.sql.plan.relations import Aggregate, Relation
from wiesel.sql.rules.options import Options, is_on

__all__ = ["BUCKETS", "SPLIT", "with_split_distinct"]

SPLIT = "table.optimizer.distinct-agg.split.enabled"
BUCKETS = "table.optimizer.distinct-agg.split.bucket-num"


def with_split_distinct(relation: Relation, options: Options) -> Relation:
    """Return a relation whose DISTINCT is split where it is in two phases, if the options say so.

    Raises:
        ConfigurationError: If there are to be no buckets.
    """
    if not is_on(options, SPLIT):
        return relation
    buckets = options.get_string(BUCKETS, "1024").strip()
    if not buckets.isdecimal() or int(buckets) < 1:
        raise ConfigurationError(f"option {BUCKETS}: {buckets!r} is not a number above 0", hint="leave it out for 1024", key=BUCKETS)
    return _changed(relation, int(buckets))


def _changed(relation: Relation, buckets: int) -> Relation:
    if relation.inputs:
        relation = relation.with_inputs(*(_changed(below, buckets) for below in relation.inputs))
    if isinstance(relation, Aggregate) and relation.phases.local and any(call.distinct for call in relation.calls):
        return replace(relation, phases=replace(relation.phases, buckets=buckets))
    return relation
