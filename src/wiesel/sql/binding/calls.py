"""Internal. Binds calls of functions, those with words between their arguments among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from wiesel.columnar.expressions import Call, Expression, InputRef, Literal
from wiesel.columnar.functions.registry import call
from wiesel.columnar.functions.user_functions import ModuleFunction, user_call
from wiesel.core.errors import ProgramError
from wiesel.sql.binding.problems import meant
from wiesel.sql.binding.user_calls import scalar
from wiesel.sql.language import nodes
from wiesel.sql.plan.relations import TimeAttribute
from wiesel.types import logical as t

if TYPE_CHECKING:
    from wiesel.sql.binding.expressions import ExpressionBinder

__all__ = ["CALLS", "called", "case_of", "replaced_call"]

_SAME = {
    "CHARACTER_LENGTH": "CHAR_LENGTH",
    "CEILING": "CEIL",
    "MOD": "%",
    "SUBSTR": "SUBSTRING",
}
_PARTS = ("YEAR", "QUARTER", "MONTH", "WEEK", "HOUR", "MINUTE", "SECOND")
_PARTS_BY_NAME = {**{name: name for name in _PARTS}, "DAYOFYEAR": "DOY", "DAYOFMONTH": "DAY", "DAYOFWEEK": "DOW"}
_OF_UNITS = ("TIMESTAMPADD", "TIMESTAMPDIFF")
_UNITS = ("SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR")


_CALLED: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.Substring: ("SUBSTRING", "this", "start", "length"),
    exp.Overlay: ("OVERLAY", "this", "expression", "from_", "for_"),
    exp.If: ("IF", "this", "true", "false"),
    exp.CurrentDate: ("CURRENT_DATE",),
    exp.CurrentTime: ("CURRENT_TIME",),
    exp.CurrentTimestamp: ("CURRENT_TIMESTAMP",),
}
"""Calls with nodes of their own that may also be of a user's function: their names, and the parts that are its arguments."""


def replaced_call(binder: ExpressionBinder, node: Any) -> Expression | None:
    """Return the call of a user's function that has the name of a built-in one with a node of its own; None if there is none.

    TRIM, CAST, EXTRACT, POSITION, CEIL, FLOOR and ARRAY are always Flink's, as they are no calls by a name there.
    """
    if isinstance(node, nodes.Call):
        name, arguments = node.this, list(node.expressions)
    elif type(node) in _CALLED:
        name, *parts = _CALLED[type(node)]
        arguments = [node.args[part] for part in parts if node.args.get(part) is not None]
    else:
        return None
    function = binder.user_functions.get(name)
    if function is None or isinstance(function, ModuleFunction):
        return None
    return user_call(scalar(function), binder.bind_all(arguments))


def _anonymous(binder: ExpressionBinder, node: Any) -> Expression:
    name = node.name.upper()
    if name in _OF_UNITS and len(node.expressions) == 3:
        return call(name, binder.bind_all(node.expressions[1:]), [_unit(node.expressions[0])])
    operands = binder.bind_all(node.expressions)
    function = None if name == "ROW" else binder.user_functions.get(name)
    return called(binder, name, operands) if function is None else user_call(scalar(function), operands)


def called(binder: ExpressionBinder, name: str, operands: Sequence[Expression]) -> Expression:
    """Return the call of a function by what it is called in SQL, over the columns of a binder's scope.

    Raises:
        ProgramError: If it asks for the watermark of something else than a column with event time.
    """
    if name == "CURRENT_WATERMARK" and len(operands) == 1:
        column = operands[0]
        of_event_time = isinstance(column, InputRef) and any(
            source.start <= column.index < source.start + len(source.fields)
            and source.fields[column.index - source.start].time is TimeAttribute.ROWTIME
            for source in binder.scope.sources
        )
        if not of_event_time:
            raise ProgramError("CURRENT_WATERMARK takes a column with event time", hint="declare WATERMARK FOR the column in its table")
    return named(name, operands)


def named(name: str, operands: Sequence[Expression]) -> Expression:
    """Return the call of a function by what it is called in SQL."""
    if name in _PARTS_BY_NAME and len(operands) == 1:
        return call("EXTRACT", operands, [_PARTS_BY_NAME[name]])
    if name == "NULLIF" and len(operands) == 2:
        first, second = operands
        return case_of([(call("=", [first, second]), Literal(t.NullType(), None))], first)
    return call(_SAME.get(name, name), operands)


def case_of(branches: Sequence[tuple[Expression, Expression]], otherwise: Expression) -> Expression:
    """Return CASE with conditions and values."""
    return call("CASE", [part for branch in branches for part in branch] + [otherwise])


def _unit(node: exp.Expr) -> str:
    name = node.name.upper().removeprefix("SQL_TSI_")
    if name not in _UNITS:
        raise ProgramError(f"{node.name} is not a unit of time", hint=meant(name, _UNITS) or f"write one of {', '.join(_UNITS)}")
    return name


