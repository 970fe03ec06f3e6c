"""Internal. Signs of binary operators."""

from __future__ import annotations

from sqlglot import exp

__all__ = ["SIGNS"]

SIGNS: dict[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.DPipe: "||",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "IS NOT DISTINCT FROM",
    exp.NullSafeNEQ: "IS DISTINCT FROM",
    exp.And: "AND",
    exp.Or: "OR",
    exp.Like: "LIKE",
    exp.SimilarTo: "SIMILAR TO",
}
"""Nodes of sqlglot -> the names of functions in the registry."""
