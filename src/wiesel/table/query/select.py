"""Internal. From operations on tables to plans: a SELECT over the plan of a table, as a tree that the binder of queries reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from wiesel.columnar.aggregates.user_aggregates import USER_AGGREGATE, UserAggregate
from wiesel.columnar.expressions import InputRef, Literal
from wiesel.columnar.functions.registry import cast
from wiesel.core.errors import ArgumentTypeError, ProgramError
from wiesel.sql.binding.ordering import without_keys
from wiesel.sql.binding.queries import QueryBinder
from wiesel.sql.binding.scope import Scope, Source
from wiesel.sql.language.built_nodes import BuiltIn, FieldAt, Nullable, OverAlias, Plus, UserCall, WindowProperty
from wiesel.sql.plan.relations import AggregateCall, Field, Project, Relation, TimeAttribute, TopN
from wiesel.sql.plan.user_relations import TableAggregate
from wiesel.sql.session.jobs import is_batch
from wiesel.table.expression import Expression
from wiesel.table.expressions import call
from wiesel.table.query.ast_nodes import built_in, column, constant, length_of_time, stand_of
from wiesel.table.query.columns import aliased, expanded, is_aggregate, named, named_over_groups, rebuilt, summaries
from wiesel.table.query.system_functions import with_system_functions
from wiesel.table.udf import UserDefinedFunctionWrapper
from wiesel.types import logical as t

if TYPE_CHECKING:
    from wiesel.table.table_environment import TableEnvironment
    from wiesel.table.window import GroupWindow, OverWindow

__all__ = ["Selecting", "hidden_name"]


class Selecting:
    """Operations on the plan of a table of an environment."""

    def __init__(self, t_env: TableEnvironment, plan: Relation) -> None:
        self._t_env = t_env
        self._plan = plan

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [field.name for field in self._plan.fields]

    def _bound(self, node: exp.Expr) -> Relation:
        return QueryBinder("", self._t_env._tables()).bind(self._resolved(node))

    def _resolved(self, node: exp.Expr) -> exp.Expr:
        """Return what a program has built with the temporary system functions in it that have the names of operators and functions."""
        return with_system_functions(node, self._t_env._catalogs.functions.of_system)

    def _query(self, items: Sequence[exp.Expr], **clauses: Any) -> Relation:
        return self._bound(exp.Select(expressions=list(items), from_=exp.From(this=stand_of(self._plan)), **clauses))

    def type_of(self, node: exp.Expr) -> t.DataType:
        """Return the type of an expression over the columns."""
        scope = Scope([Source(None, self._plan.fields, 0)])
        return QueryBinder("", self._t_env._tables()).expressions(scope).bind(self._resolved(node)).data_type

    def expanded(self, expressions: Sequence[Any]) -> list[exp.Expr]:
        """Return the nodes of expressions, with columns in place of what stands for several."""
        for each in expressions:
            if not isinstance(each, Expression):
                raise ArgumentTypeError(f"{each!r} is no expression", hint="name a column with col('name'), or a constant with lit(...)")
        return expanded([each._node for each in expressions], self._plan.fields, self.type_of)

    # Columns and rows

    def select(self, expressions: Sequence[Any]) -> Relation:
        """Return the columns of expressions; one row if there are aggregates among them."""
        items = self.expanded(expressions)
        if any(next(summaries(item), None) is not None for item in items):
            return self._query(named_over_groups(items))
        return self._query(named(items))

    def filter(self, predicate: Any) -> Relation:
        """Return the rows for which a condition is true."""
        (condition,) = self.expanded([predicate])
        return self._query([exp.Star()], where=exp.Where(this=condition))

    def distinct(self) -> Relation:
        """Return each row once."""
        return self._query([exp.Star()], distinct=exp.Distinct())

    def order_by(self, expressions: Sequence[Any]) -> Relation:
        """Return the rows in an order."""
        keys = [
            node if isinstance(node, exp.Ordered) else exp.Ordered(this=node, desc=False, nulls_first=False)
            for node in self.expanded(expressions)
        ]
        return self._query([exp.Star()], order=exp.Order(expressions=keys))

    def part(self, offset: int, count: int | None) -> Relation:
        """Return the rows behind the first ``offset``, at most ``count``; of those that are there already, if they are ordered."""
        return _part(self._plan, offset, count)

    # Several tables

    def join(self, right: Relation, side: str, predicate: Any) -> Relation:
        """Return the pairs of rows for which a condition is true."""
        common = [name for name in self.names if name in {field.name for field in right.fields}]
        if common:
            message = f"both tables have columns {', '.join(map(t.quoted, common))}"
            raise ProgramError(message, hint="rename those of one of them: rename_columns(col('a').alias('b'))")
        both = Selecting(self._t_env, _Both(self._plan, right))  # type: ignore[arg-type]
        on = None if predicate is None else both.expanded([predicate])[0]
        if on is None and side:
            on = exp.Boolean(this=True)
        return self._query([exp.Star()], joins=[exp.Join(this=stand_of(right), side=side, on=on)])

    def combined(self, kind: type[exp.Expr], right: Relation, *, distinct: bool) -> Relation:
        """Return the rows of two tables by a set operation."""
        return self._bound(kind(this=stand_of(self._plan), expression=stand_of(right), distinct=distinct))

    # Groups

    def with_keys(self, keys: Sequence[Any]) -> tuple[Relation, list[exp.Expr]]:
        """Return the rows with computed keys as columns of their own, and the keys."""
        nodes = self.expanded(keys)
        computed = [node for node in nodes if isinstance(node, exp.Alias)]
        plan = self._plan if not computed else self._query([*map(column, self.names), *computed])
        return plan, [column(node.alias) if isinstance(node, exp.Alias) else node for node in nodes]

    def group(self, keys: Sequence[exp.Expr], expressions: Sequence[Any]) -> Relation:
        """Return a row per group."""
        items = named_over_groups(self.expanded(expressions))
        return self._query(items, group=exp.Group(expressions=list(keys)) if keys else None, **_one_of_each(keys, items))

    def windowed(self, keys: Sequence[exp.Expr], window: GroupWindow, expressions: Sequence[Any]) -> Relation:
        """Return a row per group and window."""
        if is_batch(self._t_env._environment) and isinstance(self.type_of(window.time._node), t.BigIntType):
            return self._windowed_numbers(keys, window, expressions)
        arguments = [window.time._node, *(each._node for each in window.lengths)]

        def of_window(part: exp.Expr) -> exp.Expr | None:
            if isinstance(part, WindowProperty) and part.this.name == window.name:
                bound = exp.Anonymous(this=f"{window.kind}_{part.args['kind']}", expressions=arguments)
                return Nullable(this=bound) if part.args["kind"] in ("START", "END") else bound
            return None

        items = [rebuilt(item, of_window) for item in named_over_groups(self.expanded(expressions))]
        call = exp.Anonymous(this=window.kind, expressions=arguments)
        return self._query(items, group=exp.Group(expressions=[*keys, call]))

    def _windowed_numbers(self, keys: Sequence[exp.Expr], window: GroupWindow, expressions: Sequence[Any]) -> Relation:
        """Return a row per group and window of whole numbers, which are milliseconds since 1970; in batch mode only, as in Flink."""
        if window.kind == "SESSION" or any(isinstance(each._node, BuiltIn) for each in window.lengths):
            raise ProgramError("sessions and numbers of rows are no windows of a BIGINT", hint="give Tumble or Slide with a length of time")
        since = Literal(t.TimestampType(3, False), 0)
        moment = Plus(this=constant(since), expression=exp.Mul(this=window.time._node, expression=constant(length_of_time(1))))
        timed = self._query([*map(column, self.names), aliased(built_in("CAST", [moment], (t.TimestampType(3),)), _TIME)])
        refs = tuple(InputRef(field.data_type, index, field.name) for index, field in enumerate(timed.fields))
        plan = Project(timed, refs, (*timed.fields[:-1], replace(timed.fields[-1], time=TimeAttribute.ROWTIME)))
        windows = replace(window, time=Expression(column(_TIME)))
        return Selecting(self._t_env, plan).windowed(keys, windows, expressions)

    def over(self, windows: Sequence[OverWindow], expressions: Sequence[Any]) -> Relation:
        """Return the rows with aggregates of those around them."""
        known = {window.name: window for window in windows}

        def of_window(part: exp.Expr) -> exp.Expr | None:
            if not isinstance(part, OverAlias):
                return None
            if part.args["alias"] not in known:
                message = f"there is no window {t.quoted(part.args['alias'])}"
                raise ProgramError(message, hint=f"name one of: {', '.join(known)}")
            return _over(part.this, known[part.args["alias"]])

        return self._query([rebuilt(item, of_window) for item in named(self.expanded(expressions))])

    # Functions of users

    def _row(self, leave_out: Sequence[str] = ()) -> exp.Expr:
        """Return the row of all columns, with their names."""
        fields = [field for field in self._plan.fields if field.name not in leave_out]
        row = t.RowType([t.RowField(field.name, field.data_type) for field in fields], False)
        return built_in("CAST", [built_in("ROW", [column(field.name) for field in fields])], (row,))

    def called(self, given: Any, leave_out: Sequence[str] = ()) -> tuple[exp.Expr, tuple[str, ...]]:
        """Return the call of a function, and the names that an alias gives what it returns; a function itself gets the whole row."""
        if isinstance(given, Expression):
            (node,) = self.expanded([given])
            return node.this if isinstance(node, exp.Alias) else node, given._names
        if not isinstance(given, UserDefinedFunctionWrapper):
            raise ArgumentTypeError(f"{given!r} is no function", hint="give what udf() or its like returned, or a call of it")
        node = call(given, Expression(self._row(leave_out)))._node
        if isinstance(node, UserCall) and getattr(node.function, "kind", "") == "pandas":
            node.meta["function"] = replace(node.function, whole_row=True)
        return node, given._alias_names

    def map(self, given: Any) -> Relation:
        """Return the fields of the row that a function returns, as columns."""
        node, names = self.called(given)
        of = self.type_of(node)
        if not isinstance(of, t.RowType):
            return self._query(named([node] if not names else [aliased(node, names[0])]))
        return self._query([aliased(FieldAt(this=node, place=place), name) for place, name in enumerate(names or of.names)])

    def lateral(self, given: Any, side: str, predicate: Any) -> Relation:
        """Return the rows beside those that a table function returns for them."""
        node, names = self.called(given)
        alias = exp.TableAlias(columns=[exp.Identifier(this=name, quoted=True) for name in names])
        of = getattr(getattr(node, "function", None), "row_type", None)
        own = names or (of.names if of is not None else ())
        common = [name for name in own if name in self.names]
        if common:
            message = f"the table has columns {', '.join(map(t.quoted, common))} already"
            raise ProgramError(message, hint="give those of the function other names: f.alias('a')")
        on = predicate._node if predicate is not None else exp.Boolean(this=True) if side else None
        return self._query([exp.Star()], joins=[exp.Join(this=exp.Lateral(this=node, alias=alias), side=side, on=on)])

    def aggregated(self, keys: Sequence[exp.Expr], given: Any, window: GroupWindow | None = None) -> Relation:
        """Return keys and the fields of an aggregate's result per group; of a window also its properties, under hidden names."""
        node, names = self.called(given, () if window is None else (window.time._node.name,))
        hidden = [WindowProperty(this=column(window.name), kind=kind) for kind in ("START", "END", "ROWTIME")] if window else []
        items: list[Expression[Any]] = [Expression(key) for key in keys]
        items += [Expression(aliased(each, hidden_name(each))) for each in hidden]
        items.append(Expression(aliased(node, _RESULT)))
        plan = self.group(keys, items) if window is None else self.windowed(keys, window, items)
        of = plan.fields[-1].data_type
        if not isinstance(of, t.RowType):
            results = [aliased(column(_RESULT), (names or ("f0",))[0])]
        else:
            results = [aliased(FieldAt(this=column(_RESULT), place=place), name) for place, name in enumerate(names or of.names)]
        kept = [column(field.name) for field in plan.fields[:-1]]
        return Selecting(self._t_env, plan)._query([*kept, *results])

    def flat_aggregated(self, keys: Sequence[exp.Expr], given: Any) -> Relation:
        """Return keys and the rows that a function returns per group."""
        node, names = self.called(given)
        if not isinstance(node, UserCall) or not isinstance(node.function, UserAggregate) or not node.function.of_tables:
            raise ProgramError("flat_aggregate() takes a function that returns rows", hint="make one with udtaf(...)")
        of = node.function.result_type
        row = of if isinstance(of, t.RowType) else t.RowType([t.RowField("f0", of)])
        below = self._query(named([*keys, *(aliased(each, f"$arg{place}") for place, each in enumerate(node.expressions))]))
        width, function = len(keys), node.function
        if function.input_types is not None:
            below = _fitted(below, width, function)
        own = [Field(name, field.data_type) for name, field in zip(names or row.names, row, strict=True)]
        arguments = tuple(range(width, len(below.fields)))
        aggregate = AggregateCall(USER_AGGREGATE, arguments, row, options=(function,))
        keyed = [replace(field, time=None) for field in below.fields[:width]]
        return TableAggregate(below, tuple(range(width)), aggregate, (*keyed, *own))


