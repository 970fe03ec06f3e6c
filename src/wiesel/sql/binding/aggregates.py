"""Internal. GROUP BY and DISTINCT: what is grouped and aggregated is computed below, and expressions above read the results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from sqlglot import exp

from wiesel.columnar.aggregates.registry import find_aggregate
from wiesel.columnar.aggregates.user_aggregates import USER_AGGREGATE, UserAggregate
from wiesel.columnar.expressions import Expression, InputRef, Literal
from wiesel.columnar.functions.registry import Arguments, Signature, cast
from wiesel.sql.binding.expressions import ExpressionBinder
from wiesel.sql.binding.grouping import expanded, group_items, group_window, grouping_calls, grouping_value, one_window, row_window
from wiesel.sql.binding.keys import check_key, distinct_argument, keyed
from wiesel.sql.binding.problems import at, problem
from wiesel.sql.binding.selection import Selection, bound_condition
from wiesel.sql.binding.windows import window_group
from wiesel.sql.language import nodes
from wiesel.sql.language.built_nodes import UserCall
from wiesel.sql.plan.key_forms import canonical
from wiesel.sql.plan.over_relations import CountWindowAggregate
from wiesel.sql.plan.relations import Aggregate, AggregateCall, Field, Fields, Project, Relation
from wiesel.types import logical as t

__all__ = [
    "Columns",
    "GroupedBinder",
    "aggregate_calls_in",
    "bind_call",
    "call_parts",
    "distinct",
    "group_by",
    "refuse_in_where",
    "resolved",
]

_OF_WINDOWS = frozenset(f"{kind}_{bound}" for kind in ("TUMBLE", "HOP", "SESSION") for bound in ("START", "END", "ROWTIME", "PROCTIME"))


class Columns:
    """Expressions to be computed below an operator, each of them once."""

    def __init__(self, expressions: Sequence[Expression] = (), own: int = 0) -> None:
        self.expressions = list(expressions)
        self._own = own
        """Number of leading columns used only here."""

    def add(self, expression: Expression) -> int:
        """Return the index of the column of an expression."""
        if expression not in self.expressions[self._own :]:
            self.expressions.append(expression)
        return self.expressions.index(expression, self._own)

    def over(self, relation: Relation) -> Relation:
        """Return the relation of the columns."""
        fields = []
        for index, expression in enumerate(self.expressions):
            of = relation.fields[expression.index] if isinstance(expression, InputRef) else None
            fields.append(Field(f"$f{index}" if of is None else of.name, expression.data_type, of.time if of else None))
        return Project(relation, tuple(self.expressions), tuple(fields))


# Calls


def call_parts(node: exp.Expr) -> tuple[exp.Expr, str] | None:
    """Return the call without FILTER of an aggregate function, and its name; None if the node is none."""
    call = node.this if isinstance(node, exp.Filter) else node
    if isinstance(call, UserCall):
        return (call, USER_AGGREGATE) if isinstance(call.function, UserAggregate) else None
    if not isinstance(call, exp.Anonymous | nodes.Call):
        return None
    name = str(call.name).upper()
    return (call, name) if find_aggregate(name) is not None else None


def aggregate_calls_in(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the calls of aggregate functions in an expression; not those with OVER, nor those of queries in it."""
    if isinstance(node, exp.Query):
        return
    if isinstance(node, exp.Window):
        function = node.this
        below = [part for name, part in node.args.items() if name != "this"]
        while isinstance(function, exp.Filter | exp.IgnoreNulls | exp.RespectNulls):
            below.append(function.args.get("expression"))
            function = function.this
        yield from _in_parts([*below, function.args])
    elif call_parts(node) is not None:
        yield node
    else:
        yield from _in_parts(list(node.args.values()))


def _in_parts(parts: list[Any]) -> Iterator[exp.Expr]:
    for part in parts:
        if isinstance(part, exp.Expr):
            yield from aggregate_calls_in(part)
        elif isinstance(part, dict):
            yield from _in_parts(list(part.values()))
        elif isinstance(part, list | tuple):
            yield from _in_parts(list(part))


