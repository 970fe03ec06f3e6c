"""Internal. Binds what queries of Hive have: functions and operators by their rules for types."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from wiesel.columnar.expressions import Expression, Literal
from wiesel.columnar.functions.registry import call
from wiesel.columnar.functions.user_functions import user_call
from wiesel.columnar.type_rules import is_text
from wiesel.sql.binding.calls import called
from wiesel.sql.binding.user_calls import scalar
from wiesel.sql.hive.conversions import STRING, compared, hive_cast
from wiesel.sql.language.hive.nodes import HiveCall, HiveCast, HiveEquals, HiveString
from wiesel.types import logical as t

if TYPE_CHECKING:
    from wiesel.sql.binding.expressions import ExpressionBinder

__all__ = ["HIVE"]


def _call(binder: ExpressionBinder, node: HiveCall) -> Expression:
    operands = binder.bind_all(node.expressions)
    name = node.name.upper()
    function = binder.user_functions.get(name)
    return called(binder, name, operands) if function is None else user_call(scalar(function), operands)


def _cast(binder: ExpressionBinder, node: HiveCast) -> Expression:
    value, wanted = binder.bind(node.this), node.wanted.data_type
    if isinstance(value.data_type, t.BooleanType) and is_text(wanted):
        # Unlike where it becomes a text by itself it is in capitals.
        value = call("UPPER", [hive_cast(value, STRING)])
    return hive_cast(value, wanted)


HIVE: dict[type[exp.Expr], Callable[[Any, Any], Expression | None]] = {
    HiveCall: _call,
    HiveEquals: lambda binder, node: compared("=", binder.bind(node.this), binder.bind(node.expression)),
    HiveString: lambda binder, node: Literal(t.VarCharType(t.MAX_LENGTH, False), node.this),
    HiveCast: _cast,
}