_RESULT = "$result"
_TIME = "$time"


def hidden_name(node: WindowProperty) -> str:
    """Return the name of the column of a window's property below the columns that a program asks for."""
    return f"${node.args['kind']} {node.this.name}"


def _fitted(relation: Relation, width: int, function: UserAggregate) -> Relation:
    refs = [InputRef(field.data_type, index, field.name) for index, field in enumerate(relation.fields)]
    wanted = function.input_types or ()
    if len(refs) - width != len(wanted):
        raise ProgramError(f"the function {function.name!r} takes {len(wanted)} arguments", hint="give as many")
    casts = [*refs[:width], *(cast(ref, of) for ref, of in zip(refs[width:], wanted, strict=True))]
    columns = [replace(field, data_type=each.data_type) for field, each in zip(relation.fields, casts, strict=True)]
    return Project(relation, tuple(casts), tuple(columns))


class _Both:
    """The columns of two tables, for conditions over both."""

    def __init__(self, left: Relation, right: Relation) -> None:
        self.fields = (*left.fields, *right.fields)


def _one_of_each(keys: Sequence[exp.Expr], items: Sequence[exp.Expr]) -> dict[str, Any]:
    """Return the clause without which all rows would come of groups of which nothing but columns is asked."""
    grouped = keys or any(is_aggregate(each) for item in items for each in summaries(item))
    return {} if grouped else {"distinct": exp.Distinct()}


