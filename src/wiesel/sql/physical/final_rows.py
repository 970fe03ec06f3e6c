"""Internal. In batch mode: the rows that are left when all changes are known."""

from __future__ import annotations

from wiesel.columnar.type_rules import NESTED
from wiesel.core.options import RUNTIME_MODE
from wiesel.graph.transformations import Transformation
from wiesel.sql.physical.translator import Translator
from wiesel.sql.plan.changelog import changes_of
from wiesel.sql.plan.over_relations import OverAggregate
from wiesel.sql.plan.relations import Aggregate, Filter, Project, Relation, TopN, WatermarkAssigner

__all__ = ["final_rows", "last_rows"]


def last_rows(translator: Translator, relation: Relation) -> Transformation:
    """Return the rows of a relation; in batch mode only those that are left at the end, none of which goes again."""
    rows = translator.translate(relation)
    in_batch = str(translator.environment._config.get(RUNTIME_MODE)) == "BATCH"
    return final_rows(translator, relation, rows) if in_batch and not _waits(relation) else rows


def _waits(relation: Relation) -> bool:
    """Return whether a relation emits no row in batch mode that goes again: those of groups and of orders wait for the end of the input."""
    if isinstance(relation, Project | Filter | WatermarkAssigner):
        return _waits(relation.input)
    return isinstance(relation, Aggregate | OverAggregate | TopN) or changes_of(relation).append_only


def final_rows(translator: Translator, plan: Relation, rows: Transformation) -> Transformation:
    """Return the rows that changes come to. All rows of an ordered result stay at one subtask, in their order."""
    flat = [index for index, field in enumerate(plan.fields) if not isinstance(field.data_type, NESTED)]
    shared = translator.by_key(rows, () if _is_ordered(plan) else flat)
    return translator.operator("FinalRows", "table_final_rows", {}, [shared])


def _is_ordered(plan: Relation) -> bool:
    while isinstance(plan, Project):
        plan = plan.input
    return isinstance(plan, TopN) and not plan.partition
