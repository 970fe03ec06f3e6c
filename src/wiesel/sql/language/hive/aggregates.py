"""Internal. Aggregate functions of Hive, made of those of Flink: other names, types of arguments, and results over no rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from wiesel.sql.language.hive.nodes import HiveCall

__all__ = ["AGGREGATES"]

_Change = Callable[[Any], exp.Expr]


def _as(name: str, operand: str | None = None) -> _Change:
    """Return what calls a function of another name, with the first operand converted by an internal function."""

    def change(node: Any) -> exp.Expr:
        first, *others = node.expressions
        if operand is None:
            return exp.Anonymous(this=name, expressions=[first, *others])
        if isinstance(first, exp.Distinct):
            first.set("expressions", [_converted(operand, each) for each in first.expressions])
        else:
            first = _converted(operand, first)
        return exp.Anonymous(this=name, expressions=[first, *others])

    return lambda node: change(node) if node.expressions else exp.Anonymous(this=name)


def _converted(name: str, operand: exp.Expr) -> exp.Expr:
    return operand if isinstance(operand, exp.Star) else HiveCall(this=name, expressions=[operand])


def _collected(*, different: bool) -> _Change:
    """Return the values that are not NULL as an array, an empty one if there are none."""

    def change(node: Any) -> exp.Expr:
        value = node.expressions[0]
        argument = exp.Distinct(expressions=[value]) if different else value
        called = exp.Anonymous(this="ARRAY_AGG", expressions=[argument])
        there = exp.Not(this=exp.Is(this=value.copy(), expression=exp.Null()))
        return HiveCall(this="$or empty array", expressions=[exp.Filter(this=called, expression=exp.Where(this=there))])

    return lambda node: change(node) if len(node.expressions) == 1 else exp.Anonymous(this="ARRAY_AGG", expressions=node.expressions)


def _of_pairs(name: str) -> _Change:
    """Return a function of two columns as one of the sums of the rows that have both."""

    def change(node: Any) -> exp.Expr:
        if len(node.expressions) != 2:
            return HiveCall(this=name, expressions=node.expressions)
        x, y = (HiveCall(this="$double", expressions=[each]) for each in node.expressions)
        there = exp.and_(*(exp.Not(this=exp.Is(this=each.copy(), expression=exp.Null())) for each in (x, y)))

        def over(function: str, *operands: exp.Expr) -> exp.Expr:
            product = HiveCall(this="*", expressions=[each.copy() for each in operands]) if len(operands) == 2 else operands[0].copy()
            called = exp.Anonymous(this=function, expressions=[product])
            return exp.Filter(this=called, expression=exp.Where(this=there.copy()))

        sums = [over("COUNT", x), over("SUM", x), over("SUM", y), over("SUM", x, y), over("SUM", x, x), over("SUM", y, y)]
        return HiveCall(this=f"$${name}", expressions=sums)

    return change


def _regression(name: str) -> _Change:
    """Return a function of linear regression over the rows that have both values, the dependent one first."""

    def change(node: Any) -> exp.Expr:
        if len(node.expressions) != 2:
            return HiveCall(this=f"$${name}", expressions=node.expressions)
        y, x = node.expressions
        numbers = [HiveCall(this="$double", expressions=[each]) for each in (y, x)]
        there = exp.and_(*(exp.Not(this=exp.Is(this=each.copy(), expression=exp.Null())) for each in numbers))

        def over(function: str, operand: exp.Expr) -> exp.Expr:
            called = exp.Anonymous(this=function, expressions=[operand.copy()])
            return exp.Filter(this=called, expression=exp.Where(this=there.copy()))

        if name in ("regr_avgx", "regr_avgy"):
            return over("AVG", HiveCall(this="$avg", expressions=[x if name == "regr_avgx" else y]))
        both_y, both_x = numbers
        product = HiveCall(this="*", expressions=[each.copy() for each in numbers])
        sums = [over("COUNT", both_x), over("SUM", both_y), over("SUM", both_x), over("SUM", product)]
        spreads = [over(function, each) for each in (both_y, both_x) for function in ("VAR_POP", "MIN", "MAX")]
        return HiveCall(this=f"$${name}", expressions=[*sums, *spreads])

    return change


_REGRESSIONS = ("count", "slope", "intercept", "r2", "sxx", "syy", "sxy", "avgx", "avgy")


def _grams(name: str) -> _Change:
    """Return the most frequent n-grams of the sentences of all rows, which a function finds in those of each row."""

    def change(node: Any) -> exp.Expr:
        sentences, what, count = node.expressions[:3]
        of_row = HiveCall(this=name, expressions=[sentences, what])
        return exp.Anonymous(this="HIVE.NGRAMS", expressions=[of_row, count])

    return lambda node: change(node) if len(node.expressions) in (3, 4) else HiveCall(this=name, expressions=node.expressions)


AGGREGATES: dict[str, _Change] = {
    "count": _as("COUNT"),
    "sum": _as("SUM", "$sum"),
    "avg": _as("AVG", "$avg"),
    "min": _as("MIN"),
    "max": _as("MAX"),
    "collect_list": _collected(different=False),
    "collect_set": _collected(different=True),
    "stddev_pop": _as("STDDEV_POP", "$double"),
    "stddev_samp": _as("STDDEV_SAMP", "$double"),
    "stddev": _as("STDDEV_POP", "$double"),
    "std": _as("STDDEV_POP", "$double"),
    "var_pop": _as("VAR_POP", "$double"),
    "var_samp": _as("VAR_SAMP", "$double"),
    "variance": _as("VAR_POP", "$double"),
    "percentile": _as("PERCENTILE"),
    "percentile_approx": _as("HIVE.PERCENTILE_APPROX", "$double"),
    "ngrams": _grams("$ngrams"),
    "context_ngrams": _grams("$context_ngrams"),
    "corr": _of_pairs("corr"),
    "covar_pop": _of_pairs("covar_pop"),
    "covar_samp": _of_pairs("covar_samp"),
    **{f"regr_{name}": _regression(f"regr_{name}") for name in _REGRESSIONS},
    "histogram_numeric": _as("HIVE.HISTOGRAM_NUMERIC", "$double"),
    "grouping": _as("GROUPING"),
    **{
        name: _as(name.upper())
        for name in (
            "row_number",
            "rank",
            "dense_rank",
            "ntile",
            "lag",
            "lead",
            "first_value",
            "last_value",
            "cume_dist",
            "percent_rank",
        )
    },
}
"""Replacements of their calls, by name."""
