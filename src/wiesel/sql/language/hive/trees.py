"""Internal. From the trees of Hive's queries, as sqlglot reads them, to those that are bound.

Names become lower case, as in Hive. Operators and functions become calls that follow Hive's rules once the types of their operands are
known, LATERAL VIEW a join with LATERAL, GROUP BY ... WITH CUBE the grouping sets of the standard. Nodes keep their place in the text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from wiesel.core.errors import ProgramError
from wiesel.sql.language import nodes
from wiesel.sql.language.hive.aggregates import AGGREGATES
from wiesel.sql.language.hive.nodes import DEFAULT_GROUPING_ID, WITHIN_REDUCERS, HiveCall, HiveCast, HiveEquals, HiveQuery, HiveString
from wiesel.sql.language.hive.types import parse_hive_type

__all__ = ["HiveProblem", "hive_query", "hive_tree"]

TABLE_FUNCTIONS = frozenset({"explode", "posexplode", "inline", "stack", "json_tuple", "parse_url_tuple"})
_SIGNS: dict[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.IntDiv: "div",
    exp.DPipe: "concat",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "<=>",
    exp.Like: "like",
    exp.RegexpLike: "rlike",
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseXor: "^",
}
_UNITS = ("year", "quarter", "month", "week", "day", "dayofweek", "hour", "minute", "second")
_HINTS_OF_HIVE = frozenset({"MAPJOIN", "STREAMTABLE", "SEMI", "PKFK_JOIN", "NO_PKFK_JOIN"})


class HiveProblem(Exception):  # noqa: N818 - it becomes a SqlParseError with its place
    """Something that is not supported, and the node where it is."""

    def __init__(self, node: exp.Expr, message: str, hint: str) -> None:
        super().__init__(message)
        self.node = node
        self.message = message
        self.hint = hint


def hive_query(tree: exp.Expr) -> HiveQuery:
    """Return a query as it is bound.

    Raises:
        HiveProblem: If it has something that is not supported.
    """
    _name_queries_of_with(tree)
    return HiveQuery(this=hive_tree(tree))


def hive_tree(node: exp.Expr) -> exp.Expr:
    """Return an expression or query with all parts as they are bound.

    Raises:
        HiveProblem: If it has something that is not supported.
    """
    for key, value in list(node.args.items()):
        if isinstance(value, exp.Expr):
            node.set(key, hive_tree(value))
        elif isinstance(value, list):
            node.set(key, [hive_tree(each) if isinstance(each, exp.Expr) else each for each in value])
    change = _CHANGES.get(type(node))
    if change is None:
        return node
    changed = change(node)
    if changed is not node:
        changed.meta.update({**node.meta, **changed.meta})
    return changed


def _name_queries_of_with(tree: exp.Expr) -> None:
    """Write the names of the queries of WITH in lower case wherever they are read; those of other tables stay as they are."""
    named = {each.alias.lower() for each in tree.find_all(exp.CTE)}
    for table in tree.find_all(exp.Table):
        name = table.this
        if isinstance(name, exp.Identifier) and not table.args.get("db") and name.name.lower() in named:
            name.set("this", name.name.lower())


# Names


def _identifier(node: Any) -> exp.Expr:
    if node.name != node.name.lower():
        node.set("this", node.name.lower())
    return node  # type: ignore[no-any-return]


def _table(node: Any) -> exp.Expr:
    if node.args.get("sample"):
        raise HiveProblem(node, "TABLESAMPLE is not supported", "filter by a condition, such as rand() < 0.1")
    if isinstance(node.this, exp.Identifier) and node.args.get("alias") is None:
        node.set("alias", exp.TableAlias(this=exp.to_identifier(node.this.name.lower())))
    return node  # type: ignore[no-any-return]


# Expressions


def _call(name: str, *operands: Any) -> HiveCall:
    return HiveCall(this=name, expressions=list(operands))


def _binary(node: Any) -> exp.Expr:
    called = _call(_SIGNS[type(node)], node.this, node.expression)
    return exp.Not(this=called) if node.args.get("negate") else called


def _equals(node: Any) -> exp.Expr:
    return HiveEquals(this=node.this, expression=node.expression)


def _function(node: Any) -> exp.Expr:
    """Return the call of an aggregate as it is computed, that of another function as one of Hive."""
    name = node.name.lower()
    aggregate = AGGREGATES.get(name)
    if aggregate is not None:
        return aggregate(node)
    if name in TABLE_FUNCTIONS:
        return exp.Anonymous(this=name, expressions=node.expressions)
    return _call(name, *node.expressions)


def _case(node: Any) -> exp.Expr:
    tested = node.args.get("this")
    parts: list[exp.Expr] = []
    for branch in node.args["ifs"]:
        condition, value = _branch(branch)
        parts += [condition if tested is None else HiveEquals(this=tested.copy(), expression=condition), value]
    return _call("case", *parts, node.args.get("default") or exp.Null())


def _branch(node: Any) -> tuple[Any, Any]:
    """Return condition and value of WHEN, which was taken for a call of IF."""
    return node.expressions[0], node.expressions[1]


def _if(node: Any) -> exp.Expr:
    return _call("if", node.this, node.args["true"], node.args.get("false") or exp.Null())


def _between(node: Any) -> exp.Expr:
    low = _call(">=", node.this, node.args["low"])
    high = _call("<=", node.this.copy(), node.args["high"])
    return exp.Paren(this=exp.And(this=low, expression=high))


def _in(node: Any) -> exp.Expr:
    if not node.args.get("query") and not node.expressions:
        raise HiveProblem(node, "there is nothing behind IN", "write values or a query in brackets")
    return node if node.args.get("query") else _call("in", node.this, *node.expressions)


def _extract(node: Any) -> exp.Expr:
    unit = node.this.name.lower()
    if unit not in _UNITS:
        raise HiveProblem(node, f"{node.this.name} is no part of a time", f"write one of {', '.join(_UNITS).upper()}")
    return _call(unit, node.expression)


def _interval(node: Any) -> exp.Expr:
    if node.args.get("unit") is None or node.this is None:
        raise HiveProblem(node, "the interval has no unit", "write INTERVAL 1 DAY")
    return node  # type: ignore[no-any-return]


def _rounded(name: str) -> Callable[[Any], exp.Expr]:
    def change(node: Any) -> exp.Expr:
        unit, operands = node.args.get("to"), [] if node.this is None else [node.this]
        return _call(name if unit is None else f"{name}_{unit.name.lower()}", *operands)

    return change


def _literal(node: Any) -> exp.Expr:
    if node.is_string:
        return node if isinstance(node.parent, exp.Interval) else HiveString(this=node.this, is_string=True)
    if "." in node.this and node.this.replace(".", "").isdigit():
        # The scale of a decimal is that of its digits without zeros at the end.
        return exp.Literal.number(node.this.rstrip("0").rstrip(".") or "0")
    return node  # type: ignore[no-any-return]


def _cast(node: Any) -> exp.Expr:
    """Return a number with a letter for its type, such as 1L, as a cast; strings of dates and times stay."""
    wanted = node.args["to"]
    if isinstance(wanted, nodes.DataTypeNode) or wanted.is_type("date", "timestamp", "timestamptz", "time"):
        return node  # type: ignore[no-any-return]
    text = wanted.sql()
    try:
        of = parse_hive_type(text)
    except ProgramError as error:
        raise HiveProblem(node, error.message, error.hint or "") from error
    to = nodes.DataTypeNode(this=text)
    to.meta["data_type"] = of
    return HiveCast(this=node.this, to=to)


def _negative(node: Any) -> exp.Expr:
    return node if isinstance(node.this, exp.Literal) and not node.this.is_string else _call("negative", node.this)


def _transform(node: Any) -> exp.Expr:
    raise HiveProblem(
        node, "TRANSFORM ... USING is not supported: tasks run no scripts", "write a table function in Python, and call it in LATERAL VIEW"
    )


# Queries


def _select(node: Any) -> exp.Expr:
    _add_lateral_views(node)
    _move_table_functions(node)
    _name_items(node)
    _change_groups(node)
    _change_having(node)
    _change_order(node)
    hint = node.args.get("hint")
    if hint is not None:
        kept = [each for each in hint.expressions if each.name.upper() not in _HINTS_OF_HIVE]
        node.set("hint", exp.Hint(expressions=kept) if kept else None)
    return node  # type: ignore[no-any-return]


def _place(node: exp.Expr) -> int:
    return min((part.meta["start"] for part in node.walk() if isinstance(part.meta.get("start"), int)), default=0)


def _add_lateral_views(node: Any) -> None:
    """Make LATERAL VIEW joins, in the order in which they are written."""
    views = node.args.pop("laterals", None) or []
    joins = list(node.args.get("joins") or ())
    for view in views:
        on = {"side": "LEFT", "on": exp.true()} if view.args.get("outer") else {}
        joins.append(exp.Join(this=exp.Lateral(this=view.this, alias=view.args.get("alias")), **on))
    if views:
        node.set("joins", sorted(joins, key=_place))


def _move_table_functions(node: Any) -> None:
    """Put table functions among the items of SELECT beside FROM."""
    for index, item in enumerate(list(node.expressions)):
        call = item.this if isinstance(item, exp.Alias | exp.Aliases) else item
        if not isinstance(call, exp.Anonymous) or isinstance(call, HiveCall) or call.name not in TABLE_FUNCTIONS:
            continue
        names = [item.args["alias"]] if isinstance(item, exp.Alias) else item.expressions if isinstance(item, exp.Aliases) else []
        alias = exp.TableAlias(this=exp.to_identifier(f"$table_function{index}"), columns=list(names))
        lateral = exp.Lateral(this=call, alias=alias)
        if node.args.get("from_") is None:
            node.set("from_", exp.From(this=lateral))
        else:
            node.append("joins", exp.Join(this=lateral))
        star = exp.Column(this=exp.Star(), table=exp.to_identifier(alias.name))
        node.expressions[index] = star
        star.parent, star.arg_key, star.index = node, "expressions", index


def _name_items(node: Any) -> None:
    """Give columns that are computed and have no name the one of their place, as Hive does."""
    named = []
    for index, item in enumerate(node.expressions):
        plain = isinstance(item, exp.Alias | exp.Star | exp.Column | exp.Dot)
        if isinstance(item, exp.Aliases):
            raise HiveProblem(item, "only table functions return several columns", "name one column")
        named.append(item if plain else exp.alias_(item, f"_c{index}", copy=False))
    node.set("expressions", named)


def _change_groups(node: Any) -> None:
    group = node.args.get("group")
    if group is None:
        return
    keys = group.expressions
    for kind, made in (("cube", exp.Cube), ("rollup", exp.Rollup)):
        if group.args.get(kind):
            written = group.args[kind][0].expressions
            node.set("group", exp.Group(expressions=[made(expressions=[each.copy() for each in written or keys])]))
    if group.args.get("grouping_sets"):
        node.set("group", exp.Group(expressions=group.args["grouping_sets"]))
    for part in (*node.expressions, node.args.get("having"), node.args.get("order"), node.args.get("sort")):
        for column in list(part.find_all(exp.Column)) if part is not None else ():
            if column.name == DEFAULT_GROUPING_ID:
                column.replace(exp.Anonymous(this="GROUPING_ID", expressions=[key.copy() for key in keys]))


def _change_having(node: Any) -> None:
    """Put what the names of columns of SELECT stand for into HAVING."""
    having = node.args.get("having")
    if having is None:
        return
    named = {item.alias: item.this for item in node.expressions if isinstance(item, exp.Alias)}
    for column in list(having.find_all(exp.Column)):
        if not column.table and column.name in named and column.find_ancestor(exp.Select) is node:
            column.replace(named[column.name].copy())


def _change_order(node: Any) -> None:
    """Sort all rows where Hive sorts those of each reducer: that is one of the orders that it may return. On streams it has no effect."""
    sort, cluster = node.args.pop("sort", None), node.args.pop("cluster", None)
    node.args.pop("distribute", None)
    chosen = sort or cluster
    if chosen is not None and node.args.get("order") is None:
        keys = [key if isinstance(key, exp.Ordered) else exp.Ordered(this=key, nulls_first=True) for key in chosen.expressions]
        order = exp.Order(expressions=keys)
        order.meta[WITHIN_REDUCERS] = True
        node.set("order", order)


def _join(node: Any) -> exp.Expr:
    if node.args.get("kind") in ("SEMI", "ANTI"):
        node.set("side", node.args["kind"])
        node.set("kind", None)
    return node  # type: ignore[no-any-return]


_CHANGES: dict[type[exp.Expr], Callable[[Any], exp.Expr]] = {
    **dict.fromkeys(_SIGNS, _binary),
    exp.Identifier: _identifier,
    exp.Table: _table,
    exp.EQ: _equals,
    exp.NullSafeNEQ: lambda node: exp.Not(this=_call("<=>", node.this, node.expression)),
    exp.BitwiseNot: lambda node: _call("~", node.this),
    exp.Anonymous: _function,
    exp.Case: _case,
    exp.If: _if,
    exp.Between: _between,
    exp.In: _in,
    exp.Extract: _extract,
    exp.Interval: _interval,
    exp.Floor: _rounded("floor"),
    exp.Ceil: _rounded("ceil"),
    exp.Literal: _literal,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Neg: _negative,
    exp.Bracket: lambda node: _call("item", node.this, *node.expressions),
    exp.CurrentTimestamp: lambda node: _call("current_timestamp"),
    exp.QueryTransform: _transform,
    exp.Transform: _transform,
    exp.Select: _select,
    exp.Join: _join,
}