def bind_call(
    sql: str, binder: ExpressionBinder, node: exp.Expr, columns: Columns, *, may_be_empty: bool, in_batch: bool = False
) -> AggregateCall:
    """Return the call of an aggregate function; its arguments become columns.

    Raises:
        SqlParseError: If it cannot be called like that.
    """
    call, name = call_parts(node) or (node, "")
    given = list(call.expressions)
    is_distinct = len(given) == 1 and isinstance(given[0], exp.Distinct)
    if is_distinct:
        given = list(given[0].expressions)
    for argument in given:
        nested = next(aggregate_calls_in(argument), None)
        # With OVER an aggregate of groups may stand within one of the groups around each.
        if nested is not None and not isinstance(binder, GroupedBinder):
            raise problem(sql, nested, "an aggregate function cannot stand within another one", "compute the inner one in a subquery")
        if isinstance(argument, exp.Order | exp.IgnoreNulls | exp.RespectNulls):
            raise problem(sql, argument, f"{name} with ORDER BY, IGNORE NULLS or RESPECT NULLS is not supported in this version")
    star = [argument for argument in given if isinstance(argument, exp.Star)]
    if star and (name != "COUNT" or len(given) > 1 or is_distinct):
        raise problem(sql, star[0], "* can be used in COUNT(*) only")
    operands = () if star else tuple(binder.bind(argument) for argument in given)
    filtered = None
    if isinstance(node, exp.Filter):
        filtered = columns.add(bound_condition(sql, binder, node.expression.this))
    if name == "APPROX_COUNT_DISTINCT" and not in_batch:
        if not isinstance(node.parent, exp.Window):
            raise problem(sql, call, f"{name} runs in batch mode only, as in Flink", "write COUNT(DISTINCT ...)")
        name, is_distinct = "COUNT", True  # Flink counts exactly there
    own = (call.function,) if isinstance(call, UserCall) else ()
    if not given and not own:
        raise problem(sql, call, f"{name} needs arguments")
    with at(sql, call):
        if is_distinct:
            operands = tuple(distinct_argument(in_batch, name, operand) for operand in operands)
        if name == "COLLECT":  # it counts equal values
            operands = tuple(map(canonical, operands))
        signature, places, options = resolved(Arguments(name, operands, own), columns, may_be_empty or filtered is not None)
    if isinstance(call, nodes.Call):
        options = (tuple(call.args.get("words") or ()), *options)
    return AggregateCall(name, places, signature.result, is_distinct, filtered, options)


def resolved(arguments: Arguments, columns: Columns, may_be_empty: bool) -> tuple[Signature, tuple[int, ...], tuple[object, ...]]:
    """Return the types of a call, the columns of its arguments, and those that are literals."""
    name, operands = arguments.name, arguments.operands
    function = find_aggregate(name)
    assert function is not None  # noqa: S101 - the caller found it
    signature = function.resolve(arguments, may_be_empty)
    fitted = [cast(operand, wanted) for operand, wanted in zip(operands, signature.operand_types, strict=True)]
    options: tuple[object, ...] = arguments.options
    if function.literals and len(fitted) > 1:
        last = operands[-1]
        if not isinstance(last, Literal) or last.value is None:
            raise arguments.refuse(f"{name}(<ANY>, <LITERAL>)")
        options, fitted = (last.value,), fitted[:-1]
    return signature, tuple(columns.add(operand) for operand in fitted), options


# GROUP BY


