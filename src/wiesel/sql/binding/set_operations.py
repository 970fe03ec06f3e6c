"""Internal. UNION, INTERSECT, EXCEPT and VALUES."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from sqlglot import exp

from wiesel.columnar.expressions import Call, InputRef, Literal
from wiesel.columnar.functions.registry import call, cast
from wiesel.columnar.functions.user_functions import UserFunction, user_call
from wiesel.columnar.type_rules import least_restrictive
from wiesel.sql.binding.join_columns import join_columns
from wiesel.sql.binding.keys import keyed
from wiesel.sql.binding.ordering import ordered
from wiesel.sql.binding.problems import problem
from wiesel.sql.binding.scope import Scope
from wiesel.sql.plan.lateral_relations import Unnest
from wiesel.sql.plan.relations import Aggregate, AggregateCall, Field, Join, JoinType, Project, Relation, Union, Values
from wiesel.sql.rules.push_down import all_of
from wiesel.types import logical as t

if TYPE_CHECKING:
    from wiesel.sql.binding.queries import QueryBinder

__all__ = ["REPLICAS", "intersect_or_except", "union", "values"]


def union(queries: QueryBinder, node: Any) -> Relation:
    """Return the rows of both sides."""
    sides = fitted(queries.sql, node, [queries.bind(node.this), queries.bind(node.expression)])
    both: Relation = Union(tuple(sides), sides[0].fields)
    return ordered(queries.sql, node, _distinct(queries, node, both) if node.args.get("distinct") else both)


def intersect_or_except(queries: QueryBinder, node: Any) -> Relation:
    """Return the different rows of the first side that are also in the second, or are not; with ALL each as often as that says."""
    left, right = fitted(queries.sql, node, [queries.bind(node.this), queries.bind(node.expression)])
    if not node.args.get("distinct"):
        clause = type(node).__name__.upper()
        sides = (keyed(queries, node, side, clause) for side in (left, right))
        return ordered(queries.sql, node, _as_often(*sides, of_both=isinstance(node, exp.Intersect)))
    width = len(left.fields)
    equal = [
        Call(t.BooleanType(False), "IS NOT DISTINCT FROM", (InputRef(of.data_type, index), InputRef(of.data_type, width + index)))
        for index, of in enumerate(left.fields)
    ]
    kind = JoinType.SEMI if isinstance(node, exp.Intersect) else JoinType.ANTI
    first = _distinct(queries, node, left)
    return ordered(queries.sql, node, Join(first, right, kind, all_of(equal), join_columns(left, right, kind)))


def _as_often(left: Relation, right: Relation, *, of_both: bool) -> Relation:
    """Return each row as often as both sides have it, or as often more as the first side has it."""
    width, many = len(left.fields), t.BigIntType(False)
    counted = (*(Field(field.name, field.data_type) for field in left.fields), Field("$left", many), Field("$right", many))
    sides = []
    for side, counts in ((left, (1, 0)), (right, (0, 1))):
        own = (InputRef(field.data_type, index, field.name) for index, field in enumerate(side.fields))
        sides.append(Project(side, (*own, *(Literal(many, count) for count in counts)), counted))
    sums = tuple(AggregateCall("SUM", (width + place,), many) for place in range(2))
    groups = Aggregate(Union(tuple(sides), counted), tuple(range(width)), sums, counted)
    in_left, in_right = (InputRef(many, width + place) for place in range(2))
    times = call("LEAST", [in_left, in_right]) if of_both else call("-", [in_left, in_right])
    rows = Unnest(groups, user_call(REPLICAS, [times]), False, False, (*counted, Field("$one", t.BooleanType(False))))
    columns = counted[:width]
    return Project(rows, tuple(InputRef(field.data_type, index, field.name) for index, field in enumerate(columns)), columns)


def _replicas(times: Any) -> Any:
    """Return a list of so many values for each number."""
    ends = np.cumsum(np.maximum(times.to_numpy(zero_copy_only=False), 0))
    offsets = pa.array(np.concatenate([[0], ends]).astype(np.int32))
    return pa.ListArray.from_arrays(offsets, pa.array(np.ones(int(ends[-1]) if len(ends) else 0, np.bool_)))


REPLICAS = UserFunction("replicas", _replicas, t.ArrayType(t.BooleanType(False), False), kind="arrow")


def _distinct(queries: QueryBinder, node: exp.Expr, relation: Relation) -> Relation:
    rows = keyed(queries, node, relation, type(node).__name__.upper())
    return Aggregate(rows, tuple(range(len(relation.fields))), (), relation.fields)


def fitted(sql: str, node: exp.Expr, relations: Sequence[Relation]) -> list[Relation]:
    """Return relations with the same columns: the names of the first, the types that all fit into.

    Raises:
        SqlParseError: If they have more or fewer columns, or columns without a common type.
    """
    name = type(node).__name__.upper()
    counts = {len(relation.fields) for relation in relations}
    if len(counts) > 1:
        raise problem(sql, node, f"the queries of {name} must have as many columns, these have {' and '.join(map(str, sorted(counts)))}")
    columns: list[Field] = []
    for place, fields in enumerate(zip(*(relation.fields for relation in relations), strict=True)):
        of = least_restrictive([field.data_type for field in fields])
        if of is None:
            shown = " and ".join(field.data_type.as_summary_string() for field in fields)
            raise problem(sql, node, f"column {place + 1} of the queries of {name} has types without a common one: {shown}")
        columns.append(Field(fields[0].name, of, fields[0].time if len({field.time for field in fields}) == 1 else None))
    return [_as_columns(relation, tuple(columns)) for relation in relations]


def _as_columns(relation: Relation, columns: tuple[Field, ...]) -> Relation:
    if relation.fields == columns:
        return relation
    refs = (InputRef(field.data_type, index, field.name) for index, field in enumerate(relation.fields))
    casts = tuple(cast(ref, column.data_type) for ref, column in zip(refs, columns, strict=True))
    return Project(relation, casts, columns)


def values(queries: QueryBinder, node: exp.Values) -> Relation:
    """Return the rows that VALUES lists."""
    binder = queries.expressions(Scope([]))
    rows = [[binder.bind(each) for each in (row.expressions if isinstance(row, exp.Tuple) else [row])] for row in node.expressions]
    if len({len(row) for row in rows}) > 1:
        raise problem(queries.sql, node, "the rows of VALUES must have as many columns")
    columns: list[Field] = []
    for place, column in enumerate(zip(*rows, strict=True)):
        of = least_restrictive([value.data_type for value in column])
        if of is None:
            shown = " and ".join(dict.fromkeys(value.data_type.as_summary_string() for value in column))
            raise problem(queries.sql, node, f"column {place + 1} of VALUES has types without a common one: {shown}")
        columns.append(Field(f"EXPR${place}", of))
    fit = tuple(tuple(cast(value, column.data_type) for value, column in zip(row, columns, strict=True)) for row in rows)
    return ordered(queries.sql, node, Values(fit, tuple(columns)))
