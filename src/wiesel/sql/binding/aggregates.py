"""Internal. GROUP BY and DISTINCT: what is grouped and aggregated is computed below, and expressions above read the results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlglot import exp

from wiesel.columnar.aggregates.registry import find_aggregate
from wiesel.columnar.expressions import Expression, InputRef, Literal
from wiesel.columnar.functions.registry import Arguments, Signature, cast
from wiesel.sql.binding.expressions import ExpressionBinder
from wiesel.sql.binding.problems import at, problem
from wiesel.sql.binding.selection import Selection, bound_condition
from wiesel.sql.language import nodes
from wiesel.sql.plan import Aggregate, AggregateCall, Field, Project, Relation
from wiesel.types import logical as t

__all__ = ["Columns", "aggregate_calls_in", "bind_call", "call_parts", "distinct", "group_by", "refuse_in_where"]

_UNGROUPED = (t.ArrayType, t.MapType, t.MultisetType, t.RowType)


class Columns:
    """Expressions to be computed below an operator, each of them once."""

    def __init__(self, expressions: Sequence[Expression] = ()) -> None:
        self.expressions = list(expressions)

    def add(self, expression: Expression) -> int:
        """Return the index of the column of an expression."""
        if expression not in self.expressions:
            self.expressions.append(expression)
        return self.expressions.index(expression)

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
    if not isinstance(call, exp.Anonymous | nodes.Call):
        return None
    name = str(call.name).upper()
    return (call, name) if find_aggregate(name) is not None else None


def aggregate_calls_in(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the calls of aggregate functions in an expression; not those with OVER, nor those of queries in it."""
    if isinstance(node, exp.Query):
        return
    if isinstance(node, exp.Window):
        below = [part for name, part in node.args.items() if name != "this"] + [node.this.args]
        yield from _in_parts(below)
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


def bind_call(sql: str, binder: ExpressionBinder, node: exp.Expr, columns: Columns, *, may_be_empty: bool) -> AggregateCall:
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
        if nested is not None:
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
    if not given:
        raise problem(sql, call, f"{name} needs arguments")
    with at(sql, call):
        signature, places, options = _resolved(Arguments(name, operands), columns, is_distinct, may_be_empty or filtered is not None)
    return AggregateCall(name, places, signature.result, is_distinct, filtered, options)


def _resolved(
    arguments: Arguments, columns: Columns, is_distinct: bool, may_be_empty: bool
) -> tuple[Signature, tuple[int, ...], tuple[object, ...]]:
    """Return the types of a call, the columns of its arguments, and those that are literals."""
    name, operands = arguments.name, arguments.operands
    function = find_aggregate(name)
    assert function is not None  # noqa: S101 - the caller found it
    signature = function.resolve(arguments, may_be_empty)
    fitted = [cast(operand, wanted) for operand, wanted in zip(operands, signature.operand_types, strict=True)]
    options: tuple[object, ...] = ()
    if function.literals and len(fitted) > 1:
        last = operands[-1]
        if not isinstance(last, Literal) or last.value is None:
            raise arguments.refuse(f"{name}(<ANY>, <LITERAL>)")
        options, fitted = (last.value,), fitted[:-1]
    if is_distinct and any(isinstance(operand.data_type, _UNGROUPED) for operand in fitted):
        raise arguments.refuse(f"{name}(DISTINCT <COMPARABLE>)")
    return signature, tuple(columns.add(operand) for operand in fitted), options


# GROUP BY


class GroupedBinder(ExpressionBinder):
    """Binds expressions over groups: they read keys, and results of aggregates."""

    def __init__(self, inner: ExpressionBinder, keys: Sequence[Expression], calls: Sequence[tuple[exp.Expr, InputRef]]) -> None:
        super().__init__(inner.sql, inner.scope)
        self._inner = inner
        self._keys = list(keys)
        self._calls = list(calls)

    def bind(self, node: exp.Expr) -> Expression:
        """Return the typed expression of a node over keys and results."""
        for call, result in self._calls:
            if call == node:
                return result
        if isinstance(node, exp.Query | exp.Literal) or next(aggregate_calls_in(node), None) is not None or node.find(exp.Window):
            return super().bind(node)
        bound = self._inner.bind(node)
        for index, key in enumerate(self._keys):
            if key == bound:
                return InputRef(key.data_type, index, str(key) if isinstance(key, InputRef) else "")
        if isinstance(node, exp.Column):
            message = f"column {t.quoted(node.name)} is neither in GROUP BY nor within an aggregate function"
            raise problem(self.sql, node, message, "add it to GROUP BY")
        return super().bind(node)


def _aggregated_nodes(selection: Selection) -> list[exp.Expr]:
    node = selection.node
    places: list[Any] = [*node.expressions, node.args.get("having"), node.args.get("order")]
    return [call for place in places if place is not None for call in aggregate_calls_in(place)]


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
    keys = [_bound_key(selection, item) for item in _group_items(selection, clause)]
    columns = Columns(list(dict.fromkeys(keys)))
    groups = list(columns.expressions)
    calls: list[AggregateCall] = []
    results: list[tuple[exp.Expr, InputRef]] = []
    for node in called:
        if any(node == known for known, _ in results):
            continue
        call = bind_call(sql, selection.binder, node, columns, may_be_empty=not groups)
        calls.append(call)
        results.append((node, InputRef(call.data_type, len(groups) + len(calls) - 1)))
    below = columns.over(selection.relation)
    fields = [below.fields[index] for index in range(len(groups))]
    fields += [Field(f"EXPR${index}", call.data_type) for index, call in enumerate(calls)]
    selection.relation = Aggregate(below, tuple(range(len(groups))), tuple(calls), tuple(fields))
    selection.binder = GroupedBinder(selection.binder, groups, results)
    for item in selection.node.expressions:
        if isinstance(item, exp.Star) or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star)):
            raise problem(sql, item, "* cannot be used with GROUP BY or aggregate functions", "name the columns")


def _group_items(selection: Selection, clause: exp.Expr | None) -> list[exp.Expr]:
    if clause is None:
        return []
    for item in clause.expressions:
        if isinstance(item, exp.GroupingSets | exp.Cube | exp.Rollup):
            raise selection.refuse(item, f"{type(item).__name__.upper()} is not supported in this version")
    for name, part in clause.args.items():
        if part and name != "expressions":
            raise selection.refuse(clause, f"GROUP BY {name.upper()} is not supported in this version")
    return [part for item in clause.expressions for part in (item.expressions if isinstance(item, exp.Tuple) else [item])]


def _bound_key(selection: Selection, item: exp.Expr) -> Expression:
    wrong = next(aggregate_calls_in(item), None)
    if wrong is not None:
        raise selection.refuse(wrong, "aggregate functions cannot stand in GROUP BY")
    key = selection.binder.bind(item)
    if isinstance(key.data_type, _UNGROUPED):
        kind = key.data_type.as_summary_string()
        raise selection.refuse(item, f"grouping by values of type {kind} is not supported in this version")
    return key


def distinct(selection: Selection) -> None:
    """Leave one of equal rows."""
    given = selection.node.args.get("distinct")
    if not given:
        return
    if given.args.get("on"):
        raise selection.refuse(selection.node, "DISTINCT ON is not supported")
    fields = selection.relation.fields
    for field in fields:
        if isinstance(field.data_type, _UNGROUPED):
            kind = field.data_type.as_summary_string()
            raise selection.refuse(selection.node, f"SELECT DISTINCT of values of type {kind} is not supported in this version")
    selection.relation = Aggregate(selection.relation, tuple(range(len(fields))), (), fields)
