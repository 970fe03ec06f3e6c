"""Internal. Queries in expressions: IN and EXISTS in WHERE become semi and anti joins, a query for one value becomes a column.

IN and EXISTS within other expressions (OR, CASE, SELECT, GROUP BY, HAVING, ORDER BY) become a column, too: the different values that they
compare are joined with the query, and those that have partners are joined to the rows again. ``= ANY`` is IN; other signs with ANY, SOME
and ALL are done alike.

A query behind EXISTS or IN may read columns of the query around it: conditions of its own WHERE become conditions of the join. An aggregate
in place of a value that reads them in conditions with ``=`` is computed for each such value, and joined by it. All others are decorrelated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from wiesel.columnar.expressions import Call, Expression, InputRef, Literal, input_refs, shifted, transformed
from wiesel.columnar.functions.registry import Arguments, call
from wiesel.sql.binding.aggregates import Columns, GroupedBinder, aggregate_calls_in, call_parts, resolved
from wiesel.sql.binding.decorrelation import correlated_columns, decorrelated, mapped, outer_refs, reads_outside
from wiesel.sql.binding.join_columns import join_columns, timed
from wiesel.sql.binding.problems import at
from wiesel.sql.binding.scope import OuterRef
from wiesel.sql.binding.selection import Selection, bound_condition
from wiesel.sql.binding.sources import from_clause
from wiesel.sql.language.signs import SIGNS
from wiesel.sql.plan.relations import Aggregate, AggregateCall, Field, Join, JoinType, Project, Relation
from wiesel.sql.plan.upsert_keys import upsert_keys
from wiesel.sql.rules.push_down import all_of, conjuncts, filtered, joined
from wiesel.types import logical as t

__all__ = ["parts_of", "queries_in", "restrict", "single_values", "values_in_aggregates", "values_in_keys", "where"]

_COUNTS = frozenset({"COUNT", "APPROX_COUNT_DISTINCT"})
"""Aggregates that have a value of no rows."""

_ADDED = ("$found", "$count")
"""The columns behind the rows that say whether a query within an expression has a row."""

_OPPOSITES = {exp.EQ: "<>", exp.NEQ: "=", exp.LT: ">=", exp.LTE: ">", exp.GT: "<=", exp.GTE: "<"}
_OPPOSITE = {SIGNS[kind]: opposite for kind, opposite in _OPPOSITES.items()}

_Inner = tuple[Relation, list[Expression], list[Expression]]
"""The rows of a query, the values of its columns over them, and conditions that read the query around it, too."""


def where(selection: Selection) -> None:
    """Leave the rows for which WHERE is true."""
    node = selection.node.args.get("where")
    if node is None:
        return
    restrict(selection, list(parts_of(node.this)))


def restrict(selection: Selection, parts: Sequence[exp.Expr]) -> None:
    """Leave the rows for which all conditions are true."""
    for part in parts:
        if not _is_join(part):
            _add_condition(selection, part)
    for part in parts:
        if _is_join(part):
            _join(selection, part)


def parts_of(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the parts of a condition that must all be true."""
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.And):
        yield from parts_of(node.this)
        yield from parts_of(node.expression)
    else:
        yield node


def _is_join(node: exp.Expr) -> bool:
    return _is_test(_without_not(node)[0])


def _without_not(node: exp.Expr) -> tuple[exp.Expr, bool]:
    negated = False
    while isinstance(node, exp.Not | exp.Paren):
        negated ^= isinstance(node, exp.Not)
        node = node.this
    return node, negated


def _add_condition(selection: Selection, node: exp.Expr) -> None:
    single_values(selection, node)
    condition = bound_condition(selection.queries.sql, selection.binder, node)
    for part in conjuncts(condition):
        if not selection.lateral and reads_outside(part):
            selection.correlated.append(part)
        else:
            selection.relation = filtered(selection.relation, part)


# IN and EXISTS


def _join(selection: Selection, node: exp.Expr) -> None:
    inner, negated = _without_not(node)
    left = selection.relation
    if isinstance(inner, exp.Exists):
        right, _, conditions = _inner(selection, inner.this)
    else:
        test = _comparison(inner)
        negated ^= test.negated
        right, items, conditions = _inner(selection, test.query)
        pairs = _pairs(selection, test, [_beside(item, left) for item in items])
        conditions += [_compared(test.sign, *pair, may_be_unknown=negated) for pair in pairs]
    kind = JoinType.ANTI if negated else JoinType.SEMI
    selection.relation = timed(joined(Join(left, right, kind, all_of(conditions), join_columns(left, right, kind))))


