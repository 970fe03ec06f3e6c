"""Internal. Conditions right above the reading of a table are told to its connector, which may leave out files and parts of files by them.

They stay where they are as well: a connector leaves out only what it can without looking at rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from wiesel.columnar.functions.registry import can_fail, is_deterministic
from wiesel.sql.catalog.table_factories import skips_rows
from wiesel.sql.plan.relations import Filter, Relation, TableScan, walk
from wiesel.sql.rules.push_down import conjuncts

__all__ = ["read_alone", "with_scan_filters"]


def with_scan_filters(roots: Sequence[Relation]) -> list[Relation]:
    """Return relations whose readings of tables know which rows are wanted.

    A table that is read at several places is read once, for all of them: its readings are left as they are.
    """
    alone = read_alone(roots)
    return [_told(root, alone) for root in roots]


def read_alone(roots: Sequence[Relation]) -> list[TableScan]:
    """Return the readings of tables that are the only ones of their tables."""
    scans = {id(each): each for root in roots for each in walk(root) if isinstance(each, TableScan)}
    read = [(scan.identifier, scan.columns) for scan in scans.values()]
    return [scan for scan in scans.values() if read.count((scan.identifier, scan.columns)) == 1]


def _told(relation: Relation, alone: Sequence[TableScan]) -> Relation:
    below = relation.input if isinstance(relation, Filter) else None
    if isinstance(relation, Filter) and isinstance(below, TableScan):
        if any(below is each for each in alone) and skips_rows(below.table):
            told = tuple(each for each in conjuncts(relation.condition) if is_deterministic(each) and not can_fail(each))
            return replace(relation, input=replace(below, filters=told))
        return relation
    inputs = [_told(each, alone) for each in relation.inputs]
    if all(new is old for new, old in zip(inputs, relation.inputs, strict=True)):
        return relation
    return relation.with_inputs(*inputs)
