"""Internal. Changelog modes: the row kinds emitted by a relation, and those required by its consumers.

What a relation emits follows from its inputs, from the bottom up: new rows only, or also updates and deletions. Whether an update is
told by two rows (``-U`` with the old one, ``+U`` with the new one) or by ``+U`` alone is decided from the top down: by two only where a
reader needs the old row. ``_RULES`` has a line per kind of relation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wiesel.core.errors import ProgramError, invariant
from wiesel.sql.catalog.table_factories import source_kinds
from wiesel.sql.plan.interval_joins import interval_of
from wiesel.sql.plan.relations import Relation
from wiesel.sql.plan.window_relations import window_of_top, windows_of_join
from wiesel.types.row import RowKind

__all__ = ["ALL_CHANGES", "APPEND", "UPSERTS", "ChangelogPlan", "Changes", "changes_of", "needs_before_of", "require_append"]


@dataclass(frozen=True)
class Changes:
    """Row kinds of a relation other than inserts."""

    updates: bool = False
    deletes: bool = False

    @property
    def append_only(self) -> bool:
        """Return whether the relation is insert-only."""
        return not self.updates and not self.deletes

    def __or__(self, other: Changes) -> Changes:
        return Changes(self.updates or other.updates, self.deletes or other.deletes)

    def kinds(self, update_before: bool) -> tuple[RowKind, ...]:
        """Return the kinds of rows in the changelog."""
        found = [RowKind.INSERT]
        if self.updates:
            found += [RowKind.UPDATE_BEFORE, RowKind.UPDATE_AFTER] if update_before else [RowKind.UPDATE_AFTER]
        return tuple([*found, RowKind.DELETE] if self.deletes else found)


APPEND = Changes()
UPSERTS = Changes(updates=True)
ALL_CHANGES = Changes(updates=True, deletes=True)


@dataclass(frozen=True)
class _Rule:
    """Changelog behaviour of a kind of relation.

    Attributes:
        emits: From the relation and what its inputs emit to what it emits.
        needs_before: From the relation, the index of an input and whether ``-U`` is wanted of the relation to whether it needs ``-U`` of
            that input (which is asked only if the input has updates).
        appends_only: None if it can read all changes; else what to say when an input has others than new rows.
    """

    emits: Callable[[Any, list[Changes]], Changes]
    needs_before: Callable[[Any, int, bool], bool] = lambda relation, index, wanted: True
    appends_only: str | None = None


def _append(relation: Relation, inputs: list[Changes]) -> Changes:
    return APPEND


def _scanned(relation: Any, inputs: list[Changes]) -> Changes:
    return _changes_of_kinds(source_kinds(relation.identifier, relation.table))


def _changes_of_kinds(kinds: frozenset[RowKind]) -> Changes:
    return Changes(updates=RowKind.UPDATE_AFTER in kinds, deletes=RowKind.DELETE in kinds)


def _as_input(relation: Relation, inputs: list[Changes]) -> Changes:
    return inputs[0]


def _processed(relation: Any, inputs: list[Changes]) -> Changes:
    return _changes_of_kinds(relation.changelog_mode().get_contained_kinds())


def _united(relation: Relation, inputs: list[Changes]) -> Changes:
    found = APPEND
    for each in inputs:
        found |= each
    return found


def _grouped(relation: Any, inputs: list[Changes]) -> Changes:
    if inputs[0].append_only:
        return UPSERTS if relation.calls or not relation.keys else APPEND
    return ALL_CHANGES


def _joined(relation: Any, inputs: list[Changes]) -> Changes:
    found = _united(relation, inputs)
    if relation.strategy is not None:
        return APPEND  # of a side that is complete each row comes out once
    if windows_of_join(relation) is not None:
        if not found.append_only:
            raise _rows_of_windows("joins")
        return APPEND  # rows come out when their window is over
    if found.append_only and interval_of(relation) is not None:
        return APPEND  # rows without partner come out when none can come any more
    # A row without partner goes when its first one comes.
    return found if relation.type.value in ("INNER", "SEMI") else found | Changes(deletes=True)


def _ranked(relation: Any, inputs: list[Changes]) -> Changes:
    if window_of_top(relation) is not None:
        if not inputs[0].append_only:
            raise _rows_of_windows("the first rows")
        return APPEND
    # Rows that follow each other at a place are updates of it.
    if (relation.sorts_only or relation.numbers_in_time or relation.is_first_in_time) and inputs[0].append_only:
        return APPEND
    in_place = relation.numbered or relation.deduplicates
    return UPSERTS if in_place and inputs[0].append_only else ALL_CHANGES


def _over_rows(relation: Any, inputs: list[Changes]) -> Changes:
    if not inputs[0].append_only:
        return ALL_CHANGES
    return UPSERTS if relation.time is None else APPEND


def _rows_of_windows(what: str) -> ProgramError:
    message = f"{what} of windows read tables of new rows only, as in Flink"
    return ProgramError(message, hint="group the rows by their window first, which also takes changes")


def _wanted(relation: Relation, index: int, wanted: bool) -> bool:
    return wanted


# A filter needs the old row: if only that satisfied the condition, it has to be retracted.
_RULES: dict[str, _Rule] = {
    "TableScan": _Rule(_scanned),
    "StreamScan": _Rule(lambda relation, inputs: _changes_of_kinds(relation.kinds)),
    "ArrowScan": _Rule(_append),
    "StatisticsScan": _Rule(_append),
    "RecursiveScan": _Rule(_append),
    "Recursion": _Rule(_append),
    "Values": _Rule(_append),
    "WatermarkAssigner": _Rule(_as_input, _wanted),
    "Project": _Rule(_as_input, _wanted),
    "Filter": _Rule(_as_input),
    "Union": _Rule(_united, _wanted),
    "Join": _Rule(_joined),
    "Unnest": _Rule(_as_input),
    "ToChangelog": _Rule(_append),
    "FromChangelog": _Rule(lambda relation, inputs: ALL_CHANGES, appends_only="FROM_CHANGELOG reads tables of new rows only"),
    "TemporalJoin": _Rule(_as_input, lambda relation, index, wanted: index == 0),
    "LookupJoin": _Rule(_as_input),
    "TopN": _Rule(_ranked, lambda relation, index, wanted: relation.row_key is None),
    "Aggregate": _Rule(_grouped),
    "ProcessTable": _Rule(_processed, lambda relation, index, wanted: "-U" in relation.tables[index].kinds),
    "TableAggregate": _Rule(lambda relation, inputs: Changes(deletes=True)),
    "Expand": _Rule(_as_input, _wanted),
    "OverAggregate": _Rule(_over_rows),
    "Match": _Rule(_append, appends_only="MATCH_RECOGNIZE reads tables of new rows only"),
    "WindowTable": _Rule(_as_input, _wanted),
    "WindowAggregate": _Rule(_append),
    "CountWindowAggregate": _Rule(_append, appends_only="windows of a number of rows read tables of new rows only, as in Flink"),
}


def _rule(relation: Relation) -> _Rule:
    found = _RULES.get(type(relation).__name__)
    invariant(found is not None, f"the changelog of {type(relation).__name__} is not known")
    assert found is not None  # noqa: S101 - for the type checker
    return found


def changes_of(relation: Relation) -> Changes:
    """Return what happens to the rows of a relation.

    Raises:
        ProgramError: If a relation below cannot read the changes of its input.
    """
    rule = _rule(relation)
    inputs = [changes_of(below) for below in relation.inputs]
    if rule.appends_only is not None and not all(each.append_only for each in inputs):
        raise ProgramError(rule.appends_only, hint="let it read a table to which rows are only added")
    return rule.emits(relation, inputs)


def needs_before_of(relation: Relation) -> Callable[[int, bool], bool]:
    """Return the rule by which a relation needs ``-U`` of an input: from its index, and whether ``-U`` is wanted of the relation."""
    rule = _rule(relation)
    return lambda index, wanted: rule.needs_before(relation, index, wanted)


def require_append(relation: Relation, reader: str) -> None:
    """Refuse a relation with updates or deletions.

    Raises:
        ProgramError: If there are some; tells who cannot read them.
    """
    if not changes_of(relation).append_only:
        raise ProgramError(
            f"{reader} takes new rows only, but the query updates or deletes rows that it has returned before",
            hint="use to_changelog_stream(), a table with a primary key, or a query without such changes",
        )


class ChangelogPlan:
    """Of which relations of a job ``-U`` is needed. All that is read at the end is added before it is asked."""

    def __init__(self) -> None:
        self._before: dict[int, tuple[Relation, bool]] = {}

    def add(self, relation: Relation, update_before: bool = True) -> None:
        """Add what is read at the end of the job, and whether its reader needs ``-U`` rows."""
        before = update_before and changes_of(relation).updates
        _, known = self._before.get(id(relation), (relation, None))
        if known is not None and (known or not before):
            return
        self._before[id(relation)] = (relation, before)
        rule = _rule(relation)
        for index, below in enumerate(relation.inputs):
            self.add(below, changes_of(below).updates and rule.needs_before(relation, index, update_before))

    def sends_before(self, relation: Relation) -> bool:
        """Return whether a relation is to emit ``-U`` rows where it updates; those that nobody asked about do."""
        _, before = self._before.get(id(relation), (relation, True))
        return before