def _part(plan: Relation, offset: int, count: int | None) -> Relation:
    if isinstance(plan, Project) and _is_ordered(plan.input):
        return replace(plan, input=_part(plan.input, offset, count))
    if not isinstance(plan, TopN) or plan.partition or plan.numbered:
        plan = without_keys(plan)
    first = plan.first + offset
    last = plan.last if count is None else first + count - 1
    if plan.last is not None and last is not None:
        last = min(last, plan.last)
    return replace(plan, first=first, last=last)


def _is_ordered(plan: Relation) -> bool:
    while isinstance(plan, Project):
        plan = plan.input
    return isinstance(plan, TopN) and not plan.partition and not plan.numbered


def _over(call: exp.Expr, window: OverWindow) -> exp.Expr:
    time = window.order._node
    order = exp.Order(expressions=[time if isinstance(time, exp.Ordered) else exp.Ordered(this=time, desc=False, nulls_first=True)])
    by_rows, start = _reach(window)
    _check_end(window, by_rows=by_rows)
    spec = exp.WindowSpec(kind="ROWS" if by_rows else "RANGE", start=start, start_side="PRECEDING", end="CURRENT ROW")
    return exp.Window(this=call, partition_by=[each._node for each in window.partition], order=order, spec=spec)


def _reach(window: OverWindow) -> tuple[bool, Any]:
    """Return whether rows are counted, and from where on."""
    node = None if window.preceding is None else window.preceding._node
    if node is None or (isinstance(node, exp.Var) and node.name == "UNBOUNDED_RANGE"):
        return False, "UNBOUNDED"
    if isinstance(node, exp.Var) and node.name == "UNBOUNDED_ROW":
        return True, "UNBOUNDED"
    if isinstance(node, exp.Var):
        return node.name == "CURRENT_ROW", "CURRENT ROW"
    if isinstance(node, BuiltIn) and node.name == "ROW_INTERVAL":
        return True, node.expressions[0]
    return False, node


def _check_end(window: OverWindow, *, by_rows: bool) -> None:
    node = None if window.following is None else window.following._node
    if node is None:
        return
    if not isinstance(node, exp.Var) or node.name not in ("CURRENT_ROW", "CURRENT_RANGE"):
        raise ProgramError("rows around a row are supported up to the current one only", hint="give CURRENT_ROW or CURRENT_RANGE")
    if (node.name == "CURRENT_ROW") != by_rows:
        raise ProgramError("preceding() and following() must both count rows, or both go by time", hint="give CURRENT_ROW with rows")
