"""Internal. Filters and projections; a projection takes the filter below it along."""

from __future__ import annotations

from wiesel.graph.transformations import Transformation
from wiesel.sql.physical.translator import Translator
from wiesel.sql.plan.relations import Filter, Project
from wiesel.sql.plan.window_relations import Expand

__all__ = ["expand", "filter", "project"]


def project(translator: Translator, relation: Project) -> Transformation:
    """Return the projected rows."""
    below = relation.input
    condition = below.condition if isinstance(below, Filter) else None
    source = translator.translate(below.input if isinstance(below, Filter) else below)
    payload = {"condition": condition, "expressions": relation.expressions, "schema": translator.schema(relation)}
    return translator.operator("Calc", "table_calc", payload, [source])


def expand(translator: Translator, relation: Expand) -> Transformation:
    """Return the rows of all projections."""
    payload = {"projections": relation.projections, "schema": translator.schema(relation)}
    return translator.operator("Expand", "table_expand", payload, [translator.translate(relation.input)])


def filter(translator: Translator, relation: Filter) -> Transformation:
    """Return the rows that pass."""
    payload = {"condition": relation.condition, "expressions": None, "schema": None}
    return translator.operator("Calc", "table_calc", payload, [translator.translate(relation.input)])
