"""Internal. In batch mode conditions go below watermarks, down to the tables.

In streaming mode they stay above: the watermark follows all rows of a table, also those that no one wants. Flink does the same: it leaves
watermarks out of batch plans, and has no rule for the others.
"""

from __future__ import annotations

from dataclasses import replace

from wiesel.sql.plan.relations import Filter, Relation, WatermarkAssigner

__all__ = ["filtered_below_watermarks"]


def filtered_below_watermarks(relation: Relation) -> Relation:
    """Return a relation of the same rows whose watermarks follow those rows only that pass the conditions above them."""
    if relation.inputs:
        relation = relation.with_inputs(*map(filtered_below_watermarks, relation.inputs))
    if isinstance(relation, Filter) and isinstance(relation.input, WatermarkAssigner):
        assigner = relation.input
        return replace(assigner, input=filtered_below_watermarks(Filter(assigner.input, relation.condition)))
    return relation
