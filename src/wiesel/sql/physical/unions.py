"""Internal. UNION ALL."""

from __future__ import annotations

from wiesel.datastream._transformations import Transformation, UnionTransformation
from wiesel.sql.physical.translator import Translator
from wiesel.sql.plan import Union

__all__ = ["union"]


def union(translator: Translator, relation: Union) -> Transformation:
    """Return the rows of all inputs."""
    inputs = tuple(translator.translate(each) for each in relation.relations)
    return UnionTransformation(inputs[0].output_type, inputs[0].location, inputs)
