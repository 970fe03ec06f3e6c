"""Internal. Decorrelation: a query that reads columns of the rows around it becomes one that is computed once for all their values.

The values that it reads become columns in front of its own: rows are joined with them where they are read, and from there on up groups
are formed, rows ranked and compared within equal values. Where all of them are equal to something in the query, that takes their place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from wiesel.columnar.expressions import Call, Expression, InputRef, Literal, transformed
from wiesel.columnar.functions.registry import call
from wiesel.core.errors import ProgramError
from wiesel.sql.binding.join_columns import join_columns
from wiesel.sql.binding.scope import OuterRef
from wiesel.sql.plan.lateral_relations import Unnest
from wiesel.sql.plan.over_relations import OverAggregate
from wiesel.sql.plan.relations import Aggregate, AggregateCall, Field, Filter, Join, JoinType, Project, Relation, TopN, Union
from wiesel.sql.rules.push_down import all_of, conjuncts, joined
from wiesel.types import logical as t

__all__ = ["Decorrelated", "correlated_columns", "decorrelated", "mapped", "outer_refs", "reads_outside"]


def outer_refs(expression: Expression, level: int = 1) -> list[OuterRef]:
    """Return the columns of the query so many levels above that an expression reads."""
    found: list[OuterRef] = []
    transformed(expression, lambda part: found.append(part) if isinstance(part, OuterRef) and part.level == level else None)
    return found


def reads_outside(expression: Expression) -> bool:
    """Return whether an expression reads columns of any query around."""
    found: list[Expression] = []
    transformed(expression, lambda part: found.append(part) if isinstance(part, OuterRef) else None)
    return bool(found)


def correlated_columns(relation: Relation) -> tuple[int, ...]:
    """Return the columns of the query around it that a relation reads."""
    found = {ref.index for expression in _own_expressions(relation) for ref in outer_refs(expression)}
    for below in relation.inputs:
        found.update(correlated_columns(below))
    return tuple(sorted(found))


def _own_expressions(relation: Relation) -> Iterator[Expression]:
    """Yield the expressions of a relation, without those of its inputs."""
    for each in fields(relation):  # type: ignore[arg-type]
        yield from _in_value(getattr(relation, each.name))


def _in_value(value: Any) -> Iterator[Expression]:
    if isinstance(value, Expression):
        yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from _in_value(each)


@dataclass(frozen=True)
class Decorrelated:
    """A query without columns of the rows around it.

    Attributes:
        relation: Its rows for all values that it reads: these, then its own columns.
        read: The columns of the rows around it that are these values.
        equal: Whether NULL in them has no rows; else it has those that were computed for it.
    """

    relation: Relation
    read: tuple[int, ...]
    equal: bool

    def conditions(self, outer: Relation) -> list[Expression]:
        """Return, over rows around it and these behind them, the conditions for the rows of the query for each."""
        width = len(outer.fields)
        made: list[Expression] = []
        for place, index in enumerate(self.read):
            one, other = outer.fields[index], self.relation.fields[place]
            refs = InputRef(one.data_type, index, one.name), InputRef(other.data_type, width + place, other.name)
            made.append(call("=", list(refs)) if self.equal else Call(t.BooleanType(False), "IS NOT DISTINCT FROM", refs))
        return made


def decorrelated(relation: Relation, outer: Relation, *, complete: bool = False) -> Decorrelated:
    """Return a query that reads columns of the rows around it as one for all their values.

    Args:
        relation: The query.
        outer: The rows around it.
        complete: Whether aggregates without GROUP BY have a row for values without rows, too, such as 0 for COUNT.

    Raises:
        ProgramError: If it reads them where that is not supported.
    """
    read = correlated_columns(relation)
    by_equation = None if complete and _aggregates_all(relation) else _equation(relation, read)
    columns = tuple(replace(outer.fields[index], name=f"$outer{place}", time=None) for place, index in enumerate(read))
    refs = tuple(InputRef(outer.fields[index].data_type, index, outer.fields[index].name) for index in read)
    values = Aggregate(Project(outer, refs, columns), tuple(range(len(read))), (), columns)
    found = _Decorrelation(read, values, by_equation, complete).rows(relation)
    lowered = mapped(found, lambda ref: replace(ref, level=ref.level - 1))
    return Decorrelated(lowered, read, by_equation is not None)


def _aggregates_all(relation: Relation) -> bool:
    """Return whether an aggregate without keys is over correlated rows."""
    own = isinstance(relation, Aggregate) and not relation.keys and bool(correlated_columns(relation.input))
    return own or any(map(_aggregates_all, relation.inputs))


@dataclass(frozen=True)
class _Equation:
    """The one condition that reads the rows around, what in it is equal to each of their columns, and what else it says."""

    filter: Filter
    equal: tuple[Expression, ...]
    rest: Expression | None


def _equation(relation: Relation, read: Sequence[int]) -> _Equation | None:
    """Return the condition in which everything that a query reads is equal to something of its own; None if there is none."""
    lowest = list(_lowest(relation))
    if len(lowest) != 1 or not isinstance(lowest[0], Filter):
        return None
    equal: dict[int, Expression] = {}
    rest = []
    for part in conjuncts(lowest[0].condition):
        pair = _sides(part)
        if pair is not None and pair[0].index not in equal:
            equal[pair[0].index] = pair[1]
        else:
            rest.append(part)
    if set(equal) != set(read) or any(outer_refs(part) for part in rest):
        return None
    return _Equation(lowest[0], tuple(equal[index] for index in read), all_of(rest))


def _sides(part: Expression) -> tuple[OuterRef, Expression] | None:
    """Return a column of the rows around, and what of the same type it is equal to."""
    if not isinstance(part, Call) or part.function != "=":
        return None
    one, other = part.operands if isinstance(part.operands[0], OuterRef) else part.operands[::-1]
    if not isinstance(one, OuterRef) or one.level > 1 or outer_refs(other) or outer_refs(other, 2):
        return None
    return (one, other) if one.data_type.nullable() == other.data_type.nullable() else None


def _lowest(relation: Relation) -> Iterator[Relation]:
    """Yield the relations that read the rows around and are not above another one that does."""
    below = [each for each in relation.inputs if correlated_columns(each)]
    if below:
        for each in below:
            yield from _lowest(each)
    elif correlated_columns(relation):
        yield relation


_OF_NOTHING = {"COUNT": 0, "$SUM0": 0, "APPROX_COUNT_DISTINCT": 0, "JSON_ARRAYAGG": "[]", "JSON_OBJECTAGG": "{}"}
"""Results of aggregates without rows that are not NULL."""


def _of_nothing(aggregate: AggregateCall) -> Expression:
    if aggregate.function not in _OF_NOTHING:
        raise ProgramError(
            f"{aggregate.function} without GROUP BY cannot be computed for each row of the query around it in this version",
            hint="add GROUP BY, or compute it in a subquery and join that",
        )
    return Literal(aggregate.data_type, _OF_NOTHING[aggregate.function])


def mapped(relation: Relation, change: Callable[[OuterRef], Expression]) -> Relation:
    """Return a relation with other expressions in place of the columns of queries around it."""

    def changed(part: Expression) -> Expression | None:
        return change(part) if isinstance(part, OuterRef) else None

    def in_value(value: Any) -> Any:
        if isinstance(value, Expression):
            return transformed(value, changed)
        return tuple(map(in_value, value)) if isinstance(value, tuple) else value

    inputs = tuple(mapped(below, change) for below in relation.inputs)
    if any(new is not old for new, old in zip(inputs, relation.inputs, strict=True)):
        relation = relation.with_inputs(*inputs)
    if not any(reads_outside(expression) for expression in _own_expressions(relation)):
        return relation
    parts = {each.name: getattr(relation, each.name) for each in fields(relation)}  # type: ignore[arg-type]
    made = {name: in_value(part) for name, part in parts.items() if any(_in_value(part))}
    return replace(relation, **made)  # type: ignore[type-var]


class _Decorrelation:
    """Puts the values that a query reads in front of the columns of its relations."""

    def __init__(self, read: tuple[int, ...], values: Relation, equation: _Equation | None, complete: bool) -> None:
        self._read = read
        self._values = values
        self._equation = equation
        self._complete = complete
        self.width = len(read)

    def rows(self, relation: Relation) -> Relation:
        """Return a relation with the values in front; of one that does not read them all rows for each."""
        if not correlated_columns(relation):
            return self._beside(relation, None)
        handler = _HANDLERS.get(type(relation).__name__)
        if handler is None or (isinstance(relation, Join) and relation.type is JoinType.FULL):
            message = f"{relation.name} cannot be computed for each row of the query around it"
            raise ProgramError(message, hint="compute it in a subquery that does not read columns of the query around it, and join that")
        return handler(self, relation)

    def bound(self, expression: Expression, by: int | None = None, start: int = 0) -> Expression:
        """Return an expression over rows with the values in front; columns from ``start`` on are moved by ``by``."""

        def moved(part: Expression) -> Expression | None:
            if isinstance(part, OuterRef) and part.level == 1:
                return self.value(self._read.index(part.index), part.data_type)
            if not isinstance(part, InputRef):
                return None
            return replace(part, index=part.index + (self.width if by is None or part.index < start else by))

        return transformed(expression, moved)

    def value(self, place: int, data_type: t.DataType | None = None) -> InputRef:
        """Return one of the values."""
        return InputRef(data_type or self._values.fields[place].data_type, place, self._values.fields[place].name)

    def before(self, relation: Relation) -> tuple[Field, ...]:
        """Return the columns of a relation with those of the values in front."""
        return (*self._values.fields, *relation.fields)

    def moved(self, places: Sequence[int]) -> tuple[int, ...]:
        """Return the values, and columns behind them."""
        return (*range(self.width), *(place + self.width for place in places))

    def _moved_calls(self, calls: Sequence[AggregateCall]) -> tuple[AggregateCall, ...]:
        by = self.width
        return tuple(
            replace(each, arguments=tuple(place + by for place in each.arguments), filter=None if each.filter is None else each.filter + by)
            for each in calls
        )

    def _beside(self, relation: Relation, condition: Expression | None) -> Relation:
        both = Join(self._values, relation, JoinType.INNER, condition and self.bound(condition), self.before(relation))
        return joined(both)

    def of_filter(self, relation: Filter) -> Relation:
        """Return the rows for which the condition is true."""
        equation = self._equation
        if equation is not None and equation.filter is relation:
            below = relation.input if equation.rest is None else Filter(relation.input, equation.rest)
            refs = (InputRef(field.data_type, index, field.name) for index, field in enumerate(below.fields))
            return Project(below, (*equation.equal, *refs), self.before(below))
        if not correlated_columns(relation.input):
            return self._beside(relation.input, relation.condition)
        return Filter(self.rows(relation.input), self.bound(relation.condition))

    def of_project(self, relation: Project) -> Relation:
        """Return the columns."""
        values = map(self.value, range(self.width))
        made = tuple(self.bound(each) for each in relation.expressions)
        return Project(self.rows(relation.input), (*values, *made), self.before(relation))

    def of_aggregate(self, relation: Aggregate) -> Relation:
        """Return the groups of each value."""
        calls = self._moved_calls(relation.calls)
        groups = replace(
            relation, input=self.rows(relation.input), keys=self.moved(relation.keys), calls=calls, columns=self.before(relation)
        )
        return groups if relation.keys or not self._complete else self._completed(groups, relation.calls)

    def _completed(self, groups: Aggregate, calls: Sequence[AggregateCall]) -> Relation:
        """Return the groups with a row for each value that has none."""
        same = [
            Call(
                t.BooleanType(False),
                "IS NOT DISTINCT FROM",
                (self.value(place), InputRef(groups.fields[place].data_type, self.width + place)),
            )
            for place in range(self.width)
        ]
        both = Join(self._values, groups, JoinType.LEFT, all_of(same), join_columns(self._values, groups, JoinType.LEFT))
        results: list[Expression] = []
        for place, each in enumerate(calls):
            ref = InputRef(both.fields[2 * self.width + place].data_type, 2 * self.width + place)
            results.append(ref if each.data_type.is_nullable else call("COALESCE", [ref, _of_nothing(each)]))
        return Project(both, (*map(self.value, range(self.width)), *results), groups.fields)

    def of_top(self, relation: TopN) -> Relation:
        """Return the first rows of each value."""
        below = self.rows(relation.input)
        if relation.sorts_only:
            return below
        keys = tuple(replace(key, index=key.index + self.width) for key in relation.keys)
        return replace(relation, input=below, partition=self.moved(relation.partition), keys=keys)

    def of_over(self, relation: OverAggregate) -> Relation:
        """Return the results over the rows of each value."""
        keys = tuple(replace(key, index=key.index + self.width) for key in relation.keys)
        calls = self._moved_calls(relation.calls)
        partition, columns = self.moved(relation.partition), self.before(relation)
        return replace(relation, input=self.rows(relation.input), partition=partition, keys=keys, calls=calls, columns=columns)

    def of_unnest(self, relation: Unnest) -> Relation:
        """Return the elements."""
        below = self.rows(relation.input)
        return replace(relation, input=below, collection=self.bound(relation.collection), columns=self.before(relation))

    def of_union(self, relation: Union) -> Relation:
        """Return the rows of all."""
        return replace(relation, relations=tuple(map(self.rows, relation.relations)), columns=self.before(relation))

    def of_join(self, relation: Join) -> Relation:
        """Return the pairs; both sides have the values in front where they read them."""
        kind, width = relation.type, len(relation.left.fields)
        reads_left, reads_right = (bool(correlated_columns(side)) for side in (relation.left, relation.right))
        if kind is JoinType.RIGHT or (kind is JoinType.INNER and reads_right and not reads_left):
            return self._turned(relation)
        left = self.rows(relation.left)
        right = self.rows(relation.right) if reads_right else relation.right
        added = self.width * (1 + reads_right)
        condition = relation.condition and self.bound(relation.condition, added, width)
        parts = list(conjuncts(condition))
        if reads_right:
            parts += [
                Call(
                    t.BooleanType(False),
                    "IS NOT DISTINCT FROM",
                    (self.value(place), InputRef(right.fields[place].data_type, self.width + width + place)),
                )
                for place in range(self.width)
            ]
        made = replace(relation, left=left, right=right, condition=all_of(parts), columns=join_columns(left, right, kind))
        wanted = [
            *range(self.width + width),
            *([] if kind in _LEFT_ONLY else range(added + width, added + width + len(relation.right.fields))),
        ]
        refs = tuple(InputRef(made.fields[index].data_type, index, made.fields[index].name) for index in wanted)
        return Project(made, refs, self.before(relation))

    def _turned(self, relation: Join) -> Relation:
        """Return a join with its sides exchanged, so that the values are those of the side that reads them."""
        width, other = len(relation.left.fields), len(relation.right.fields)

        def moved(part: Expression) -> Expression | None:
            return replace(part, index=(part.index + other) % (width + other)) if isinstance(part, InputRef) else None

        kind = JoinType.LEFT if relation.type is JoinType.RIGHT else relation.type
        condition = relation.condition and transformed(relation.condition, moved)
        columns = (*relation.columns[width:], *relation.columns[:width])
        turned = replace(relation, left=relation.right, right=relation.left, type=kind, condition=condition, columns=columns)
        refs = [InputRef(field.data_type, (index + other) % (width + other), field.name) for index, field in enumerate(relation.fields)]
        return self.of_project(Project(replace(turned, ttl=relation.ttl[::-1], hint=None), tuple(refs), relation.fields))


_LEFT_ONLY = (JoinType.SEMI, JoinType.ANTI)

_HANDLERS: dict[str, Callable[[_Decorrelation, Any], Relation]] = {
    "Filter": _Decorrelation.of_filter,
    "Project": _Decorrelation.of_project,
    "Aggregate": _Decorrelation.of_aggregate,
    "TopN": _Decorrelation.of_top,
    "OverAggregate": _Decorrelation.of_over,
    "Unnest": _Decorrelation.of_unnest,
    "Union": _Decorrelation.of_union,
    "Join": _Decorrelation.of_join,
}
