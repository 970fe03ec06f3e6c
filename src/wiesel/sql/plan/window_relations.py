"""Internal. Relations with windows, and which columns are the bounds of one."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from wiesel.columnar.expressions import Call, Expression, InputRef, input_refs, remapped
from wiesel.columnar.windows import Window
from wiesel.sql.plan.relations import (
    ONE_PHASE,
    AggregateCall,
    Field,
    Fields,
    Filter,
    Join,
    JoinType,
    Phases,
    Project,
    Relation,
    TimeAttribute,
    TopN,
)
from wiesel.sql.rules.push_down import conjuncts
from wiesel.types import logical as t

__all__ = [
    "WINDOW_COLUMNS",
    "Expand",
    "Unwindowed",
    "WindowAggregate",
    "WindowBounds",
    "WindowTable",
    "window_bounds_of",
    "window_of_top",
    "windows_of_join",
    "without_window",
]

WINDOW_COLUMNS = ("window_start", "window_end", "window_time")


def _bound_fields(time: Field) -> Fields:
    kind = t.TimestampType(3, False)
    return Field("window_start", kind), Field("window_end", kind), Field("window_time", time.data_type.not_null(), time.time)


@dataclass(frozen=True)
class WindowTable(Relation):
    """Each row once per window that its time falls in, with the window's bounds behind its columns.

    ``partition``: the columns within whose values sessions are told apart; None for those by which the rows are then grouped.
    """

    input: Relation
    time: int
    window: Window
    partition: tuple[int, ...] | None = ()

    @property
    def fields(self) -> Fields:
        """The columns of the input, ``window_start``, ``window_end`` and ``window_time``."""
        return (*self.input.fields, *_bound_fields(self.input.fields[self.time]))


@dataclass(frozen=True)
class WindowAggregate(Relation):
    """One row per key and window: the columns of the key, the results of the calls, and the window's bounds.

    ``time``: the column by which rows fall in windows; None where ``end`` is the column with the end of a row's window. ``start``: which of
    the keys is its start, where the end does not tell it. ``phases``: how.
    """

    input: Relation
    keys: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    columns: Fields
    window: Window
    time: int | None
    end: int | None
    by_clock: bool = False
    start: int | None = None
    parallelism: int | None = None
    """Parallelism set by a hint; 0 for that of the job, None if undecided."""
    phases: Phases = ONE_PHASE

    @property
    def fields(self) -> Fields:
        """Keys, results and bounds."""
        return self.columns


@dataclass(frozen=True)
class Expand(Relation):
    """Each row once per projection."""

    input: Relation
    projections: tuple[tuple[Expression, ...], ...]
    columns: Fields

    @property
    def fields(self) -> Fields:
        """The columns."""
        return self.columns


@dataclass(frozen=True)
class WindowBounds:
    """The columns of a relation with the start, the end and the time of a window.

    ``partition``: for each column within whose values sessions are told apart where it is now; None for those of the groups.
    """

    start: frozenset[int]
    end: frozenset[int]
    time: frozenset[int]
    window: Window
    of: Field
    by_clock: bool
    partition: tuple[frozenset[int], ...] | None = ()

    def are_sessions_of(self, keys: Collection[int]) -> bool:
        """Return whether sessions are told apart by the values of these columns, no more and no fewer."""
        if self.partition is None:
            return True
        apart = all(part & set(keys) for part in self.partition)
        return apart and all(any(key in part for part in self.partition) for key in keys)

    @property
    def all(self) -> frozenset[int]:
        """All of them."""
        return self.start | self.end | self.time


def window_bounds_of(relation: Relation) -> WindowBounds | None:
    """Return which columns are bounds of a window, None if there are none."""
    if isinstance(relation, WindowTable | WindowAggregate):
        count = len(relation.fields)
        start, end, time = (frozenset([count - 3 + part]) for part in range(3))
        of = relation.fields[-1]
        within = relation.partition if isinstance(relation, WindowTable) else ()
        apart = None if within is None else tuple(frozenset([column]) for column in within)
        return WindowBounds(start, end, time, relation.window, of, of.time is TimeAttribute.PROCTIME, apart)
    if isinstance(relation, Filter):
        return window_bounds_of(relation.input)
    if isinstance(relation, TopN):
        return None if window_of_top(relation) is None else window_bounds_of(relation.input)
    if isinstance(relation, Join):
        return _window_bounds_of_join(relation)
    if not isinstance(relation, Project | Expand):
        return None
    below = window_bounds_of(relation.input)
    if below is None:
        return None
    columns = list(zip(*_projections(relation), strict=True))
    start, end, time, *partition = (
        frozenset(place for place, each in enumerate(columns) if all(_is_one_of(expression, part) for expression in each))
        for part in (below.start, below.end, below.time, *(below.partition or ()))
    )
    return replace(below, start=start, end=end, time=time, partition=None if below.partition is None else tuple(partition))


def window_of_top(relation: TopN) -> int | None:
    """Return the column with the end of the window if the partitions are parts of windows of event time; else None."""
    bounds = window_bounds_of(relation.input)
    partition = set(relation.partition)
    if bounds is None or bounds.by_clock or not bounds.start & partition or not bounds.end & partition:
        return None
    return min(bounds.end & partition)


def windows_of_join(join: Join) -> tuple[int, int] | None:
    """Return the columns with the end of the window on both sides if rows of the same window of event time are joined; else None."""
    left, right = window_bounds_of(join.left), window_bounds_of(join.right)
    if left is None or right is None or left.by_clock or right.by_clock:
        return None
    if left.window != right.window or type(left.of.data_type) is not type(right.of.data_type):
        return None
    width = len(join.left.fields)
    equal = {
        tuple(sorted(operand.index for operand in part.operands if isinstance(operand, InputRef)))
        for part in conjuncts(join.condition)
        if isinstance(part, Call) and part.function == "="
    }
    starts = {(one, width + other) for one in left.start for other in right.start}
    ends = {(one, width + other) for one in left.end for other in right.end}
    if not starts & equal or not ends & equal:
        return None
    end = min(ends & equal)
    return end[0], end[1] - width


def _window_bounds_of_join(join: Join) -> WindowBounds | None:
    if windows_of_join(join) is None:
        return None
    left, right, width = window_bounds_of(join.left), window_bounds_of(join.right), len(join.left.fields)
    assert left is not None and right is not None  # noqa: S101 - for the type checker
    moved = [frozenset(width + column for column in part) for part in (right.start, right.end, right.time)]
    if join.type is JoinType.INNER:
        return replace(left, start=left.start | moved[0], end=left.end | moved[1], time=left.time | moved[2])
    if join.type is JoinType.RIGHT:
        return replace(right, start=moved[0], end=moved[1], time=moved[2])
    return None if join.type is JoinType.FULL else left


def _projections(relation: Project | Expand) -> tuple[tuple[Expression, ...], ...]:
    return (relation.expressions,) if isinstance(relation, Project) else relation.projections


def _is_one_of(expression: Expression, columns: frozenset[int]) -> bool:
    return isinstance(expression, InputRef) and expression.index in columns


@dataclass(frozen=True)
class Unwindowed:
    """A relation over what a table of windows reads: where its columns are now, and the column with the time."""

    relation: Relation
    places: dict[int, int]
    time: int


def without_window(relation: Relation) -> Unwindowed | None:
    """Return a relation over the rows before they were put in windows; None if it computes with the bounds."""
    if isinstance(relation, WindowTable):
        return Unwindowed(relation.input, {index: index for index in range(len(relation.input.fields))}, relation.time)
    if isinstance(relation, Filter):
        below = without_window(relation.input)
        if below is None or not input_refs(relation.condition) <= below.places.keys():
            return None
        return Unwindowed(Filter(below.relation, remapped(relation.condition, below.places)), below.places, below.time)
    return _projected(relation) if isinstance(relation, Project | Expand) else None


def _projected(relation: Project | Expand) -> Unwindowed | None:
    below, bounds = without_window(relation.input), window_bounds_of(relation.input)
    if below is None or bounds is None:
        return None
    kept = [
        index
        for index, each in enumerate(zip(*_projections(relation), strict=True))
        if not all(_is_one_of(expression, bounds.all) for expression in each)
    ]
    time = below.relation.fields[below.time]
    made: list[tuple[Expression, ...]] = []
    for expressions in _projections(relation):
        own = [expressions[index] for index in kept]
        if not all(input_refs(expression) <= below.places.keys() for expression in own):
            return None
        made.append((*(remapped(expression, below.places) for expression in own), InputRef(time.data_type, below.time, time.name)))
    fields = (*(relation.fields[index] for index in kept), time)
    places = {index: place for place, index in enumerate(kept)}
    above = Project(below.relation, made[0], fields) if isinstance(relation, Project) else Expand(below.relation, tuple(made), fields)
    return Unwindowed(above, places, len(kept))