@dataclass(frozen=True)
class _Comparison:
    """A comparison of a value with all rows of a query: true where it is for any of them, or, if ``negated``, for none."""

    node: exp.Expr
    value: exp.Expr
    sign: str
    query: exp.Expr
    negated: bool = False


def _comparison(node: exp.Expr) -> _Comparison:
    """Return what IN, or a sign with ANY, SOME or ALL, compares."""
    if isinstance(node, exp.In):
        return _Comparison(node, node.this, "=", node.args["query"].this)
    sign, query = SIGNS[type(node)], node.expression.this
    if isinstance(node.expression, exp.All):
        return _Comparison(node, node.this, _OPPOSITE[sign], query, negated=True)
    return _Comparison(node, node.this, sign, query)


def _pairs(selection: Selection, test: _Comparison, items: list[Expression]) -> list[tuple[Expression, Expression]]:
    """Return the values that are compared with the columns of a query."""
    tested = test.value.expressions if isinstance(test.value, exp.Tuple) else [test.value]
    if len(tested) != len(items):
        name = "IN" if isinstance(test.node, exp.In) else "a comparison with rows of a query"
        raise selection.refuse(test.node, f"{name} compares {len(tested)} values with a query of {len(items)} columns")
    if len(items) > 1 and test.sign != "=":
        raise selection.refuse(test.node, "rows of several values can be compared with those of a query by = ANY only", "compare one value")
    pairs = []
    for part, item in zip(tested, items, strict=True):
        with at(selection.queries.sql, part):
            pairs.append((selection.binder.bind(part), item))
            call(test.sign, pairs[-1])  # refuses types that cannot be compared
    return pairs


def _compared(sign: str, one: Expression, other: Expression, *, may_be_unknown: bool) -> Expression:
    """Return a comparison; with ``may_be_unknown`` whether it may be true."""
    found: Expression = call(sign, [one, other])
    if may_be_unknown:
        for value in (one, other):
            if value.data_type.is_nullable:
                found = call("OR", [found, call("IS NULL", [value])])
    return found


def _beside(expression: Expression, outer: Relation) -> Expression:
    """Return an expression of the inner query as one over the rows of the outer one and, behind them, its own."""
    width = len(outer.fields)

    def moved(part: Expression) -> Expression | None:
        if isinstance(part, OuterRef):
            return InputRef(part.data_type, part.index, part.name) if part.level == 1 else replace(part, level=part.level - 1)
        return replace(part, index=part.index + width) if isinstance(part, InputRef) else None

    return transformed(expression, moved)


def _inner(selection: Selection, node: exp.Expr) -> _Inner:
    while isinstance(node, exp.Subquery) and not any(node.args.get(part) for part in ("with_", "order", "limit", "offset")):
        node = node.this
    if isinstance(node, exp.Select) and _is_plain(node):
        return _plain(selection, node)
    relation = _bound(selection, node)
    items: list[Expression] = [InputRef(field.data_type, index, field.name) for index, field in enumerate(relation.fields)]
    return _decorrelated(selection, node, relation, items, [], complete=isinstance(node.parent, exp.Exists))


def _decorrelated(
    selection: Selection, node: exp.Expr, relation: Relation, items: list[Expression], conditions: list[Expression], *, complete: bool
) -> _Inner:
    """Return the rows of a query, values over them, and the conditions for its rows, if its relations read the query around it."""
    if not correlated_columns(relation):
        return relation, items, conditions
    left = selection.relation
    with at(selection.queries.sql, node):
        found = decorrelated(mapped(relation, _beside_outer(selection, node)), left, complete=complete)
    count = len(found.read)
    moved = [_behind(condition, len(left.fields), count) for condition in conditions]
    return found.relation, [shifted(item, count) for item in items], [*found.conditions(left), *moved]


def _bound(selection: Selection, node: exp.Expr) -> Relation:
    with selection.queries.within(selection.scope):
        return selection.queries.bind(node)


