"""Internal. Lateral joins: rows joined with their elements or results of table functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wiesel.runtime.table.unnest import UnnestSpec
from wiesel.types.logical import MapType, MultisetType, RowType

if TYPE_CHECKING:
    from wiesel.graph.transformations import Transformation
    from wiesel.sql.physical.translator import Translator
    from wiesel.sql.plan.lateral_relations import Unnest

__all__ = ["unnest"]


def unnest(translator: Translator, relation: Unnest) -> Transformation:
    """Return the rows beside the elements of their collections."""
    of = relation.collection.data_type
    spec = UnnestSpec(
        collection=relation.collection,
        counted=isinstance(of, MultisetType),
        spread=isinstance(of, MapType) or isinstance(getattr(of, "element_type", None), RowType),
        outer=relation.outer,
        numbered=relation.numbered,
        schema=translator.schema(relation),
    )
    return translator.operator("Unnest", "table_unnest", spec, [translator.translate(relation.input)])
