"""Internal. Binds expressions: from nodes of sqlglot to typed expressions over the columns of a scope."""

from __future__ import annotations

import decimal
from collections.abc import Callable
from typing import Any

from sqlglot import exp

from wiesel.columnar.expressions import Expression, InputRef, Literal
from wiesel.columnar.functions.registry import call
from wiesel.sql.binding.problems import at, problem
from wiesel.sql.binding.scope import Scope
from wiesel.sql.language import nodes
from wiesel.types import logical as t

__all__ = ["ExpressionBinder"]

_SIGNS: dict[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.And: "AND",
    exp.Or: "OR",
}


class ExpressionBinder:
    """Binds expressions over one scope. Subclasses or ``hooks`` take nodes that mean something in a certain place only."""

    def __init__(self, sql: str, scope: Scope) -> None:
        self.sql = sql
        self.scope = scope

    def bind(self, node: exp.Expr) -> Expression:
        """Return the typed expression of a node.

        Raises:
            SqlParseError: If a name is not known or types do not fit; tells the place.
        """
        with at(self.sql, node):
            bound = self._bind(node)
        if bound is None:
            raise problem(self.sql, node, f"{type(node).__name__.upper()} cannot be used here")
        return bound

    def _bind(self, node: exp.Expr) -> Expression | None:
        sign = _SIGNS.get(type(node))
        if sign is not None:
            return call(sign, [self.bind(node.this), self.bind(node.expression)])
        handler = _HANDLERS.get(type(node))
        return None if handler is None else handler(self, node)


def _column(binder: ExpressionBinder, node: Any) -> Expression:
    return binder.scope.resolve(node.name, node.table or None)


def _literal(binder: ExpressionBinder, node: Any) -> Expression:
    text = node.this
    if node.is_string:
        return Literal(t.CharType(max(len(text), 1), False), text)
    if any(letter in text for letter in "eE"):
        return Literal(t.DoubleType(False), float(text))
    if "." in text:
        number = decimal.Decimal(text)
        _, digits, exponent = number.as_tuple()
        scale = -int(exponent)
        return Literal(t.DecimalType(max(len(digits), scale), scale, False), number)
    value = int(text)
    kind = t.IntType if abs(value) < 2**31 else t.BigIntType
    return Literal(kind(False), value)


def _is(binder: ExpressionBinder, node: Any) -> Expression:
    tested = binder.bind(node.this)
    if isinstance(node.expression, exp.Null):
        return call("IS NULL", [tested])
    raise problem(binder.sql, node, f"IS {node.expression.sql()} cannot be used here")


def _cast(binder: ExpressionBinder, node: Any) -> Expression:
    if not isinstance(node.args["to"], nodes.DataTypeNode):
        raise problem(binder.sql, node, "literals of this type cannot be used here")
    return call("CAST", [binder.bind(node.this)], [node.args["to"].data_type])


_HANDLERS: dict[type[exp.Expr], Callable[[ExpressionBinder, Any], Expression]] = {
    exp.Column: _column,
    exp.Literal: _literal,
    exp.Boolean: lambda binder, node: Literal(t.BooleanType(False), bool(node.this)),
    exp.Null: lambda binder, node: Literal(t.NullType(), None),
    exp.Paren: lambda binder, node: binder.bind(node.this),
    exp.Not: lambda binder, node: call("NOT", [binder.bind(node.this)]),
    exp.Is: _is,
    exp.Cast: _cast,
    exp.Anonymous: lambda binder, node: call(node.name.upper(), [binder.bind(operand) for operand in node.expressions]),
}


def is_true(expression: Expression) -> bool:
    """Return whether an expression is the literal TRUE."""
    return isinstance(expression, Literal) and expression.value is True


def name_of(expression: Expression) -> str | None:
    """Return the name that a column gets by its expression, None if it has none."""
    return expression.name or None if isinstance(expression, InputRef) else None
