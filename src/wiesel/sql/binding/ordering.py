"""Internal. ORDER BY, LIMIT, OFFSET and FETCH."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from sqlglot import exp

from wiesel.columnar.expressions import Expression, InputRef
from wiesel.sql.binding.expressions import ExpressionBinder
from wiesel.sql.binding.problems import problem
from wiesel.sql.binding.scope import Scope, Source
from wiesel.sql.binding.selection import Selection
from wiesel.sql.plan.relations import Field, Relation, SortKey, TopN
from wiesel.sql.rules.project import projected
from wiesel.types import logical as t

__all__ = ["ordered", "ordered_selection", "without_keys"]

_NUMBER = Field("$row_number", t.BigIntType(False))


def ordered_selection(selection: Selection) -> None:
    """Order the rows of a SELECT, and leave some. Keys may be columns that it names, their places, or of what it reads."""
    node, sql = selection.node, selection.queries.sql
    order = node.args.get("order")
    names = Scope([Source(None, selection.relation.fields, 0)])
    hidden: list[Expression] = []
    keys: list[InputRef] = []
    for part in order.expressions if order else ():
        keys.append(_named(sql, names, part.this) or _below(selection, part.this, hidden))
    if not hidden:
        selection.relation = _first(sql, node, selection.relation, keys)
        return
    fields = selection.relation.fields
    below = selection.read or selection.relation
    times = [below.fields[key.index].time if isinstance(key, InputRef) else None for key in hidden]
    columns = [*fields, *(Field(f"$key{index}", key.data_type, time) for index, (key, time) in enumerate(zip(hidden, times, strict=True)))]
    wide = projected(below, [*(bound for bound, _ in selection.items), *hidden], columns)
    refs = [InputRef(field.data_type, index, field.name) for index, field in enumerate(fields)]
    selection.relation = projected(_first(sql, node, wide, keys), refs, fields)


def ordered(sql: str, node: exp.Expr, relation: Relation) -> Relation:
    """Return the rows of a query in its order, and those that its LIMIT leaves.

    Raises:
        SqlParseError: If a key is no column.
    """
    order = node.args.get("order")
    names = Scope([Source(None, relation.fields, 0)])
    keys = []
    for part in order.expressions if order else ():
        key = _named(sql, names, part.this) or ExpressionBinder(sql, names).bind(part.this)
        if not isinstance(key, InputRef):
            raise problem(sql, part, "ORDER BY can use columns of the result only here", "write a SELECT around the query")
        keys.append(key)
    return _first(sql, node, relation, keys)


def _named(sql: str, names: Scope, node: exp.Expr) -> InputRef | None:
    """Return the column of the result that a key names or counts; None if it does neither."""
    if isinstance(node, exp.Literal) and not node.is_string:
        # As Flink does: of a number with a fraction its whole part.
        place, count = int(Decimal(node.this)), len(names.fields)
        if not 1 <= place <= count:
            raise problem(sql, node, f"ORDER BY {node.this}: there are {count} columns")
        return names.sources[0].column(place - 1)
    if isinstance(node, exp.Column) and not node.table:
        found = [index for index, field in enumerate(names.fields) if field.name == node.name]
        return names.sources[0].column(found[0]) if len(found) == 1 else None
    return None


def _below(selection: Selection, node: exp.Expr, hidden: list[Expression]) -> InputRef:
    """Return a key that reads what SELECT reads, maybe as a further column."""
    bound = selection.binder.bind(node)
    found = [expression for expression, _ in selection.items] + hidden
    if bound not in found:
        if selection.node.args.get("distinct"):
            raise selection.refuse(node, "ORDER BY can use columns of the result only with DISTINCT", "add the column to SELECT")
        hidden.append(bound)
        found.append(bound)
    return InputRef(bound.data_type, found.index(bound))


def _first(sql: str, node: exp.Expr, relation: Relation, keys: list[InputRef]) -> Relation:
    limit, offset = (_number_of(sql, node.args.get(clause)) for clause in ("limit", "offset"))
    if not keys and limit is None and offset is None:
        return relation
    parts = node.args["order"].expressions if node.args.get("order") else ()
    sort_keys = tuple(
        SortKey(key.index, not part.args.get("desc"), bool(part.args.get("nulls_first"))) for key, part in zip(keys, parts, strict=True)
    )
    first = (offset or 0) + 1
    return TopN(relation, (), sort_keys, _NUMBER, first, None if limit is None else first + limit - 1, numbered=False)


def without_keys(relation: Relation) -> TopN:
    """Return all rows of a relation as those of an order without keys, to take some of them."""
    return TopN(relation, (), (), _NUMBER, numbered=False)


def _number_of(sql: str, node: Any) -> int | None:
    if node is None:
        return None
    value = node.args.get("count") if isinstance(node, exp.Fetch) else node.expression
    if value is None:
        return 1
    if not isinstance(value, exp.Literal) or value.is_string or not value.this.isdigit():
        raise problem(sql, node, "LIMIT, OFFSET and FETCH take a number")
    return int(value.this)
