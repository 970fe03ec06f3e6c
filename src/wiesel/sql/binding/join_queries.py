"""Internal. Queries within the ON condition of joins.

Of an inner join they are conditions on its pairs, as in WHERE. Of other joins the value of a query that reads the columns of one side at
most becomes a column of that side. If one reads both, the join is the union of the pairs and the rows without partner, padded with NULL.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from wiesel.columnar.expressions import Call, Expression, InputRef, Literal, input_refs, shifted
from wiesel.sql.binding.decorrelation import correlated_columns
from wiesel.sql.binding.expressions import ExpressionBinder
from wiesel.sql.binding.join_columns import join_columns, timed
from wiesel.sql.binding.scope import Scope
from wiesel.sql.binding.selection import Selection, bound_condition
from wiesel.sql.binding.subqueries import parts_of, queries_in, restrict, single_values
from wiesel.sql.plan.relations import Field, Join, JoinType, Project, Relation, Union
from wiesel.sql.rules.push_down import all_of, joined
from wiesel.types import logical as t

if TYPE_CHECKING:
    from wiesel.sql.binding.queries import QueryBinder

__all__ = ["join_with_queries"]


def join_with_queries(queries: QueryBinder, left: Relation, right: Relation, both: Scope, node: exp.Join, kind: JoinType) -> Relation:
    """Return a join whose ON condition contains queries.

    Raises:
        SqlParseError: If the condition cannot be bound.
    """
    join = _QueryJoin(queries, left, right, both, node)
    if kind is JoinType.INNER:
        return join.pairs()
    width, binder = len(left.fields), queries.expressions(both)
    reads = {id(query): set(join.read(binder, query)) for query in queries_in(join.on, grouped=False)}
    if any(read and min(read) < width <= max(read) for read in reads.values()):
        return join.pairs_and_unmatched(kind)
    return join.with_values(kind, {key for key, read in reads.items() if read and min(read) >= width})


class _QueryJoin:
    """A join whose ON condition contains queries; ``both`` are the names of both sides."""

    def __init__(self, queries: QueryBinder, left: Relation, right: Relation, both: Scope, node: exp.Join) -> None:
        self.queries = queries
        self.left = left
        self.right = right
        self.both = both
        self.on: exp.Expr = node.args["on"]
        self._select = node.parent_select

    def read(self, binder: ExpressionBinder, node: exp.Expr) -> Iterator[int]:
        """Yield the columns of both sides that an expression and the queries within it read."""
        if isinstance(node, exp.Query):
            with self.queries.within(self.both):
                yield from correlated_columns(self.queries.bind(node))
        elif isinstance(node, exp.Column):
            yield from input_refs(binder.bind(node))
        else:
            for part in node.iter_expressions():
                yield from self.read(binder, part)

    def pairs(self) -> Relation:
        """Return the pairs of rows for which the condition is true."""
        parts = list(parts_of(self.on))
        binder = self.queries.expressions(self.both)
        conditions = [bound_condition(self.queries.sql, binder, part) for part in parts if part.find(exp.Query) is None]
        columns = join_columns(self.left, self.right, JoinType.INNER)
        pairs = timed(joined(Join(self.left, self.right, JoinType.INNER, all_of(conditions), columns)))
        selection = self._selection(pairs, self.both)
        restrict(selection, [part for part in parts if part.find(exp.Query) is not None])
        return _columns(selection.relation, range(len(pairs.fields)), pairs.fields)

    def _selection(self, relation: Relation, scope: Scope) -> Selection:
        assert isinstance(self._select, exp.Select)  # noqa: S101 - joins are in FROM of a SELECT
        return Selection(self.queries, self._select, relation, scope, self.queries.expressions(scope), lateral=True)

    def with_values(self, kind: JoinType, of_right: set[int]) -> Relation:
        """Return the join of both sides with the values of the queries as further columns; ``of_right``: ids of those of the right side."""
        found = list(queries_in(self.on, grouped=False))
        last = self.both.sources[-1]
        left = self._selection(self.left, Scope(self.both.sources[:-1], self.both.merged, self.both.outer))
        single_values(left, *(query for query in found if id(query) not in of_right))
        right = self._selection(self.right, Scope([replace(last, start=0)], outer=self.both.outer))
        single_values(right, *(query for query in found if id(query) in of_right))

        width, wider = len(self.left.fields), len(left.relation.fields)
        sources = [*self.both.sources[:-1], replace(last, start=wider)]
        binder = self.queries.expressions(Scope(sources, self.both.merged, self.both.outer))
        binder.known = {**left.binder.known, **{key: shifted(value, wider) for key, value in right.binder.known.items()}}
        condition = bound_condition(self.queries.sql, binder, self.on)
        columns = join_columns(left.relation, right.relation, kind)
        made = timed(joined(Join(left.relation, right.relation, kind, condition, columns)))
        wanted = [*range(width), *range(wider, wider + len(self.right.fields))]
        names = join_columns(self.left, self.right, kind)
        wanted = wanted[: len(names)]
        return _columns(made, wanted, [replace(names[place], time=made.fields[index].time) for place, index in enumerate(wanted)])

    def pairs_and_unmatched(self, kind: JoinType) -> Relation:
        """Return the pairs, and the rows of either side that are in none of them, padded with NULL."""
        pairs = self.pairs()
        read = set(self.read(self.queries.expressions(self.both), self.on))
        if kind in (JoinType.SEMI, JoinType.ANTI):
            return self._compared(self.left, pairs, kind, 0, read)
        columns = join_columns(self.left, self.right, kind)
        found = [_columns(pairs, range(len(columns)), columns)]
        width = len(self.left.fields)
        for side, start, kinds in ((self.left, 0, (JoinType.LEFT, JoinType.FULL)), (self.right, width, (JoinType.RIGHT, JoinType.FULL))):
            if kind in kinds:
                unmatched = self._compared(side, pairs, JoinType.ANTI, start, read)
                found.append(_padded(unmatched, start, columns))
        return Union(tuple(found), columns)

    def _compared(self, side: Relation, pairs: Relation, kind: JoinType, start: int, read: Iterable[int]) -> Relation:
        """Return the rows of a side that are in pairs, or in none, by the columns that the condition reads."""
        width, own = len(side.fields), [index - start for index in sorted(read) if start <= index < start + len(side.fields)]
        same: list[Expression] = [
            Call(
                t.BooleanType(False),
                "IS NOT DISTINCT FROM",
                (_ref(side, index), replace(_ref(pairs, start + index), index=width + start + index)),
            )
            for index in own
        ]
        return joined(Join(side, pairs, kind, all_of(same), join_columns(side, pairs, kind)))


def _ref(relation: Relation, index: int) -> InputRef:
    return InputRef(relation.fields[index].data_type, index, relation.fields[index].name)


def _columns(relation: Relation, wanted: Iterable[int], columns: Iterable[Field]) -> Relation:
    """Return some columns of a relation, with these names and types; the relation itself if these are all."""
    indexes, fields = tuple(wanted), tuple(columns)
    if indexes == tuple(range(len(relation.fields))) and fields == relation.fields:
        return relation
    pairs = zip(indexes, fields, strict=True)
    return Project(relation, tuple(InputRef(field.data_type, index, field.name) for index, field in pairs), fields)


def _padded(side: Relation, start: int, columns: tuple[Field, ...]) -> Relation:
    """Return the rows of a side as rows of a join without a partner."""
    width = len(side.fields)
    expressions = tuple(
        _ref(side, index - start) if start <= index < start + width else Literal(field.data_type, None)
        for index, field in enumerate(columns)
    )
    return Project(side, expressions, columns)
