"""Internal. MATCH_RECOGNIZE: patterns of rows, their conditions, and measures of matches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from wiesel.columnar.expressions import Call, Expression, InputRef, transformed
from wiesel.columnar.functions.registry import call
from wiesel.core.errors import ProgramError
from wiesel.sql.binding.aggregates import Columns, bind_call, call_parts
from wiesel.sql.binding.expressions import ExpressionBinder
from wiesel.sql.binding.match_patterns import PatternPart, pattern_parts
from wiesel.sql.binding.problems import problem
from wiesel.sql.binding.scope import Scope, Source
from wiesel.sql.binding.windows import interval_ms
from wiesel.sql.plan.match_relations import Match, MatchValue, MatchVariable
from wiesel.sql.plan.relations import Field, Relation, SortKey, TimeAttribute
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
_UNORDERED = (t.ArrayType, t.MapType, t.MultisetType, t.RowType)
_UNSUPPORTED = frozenset({"CLASSIFIER", "MATCH_NUMBER"})
_OF_MATCHES = frozenset({"FIRST", "LAST", "PREV", "NEXT", "MATCH_ROWTIME", "MATCH_PROCTIME", *_UNSUPPORTED})


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
        inner = isinstance(node, exp.Anonymous) and node.name.upper() in _OF_MATCHES
        if inner or call_parts(node) is not None:
            raise ProgramError(f"{str(node.name).upper() or 'this'} cannot stand within FIRST, LAST, PREV or an aggregate function")
        return super()._bind(node)

    def variable(self, node: exp.Expr) -> str | None:
        """Return the variable of what was bound."""
        if len(self.found) > 1:
            raise problem(self.sql, node, "FIRST, LAST and aggregate functions take columns of one variable only")
        return next(iter(self.found), None)


class _MatchBinder(ExpressionBinder):
    """Binds expressions over the rows of a match; they read ``values``."""

    def __init__(self, matching: _Matching, defined: str | None) -> None:
        plain = matching.plain
        super().__init__(plain.sql, plain.scope, plain.user_functions)
        self._matching = matching
        self._variables = matching.names
        self._columns = matching.columns
        self._defined = defined
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
            if name in ("PREV", "NEXT"):
                return self._before(node, name)
            if name == "MATCH_ROWTIME":
                return self._rowtime(node)
            if name == "MATCH_PROCTIME" and not node.expressions:
                return call("PROCTIME", [])
            if name in _UNSUPPORTED:
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
        offset = self._offset(node, name, 0)
        rows = _RowBinder(self, self._variables)
        row = rows.bind(node.expressions[0])
        if not rows.found:
            raise ProgramError(f"{name} needs a column of a variable")
        return self._placed(row, rows.variable(node), offset if name == "FIRST" else -1 - offset)

    def _offset(self, node: exp.Anonymous, name: str, default: int) -> int:
        if len(node.expressions) not in (1, 2):
            raise ProgramError(f"{name} takes an expression, and maybe a number of rows")
        if len(node.expressions) == 1:
            return default
        given = node.expressions[1]
        if not isinstance(given, exp.Literal) or given.is_string or not given.this.isdigit():
            raise problem(self.sql, given, f"the number of rows of {name} must be a whole number that is written out")
        return int(given.this)

    def _before(self, node: exp.Anonymous, name: str) -> Expression:
        """Bind PREV, which Flink can count in the rows of the match only: those of another variable, or of all."""
        if self._defined is None:
            raise ProgramError(f"{name} can be used in DEFINE only", hint="use FIRST or LAST with a number of rows")
        offset = self._offset(node, name, 1)
        rows = _RowBinder(self, self._variables)
        row = rows.bind(node.expressions[0])
        variable = rows.variable(node)
        if not rows.found:
            raise ProgramError(f"{name} needs a column of a variable")
        if offset and (name == "NEXT" or variable == self._defined):
            hint = f"LAST({self._defined}.column, 1) is the row before among those of the variable, LAST(column, 1) that of the match"
            raise ProgramError(f"{name} is not supported for rows that stand before or behind those of the match", hint=hint)
        return self._placed(row, variable, -1 - offset)

    def _rowtime(self, node: exp.Anonymous) -> Expression:
        time = self._matching.time
        if self._matching.kind(time) is not TimeAttribute.ROWTIME:
            raise ProgramError("MATCH_ROWTIME needs ORDER BY an event time", hint="use MATCH_PROCTIME()")
        data_type = time.data_type.not_null()
        if node.expressions:
            asked = self.scope.resolve(_named(node.expressions[0], self._variables)[1]) if _is_column(node) else None
            if not isinstance(asked, InputRef) or self._matching.kind(asked) is not TimeAttribute.ROWTIME:
                raise ProgramError("MATCH_ROWTIME takes the column of an event time only", hint="write MATCH_ROWTIME()")
            data_type = asked.data_type
        return self.value(MatchValue(None, self._columns.add(time), -1), data_type)

    def _aggregate(self, node: exp.Expr) -> Expression:
        rows = _RowBinder(self, self._variables)
        bound = bind_call(self.sql, rows, node, self._columns, may_be_empty=True)
        if bound.distinct or bound.filter is not None:
            raise ProgramError("DISTINCT and FILTER are not supported in MATCH_RECOGNIZE")
        return self.value(MatchValue(rows.variable(node), call=bound), bound.data_type)


def _is_column(node: exp.Anonymous) -> bool:
    return len(node.expressions) == 1 and isinstance(node.expressions[0], exp.Column)


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
    """The shared context of the parts of one MATCH_RECOGNIZE."""

    queries: QueryBinder
    plain: ExpressionBinder
    names: frozenset[str]
    columns: Columns
    relation: Relation
    time: InputRef

    def binder(self, defined: str | None = None) -> _MatchBinder:
        """Return a binder for the condition of a variable, or for MEASURES."""
        return _MatchBinder(self, defined)

    def kind(self, expression: Expression) -> TimeAttribute | None:
        """Return which time a column of the rows tells, if it does."""
        return self.relation.fields[expression.index].time if isinstance(expression, InputRef) else None

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
    names = frozenset([*(part.name for part in parts), *(each.alias for each in node.args["define"])])
    time, order = _order(sql, plain, node, relation)
    matching = _Matching(queries, plain, names, Columns(own), relation, time)
    partition = [_partition_column(matching, each) for each in node.args.get("partition_by") or ()]
    skip, skip_to = _skip(matching, node, parts)
    variables = _defined(matching, node.args["define"], parts)
    values, outputs, columns = _measures(matching, node, relation, partition)
    within = None if node.args.get("within") is None else interval_ms(sql, plain, node.args["within"])
    below = matching.columns.over(relation)
    keys = tuple(ref.index for ref in partition)
    return Match(below, keys, time.index, order, variables, within, skip, skip_to, values, outputs, columns)


def _order(sql: str, plain: ExpressionBinder, node: Any, relation: Relation) -> tuple[InputRef, tuple[SortKey, ...]]:
    order = node.args.get("order")
    if order is None:
        raise problem(sql, node, "MATCH_RECOGNIZE needs ORDER BY the time of the rows")
    first, *others = order.expressions
    time = plain.bind(first.this)
    if not isinstance(time, InputRef) or relation.fields[time.index].time is None:
        hint = "put a column with WATERMARK FOR it, or one AS PROCTIME(), first in ORDER BY"
        raise problem(sql, first, "MATCH_RECOGNIZE is supported in the order of the time of the rows only", hint)
    if first.args.get("desc"):
        raise problem(sql, first, "MATCH_RECOGNIZE is supported in ascending order of time only")
    keys = []
    for other in others:
        key = plain.bind(other.this)
        if not isinstance(key, InputRef) or isinstance(key.data_type, _UNORDERED):
            raise problem(sql, other, "ORDER BY of MATCH_RECOGNIZE takes columns of values that can be ordered only")
        keys.append(SortKey(key.index, not other.args.get("desc"), bool(other.args.get("nulls_first"))))
    return time, tuple(keys)


def _partition_column(matching: _Matching, node: exp.Expr) -> InputRef:
    bound = matching.plain.bind(node)
    if not isinstance(bound, InputRef):
        raise matching.refuse(node, "PARTITION BY of MATCH_RECOGNIZE takes columns only in this version", "compute it in a subquery")
    return bound


def _skip(matching: _Matching, node: Any, parts: list[PatternPart]) -> tuple[str, str | None]:
    skip, target = _SKIPS[node.args.get("after")], node.args.get("skip_to")
    if target is None:
        return skip, None
    if target.name not in [part.name for part in parts]:
        raise matching.refuse(target, f"{t.quoted(target.name)} is not a variable of the pattern")
    if target.name == parts[0].name and skip == "first":
        raise matching.refuse(target, "the next match would begin where this one began", "skip to a later variable")
    return skip, target.name


def _defined(matching: _Matching, define: list[Any], parts: list[PatternPart]) -> tuple[MatchVariable, ...]:
    conditions: dict[str, exp.Expr] = {}
    for each in define:
        if each.alias in conditions:
            raise matching.refuse(each, f"{t.quoted(each.alias)} is defined twice")
        conditions[each.alias] = each.this
    for name in conditions.keys() - {part.name for part in parts}:
        _condition(matching, matching.binder(name), conditions[name])  # only checked: no row becomes one of this variable
    return tuple(_variable(matching, part, conditions.get(part.name)) for part in parts)


def _variable(matching: _Matching, part: PatternPart, node: exp.Expr | None) -> MatchVariable:
    variable = MatchVariable(part.name, part.least, part.most, part.greedy)
    if node is None:
        return variable
    binder = matching.binder(part.name)
    bound = _condition(matching, binder, node)
    values = tuple(binder.values)
    # The last row of the variable, and of all, is the one that is asked about.
    if all(each.call is None and each.offset == -1 and each.variable in (None, part.name) for each in values):
        rows = [matching.columns.expressions[each.column] for each in values]
        plain = transformed(bound, lambda of: rows[of.index] if isinstance(of, InputRef) else None)
        return replace(variable, plain=matching.columns.add(plain))
    return replace(variable, condition=bound, values=values)


def _condition(matching: _Matching, binder: _MatchBinder, node: exp.Expr) -> Expression:
    bound = binder.bind(node)
    if not isinstance(bound.data_type, t.BooleanType):
        raise matching.refuse(node, f"a condition must be BOOLEAN, this is {bound.data_type.as_summary_string()}")
    return bound


def _measures(
    matching: _Matching, node: Any, relation: Relation, partition: list[InputRef]
) -> tuple[tuple[MatchValue, ...], tuple[Expression, ...], tuple[Field, ...]]:
    binder = matching.binder()
    outputs: list[Expression] = [binder.value(MatchValue(None, ref.index, 0), ref.data_type, ref.name) for ref in partition]
    columns = [replace(relation.fields[ref.index], time=None) for ref in partition]
    for measure in node.args.get("measures") or ():
        if measure.meta.get("semantics") == "RUNNING":
            raise matching.refuse(measure, "RUNNING is not supported", "with ONE ROW PER MATCH all values are final")
        if not isinstance(measure, exp.Alias):
            raise matching.refuse(measure, "a measure needs a name", "write AS and a name behind it")
        bound = binder.bind(measure.this)
        outputs.append(bound)
        columns.append(Field(measure.alias, bound.data_type, _time_of(matching, binder, bound)))
    twice = next((field.name for place, field in enumerate(columns) if field.name in [other.name for other in columns[:place]]), None)
    if twice is not None:
        raise matching.refuse(node, f"two columns of MATCH_RECOGNIZE have the name {t.quoted(twice)}")
    if not columns:
        raise matching.refuse(node, "MATCH_RECOGNIZE needs PARTITION BY or MEASURES")
    return tuple(binder.values), tuple(outputs), tuple(columns)


def _time_of(matching: _Matching, binder: _MatchBinder, bound: Expression) -> TimeAttribute | None:
    """Return which time a measure tells, if it does: that of the match, or of one of its rows."""
    if isinstance(bound, Call) and bound.function == "PROCTIME":
        return TimeAttribute.PROCTIME
    value = binder.values[bound.index] if isinstance(bound, InputRef) else None
    return None if value is None or value.call is not None else matching.kind(matching.columns.expressions[value.column])
