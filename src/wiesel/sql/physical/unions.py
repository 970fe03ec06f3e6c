"""Internal. UNION ALL."""

from __future__ import annotations

from wiesel.graph.transformations import Transformation, UnionTransformation
from wiesel.sql.physical.translator import Translator, runs_alone
from wiesel.sql.plan.changelog import changes_of
from wiesel.sql.plan.relations import Union

__all__ = ["union"]


def union(translator: Translator, relation: Union) -> Transformation:
    """Return the rows of all inputs."""
    inputs = [translator.translate(each) for each in relation.relations]
    if not all(map(runs_alone, inputs)):
        # What reads the union runs in several subtasks. Changes of one subtask must not be dealt out to them in turn: a row could be
        # retracted before it is inserted.
        inputs = [
            translator.in_order(below, rows) if runs_alone(rows) and not changes_of(below).append_only else rows
            for below, rows in zip(relation.relations, inputs, strict=True)
        ]
    return UnionTransformation(inputs[0].output_type, inputs[0].location, tuple(inputs))