def _beside_outer(selection: Selection, node: exp.Expr) -> Callable[[OuterRef], Expression]:
    """Return what the columns of the query around become that a query within it reads: over groups they are keys."""
    binder = selection.binder

    def column(ref: OuterRef) -> Expression:
        if ref.level > 1 or not isinstance(binder, GroupedBinder):
            return ref
        key = binder.key_of(InputRef(ref.data_type, ref.index, ref.name))
        if key is None:
            message = f"column {t.quoted(ref.name)} is neither in GROUP BY nor within an aggregate function"
            raise selection.refuse(node, message, "add it to GROUP BY")
        return replace(ref, index=key.index, data_type=key.data_type)

    return column


def _is_plain(node: exp.Select) -> bool:
    clauses = ("with_", "group", "having", "distinct", "order", "limit", "offset", "windows", "qualify")
    if any(node.args.get(clause) for clause in clauses) or node.args.get("from_") is None:
        return False
    return not any(item.find(exp.Window) or next(aggregate_calls_in(item), None) is not None for item in node.expressions)


def _plain(selection: Selection, node: exp.Select) -> _Inner:
    queries = selection.queries
    with queries.within(selection.scope):
        relation, scope = from_clause(queries, node)
        inner = Selection(queries, node, relation, scope, queries.expressions(scope))
        where(inner)
    outer = _beside_outer(selection, node)
    items: list[Expression] = []
    for item in [] if isinstance(node.parent, exp.Exists) else node.expressions:
        if isinstance(item, exp.Star):
            items += [column for column, _ in scope.columns()]
        else:
            items.append(inner.binder.bind(item.this if isinstance(item, exp.Alias) else item))
    correlated = [transformed(part, lambda ref: outer(ref) if isinstance(ref, OuterRef) else None) for part in inner.correlated]
    conditions = [_beside(part, selection.relation) for part in correlated]
    return _decorrelated(selection, node, inner.relation, items, conditions, complete=False)


# A query in place of a value


def single_values(selection: Selection, *nodes: exp.Expr) -> None:
    """Add the values of the queries within expressions as columns to the rows of a SELECT."""
    grouped = isinstance(selection.binder, GroupedBinder)
    for node in nodes:
        for found in queries_in(node, grouped=grouped):
            if not selection.binder.is_known(found):
                value = _with_value(selection, found) if isinstance(found, exp.Subquery) else _tested(selection, found)
                selection.binder.known[id(found)] = value


def values_in_keys(selection: Selection) -> None:
    """Add the values of the queries within GROUP BY as columns to the rows that are grouped; the same ones elsewhere are these."""
    node, known = selection.node, selection.binder.known
    clause = node.args.get("group")
    if clause is None:
        return
    single_values(selection, clause)
    keys = [part for part in queries_in(clause, grouped=False) if id(part) in known]
    for place in (*node.expressions, node.args.get("having"), node.args.get("order")):
        for part in queries_in(place, grouped=False) if keys and place is not None else ():
            same = next((known[id(key)] for key in keys if key == part), None)
            if same is not None:
                known[id(part)] = same


def values_in_aggregates(selection: Selection) -> None:
    """Add the values of the queries within the arguments of aggregate functions as columns to the rows that are grouped."""
    node = selection.node
    for part in (*node.expressions, node.args.get("having")):
        if part is not None:
            single_values(selection, *aggregate_calls_in(part))


def queries_in(node: exp.Expr, *, grouped: bool) -> Iterator[exp.Expr]:
    """Yield the queries within an expression that have a value; over groups without those that aggregates take."""
    if isinstance(node, exp.Subquery) or _is_test(node):
        yield node
    elif not (grouped and call_parts(node) is not None):
        for part in node.iter_expressions():
            yield from queries_in(part, grouped=grouped)


def _is_test(node: exp.Expr) -> bool:
    if isinstance(node, exp.In):
        return node.args.get("query") is not None
    return isinstance(node, exp.Exists) or (type(node) in _OPPOSITES and isinstance(node.expression, exp.All | exp.Any))


