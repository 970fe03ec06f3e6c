"""Internal. Relations that give each row those that belong to it: the elements of one of its collections."""

from __future__ import annotations

from dataclasses import dataclass

from wiesel.columnar.expressions import Expression
from wiesel.sql.plan.relations import Fields, Relation

__all__ = ["Unnest"]


@dataclass(frozen=True)
class Unnest(Relation):
    """Each row once per element of a collection, with the element behind its columns.

    Attributes:
        input: The rows.
        collection: What is taken apart, over their columns.
        outer: Whether rows without elements come out with NULLs.
        numbered: Whether the place of the element, from 1 on, comes behind it.
        columns: Those of the input, of the element, and the place.
    """

    input: Relation
    collection: Expression
    outer: bool
    numbered: bool
    columns: Fields

    @property
    def fields(self) -> Fields:
        """Columns of the input, of the element, and the place."""
        return self.columns