def _case(binder: ExpressionBinder, node: Any) -> Expression:
    tested = node.args.get("this")
    value = None if tested is None else binder.bind(tested)
    branches = []
    for branch in node.args["ifs"]:
        condition = binder.bind(branch.this)
        branches.append((condition if value is None else call("=", [value, condition]), binder.bind(branch.args["true"])))
    default = node.args.get("default")
    return case_of(branches, Literal(t.NullType(), None) if default is None else binder.bind(default))


def _if(binder: ExpressionBinder, node: Any) -> Expression:
    missing = exp.Null()
    return call("IF", binder.bind_all([node.this, node.args["true"], node.args.get("false") or missing]))


def _rounding(name: str) -> Callable[[ExpressionBinder, Any], Expression]:
    def bind(binder: ExpressionBinder, node: Any) -> Expression:
        operands = [binder.bind(node.this)]
        unit = node.args.get("to")
        if unit is not None:
            return call(f"{name} TO", operands, [unit.name.upper()])
        return call(name, operands)

    return bind


def _trim(binder: ExpressionBinder, node: Any) -> Expression:
    removed = node.args.get("expression")
    characters = Literal(t.CharType(1, False), " ") if removed is None else binder.bind(removed)
    return call("TRIM", [binder.bind(node.this), characters], [(node.args.get("position") or "BOTH").upper()])


def _parts(name: str, *parts: str) -> Callable[[ExpressionBinder, Any], Expression]:
    """Bind a node whose arguments are the parts of these names, as far as there are any."""

    def bind(binder: ExpressionBinder, node: Any) -> Expression:
        return call(name, binder.bind_all([node.args[part] for part in parts if node.args.get(part) is not None]))

    return bind


def _with_words(binder: ExpressionBinder, node: Any) -> Expression:
    returning = node.args.get("returning")
    words = tuple(node.args.get("words") or ())
    defaults = binder.bind_all(node.args.get("defaults") or [])
    operands = binder.bind_all(node.expressions)
    options = (words, None if returning is None else returning.data_type, len(defaults))
    return call(node.this, [*operands, *defaults], options)


def _is_json(binder: ExpressionBinder, tested: Expression, kind: str) -> Expression:
    return call("IS JSON", [tested], [kind or "VALUE"])


def _is(binder: ExpressionBinder, node: Any) -> Expression | None:
    tested, what = binder.bind(node.this), node.expression
    if isinstance(what, exp.Null):
        return call("IS NULL", [tested])
    if isinstance(what, exp.Boolean):
        return call("IS TRUE" if what.this else "IS FALSE", [tested])
    if isinstance(what, exp.JSON):
        return _is_json(binder, tested, what.this or "")
    return None


_OPPOSITE = {"IS NULL": "IS NOT NULL", "IS TRUE": "IS NOT TRUE", "IS FALSE": "IS NOT FALSE"}


def _not(binder: ExpressionBinder, node: Any) -> Expression:
    negated = binder.bind(node.this)
    if isinstance(node.this, exp.Is) and isinstance(negated, Call) and negated.function in _OPPOSITE:
        return call(_OPPOSITE[negated.function], negated.operands)
    return call("NOT", [negated])


def _overlaps(binder: ExpressionBinder, node: Any) -> Expression:
    ends: list[Expression] = []
    for period in (node.this, node.expression):
        if not isinstance(period, exp.Tuple) or len(period.expressions) != 2:
            raise ProgramError("OVERLAPS stands between two periods", hint="write (start, end) OVERLAPS (start, end)")
        start, end = binder.bind_all(period.expressions)
        ends += [start, call("+", [start, end]) if isinstance(period.expressions[1], exp.Interval) else end]
    return call("OVERLAPS", ends)


CALLS: dict[type[exp.Expr], Callable[[Any, Any], Expression | None]] = {
    exp.Anonymous: _anonymous,
    exp.Case: _case,
    exp.If: _if,
    exp.Floor: _rounding("FLOOR"),
    exp.Ceil: _rounding("CEIL"),
    exp.Trim: _trim,
    exp.Extract: lambda binder, node: call("EXTRACT", [binder.bind(node.expression)], [node.this.name.upper()]),
    exp.Overlay: _parts("OVERLAY", "this", "expression", "from_", "for_"),
    exp.StrPosition: _parts("POSITION", "substr", "this", "position"),
    exp.Substring: _parts("SUBSTRING", "this", "start", "length"),
    exp.CurrentDate: lambda binder, node: call("CURRENT_DATE", []),
    exp.CurrentTime: lambda binder, node: call("CURRENT_TIME", []),
    exp.CurrentTimestamp: lambda binder, node: call("CURRENT_TIMESTAMP", []),
    exp.Is: _is,
    exp.Not: _not,
    exp.Overlaps: _overlaps,
    nodes.Call: _with_words,
}
