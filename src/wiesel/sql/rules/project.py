"""Internal. Projections over projections become one, and what is computed for nobody is left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from wiesel.columnar.expressions import Expression, InputRef, input_refs, transformed
from wiesel.sql.plan.relations import Field, Project, Relation, TopN

__all__ = ["projected", "read_through", "with_columns"]


def projected(relation: Relation, expressions: Sequence[Expression], columns: Sequence[Field]) -> Relation:
    """Return columns computed of the rows of a relation."""
    if isinstance(relation, Project) and _is_choice(relation):
        expressions = [read_through(relation, expression) for expression in expressions]
        relation = relation.input
    if isinstance(relation, TopN) and relation.numbered:
        number = len(relation.input.fields)
        if all(number not in input_refs(expression) for expression in expressions):
            relation = replace(relation, numbered=False)
    return Project(relation, tuple(expressions), tuple(columns))


def _is_choice(relation: Project) -> bool:
    return all(isinstance(expression, InputRef) for expression in relation.expressions)


def read_through(relation: Project, expression: Expression) -> Expression:
    """Return an expression over a projection as one over its input."""
    return transformed(expression, lambda part: relation.expressions[part.index] if isinstance(part, InputRef) else None)


def with_columns(relation: Relation, expressions: Sequence[Expression]) -> tuple[Relation, tuple[int, ...]]:
    """Return a relation with further columns behind its own for expressions that are no columns, and the column of each."""
    made: list[Expression] = [InputRef(field.data_type, index, field.name) for index, field in enumerate(relation.fields)]
    fields = list(relation.fields)
    places = []
    for expression in expressions:
        if isinstance(expression, InputRef):
            places.append(expression.index)
            continue
        places.append(len(made))
        made.append(expression)
        fields.append(Field(f"$key{len(made)}", expression.data_type))
    unchanged = len(made) == len(relation.fields)
    return relation if unchanged else Project(relation, tuple(made), tuple(fields)), tuple(places)
