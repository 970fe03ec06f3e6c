"""Internal. Joins FOR SYSTEM_TIME AS OF processing time: each row asks a table for the rows of its key when it comes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from wiesel.columnar.expressions import Call, Expression, InputRef, Literal, input_refs
from wiesel.core.durations import to_millis
from wiesel.core.errors import ConfigurationError
from wiesel.core.option_values import convert
from wiesel.sql.binding.problems import problem
from wiesel.sql.plan.relations import Field, Filter, JoinType, Project, Relation, TableScan, WatermarkAssigner
from wiesel.sql.plan.temporal_relations import LookupHint, LookupJoin
from wiesel.sql.rules.push_down import all_of, conjuncts

if TYPE_CHECKING:
    from wiesel.sql.binding.queries import QueryBinder
    from wiesel.sql.binding.scope import Scope

__all__ = ["lookup_join", "with_lookup_hints"]


def lookup_join(
    queries: QueryBinder,
    sides: tuple[Relation, Relation],
    kind: JoinType,
    condition: Expression,
    columns: tuple[Field, ...],
    node: exp.Join,
) -> LookupJoin:
    """Return rows beside those of a table that is asked.

    Raises:
        SqlParseError: If the right side is no table that could be asked, or the condition does not say by which columns.
    """
    left, right = sides
    stored = _stored_columns(right)
    if stored is None:
        message = "FOR SYSTEM_TIME AS OF a processing time needs a table on its right side, or a view that filters and projects one"
        raise problem(queries.sql, node, message, "join the table itself, and group or join its rows behind it")
    width = len(left.fields)
    asked: dict[int, Expression] = {}
    rest = []
    for part in conjuncts(condition):
        found = _equation(part, width, stored)
        if found is not None and found[0] not in asked:
            asked[found[0]] = found[1]
        else:
            rest.append(part)
    if not any(input_refs(value) for value in asked.values()):
        message = "the condition compares no stored column of the table with a value of the left side, so there is nothing to look it up by"
        raise problem(queries.sql, node, message, "add an equation such as o.customer = c.id to ON, of values of the same type")
    return LookupJoin(left, right, kind, tuple(sorted(asked.items())), all_of(rest), columns)


def _stored_columns(relation: Relation) -> dict[int, int] | None:
    """Return which columns of a relation are which stored ones of the table that it filters and projects; None for other relations."""
    if isinstance(relation, TableScan):
        return {index: index for index in range(len(relation.fields))}
    if isinstance(relation, Filter | WatermarkAssigner):
        return _stored_columns(relation.input)
    below = _stored_columns(relation.input) if isinstance(relation, Project) else None
    if not isinstance(relation, Project) or below is None:
        return None
    made = enumerate(relation.expressions)
    return {place: below[each.index] for place, each in made if isinstance(each, InputRef) and each.index in below}


def _equation(part: Expression, width: int, stored: Mapping[int, int]) -> tuple[int, Expression] | None:
    """Return a stored column and what it must be equal to, a value of the left side or a constant; None for other conditions."""
    if not isinstance(part, Call) or part.function != "=":
        return None
    for value, column in (part.operands, part.operands[::-1]):
        if not isinstance(column, InputRef) or column.index - width not in stored:
            continue
        refs = input_refs(value)
        if max(refs, default=0) < width and (refs or _is_constant(value)):
            return stored[column.index - width], value
    return None


def _is_constant(value: Expression) -> bool:
    return isinstance(value, Literal) or (isinstance(value, Call) and value.function == "CAST" and isinstance(value.operands[0], Literal))


# The hint LOOKUP

_RETRY = ("retry-predicate", "retry-strategy", "fixed-delay", "max-attempts")


def with_lookup_hints(queries: QueryBinder, node: exp.Select, scope: Scope, relation: Relation) -> Relation:
    """Return the joins of FROM, asking as the hints LOOKUP of a SELECT say.

    Raises:
        SqlParseError: If a hint is wrong, or names a table that is not in FROM.
    """
    hints = node.args.get("hint")
    for each in hints.expressions if hints else ():
        if each.name.upper() == "LOOKUP":
            table, settings = _hint(queries, node, each.meta["arguments"])
            places = [place for place, source in enumerate(scope.sources) if source.name == table]
            if not places:
                raise problem(queries.sql, node, f"LOOKUP names a table that is not in FROM: '{table}'", "give its name or alias")
            relation = _hinted(relation, len(scope.sources) - 1 - places[0], settings)
    return relation


def _hinted(relation: Relation, above: int, hint: LookupHint) -> Relation:
    """Return a relation of which the join of the table that has this many tables behind it has a hint."""
    if isinstance(relation, Filter):
        return replace(relation, input=_hinted(relation.input, above, hint))
    if above == 0:
        return replace(relation, hint=hint) if isinstance(relation, LookupJoin) else relation
    below = relation.inputs
    return relation.with_inputs(_hinted(below[0], above - 1, hint), *below[1:]) if below else relation


def _ordered(value: str) -> bool:
    modes = {"ordered": True, "allow_unordered": False}
    if value not in modes:
        raise ConfigurationError(f"{value!r} is not one of {', '.join(modes)}")
    return modes[value]


def _one_of(only: str) -> Callable[[str], str]:
    def read(value: str) -> str:
        if value != only:
            raise ConfigurationError(f"{value!r} is not {only!r}, the only one there is")
        return value

    return read


def _count(value: str) -> int:
    found = convert(value, "int", ())
    if found < 1:
        raise ConfigurationError(f"{value!r} is not above 0")
    return int(found)


_READ: dict[str, Callable[[str], Any]] = {
    "table": str,
    "async": lambda value: convert(value, "bool", ()),
    "output-mode": _ordered,
    "capacity": _count,
    "timeout": to_millis,
    "retry-predicate": _one_of("lookup_miss"),
    "retry-strategy": _one_of("fixed_delay"),
    "fixed-delay": to_millis,
    "max-attempts": _count,
}


def _hint(queries: QueryBinder, node: exp.Select, arguments: tuple[Any, ...]) -> tuple[str, LookupHint]:
    found: dict[str, Any] = {}
    for argument in arguments:
        key, value = argument if isinstance(argument, tuple) else (argument, None)
        if key not in _READ or value is None:
            raise problem(queries.sql, node, f"LOOKUP has no option '{key}'", f"the options are {', '.join(_READ)}, each with a value")
        try:
            found[key] = _READ[key](value)
        except ConfigurationError as error:
            raise problem(queries.sql, node, f"LOOKUP: '{key}': {error.message}", error.hint) from error
    if "table" not in found:
        raise problem(queries.sql, node, "LOOKUP does not say for which table", "add 'table' = '...', with its name or alias in FROM")
    retry = [key for key in _RETRY if key in found]
    if retry and len(retry) < len(_RETRY):
        missing = ", ".join(f"'{key}'" for key in _RETRY if key not in found)
        raise problem(queries.sql, node, f"LOOKUP has '{retry[0]}', but not {missing}", "give all four of them, or none")
    hint = LookupHint(found.get("async"), found.get("output-mode"), found.get("capacity"), found.get("timeout"))
    return found["table"], replace(hint, attempts=found["max-attempts"] + 1, delay_ms=found["fixed-delay"]) if retry else hint
