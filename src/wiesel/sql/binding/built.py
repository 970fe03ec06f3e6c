"""Internal. Binds the nodes that programs build."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from wiesel.columnar.expressions import Expression
from wiesel.columnar.functions.registry import call, cast
from wiesel.columnar.functions.user_functions import user_call
from wiesel.core.errors import ProgramError
from wiesel.sql.binding.calls import called
from wiesel.sql.binding.user_calls import scalar
from wiesel.sql.language.built_nodes import BuiltIn, FieldAt, Nullable, OverAlias, Plus, Stand, Text, UserCall, WindowProperty
from wiesel.sql.language.cursor import Cursor
from wiesel.types import logical as t

if TYPE_CHECKING:
    from wiesel.sql.binding.expressions import ExpressionBinder

__all__ = ["BUILT"]

_TEXTS = (t.CharType, t.VarCharType)
# By their types in the Table API; in SQL they may always be NULL.
_NULL_AS_OPERANDS = frozenset({"TO_DATE", "TO_TIMESTAMP", "FROM_UNIXTIME"})


def _built_in(binder: ExpressionBinder, node: BuiltIn) -> Expression:
    operands = binder.bind_all(node.expressions)
    if node.name == "ROW":
        return _row(operands)
    bound = call(node.name, operands, node.options) if node.options else called(binder, node.name, operands)
    if node.name in _NULL_AS_OPERANDS and not any(operand.data_type.is_nullable for operand in operands):
        return replace(bound, data_type=bound.data_type.not_null())
    return _nullable(bound) if node.name == "ELEMENT" or (node.name == "UNIX_TIMESTAMP" and operands) else bound


def _row(operands: list[Expression]) -> Expression:
    """Return the row of values; the Table API calls its fields f0, f1 ..."""
    row = call("ROW", operands)
    return replace(row, data_type=t.RowType([t.RowField(f"f{i}", each.data_type) for i, each in enumerate(operands)], False))


def _nullable(bound: Expression) -> Expression:
    return replace(bound, data_type=bound.data_type.nullable())


def _plus(binder: ExpressionBinder, node: Any) -> Expression:
    operands = binder.bind_all([node.this, node.expression])
    if not any(isinstance(operand.data_type, _TEXTS) for operand in operands):
        return call("+", operands)
    text = t.VarCharType(t.MAX_LENGTH)
    return call("||", [each if isinstance(each.data_type, _TEXTS) else cast(each, text) for each in operands])


def _field_at(binder: ExpressionBinder, node: Any) -> Expression:
    row, place = binder.bind(node.this), int(node.args["place"])
    if not isinstance(row.data_type, t.RowType) or not 0 <= place < len(row.data_type):
        raise ProgramError(f"there is no field {place} in {row.data_type.as_summary_string()}", hint="give the place of a field of a row")
    return call("FIELD OF", [row], [row.data_type.names[place]])


def _text(binder: ExpressionBinder, node: Any) -> Expression:
    inner = type(binder)(node.this, binder.scope, binder.user_functions)
    return inner.bind(Cursor(node.this).expression())


def _user_call(binder: ExpressionBinder, node: UserCall) -> Expression:
    return user_call(scalar(node.function), binder.bind_all(node.expressions))


def _property(binder: ExpressionBinder, node: Any) -> Expression:
    kind = node.args["kind"].lower()
    raise ProgramError(f"there is no window {node.this.name!r} whose {kind} this could be", hint="group by the window's alias")


def _over(binder: ExpressionBinder, node: Any) -> Expression:
    raise ProgramError(f"there is no window {node.args['alias']!r}", hint="name it with over_window(...) before select()")


BUILT: dict[type[exp.Expr], Callable[[Any, Any], Expression | None]] = {
    Nullable: lambda binder, node: _nullable(binder.bind(node.this)),
    Stand: lambda binder, node: node.bound,
    BuiltIn: _built_in,
    Plus: _plus,
    FieldAt: _field_at,
    Text: _text,
    UserCall: _user_call,
    WindowProperty: _property,
    OverAlias: _over,
}