class GroupedBinder(ExpressionBinder):
    """Binds expressions over groups: they read keys, and results of aggregates."""

    def __init__(
        self, inner: ExpressionBinder, keys: Sequence[tuple[Expression, Field]], calls: Sequence[tuple[exp.Expr, Expression]]
    ) -> None:
        super().__init__(inner.sql, inner.scope, inner.user_functions)
        self._inner = inner
        self._keys = list(keys)
        self._calls = list(calls)

    def bind(self, node: exp.Expr) -> Expression:
        """Return the typed expression of a node over keys and results."""
        if id(node) in self.known:
            return self.known[id(node)]
        for call, result in self._calls:
            if call == node:
                return result
        if isinstance(node, exp.Anonymous) and node.name.upper() in _OF_WINDOWS:
            raise problem(self.sql, node, f"{node.name.upper()} needs the same window in GROUP BY")
        is_other = isinstance(node, exp.Query | exp.Literal) and not self._inner.is_known(node)
        if is_other or self._holds_result(node):
            return super().bind(node)
        bound = self._inner.bind(node)
        for index, (key, column) in enumerate(self._keys):
            if key == bound:
                return InputRef(column.data_type, index, key.name if isinstance(key, InputRef) else "")
        if isinstance(node, exp.Column):
            message = f"column {t.quoted(node.name)} is neither in GROUP BY nor within an aggregate function"
            raise problem(self.sql, node, message, "add it to GROUP BY")
        return super().bind(node)

    def is_known(self, node: exp.Expr) -> bool:
        """Return whether a node is bound already, over groups or, in GROUP BY, over the rows."""
        return id(node) in self.known or self._inner.is_known(node)

    def key_of(self, column: InputRef) -> InputRef | None:
        """Return a column of the rows as a key of the groups; None if it is none."""
        places = (index for index, (key, _) in enumerate(self._keys) if key == column)
        return next((InputRef(self._keys[place][1].data_type, place, column.name) for place in places), None)

    def _holds_result(self, node: exp.Expr) -> bool:
        """Return whether a part of an expression is computed of groups: an aggregate, a bound of the window, GROUPING, or a query."""
        if next(aggregate_calls_in(node), None) is not None or node.find(exp.Window):
            return True
        if self.known and any(id(part) in self.known for part in node.walk()):
            return True
        calls = [call for call, _ in self._calls]
        return any(part in calls or part.name.upper() in _OF_WINDOWS for part in node.find_all(exp.Anonymous))


def _expressions(selection: Selection) -> list[Any]:
    """Return what is computed over the groups."""
    node = selection.node
    return [*node.expressions, node.args.get("having"), node.args.get("order")]


def _aggregated_nodes(selection: Selection) -> list[exp.Expr]:
    return [call for place in _expressions(selection) if place is not None for call in aggregate_calls_in(place)]


def refuse_in_where(selection: Selection) -> None:
    """Refuse aggregate functions in WHERE."""
    where = selection.node.args.get("where")
    wrong = next(aggregate_calls_in(where), None) if where is not None else None
    if wrong is not None:
        raise selection.refuse(wrong, "aggregate functions cannot stand in WHERE", "use HAVING")


