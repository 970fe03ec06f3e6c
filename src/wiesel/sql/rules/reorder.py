"""Internal. In batch mode: inner joins that follow each other are done in the order in which they make the fewest rows.

The cost of an order is the number of rows that all of its joins return together (Cluet and Moerkotte, "On the Complexity of Generating
Optimal Left-Deep Processing Trees with Cross Products", 1995). Up to a number of tables the best order is found, bushy ones among them,
by dynamic programming over connected sets of tables (Selinger et al., 1979; Flink's ``FlinkBushyJoinReorderRule`` goes level by level in
the same way). Of more tables those two are joined again and again that return the fewest rows (Fegaras, "A New Heuristic for Optimizing
Large Queries", 1998), where Flink has ``LoptOptimizeJoinRule``. Tables that no condition connects with others come last.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, combinations

from wiesel.columnar.expressions import Expression, InputRef, input_refs, remapped
from wiesel.columnar.functions.registry import is_deterministic
from wiesel.sql.costs.estimates import Estimate
from wiesel.sql.costs.estimator import Estimator, joined_rows
from wiesel.sql.plan.relations import Field, Filter, Join, JoinType, Project, Relation
from wiesel.sql.rules.push_down import all_of, conjuncts

__all__ = ["BUSHY", "REORDERS", "reordered"]

REORDERS = "table.optimizer.join-reorder-enabled"
"""Enables the rule (``false`` by default, as in Flink)."""

BUSHY = "table.optimizer.bushy-join-reorder-threshold"
"""Of how many tables the best order is found (12 by default, as in Flink)."""

_BETTER = 1 - 1e-9
"""The same sum in another order may differ in its last digits."""

_MOST_KEYS = 8

_LEAST = 3
"""Two tables can be joined in one order only."""


@dataclass(frozen=True)
class _Joins:
    """Inner joins as a set of inputs.

    Attributes:
        inputs: What is joined.
        conditions: Over the columns of all inputs, one input behind the other.
        columns: Which of these columns come out, in order.
    """

    inputs: tuple[Relation, ...]
    conditions: tuple[Expression, ...]
    columns: tuple[int, ...]


@dataclass(frozen=True)
class _Tree:
    """A way to join some inputs.

    Attributes:
        inputs: Which, in the order in which their columns come out.
        cost: How many rows its joins return together.
        estimate: Of the result.
        sides: What the last join joins; none of a single input.
        condition: That of the last join, over the columns of both sides.
    """

    inputs: tuple[int, ...]
    cost: float
    estimate: Estimate
    sides: tuple[_Tree, _Tree] | None = None
    condition: Expression | None = None


def reordered(relation: Relation, estimator: Estimator, most: int) -> Relation:
    """Return a relation of the same fields and rows whose inner joins come in the order that is estimated to cost least.

    ``most``: of how many inputs the best order is looked for.
    """
    if isinstance(relation, Join) and _can_move(relation):
        joins = _flattened(relation)
        if len(joins.inputs) >= _LEAST:
            joins = replace(joins, inputs=tuple(reordered(each, estimator, most) for each in joins.inputs))
            best = _Search(joins, estimator).best(most)
            if best.cost < _cost(relation, estimator) * _BETTER:
                return _made(joins, best, relation)
    inputs = tuple(reordered(each, estimator, most) for each in relation.inputs)
    return relation.with_inputs(*inputs) if inputs else relation


def _can_move(join: Join) -> bool:
    """Return whether a join can be done at another place: it is an inner one, and nobody has said how it is to be done."""
    is_free = join.ttl == (None, None) and join.hint is None and not join.parallelism
    return join.type is JoinType.INNER and is_free and all(map(is_deterministic, conjuncts(join.condition)))


def _cost(relation: Relation, estimator: Estimator) -> float:
    """Return the cost of joins in the order that they have."""
    if isinstance(relation, Project) and _is_choice(relation):
        return _cost(relation.input, estimator)
    if isinstance(relation, Join) and _can_move(relation):
        return estimator.of(relation).rows + sum(_cost(each, estimator) for each in relation.inputs)
    return 0.0


def _is_choice(relation: Project) -> bool:
    return all(isinstance(each, InputRef) for each in relation.expressions)


def _flattened(relation: Relation) -> _Joins:
    if isinstance(relation, Project) and _is_choice(relation):
        below = _flattened(relation.input)
        refs = [each.index for each in relation.expressions if isinstance(each, InputRef)]
        if len(below.inputs) > 1:
            return replace(below, columns=tuple(below.columns[index] for index in refs))
    if not isinstance(relation, Join) or not _can_move(relation):
        return _Joins((relation,), (), tuple(range(len(relation.fields))))
    left, right = _flattened(relation.left), _flattened(relation.right)
    by = sum(len(each.fields) for each in left.inputs)
    columns = (*left.columns, *(index + by for index in right.columns))
    conditions = [
        *left.conditions,
        *(remapped(each, {index: index + by for index in input_refs(each)}) for each in right.conditions),
        *(remapped(each, dict(enumerate(columns))) for each in conjuncts(relation.condition)),
    ]
    return _Joins((*left.inputs, *right.inputs), tuple(conditions), columns)



class _Search:
    """Looks for an order."""

    def __init__(self, joins: _Joins, estimator: Estimator) -> None:
        self._joins = joins
        widths = [len(each.fields) for each in joins.inputs]
        self._first = [sum(widths[:place]) for place in range(len(widths))]
        of = [place for place, width in enumerate(widths) for _ in range(width)]
        self._read = [frozenset(of[index] for index in input_refs(each)) for each in joins.conditions]
        self._single = [_Tree((place,), 0.0, estimator.of(each)) for place, each in enumerate(joins.inputs)]

    def best(self, most: int) -> _Tree:
        """Return the cheapest tree of all inputs; if there are more than ``most``, one that is probably cheap."""
        parts = self._exhaustive() if len(self._single) <= most else self._greedy()
        # What no condition connects: the smallest first.
        parts.sort(key=lambda each: each.estimate.rows)
        found = parts[0]
        for other in parts[1:]:
            found = self._joined(found, other)
        return found

    def _exhaustive(self) -> list[_Tree]:
        """Return the best trees of the connected parts."""
        trees = {frozenset(each.inputs): each for each in self._single}
        found = list(trees.values())
        for size in range(2, len(self._single) + 1):
            for chosen in combinations(range(len(self._single)), size):
                best = self._best_of(frozenset(chosen), trees)
                if best is not None:
                    trees[frozenset(chosen)] = best
        for tree in sorted(trees.values(), key=lambda each: -len(each.inputs)):
            if any(set(each.inputs) < set(tree.inputs) for each in found):
                found = [each for each in found if not set(each.inputs) < set(tree.inputs)] + [tree]
        return found

    def _best_of(self, chosen: frozenset[int], trees: Mapping[frozenset[int], _Tree]) -> _Tree | None:
        """Return the best tree of some inputs; None if conditions do not connect them."""
        best: tuple[_Tree, _Tree] | None = None
        for left in _parts(chosen):
            one, other = trees.get(left), trees.get(chosen - left)
            if one is None or other is None or not self._are_connected(left, chosen - left):
                continue
            if best is None or one.cost + other.cost < best[0].cost + best[1].cost:
                best = one, other
        return None if best is None else self._joined(*best)

    def _are_connected(self, left: frozenset[int], right: frozenset[int]) -> bool:
        return any(read & left and read & right and read <= left | right for read in self._read)

    def _greedy(self) -> list[_Tree]:
        """Join those two that return the fewest rows, as long as conditions connect any."""
        trees = list(self._single)
        while True:
            pairs = [
                (one, other, self._joined(one, other))
                for one, other in combinations(trees, 2)
                if self._are_connected(frozenset(one.inputs), frozenset(other.inputs))
            ]
            if not pairs:
                return trees
            one, other, joined = min(pairs, key=lambda pair: pair[2].estimate.rows)
            trees = [each for each in trees if each is not one and each is not other] + [joined]

    def _joined(self, one: _Tree, other: _Tree) -> _Tree:
        """Return the join of two trees, the larger one on the left."""
        left, right = (one, other) if one.estimate.bytes >= other.estimate.bytes else (other, one)
        inputs = (*left.inputs, *right.inputs)
        lefts, rights, both = frozenset(left.inputs), frozenset(right.inputs), frozenset(inputs)
        asked = [
            each for each, read in zip(self._joins.conditions, self._read, strict=True) if read <= both and read & lefts and read & rights
        ]
        condition = all_of([remapped(each, self.places(inputs)) for each in asked])
        rows = joined_rows(left.estimate, right.estimate, condition)
        columns = (*left.estimate.columns, *right.estimate.columns)
        by = len(left.estimate.columns)
        keys = frozenset(key | {index + by for index in more} for key in left.estimate.keys for more in right.estimate.keys)
        known = keys if len(keys) <= _MOST_KEYS else frozenset()
        estimate = Estimate(max(left.estimate.rows, right.estimate.rows), columns, known).of_rows(rows)
        return _Tree(inputs, left.cost + right.cost + rows, estimate, (left, right), condition)

    def places(self, inputs: Sequence[int]) -> dict[int, int]:
        """Return where the columns of all inputs are if some inputs stand one behind the other."""
        found: dict[int, int] = {}
        for place in inputs:
            for index in range(len(self._joins.inputs[place].fields)):
                found[self._first[place] + index] = len(found)
        return found


def _parts(chosen: frozenset[int]) -> Iterator[frozenset[int]]:
    """Yield one of the two sides of each way to split a set."""
    first, *rest = sorted(chosen)
    for size in range(len(rest)):
        for more in combinations(rest, size):
            yield frozenset((first, *more))


def _made(joins: _Joins, tree: _Tree, relation: Join) -> Relation:
    """Return the joins of a tree, with the columns of the relation that they take the place of."""
    found = _join_of(joins, tree)
    alone = all_of(_of_one_input(joins))
    first = [0]
    for each in joins.inputs:
        first.append(first[-1] + len(each.fields))
    places: dict[int, int] = {}
    for place in tree.inputs:
        for index in range(first[place], first[place + 1]):
            places[index] = len(places)
    refs = tuple(InputRef(field.data_type, places[index], field.name) for index, field in zip(joins.columns, relation.fields, strict=True))
    return Project(found if alone is None else Filter(found, remapped(alone, places)), refs, relation.fields)


def _of_one_input(joins: _Joins) -> list[Expression]:
    """Return the conditions that compare no two inputs. Those that can have gone down before, so they are few."""
    ends = list(accumulate(len(each.fields) for each in joins.inputs))
    return [each for each in joins.conditions if len({bisect_right(ends, index) for index in input_refs(each)}) < 2]  # noqa: PLR2004


def _join_of(joins: _Joins, tree: _Tree) -> Relation:
    if tree.sides is None:
        return joins.inputs[tree.inputs[0]]
    left, right = (_join_of(joins, each) for each in tree.sides)
    names: dict[str, int] = {}
    columns: list[Field] = []
    for field in (*left.fields, *right.fields):
        names[field.name] = names.get(field.name, -1) + 1
        columns.append(replace(field, name=f"{field.name}{names[field.name] - 1}" if names[field.name] else field.name, time=None))
    return Join(left, right, JoinType.INNER, tree.condition, tuple(columns))
