"""Internal. MATCH_RECOGNIZE: patterns of rows, their conditions, and what is told of a match."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from wiesel.columnar.expressions import Expression, InputRef, transformed
from wiesel.core.errors import ProgramError
from wiesel.sql.binding.aggregates import Columns, bind_call, call_parts
from wiesel.sql.binding.expressions import ExpressionBinder
from wiesel.sql.binding.match_patterns import PatternPart, pattern_parts
from wiesel.sql.binding.problems import problem
from wiesel.sql.binding.scope import Scope, Source
from wiesel.sql.binding.windows import interval_ms
from wiesel.sql.match_plan import Match, MatchValue, MatchVariable
from wiesel.sql.plan import Field, Relation, TimeAttribute
from wiesel.types import logical as t

if TYPE_CHECKING:
    from wiesel.sql.binding.queries import QueryBinder

__all__ = ["match_recognize"]

_SKIPS = {
    None: "next",
    "SKIP PAST LAST ROW": "past_last",
    "SKIP TO NEXT ROW": "next",
    "SKIP TO FIRST": "first",
    "SKIP TO LAST": "last",
    "SKIP TO": "last",
}
_UNSUPPORTED = frozenset({"PREV", "NEXT", "CLASSIFIER", "MATCH_NUMBER", "MATCH_PROCTIME"})


class _RowBinder(ExpressionBinder):
    """Binds expressions over one row of a variable, and notes which variable that is."""

    def __init__(self, plain: ExpressionBinder, variables: frozenset[str]) -> None:
        super().__init__(plain.sql, plain.scope, plain.user_functions)
        self._variables = variables
        self.found: set[str | None] = set()

    def _bind(self, node: exp.Expr) -> Expression | None:
        if isinstance(node, exp.Column):
            variable, name = _named(node, self._variables)
            self.found.add(variable)
            return self.scope.resolve(name)
        inner = isinstance(node, exp.Anonymous) and (node.name.upper() in ("FIRST", "LAST", "MATCH_ROWTIME") or _refused(node))
        if inner or call_parts(node) is not None:
            raise ProgramError(f"{str(node.name).upper() or 'this'} cannot stand within FIRST, LAST or an aggregate function")
        return super()._bind(node)

    def variable(self, node: exp.Expr) -> str | None:
        """Return the variable of what was bound."""
        if len(self.found) > 1:
            raise problem(self.sql, node, "FIRST, LAST and aggregate functions take columns of one variable only")
        return next(iter(self.found), None)


class _MatchBinder(ExpressionBinder):
    """Binds expressions over the rows of a match; they read ``values``."""

    def __init__(self, plain: ExpressionBinder, variables: frozenset[str], columns: Columns, time: InputRef) -> None:
        super().__init__(plain.sql, plain.scope, plain.user_functions)
        self._variables = variables
        self._columns = columns
        self._time = time
        self.values: list[MatchValue] = []

    def value(self, value: MatchValue, data_type: t.DataType, name: str = "") -> InputRef:
        """Return the reference to a value."""
        if value not in self.values:
            self.values.append(value)
        return InputRef(data_type, self.values.index(value), name)

    def _bind(self, node: exp.Expr) -> Expression | None:
        if isinstance(node, exp.Column):
            variable, name = _named(node, self._variables)
            return self._placed(self.scope.resolve(name), variable, -1)
        if isinstance(node, exp.Anonymous):
            name = node.name.upper()
            if name in ("FIRST", "LAST"):
                return self._first_or_last(node, name)
            if name == "MATCH_ROWTIME":
                return self._rowtime(node)
            if _refused(node):
                raise ProgramError(f"{name} is not supported in this version")
        if isinstance(node, exp.Window):
            raise ProgramError("OVER cannot be used in MATCH_RECOGNIZE")
        if call_parts(node) is not None:
            return self._aggregate(node)
        return super()._bind(node)

    def _placed(self, row: Expression, variable: str | None, offset: int) -> InputRef:
        name = row.name if isinstance(row, InputRef) else ""
        return self.value(MatchValue(variable, self._columns.add(row), offset), row.data_type.nullable(), name)

    def _first_or_last(self, node: exp.Anonymous, name: str) -> Expression:
        if len(node.expressions) not in (1, 2):
            raise ProgramError(f"{name} takes an expression, and maybe a number of rows")
        offset = 0
        if len(node.expressions) == 2:
            given = node.expressions[1]
            if not isinstance(given, exp.Literal) or given.is_string or not given.this.isdigit():
                raise problem(self.sql, given, f"the number of rows of {name} must be a whole number that is written out")
            offset = int(given.this)
        rows = _RowBinder(self, self._variables)
        row = rows.bind(node.expressions[0])
        if not rows.found:
            raise ProgramError(f"{name} needs a column of a variable")
        return self._placed(row, rows.variable(node), offset if name == "FIRST" else -1 - offset)

    def _rowtime(self, node: exp.Anonymous) -> Expression:
        if node.expressions:
            raise ProgramError("MATCH_ROWTIME with an argument is not supported in this version", hint="write MATCH_ROWTIME()")
        index = self._columns.add(self._time)
        return self.value(MatchValue(None, index, -1), self._time.data_type.not_null())

    def _aggregate(self, node: exp.Expr) -> Expression:
        rows = _RowBinder(self, self._variables)
        call = bind_call(self.sql, rows, node, self._columns, may_be_empty=True)
        if call.distinct or call.filter is not None:
            raise ProgramError("DISTINCT and FILTER are not supported in MATCH_RECOGNIZE")
        return self.value(MatchValue(rows.variable(node), call=call), call.data_type)


def _refused(node: exp.Anonymous) -> bool:
    return node.name.upper() in _UNSUPPORTED


def _named(node: exp.Column, variables: frozenset[str]) -> tuple[str | None, str]:
    """Return variable and name of a column; None for the rows of all variables."""
    parts = [part.name for part in node.parts]
    if isinstance(node.this, exp.Star) or len(parts) > 2:
        raise ProgramError("columns are named as column or variable.column in MATCH_RECOGNIZE in this version")
    if len(parts) == 1:
        return None, parts[0]
    if parts[0] not in variables:
        raise ProgramError(f"{t.quoted(parts[0])} is not a variable of the pattern", hint=f"there are {', '.join(sorted(variables))}")
    return parts[0], parts[1]


@dataclass
class _Matching:
    """What the parts of one MATCH_RECOGNIZE have in common."""

    queries: QueryBinder
    plain: ExpressionBinder
    names: frozenset[str]
    columns: Columns
    time: InputRef

    def binder(self) -> _MatchBinder:
        return _MatchBinder(self.plain, self.names, self.columns, self.time)

    def refuse(self, node: exp.Expr, message: str, hint: str | None = None) -> ProgramError:
        return problem(self.queries.sql, node, message, hint)


def match_recognize(queries: QueryBinder, node: Any, relation: Relation) -> Relation:
    """Return the matches of a pattern in the rows of a relation.

    Raises:
        SqlParseError: If something is not known or not supported; tells the place.
    """
    sql = queries.sql
    plain = queries.expressions(Scope([Source(None, relation.fields, 0)]))
    if node.args.get("rows") == "ALL ROWS PER MATCH":
        raise problem(sql, node, "ALL ROWS PER MATCH is not supported", "write ONE ROW PER MATCH")
    if node.args.get("subsets"):
        raise problem(sql, node.args["subsets"][0], "SUBSET is not supported in MATCH_RECOGNIZE")
    parts = pattern_parts(sql, node.args["pattern"])
    own = [InputRef(field.data_type, index, field.name) for index, field in enumerate(relation.fields)]
    names = frozenset(part.name for part in parts)
    matching = _Matching(queries, plain, names, Columns(own), _time(sql, plain, node, relation))
    partition = [_partition_column(matching, each) for each in node.args.get("partition_by") or ()]
    skip, skip_to = _skip(matching, node, parts)
    variables = _defined(matching, node.args["define"], parts)
    values, outputs, columns = _measures(matching, node, relation, partition)
    within = None if node.args.get("within") is None else interval_ms(sql, plain, node.args["within"])
    below = matching.columns.over(relation)
    keys = tuple(ref.index for ref in partition)
    return Match(below, keys, matching.time.index, variables, within, skip, skip_to, values, outputs, columns)


def _time(sql: str, plain: ExpressionBinder, node: Any, relation: Relation) -> InputRef:
    order = node.args.get("order")
    if order is None:
        raise problem(sql, node, "MATCH_RECOGNIZE needs ORDER BY the time of the rows")
    first, *others = order.expressions
    time = plain.bind(first.this)
    if not isinstance(time, InputRef) or relation.fields[time.index].time is not TimeAttribute.ROWTIME:
        raise problem(sql, first, "MATCH_RECOGNIZE is supported in the order of an event time only in this version")
    if first.args.get("desc"):
        raise problem(sql, first, "MATCH_RECOGNIZE is supported in ascending order of time only")
    if others:
        raise problem(sql, others[0], "MATCH_RECOGNIZE is supported in the order of one column only in this version")
    return time


def _partition_column(matching: _Matching, node: exp.Expr) -> InputRef:
    bound = matching.plain.bind(node)
    if not isinstance(bound, InputRef):
        raise matching.refuse(node, "PARTITION BY of MATCH_RECOGNIZE takes columns only in this version", "compute it in a subquery")
    return bound


def _skip(matching: _Matching, node: Any, parts: list[PatternPart]) -> tuple[str, str | None]:
    skip, target = _SKIPS[node.args.get("after")], node.args.get("skip_to")
    if target is None:
        return skip, None
    if target.name not in matching.names:
        raise matching.refuse(target, f"{t.quoted(target.name)} is not a variable of the pattern")
    if target.name == parts[0].name and skip == "first":
        raise matching.refuse(target, "the next match would begin where this one began", "skip to a later variable")
    return skip, target.name


def _defined(matching: _Matching, define: list[Any], parts: list[PatternPart]) -> tuple[MatchVariable, ...]:
    conditions: dict[str, exp.Expr] = {}
    for each in define:
        if each.alias not in matching.names:
            raise matching.refuse(each, f"{t.quoted(each.alias)} is not a variable of the pattern")
        if each.alias in conditions:
            raise matching.refuse(each, f"{t.quoted(each.alias)} is defined twice")
        conditions[each.alias] = each.this
    return tuple(_variable(matching, part, conditions.get(part.name)) for part in parts)


def _variable(matching: _Matching, part: PatternPart, node: exp.Expr | None) -> MatchVariable:
    variable = MatchVariable(part.name, part.least, part.most, part.greedy)
    if node is None:
        return variable
    binder = matching.binder()
    bound = binder.bind(node)
    if not isinstance(bound.data_type, t.BooleanType):
        raise matching.refuse(node, f"a condition must be BOOLEAN, this is {bound.data_type.as_summary_string()}")
    values = tuple(binder.values)
    # The last row of the variable, and of all, is the one that is asked about.
    if all(each.call is None and each.offset == -1 and each.variable in (None, part.name) for each in values):
        rows = [matching.columns.expressions[each.column] for each in values]
        plain = transformed(bound, lambda of: rows[of.index] if isinstance(of, InputRef) else None)
        return replace(variable, plain=matching.columns.add(plain))
    return replace(variable, condition=bound, values=values)


def _measures(
    matching: _Matching, node: Any, relation: Relation, partition: list[InputRef]
) -> tuple[tuple[MatchValue, ...], tuple[Expression, ...], tuple[Field, ...]]:
    binder = matching.binder()
    outputs: list[Expression] = [binder.value(MatchValue(None, ref.index, 0), ref.data_type, ref.name) for ref in partition]
    columns = [replace(relation.fields[ref.index], time=None) for ref in partition]
    for measure in node.args.get("measures") or ():
        if measure.meta.get("semantics"):
            raise matching.refuse(measure, "FINAL and RUNNING are not supported in this version")
        if not isinstance(measure, exp.Alias):
            raise matching.refuse(measure, "a measure needs a name", "write AS and a name behind it")
        bound = binder.bind(measure.this)
        in_time = isinstance(measure.this, exp.Anonymous) and measure.this.name.upper() == "MATCH_ROWTIME"
        outputs.append(bound)
        columns.append(Field(measure.alias, bound.data_type, TimeAttribute.ROWTIME if in_time else None))
    twice = next((field.name for place, field in enumerate(columns) if field.name in [other.name for other in columns[:place]]), None)
    if twice is not None:
        raise matching.refuse(node, f"two columns of MATCH_RECOGNIZE have the name {t.quoted(twice)}")
    if not columns:
        raise matching.refuse(node, "MATCH_RECOGNIZE needs PARTITION BY or MEASURES")
    return tuple(binder.values), tuple(outputs), tuple(columns)