def _tested(selection: Selection, node: exp.Expr) -> Expression:
    """Return the value of IN or EXISTS as a column."""
    if isinstance(node, exp.Exists):
        right, _, conditions = _inner(selection, node.this)
        return _has_partner(selection, right, conditions)
    left = selection.relation
    test = _comparison(node)
    right, items, correlated = _inner(selection, test.query)
    pairs = _pairs(selection, test, [_beside(item, left) for item in items])
    found = _has_partner(selection, right, [*correlated, *(_compared(test.sign, *pair, may_be_unknown=False) for pair in pairs)])
    if not any(value.data_type.is_nullable for pair in pairs for value in pair):
        return call("NOT", [found]) if test.negated else found
    # Not found, but compared with what is NULL: nobody knows.
    width, added = len(left.fields), len(selection.relation.fields) - len(left.fields)
    possible = [*correlated, *(_compared(test.sign, *pair, may_be_unknown=True) for pair in pairs)]
    unknown = _has_partner(selection, right, [_behind(condition, width, added) for condition in possible])
    nothing, yes, no = Literal(t.BooleanType(), None), Literal(t.BooleanType(False), True), Literal(t.BooleanType(False), False)
    return call("CASE", [found, no if test.negated else yes, unknown, nothing, yes if test.negated else no])


def _behind(condition: Expression, width: int, added: int) -> Expression:
    """Return a condition over pairs whose left rows, of this width, have got further columns."""

    def moved(part: Expression) -> Expression | None:
        return replace(part, index=part.index + added) if isinstance(part, InputRef) and part.index >= width else None

    return transformed(condition, moved)


def _has_partner(selection: Selection, right: Relation, conditions: list[Expression]) -> Expression:
    """Return whether each row has a partner among others; the conditions are over its columns and, behind them, those of the others."""
    left = selection.relation
    width = len(left.fields)
    used = sorted({index for condition in conditions for index in input_refs(condition) if index < width})
    if not used:
        return _is_there(selection, filtered(right, moved) if (moved := all_of([shifted(part, -width) for part in conditions])) else right)
    rows = _without_tests(left)
    rows = rows if used[-1] < len(rows.fields) else left
    fields = tuple(replace(rows.fields[index], time=None) for index in used)
    values = Project(rows, tuple(_ref(rows, index) for index in used), fields)
    different = Aggregate(values, tuple(range(len(used))), (), fields)

    def over_values(part: Expression) -> Expression | None:
        if not isinstance(part, InputRef):
            return None
        return replace(part, index=used.index(part.index) if part.index < width else part.index - width + len(used))

    condition = all_of([transformed(part, over_values) for part in conditions])
    semi = timed(joined(Join(different, right, JoinType.SEMI, condition, join_columns(different, right, JoinType.SEMI))))
    marked = Project(
        semi,
        (*(_ref(semi, place) for place in range(len(used))), Literal(t.BooleanType(False), True)),
        (*semi.fields, Field(_ADDED[0], t.BooleanType(False))),
    )
    same: list[Expression] = [
        Call(t.BooleanType(False), "IS NOT DISTINCT FROM", (_ref(left, index), replace(_ref(marked, place), index=width + place)))
        for place, index in enumerate(used)
    ]
    selection.relation = Join(left, marked, JoinType.LEFT, all_of(same), join_columns(left, marked, JoinType.LEFT))
    return call("IS TRUE", [InputRef(t.BooleanType(), width + len(used), _ADDED[0])])


def _is_there(selection: Selection, right: Relation) -> Expression:
    """Return whether there are any rows."""
    counted = AggregateCall("COUNT", (), t.BigIntType(False))
    count = Aggregate(Project(right, (), ()), (), (counted,), (Field(_ADDED[1], t.BigIntType(False)),))
    left = selection.relation
    selection.relation = Join(left, count, JoinType.LEFT, None, join_columns(left, count, JoinType.LEFT))
    return call("IS TRUE", [call(">", [InputRef(t.BigIntType(), len(left.fields), _ADDED[1]), Literal(t.BigIntType(False), 0)])])


def _without_tests(relation: Relation) -> Relation:
    """Return the rows to which the values of IN and EXISTS were added, so that a further one does not compute those again."""
    while isinstance(relation, Join) and relation.type is JoinType.LEFT and relation.right.fields[-1].name in _ADDED:
        relation = relation.left
    return relation


def _ref(relation: Relation, index: int) -> InputRef:
    return InputRef(relation.fields[index].data_type, index, relation.fields[index].name)


