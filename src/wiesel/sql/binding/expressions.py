"""Internal. Binds expressions: from nodes of sqlglot to typed expressions over the columns of a scope."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from types import MappingProxyType
from typing import Any

from sqlglot import exp

from wiesel.columnar.expressions import Call, Expression, InputRef, Literal
from wiesel.columnar.functions.registry import call, cast
from wiesel.columnar.type_rules import is_text, least_restrictive
from wiesel.core.errors import ProgramError
from wiesel.sql.binding import literals
from wiesel.sql.binding.built import BUILT
from wiesel.sql.binding.calls import CALLS, replaced_call
from wiesel.sql.binding.hive import HIVE
from wiesel.sql.binding.problems import at, problem
from wiesel.sql.binding.scope import Scope
from wiesel.sql.catalog.user_functions import AnyFunction
from wiesel.sql.language import nodes
from wiesel.sql.language.signs import SIGNS
from wiesel.types import logical as t

__all__ = ["ExpressionBinder", "is_true", "name_of"]

_WITHOUT_NULL = frozenset({"+", "-", "*", "/", "%", "AND", "OR"})
_NAMES_OF_FUNCTIONS = frozenset({"LOCALTIME", "LOCALTIMESTAMP", "PI"})


class ExpressionBinder:
    """Binds expressions over one scope. Subclasses or ``hooks`` take nodes that mean something in a certain place only."""

    def __init__(self, sql: str, scope: Scope, user_functions: Mapping[str, AnyFunction] = MappingProxyType({})) -> None:
        self.sql = sql
        self.scope = scope
        self.user_functions = user_functions
        """Functions of users and modules by what they are called in capitals; they come before those of Flink."""
        self.known: dict[int, Expression] = {}
        """Expressions of nodes, by ``id``, that are bound already."""

    def is_known(self, node: exp.Expr) -> bool:
        """Return whether a node is bound already."""
        return id(node) in self.known

    def bind(self, node: exp.Expr) -> Expression:
        """Return the typed expression of a node.

        Raises:
            SqlParseError: If a name is not known or types do not fit; tells the place.
        """
        known = self.known.get(id(node))
        if known is not None:
            return known
        with at(self.sql, node):
            bound = self._bind(node)
        if bound is None:
            raise problem(self.sql, node, *_refusal(node))
        return bound

    def bind_all(self, nodes_: Iterable[exp.Expr]) -> list[Expression]:
        """Return the typed expressions of several nodes."""
        return [self.bind(node) for node in nodes_]

    def _bind(self, node: exp.Expr) -> Expression | None:
        sign = SIGNS.get(type(node))
        if sign is not None:
            if isinstance(node.this, exp.Tuple) and isinstance(node.expression, exp.Tuple) and sign in ("=", "<>"):
                return _of_tuples(self, node.this, node.expression, sign)
            operands = self.bind_all([node.this, node.expression])
            if sign in _WITHOUT_NULL and any(isinstance(operand.data_type, t.NullType) for operand in operands):
                raise ProgramError(f"NULL cannot be used with {sign}", hint="give it a type: CAST(NULL AS INT)")
            return _negated_if(node, call(sign, operands))
        handler = _HANDLERS.get(type(node))
        if handler is None:
            return None
        return (replaced_call(self, node) if self.user_functions else None) or handler(self, node)


def _of_tuples(binder: ExpressionBinder, left: Any, right: Any, sign: str) -> Expression:
    """Return the comparison of ``(a, b)`` and ``(c, d)``, part by part."""
    if len(left.expressions) != len(right.expressions) or not left.expressions:
        raise ProgramError("rows with different numbers of values are compared", hint="write as many values on both sides")
    pairs = zip(left.expressions, right.expressions, strict=True)
    parts = [call(sign, binder.bind_all(pair)) for pair in pairs]
    return reduce(lambda one, other: call("AND" if sign == "=" else "OR", [one, other]), parts)


def _negated_if(node: Any, bound: Expression) -> Expression:
    return call("NOT", [bound]) if node.args.get("negate") else bound


def _column(binder: ExpressionBinder, node: Any) -> Expression:
    first, *rest = node.parts
    if not rest:
        return _of_one_name(binder, first)
    names = [part.name for part in rest]
    if binder.scope.source(first.name) is not None:
        return _fields(binder.scope.resolve(names[0], first.name), names[1:])
    if any(field.name == first.name for field in binder.scope.fields):
        return _fields(binder.scope.resolve(first.name), names)
    return binder.scope.resolve(names[-1], first.name)


def _of_one_name(binder: ExpressionBinder, identifier: Any) -> Expression:
    name = identifier.name
    known = any(field.name == name for field in binder.scope.fields)
    if not identifier.args.get("quoted") and not known:
        if name.upper() in _NAMES_OF_FUNCTIONS:
            return call(name.upper(), [])
        if name.upper() == "UNKNOWN":
            return Literal(t.BooleanType(), None)
    return binder.scope.resolve(name)


def _fields(expression: Expression, names: Iterable[str]) -> Expression:
    for name in names:
        expression = call("FIELD OF", [expression], [name])
    return expression


def _bracket(binder: ExpressionBinder, node: Any) -> Expression:
    begin = node.this
    if isinstance(begin, exp.Column) and not begin.table and not begin.this.args.get("quoted") and begin.name.upper() == "MAP":
        return call("MAP", binder.bind_all(node.expressions))
    return call("ITEM", [binder.bind(begin), *binder.bind_all(node.expressions)])


def _negative(binder: ExpressionBinder, node: Any) -> Expression:
    operand = binder.bind(node.this)
    opposite = literals.negated(operand) if isinstance(operand, Literal) else None
    return opposite or call("NEGATE", [operand])


def _interval(binder: ExpressionBinder, node: Any) -> Expression:
    value, unit = node.this, node.args["unit"]
    if isinstance(value, exp.Paren) and isinstance(value.this, exp.Sub):
        later, earlier = binder.bind_all([value.this.this, value.this.expression])
        return call("DIFFERENCE", [later, earlier], [unit.name.upper()])
    span = isinstance(unit, exp.IntervalSpan)
    first, last = (unit.this.name, unit.expression.name.upper()) if span else (unit.name, None)
    sign = "-" if isinstance(value, exp.Neg) else ""
    text = value.this if sign else value
    if not isinstance(text, exp.Literal) or not text.is_string:
        raise ProgramError("an interval is written with a text", hint="write INTERVAL '1' DAY; for a column: x * INTERVAL '1' DAY")
    return literals.interval(sign + text.this, first.upper().removesuffix("S") if first.upper().endswith("S") else first.upper(), last)


def _between(binder: ExpressionBinder, node: Any) -> Expression:
    value, low, high = binder.bind_all([node.this, node.args["low"], node.args["high"]])
    if is_text(value.data_type) and all(isinstance(bound.data_type, t.NumericType) for bound in (low, high)):
        # As a number that both bounds fit into, and not as one of each bound's digits.
        common = least_restrictive([t.BigIntType(False), low.data_type, high.data_type])
        value = value if common is None else cast(value, common)
    inside = call("AND", [call(">=", [value, low]), call("<=", [value, high])])
    if not node.args.get("symmetric"):
        return inside
    return call("OR", [inside, call("AND", [call(">=", [value, high]), call("<=", [value, low])])])


def _in(binder: ExpressionBinder, node: Any) -> Expression | None:
    if node.args.get("query"):
        return None
    if isinstance(node.this, exp.Tuple) and all(isinstance(item, exp.Tuple) for item in node.expressions):
        rows = [_of_tuples(binder, node.this, item, "=") for item in node.expressions]
        return reduce(lambda one, other: call("OR", [one, other]), rows)
    return call("IN", [binder.bind(node.this), *binder.bind_all(node.expressions)])


def _escape(binder: ExpressionBinder, node: Any) -> Expression | None:
    sign = SIGNS.get(type(node.this))
    if sign not in ("LIKE", "SIMILAR TO"):
        return None
    return _negated_if(node.this, call(sign, binder.bind_all([node.this.this, node.this.expression, node.expression])))


def _cast(binder: ExpressionBinder, node: Any) -> Expression | None:
    if not isinstance(node.args["to"], nodes.DataTypeNode):
        return literals.temporal(node)
    name = "TRY_CAST" if isinstance(node, exp.TryCast) else "CAST"
    return call(name, [binder.bind(node.this)], [node.args["to"].data_type])


_HANDLERS: dict[type[exp.Expr], Callable[[Any, Any], Expression | None]] = {
    **CALLS,
    **BUILT,
    **HIVE,
    exp.Column: _column,
    exp.Dot: lambda binder, node: _fields(binder.bind(node.this), [node.expression.name]),
    exp.Literal: lambda binder, node: literals.number_or_text(node),
    exp.HexString: lambda binder, node: literals.bytes_of(node),
    exp.UnicodeString: lambda binder, node: literals.unicode_text(node),
    exp.National: lambda binder, node: literals.text_literal(node.this),
    exp.Introducer: lambda binder, node: literals.text_of_set(node),
    exp.Interval: _interval,
    exp.Boolean: lambda binder, node: Literal(t.BooleanType(False), bool(node.this)),
    exp.Null: lambda binder, node: Literal(t.NullType(), None),
    exp.Paren: lambda binder, node: binder.bind(node.this),
    exp.Neg: _negative,
    exp.Array: lambda binder, node: call("ARRAY", binder.bind_all(node.expressions)),
    exp.Tuple: lambda binder, node: call("ROW", binder.bind_all(node.expressions)),
    exp.Bracket: _bracket,
    exp.Between: _between,
    exp.In: _in,
    exp.Escape: _escape,
    exp.Cast: _cast,
    exp.TryCast: _cast,
}


def is_true(expression: Expression) -> bool:
    """Return whether an expression is the literal TRUE."""
    return isinstance(expression, Literal) and expression.value is True


def name_of(expression: Expression) -> str | None:
    """Return the name that a column gets by its expression, None if it has none."""
    if isinstance(expression, Call) and expression.function == "FIELD OF":
        return str(expression.options[0])
    return expression.name or None if isinstance(expression, InputRef) else None


def _refusal(node: exp.Expr) -> tuple[str, str | None]:
    """Return why a node has no value, and what to do."""
    kind = type(node).__name__.upper()
    if isinstance(node, exp.In | exp.Exists):
        hint = "compute it as a column of a subquery in FROM"
        return f"{kind} with a query is not supported here in this version", hint
    if isinstance(node, exp.Subquery):
        return "a query in place of a value is not supported here in this version", "compute it in a subquery in FROM, and join that"
    return f"{kind} cannot be used here", None
