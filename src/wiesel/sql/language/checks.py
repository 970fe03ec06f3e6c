"""Internal. Refuses what sqlglot reads and Flink does not.

sqlglot takes the languages of many databases at once. What of it Flink has is written down here: kinds of nodes, and parts of them that
are not theirs in Flink. So a new version of sqlglot cannot bring new syntax unnoticed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

from wiesel.sql.language import nodes

__all__ = ["find_foreign"]

_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Between, exp.In, exp.Is)
_TEXTS = (exp.Like, exp.ILike, exp.SimilarTo, exp.RegexpLike, exp.Escape, exp.Overlaps, exp.DPipe)
_LOGIC = (exp.And, exp.Or, exp.Not, exp.Paren, exp.Case, exp.If, exp.Exists, exp.Any, exp.All, exp.Null, exp.Boolean, exp.JSON)
_NUMBERS = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Neg, exp.Literal, exp.HexString)
_WRITTEN = (exp.UnicodeString, exp.National, exp.Introducer)
_TIME = (exp.Interval, exp.IntervalSpan, exp.Var, exp.Extract, exp.CurrentDate, exp.CurrentTime, exp.CurrentTimestamp, exp.DataType)
_CALLS = (exp.Anonymous, exp.Cast, exp.TryCast, exp.Ceil, exp.Floor, exp.Overlay, exp.StrPosition, exp.Substring, exp.Trim, exp.Filter)
_AGGREGATES = (exp.Distinct, exp.Window, exp.WindowSpec, exp.WithinGroup, exp.Order, exp.Ordered, exp.IgnoreNulls, exp.RespectNulls)
_VALUES = (exp.Array, exp.Bracket, exp.Tuple, exp.Values, exp.Dot, exp.Star, exp.Column, exp.Identifier, exp.Alias, exp.TableAlias)
_QUERIES = (exp.Select, exp.Subquery, exp.With, exp.CTE, exp.Union, exp.Except, exp.Intersect, exp.Where, exp.Having, exp.Qualify)
_GROUPS = (exp.Group, exp.GroupingSets, exp.Cube, exp.Rollup, exp.Limit, exp.LimitOptions, exp.Offset, exp.Fetch, exp.Hint)
_TABLES = (exp.From, exp.Table, exp.TableFromRows, exp.Join, exp.Lateral, exp.Unnest, exp.Version)

_KINDS = frozenset(
    {
        *(_COMPARISONS + _TEXTS + _LOGIC + _NUMBERS + _WRITTEN + _TIME + _CALLS + _AGGREGATES + _VALUES + _QUERIES + _GROUPS + _TABLES),
        *(getattr(nodes, name) for name in nodes.__all__),
    }
)

_SELECT = "distinct expressions from_ group having hint joins limit offset order qualify where windows with_"
_SET_OPERATION = "this expression distinct with_ order limit offset"
_PARTS = {
    exp.Select: frozenset(_SELECT.split()),
    exp.Union: frozenset(_SET_OPERATION.split()),
    exp.Except: frozenset(_SET_OPERATION.split()),
    exp.Intersect: frozenset(_SET_OPERATION.split()),
    exp.Table: frozenset(("this", "db", "catalog", "alias", "version", "hints")),
    exp.Subquery: frozenset(("this", "alias", "with_", "order", "limit", "offset")),
    exp.Lateral: frozenset(("this", "alias")),
    exp.Limit: frozenset(("expression",)),
    exp.Offset: frozenset(("expression",)),
    exp.Distinct: frozenset(("expressions",)),
    exp.Star: frozenset(),
    exp.In: frozenset(("this", "expressions", "query")),
    exp.Join: frozenset(("this", "side", "kind", "method", "on", "using")),
}

_WORDS = {
    "except_": "EXCEPT behind *",
    "sample": "TABLESAMPLE",
    "pivots": "PIVOT",
    "locks": "FOR UPDATE",
    "into": "INTO",
    "laterals": "LATERAL VIEW",
    "expressions": "BY",
    "on": "DISTINCT ON",
    "only": "ONLY",
    "unnest": "IN UNNEST",
    "field": "IN without brackets",
}


def find_foreign(tree: exp.Expr) -> tuple[exp.Expr, str] | None:
    """Return the first node that is not Flink's, with what is wrong with it; None if there is none."""
    for node in tree.walk(bfs=False):
        if isinstance(node, exp.All | exp.Any) and not isinstance(node.this, exp.Query):
            return node, f"{type(node).__name__.upper()} takes a query"
        if type(node) not in _KINDS:
            return node, f"{type(node).__name__.upper()} is not part of Flink's SQL"
        parts = _PARTS.get(type(node))
        if parts is not None:
            for part, value in node.args.items():
                if part not in parts and value not in (None, False, [], ()):
                    return node, f"{_WORDS.get(part, part)} is not part of Flink's SQL"
        problem = next(_incomplete(node), None)
        if problem is not None:
            return node, problem
    return None


def _incomplete(node: exp.Expr) -> Iterator[str]:
    check = _CHECKS.get(type(node))
    if check is not None:
        found = check(node)
        if found:
            yield found


def _check_select(node: exp.Expr) -> str:
    return "" if node.expressions else "SELECT is followed by no column"


def _check_group(node: exp.Expr) -> str:
    return "" if any(value for value in node.args.values()) else "GROUP BY is followed by no column"


def _check_in(node: exp.Expr) -> str:
    return "" if node.expressions or node.args.get("query") else "IN is followed by no value"


def _check_distinct(node: exp.Expr) -> str:
    select = isinstance(node.parent, exp.Select | exp.SetOperation)
    return "" if select or node.expressions else "DISTINCT is followed by no value"


def _check_interval(node: exp.Expr) -> str:
    return "" if node.args.get("unit") else "an interval needs a unit, such as INTERVAL '1' DAY"


def _check_join(node: exp.Expr) -> str:
    return f"{node.args['kind']} JOIN is not part of Flink's SQL" if node.args.get("kind") in ("SEMI", "ANTI", "ASOF") else ""


def _check_cast(node: exp.Expr) -> str:
    # DATE '2020-01-01' is one, too.
    literal = isinstance(node.this, exp.Literal)
    return "" if literal or isinstance(node.args["to"], nodes.DataTypeNode) else "a cast is written CAST(value AS TYPE)"


_CHECKS: dict[type[exp.Expr], Callable[[exp.Expr], str]] = {
    exp.Select: _check_select,
    exp.Group: _check_group,
    exp.In: _check_in,
    exp.Distinct: _check_distinct,
    exp.Interval: _check_interval,
    exp.Join: _check_join,
    exp.Cast: _check_cast,
}