def _with_value(selection: Selection, node: exp.Subquery) -> Expression:
    by_value = _by_value(selection, node)
    if by_value is not None:
        return by_value
    value = _bound(selection, node)
    if len(value.fields) != 1:
        raise selection.refuse(node, f"a query in place of a value must have one column, this has {len(value.fields)}")
    is_single, left = frozenset() in upsert_keys(value), selection.relation
    item: list[Expression] = [InputRef(value.fields[0].data_type, 0, value.fields[0].name)]
    value, _, conditions = _decorrelated(selection, node, value, item, [], complete=True)
    if not is_single:
        value = _one_value(selection, node, value)
    selection.relation = Join(left, value, JoinType.LEFT, all_of(conditions), join_columns(left, value, JoinType.LEFT))
    return InputRef(value.fields[-1].data_type.nullable(), len(selection.relation.fields) - 1, value.fields[-1].name)


def _one_value(selection: Selection, node: exp.Expr, value: Relation) -> Relation:
    """Return the last column of a query, of which there may be one row only for each value of the columns before it."""
    *keys, last = (_ref(value, index) for index in range(len(value.fields)))
    columns = Columns([*keys, last], len(value.fields))
    with at(selection.queries.sql, node):
        found = resolved(Arguments("SINGLE_VALUE", (last,), ()), columns, True)
    made = AggregateCall("SINGLE_VALUE", found[1], found[0].result)
    fields = (*value.fields[:-1], Field(value.fields[-1].name, found[0].result))
    return Aggregate(columns.over(value), tuple(range(len(keys))), (made,), fields)


def _by_value(selection: Selection, node: exp.Subquery) -> Expression | None:
    """Return the value of an aggregate that reads the query around it, joined to its rows; None if it does not."""
    select = node.this
    clauses = ("with_", "group", "having", "distinct", "order", "limit", "offset", "windows", "qualify")
    if not isinstance(select, exp.Select) or any(select.args.get(clause) for clause in clauses) or len(select.expressions) != 1:
        return None
    if not select.args.get("where") or not select.args.get("from_") or next(aggregate_calls_in(select.expressions[0]), None) is None:
        return None
    split = _split(selection, select)
    if split is None or not split[0]:
        return None
    pairs, others = split
    item = select.expressions[0].this if isinstance(select.expressions[0], exp.Alias) else select.expressions[0]
    counts = [each for each in aggregate_calls_in(item) if (call_parts(each) or (each, ""))[1] in _COUNTS]
    if counts and counts[0] is not item:
        return None
    keys = [key.copy() for _, key in pairs]
    grouped = select.copy()
    grouped.set("expressions", [*(exp.alias_(key.copy(), f"$key{place}") for place, key in enumerate(keys)), item.copy()])
    grouped.set("group", exp.Group(expressions=keys))
    grouped.set("where", exp.Where(this=exp.and_(*others, copy=True)) if others else None)
    value, left = selection.queries.bind(grouped), selection.relation
    width = len(left.fields)
    refs = [InputRef(field.data_type, width + place, field.name) for place, field in enumerate(value.fields)]
    conditions = [call("=", [selection.binder.bind(outer), ref]) for (outer, _), ref in zip(pairs, refs, strict=False)]
    selection.relation = Join(left, value, JoinType.LEFT, all_of(conditions), join_columns(left, value, JoinType.LEFT))
    found = replace(refs[-1], data_type=refs[-1].data_type.nullable())
    return call("COALESCE", [found, Literal(t.BigIntType(False), 0)]) if counts else found


def _split(selection: Selection, select: exp.Select) -> tuple[list[tuple[exp.Expr, exp.Expr]], list[exp.Expr]] | None:
    """Return the conditions of a query: what of the query around equals what of its own, and the others; None if some are neither."""
    with selection.queries.within(selection.scope):
        relation, scope = from_clause(selection.queries, select)
    if correlated_columns(relation):
        return None
    binder = selection.queries.expressions(scope)
    pairs, others = [], []
    for part in parts_of(select.args["where"].this):
        if part.find(exp.Query) is not None or not reads_outside(binder.bind(part)):
            others.append(part)
            continue
        sides = [part.this, part.expression] if isinstance(part, exp.EQ) else []
        outside = [reads_outside(binder.bind(side)) for side in sides]
        if sorted(outside) != [False, True] or outer_refs(binder.bind(part), 2):
            return None
        pairs.append((sides[outside.index(True)], sides[outside.index(False)]))
    read = [binder.bind(column) for column in select.expressions[0].find_all(exp.Column)]
    if any(map(reads_outside, read)) or any(part.find(exp.Query) is not None for part in others):
        return None
    return pairs, others
