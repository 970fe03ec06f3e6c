"""Internal. UNNEST and LATERAL TABLE in FROM: what belongs to a row beside it, elements of a collection or rows of a function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from wiesel.columnar.expressions import Expression
from wiesel.sql.binding.problems import problem
from wiesel.sql.binding.scope import Scope, Source
from wiesel.sql.binding.selection import bound_condition, unique_names
from wiesel.sql.binding.user_calls import table_function_call
from wiesel.sql.plan.lateral_relations import Unnest
from wiesel.sql.plan.relations import Field, JoinType, Relation, Values
from wiesel.sql.rules.push_down import filtered
from wiesel.types import logical as t

if TYPE_CHECKING:
    from wiesel.sql.binding.queries import QueryBinder

__all__ = ["unnest_first", "unnest_joined"]

_PLACE = "ORDINALITY"


def unnest_first(queries: QueryBinder, node: exp.Unnest | exp.Lateral) -> tuple[Relation, Source]:
    """Return the elements of a collection that reads no other item of FROM."""
    nothing = Values(((),), ())
    return _unnested(queries, nothing, Scope([]), node, JoinType.INNER)


def unnest_joined(queries: QueryBinder, left: Relation, scope: Scope, node: exp.Join) -> tuple[Relation, Scope]:
    """Return rows beside the elements of a collection of theirs.

    Raises:
        SqlParseError: If rows are asked for that there cannot be.
    """
    kind = JoinType(node.args.get("side") or "INNER")
    on = node.args.get("on")
    what = "LATERAL TABLE" if isinstance(node.this, exp.Lateral) else "UNNEST"
    if kind not in (JoinType.INNER, JoinType.LEFT):
        raise problem(queries.sql, node, f"a {kind.value} JOIN cannot have {what} on its right side", "use CROSS JOIN or LEFT JOIN")
    if node.args.get("using") is not None or node.args.get("method") == "NATURAL":
        raise problem(queries.sql, node, f"{what} cannot be joined by columns", "use CROSS JOIN and a condition in WHERE")
    if kind is JoinType.LEFT and not (isinstance(on, exp.Boolean) and on.this):
        raise problem(queries.sql, node, f"a LEFT JOIN with {what} needs the condition TRUE", f"write LEFT JOIN {what}(...) ON TRUE")
    relation, source = _unnested(queries, left, scope, node.this, kind)
    both = Scope([*scope.sources, source], scope.merged, scope.outer)
    if on is not None and kind is JoinType.INNER:
        relation = filtered(relation, bound_condition(queries.sql, queries.expressions(both), on))
    return relation, both


def _collection(queries: QueryBinder, scope: Scope, node: exp.Unnest | exp.Lateral) -> Expression:
    if isinstance(node, exp.Lateral):
        return table_function_call(queries, scope, node)
    if len(node.expressions) != 1:
        raise problem(queries.sql, node, "UNNEST takes one collection", "write a CROSS JOIN UNNEST(...) per collection")
    return queries.expressions(scope).bind(node.expressions[0])


def _unnested(
    queries: QueryBinder, left: Relation, scope: Scope, node: exp.Unnest | exp.Lateral, kind: JoinType
) -> tuple[Relation, Source]:
    collection = _collection(queries, scope, node)
    place = node.args.get("offset")
    elements = _element_fields(queries, node, collection.data_type)
    if place:
        elements.append(Field(_PLACE, t.IntType(nullable=False)))
    alias = node.args.get("alias")
    name = alias.name if alias is not None and alias.name else None
    if name is not None and scope.source(name) is not None:
        raise problem(queries.sql, node, f"there are two tables {t.quoted(name)}", "give one of them another name with AS")
    names = [column.name for column in (alias.args.get("columns") or ())] if alias is not None else []
    if isinstance(place, exp.Identifier):
        names.append(place.name)  # the parser takes the last name of the alias for the place
    fields = _named(queries, node, elements, names, kind)
    labels = unique_names([field.name for field in (*left.fields, *fields)])
    columns = tuple(Field(label, field.data_type, field.time) for label, field in zip(labels, (*left.fields, *fields), strict=True))
    relation = Unnest(left, collection, kind is JoinType.LEFT, bool(place), columns)
    return relation, Source(name, fields, len(left.fields))


def _named(
    queries: QueryBinder, node: exp.Unnest | exp.Lateral, elements: list[Field], names: list[str], kind: JoinType
) -> tuple[Field, ...]:
    if names and len(names) != len(elements):
        raise problem(queries.sql, node, f"the alias names {len(names)} columns, but there are {len(elements)}")
    return tuple(
        Field(name, field.data_type.nullable() if kind is JoinType.LEFT else field.data_type)
        for name, field in zip(names or [field.name for field in elements], elements, strict=True)
    )


def _element_fields(queries: QueryBinder, node: exp.Unnest | exp.Lateral, of: t.DataType) -> list[Field]:
    """Return the columns of an element: those of a row, key and value of a map, otherwise one."""
    if isinstance(of, t.MapType):
        return [Field("KEY", of.key_type), Field("VALUE", of.value_type)]
    if not isinstance(of, t.ArrayType | t.MultisetType):
        message = f"UNNEST takes an ARRAY, a MULTISET or a MAP, this is {of.as_summary_string()}"
        raise problem(queries.sql, node, message, "name a column with a collection")
    element = of.element_type
    if isinstance(element, t.RowType):
        return [Field(field.name, field.data_type) for field in element]
    return [Field("EXPR$0", element)]
