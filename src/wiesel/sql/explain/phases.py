"""Internal. The operators of an aggregate in phases, for EXPLAIN: from the one with the results down to the one that reads rows."""

from __future__ import annotations

from wiesel.sql.plan.relations import Aggregate, Relation
from wiesel.sql.plan.window_relations import WindowAggregate

__all__ = ["phase_details", "phase_names"]

_INCREMENTAL = "IncrementalGroupAggregate"


def phase_names(relation: Relation) -> list[str]:
    """Return what the operators of an aggregate are called; nothing where there is one, as everywhere else."""
    if not isinstance(relation, Aggregate | WindowAggregate) or not relation.phases.local:
        return []
    kind = "Group" if isinstance(relation, Aggregate) else "Window"
    between = [_INCREMENTAL] if relation.phases.buckets else []
    return [f"Global{kind}Aggregate", *between, f"Local{kind}Aggregate"]


def phase_details(relation: Relation, name: str) -> str:
    """Return what else there is to say of an operator before the last one."""
    buckets = relation.phases.buckets if isinstance(relation, Aggregate) else 0
    if not buckets:
        return ""
    return f", buckets=[{buckets}]" + (", state=[the values of DISTINCT by bucket]" if name == _INCREMENTAL else "")