def group_by(selection: Selection) -> None:
    """Group the rows, where there are keys, HAVING or aggregates."""
    clause, sql = selection.node.args.get("group"), selection.queries.sql
    called = _aggregated_nodes(selection)
    if clause is None and not called and not selection.node.args.get("having"):
        return
    items = group_items(selection, clause)
    window = one_window(sql, items.windows)
    counted = None if window is None else row_window(sql, selection.binder, selection.relation, window)
    bounds, found = _windowed(selection, window) if counted is None else ([], [])
    groups = list(dict.fromkeys([*(_bound_key(selection, item) for item in items.nodes), *bounds]))
    results: list[tuple[exp.Expr, Expression]] = [(node, replace(ref, index=groups.index(ref))) for node, ref in found]
    columns = Columns(groups, len(groups) if len(items.sets) > 1 else 0)
    calls: dict[exp.Expr, AggregateCall] = {}
    for node in called:
        if node not in calls:
            empty = counted is None and (not groups or (not all(items.sets) and not bounds))
            calls[node] = bind_call(sql, selection.binder, node, columns, may_be_empty=empty, in_batch=selection.queries.in_batch)
    keys = len(groups)
    columns.expressions[:keys] = map(canonical, groups)
    below = columns.over(selection.relation)
    if len(items.sets) > 1:
        grouping = grouping_calls(_expressions(selection))
        below = expanded(selection, below, items, groups, grouping)
        results += [(call, InputRef(t.BigIntType(False), keys + 1 + index)) for index, call in enumerate(grouping)]
        added = 1 + len(grouping)
        keys += added
        calls = {node: _shifted(call, added) for node, call in calls.items()}
    else:
        every = frozenset(range(keys))
        for node in grouping_calls(_expressions(selection)):
            results.append((node, Literal(t.BigIntType(False), grouping_value(selection, node, groups, every))))
    results += [(node, InputRef(call.data_type, keys + index)) for index, (node, call) in enumerate(calls.items())]
    if counted is None:
        _aggregate(selection, below, keys, list(calls.values()))
    else:
        fields = tuple(replace(field, time=None) for field in _grouped(below, keys, list(calls.values())))
        selection.relation = CountWindowAggregate(below, tuple(range(keys)), tuple(calls.values()), *counted, fields)
    selection.binder = GroupedBinder(selection.binder, list(zip(groups, below.fields, strict=False)), results)
    for item in selection.node.expressions:
        if isinstance(item, exp.Star) or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star)):
            raise problem(sql, item, "* cannot be used with GROUP BY or aggregate functions", "name the columns")


def _shifted(call: AggregateCall, by: int) -> AggregateCall:
    filtered = None if call.filter is None else call.filter + by
    return replace(call, arguments=tuple(index + by for index in call.arguments), filter=filtered)


def _windowed(selection: Selection, call: exp.Expr | None) -> tuple[list[InputRef], list[tuple[exp.Expr, InputRef]]]:
    """Put the rows in the window of GROUP BY, if there is one; return its bounds, and the calls that return them."""
    sql = selection.queries.sql
    if call is None:
        return [], []
    window = group_window(sql, selection.binder, selection.relation, call)
    selection.relation = window.relation
    found = []
    for expression in _expressions(selection):
        for node in expression.find_all(exp.Anonymous) if expression is not None else ():
            ref = window.results.get(node.name.upper())
            if ref is not None and tuple(node.expressions) == window.arguments:
                found.append((node, ref))
    return list(window.results.values()), found


def _aggregate(selection: Selection, below: Relation, keys: int, calls: Sequence[AggregateCall]) -> None:
    """Group the rows of a relation by its first columns."""
    fields = _grouped(below, keys, calls)
    with at(selection.queries.sql, selection.node):
        windowed = window_group(below, keys, calls, fields)
    # A group is not in time: rows of all times are in it.
    timeless = tuple(replace(field, time=None) for field in fields)
    selection.relation = windowed or Aggregate(below, tuple(range(keys)), tuple(calls), timeless, ttl=selection.group_ttl)


def _grouped(below: Relation, keys: int, calls: Sequence[AggregateCall]) -> Fields:
    """Return the columns of groups: the keys, then the results of the calls."""
    return (*below.fields[:keys], *(Field(f"EXPR${index}", call.data_type) for index, call in enumerate(calls)))


def _bound_key(selection: Selection, item: exp.Expr) -> Expression:
    wrong = next(aggregate_calls_in(item), None)
    if wrong is not None:
        raise selection.refuse(wrong, "aggregate functions cannot stand in GROUP BY")
    key = selection.binder.bind(item)
    check_key(selection.queries, item, key.data_type, "GROUP BY")
    return key


def distinct(selection: Selection) -> None:
    """Leave one of equal rows."""
    given = selection.node.args.get("distinct")
    if not given:
        return
    if given.args.get("on"):
        raise selection.refuse(selection.node, "DISTINCT ON is not supported")
    fields = selection.relation.fields
    rows = keyed(selection.queries, selection.node, selection.relation, "SELECT DISTINCT")
    selection.relation = Aggregate(rows, tuple(range(len(fields))), (), fields, ttl=selection.group_ttl)
