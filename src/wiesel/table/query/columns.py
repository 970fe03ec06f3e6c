"""Internal. The columns that expressions stand for, and what they are called."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sqlglot import exp

from wiesel.columnar.expressions import Literal
from wiesel.core.errors import ProgramError
from wiesel.sql.binding.aggregates import call_parts
from wiesel.sql.language.built_nodes import BuiltIn, FieldAt, Stand, UserCall, WindowProperty
from wiesel.sql.plan.relations import Field
from wiesel.table.query.ast_nodes import built_in, column
from wiesel.types import logical as t

__all__ = ["aliased", "expanded", "is_aggregate", "named", "named_over_groups", "rebuilt", "summaries"]

_PLACES = ("WITH_COLUMNS", "WITHOUT_COLUMNS", "RANGE")


def rebuilt(node: exp.Expr, change: Callable[[exp.Expr], Any]) -> exp.Expr:
    """Return a new expression with parts exchanged; ``change`` returns None for what stays (and is looked into)."""
    changed = change(node)
    if changed is not None:
        return changed  # type: ignore[no-any-return]
    args: dict[str, Any] = {}
    for name, part in node.args.items():
        if isinstance(part, exp.Expr):
            args[name] = rebuilt(part, change)
        elif isinstance(part, list):
            args[name] = [rebuilt(each, change) if isinstance(each, exp.Expr) else each for each in part]
        else:
            args[name] = part
    made = type(node)(**args)
    made.meta.update(node.meta)
    return made


def expanded(nodes: Sequence[exp.Expr], fields: Sequence[Field], type_of: Callable[[exp.Expr], t.DataType]) -> list[exp.Expr]:
    """Return expressions with columns in the place of what stands for several.

    Args:
        nodes: The expressions.
        fields: The columns that there are.
        type_of: Returns the type of an expression.

    Raises:
        ProgramError: If a column is not known.
    """
    return [made for node in nodes for made in _expanded(node, fields, type_of)]


def _expanded(node: exp.Expr, fields: Sequence[Field], type_of: Callable[[exp.Expr], t.DataType]) -> Iterator[exp.Expr]:
    names = [field.name for field in fields]
    if isinstance(node, exp.Star):
        yield from map(column, names)
    elif isinstance(node, BuiltIn) and node.name in _PLACES:
        yield from map(column, _chosen(node, names))
    elif isinstance(node, BuiltIn) and node.name == "FLATTEN":
        yield from _fields_of(node.expressions[0], type_of)
    elif isinstance(node, BuiltIn | UserCall | exp.Anonymous | exp.Alias):
        yield rebuilt(node, lambda part: _with_columns(part, fields, type_of))
    else:
        yield node


def _with_columns(node: exp.Expr, fields: Sequence[Field], type_of: Callable[[exp.Expr], t.DataType]) -> exp.Expr | None:
    """Return a call with columns in place of what stands for several among its arguments."""
    operands = getattr(node, "expressions", None)
    if not operands or not any(isinstance(each, exp.Star | BuiltIn) for each in operands):
        return None
    made = type(node)(**{**node.args, "expressions": expanded(operands, fields, type_of)})
    made.meta.update(node.meta)
    return made


def _chosen(node: exp.Expr, names: Sequence[str]) -> list[str]:
    operands = [node] if node.name == "RANGE" else node.expressions
    places = [place for operand in operands for place in _places(operand, names)]
    if node.name == "WITHOUT_COLUMNS":
        return [name for place, name in enumerate(names) if place not in places]
    return [names[place] for place in places]


def _places(operand: exp.Expr, names: Sequence[str]) -> Sequence[int]:
    if isinstance(operand, exp.Star):
        return range(len(names))
    if isinstance(operand, BuiltIn) and operand.name == "RANGE":
        first, last = (_place(each, names) for each in operand.expressions)
        return range(first, last + 1)
    return [_place(operand, names)]


def _place(operand: exp.Expr, names: Sequence[str]) -> int:
    bound = operand.bound if isinstance(operand, Stand) else None
    value = bound.value if isinstance(bound, Literal) else operand.name if isinstance(operand, exp.Column) else None
    if isinstance(value, str) and value in names:
        return list(names).index(value)
    if isinstance(value, int) and 1 <= value <= len(names):
        return value - 1
    raise ProgramError(f"there is no column {value!r}", hint=f"the columns are: {', '.join(map(t.quoted, names))}")


def _fields_of(row: exp.Expr, type_of: Callable[[exp.Expr], t.DataType]) -> Iterator[exp.Expr]:
    of = type_of(row)
    if not isinstance(of, t.RowType):
        yield row
        return
    for name in of.names:
        yield aliased(exp.Dot(this=row, expression=exp.Identifier(this=name, quoted=True)), _name_of(row, name))


def _name_of(row: exp.Expr, field: str) -> str:
    known = _own_name(row)
    return field if known is None else f"{known}${field}"


# Names


def aliased(node: exp.Expr, name: str) -> exp.Expr:
    """Return an expression under a name."""
    inner = node.this if isinstance(node, exp.Alias) else node
    return exp.Alias(this=inner, alias=exp.Identifier(this=name, quoted=True))


def _own_name(node: exp.Expr) -> str | None:
    """Return the name that a column has by its expression, as in Flink."""
    if isinstance(node, exp.Alias):
        return node.alias
    if isinstance(node, exp.Column):
        return node.name
    if isinstance(node, exp.Dot):
        return _name_of(node.this, node.expression.name)
    if isinstance(node, FieldAt):
        return _name_of(node.this, f"_{node.args['place']}")
    if isinstance(node, BuiltIn) and node.name == "CAST":
        inner = _own_name(node.expressions[0])
        return None if inner is None else f"{inner}-{node.options[0].as_summary_string()}"
    return None


def named(nodes: Sequence[exp.Expr]) -> list[exp.Expr]:
    """Return expressions with the names that Flink gives their columns.

    Raises:
        ProgramError: If two have the same.
    """
    return _told_apart([aliased(node, _own_name(node) or f"_c{place}") for place, node in enumerate(nodes)])


def _told_apart(nodes: list[exp.Expr]) -> list[exp.Expr]:
    names = [node.alias for node in nodes]
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise ProgramError(f"two columns are called {t.quoted(twice)}", hint="give one of them another name with alias()")
    return nodes


def is_aggregate(node: exp.Expr) -> bool:
    """Return whether an expression is the call of an aggregate function, of Flink or of the user."""
    if isinstance(node, UserCall):
        return bool(getattr(node.function, "is_aggregate", False))
    return call_parts(node) is not None


def summaries(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the aggregates and properties of windows in an expression."""
    if is_aggregate(node) or isinstance(node, WindowProperty):
        yield node
        return
    for part in node.iter_expressions():
        yield from summaries(part)


def named_over_groups(nodes: Sequence[exp.Expr]) -> list[exp.Expr]:
    """Return expressions over groups with the names that Flink gives their columns: ``EXPR$0`` ... for aggregates."""
    order: list[exp.Expr] = []
    for node in nodes:
        order.extend(each for each in summaries(node) if each not in order)
    return named([aliased(node, f"EXPR${order.index(node)}") if node in order else node for node in nodes])


def row_of(names: Sequence[str]) -> exp.Expr:
    """Return the row of some columns."""
    return built_in("ROW", [column(name) for name in names])
