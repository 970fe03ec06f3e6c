"""Internal. Limit push-down to connectors, which may stop reading then.

The limit stays where it is as well: each part of a table may bring so many rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from wiesel.sql.catalog.table_factories import source_kinds, stops_early
from wiesel.sql.plan.relations import Project, Relation, TableScan, TopN
from wiesel.sql.rules.scan_filters import read_alone
from wiesel.types.row import RowKind

__all__ = ["with_limits"]


def with_limits(roots: Sequence[Relation]) -> list[Relation]:
    """Return relations whose readings of tables know how many rows are wanted; one of several readings of a table does not."""
    alone = read_alone(roots)
    return [_limited(root, alone) for root in roots]


def _limited(relation: Relation, alone: Sequence[TableScan]) -> Relation:
    if isinstance(relation, TopN) and not relation.keys and not relation.partition and relation.last is not None:
        below = _told(relation.input, relation.last, alone)
        return relation if below is None else replace(relation, input=below)
    inputs = [_limited(each, alone) for each in relation.inputs]
    if all(new is old for new, old in zip(inputs, relation.inputs, strict=True)):
        return relation
    return relation.with_inputs(*inputs)


def _told(relation: Relation, limit: int, alone: Sequence[TableScan]) -> Relation | None:
    """Return a relation of which only some rows are wanted, whichever these are; None if its table has to be read in any case."""
    if isinstance(relation, Project):
        below = _told(relation.input, limit, alone)
        return None if below is None else replace(relation, input=below)
    if not isinstance(relation, TableScan) or not any(relation is each for each in alone) or not stops_early(relation.table):
        return None
    # Of changes none may be missing.
    appends = source_kinds(relation.identifier, relation.table) == {RowKind.INSERT}
    return replace(relation, limit=max(limit, 0)) if appends else None
