"""Internal. Expressions as text, for those who look at them."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from wiesel.sql.language.built_nodes import FieldAt, OverAlias, Plus, Stand, Text, WindowProperty
from wiesel.sql.language.signs import SIGNS
from wiesel.types.logical import quoted

__all__ = ["shown"]

_SIGNS: dict[type[exp.Expr], str] = {**SIGNS, Plus: "+"}


def shown(node: Any) -> str:
    """Return an expression in a notation close to SQL."""
    sign = _SIGNS.get(type(node))
    if sign is not None:
        return f"{_operand(node.this)} {sign} {_operand(node.expression)}"
    special = _SPECIAL.get(type(node))
    if special is not None:
        return str(special(node))
    name = node.name if isinstance(node.this, str) and node.this else type(node).__name__.upper()
    parts = node.expressions or [part for part in node.args.values() if isinstance(part, exp.Expr)]
    return f"{name}({', '.join(map(shown, parts))})"


def _operand(node: exp.Expr) -> str:
    return f"({shown(node)})" if type(node) in _SIGNS else shown(node)


_SPECIAL: dict[type[exp.Expr], Any] = {
    Stand: lambda node: str(node.bound) if hasattr(node.bound, "data_type") else "a table",
    exp.Column: lambda node: quoted(node.name),
    exp.Alias: lambda node: f"{shown(node.this)} AS {quoted(node.alias)}",
    exp.Distinct: lambda node: f"DISTINCT {', '.join(map(shown, node.expressions))}",
    exp.Dot: lambda node: f"{_operand(node.this)}.{quoted(node.expression.name)}",
    exp.Not: lambda node: f"NOT {_operand(node.this)}",
    exp.Ordered: lambda node: f"{shown(node.this)} {'DESC' if node.args.get('desc') else 'ASC'}",
    FieldAt: lambda node: f"{_operand(node.this)}.{node.args['place']}",
    OverAlias: lambda node: f"{shown(node.this)} OVER {quoted(node.args['alias'])}",
    Text: lambda node: str(node.this),
    WindowProperty: lambda node: f"{node.args['kind']}({shown(node.this)})",
}
