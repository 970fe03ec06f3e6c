"""Internal. Hints behind SELECT: how long rows of a table are kept, how joins are carried out, and how parallel operators are."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from sqlglot import exp

from wiesel.columnar.expressions import InputRef
from wiesel.core.durations import parse_duration
from wiesel.core.errors import ConfigurationError
from wiesel.sql.binding.problems import problem
from wiesel.sql.binding.scope import Scope, Source
from wiesel.sql.language import nodes
from wiesel.sql.plan.operator_parallelism import PARALLEL
from wiesel.sql.plan.relations import Filter, Join, JoinHint, Project, Relation, Union
from wiesel.types.logical import quoted

if TYPE_CHECKING:
    from wiesel.sql.binding.queries import QueryBinder

__all__ = ["check_hints", "parallelisms", "state_ttls", "table_options", "with_join_hints", "with_parallelism", "with_ttls"]

Ttls = Mapping[str, int]

_KNOWN = ("BROADCAST", "LOOKUP", "MULTI_JOIN", "NEST_LOOP", "PARALLELISM", "SHUFFLE_HASH", "SHUFFLE_MERGE", "STATE_TTL")
_JOINS = ("BROADCAST", "NEST_LOOP", "SHUFFLE_HASH", "SHUFFLE_MERGE")


def table_options(sql: str, hints: Sequence[exp.Expr], node: exp.Expr) -> dict[str, str]:
    """Return the options that hints behind the name of a table give it: ``OPTIONS('key' = 'value')``.

    Raises:
        SqlParseError: If there is another hint, or one without options.
    """
    found: dict[str, str] = {}
    for each in hints:
        if not isinstance(each, nodes.Hint) or each.name.upper() != "OPTIONS":
            raise problem(sql, node, f"there is no hint {each.name.upper()} behind a table", "hints behind a table are OPTIONS")
        for pair in each.arguments:
            if isinstance(pair, str):
                raise problem(sql, node, f"OPTIONS has {pair!r} without a value", "write OPTIONS('key' = 'value')")
            found[pair[0]] = pair[1]
    return found


def check_hints(queries: QueryBinder, node: exp.Select) -> None:
    """Refuse hints that there are not.

    Raises:
        SqlParseError: If a hint of a SELECT is not known.
    """
    hints = node.args.get("hint")
    for each in hints.expressions if hints else ():
        name = each.name.upper()
        if name not in _KNOWN:
            near = difflib.get_close_matches(name, _KNOWN, n=1)
            hint = f"did you mean {near[0]}?" if near else f"hints behind SELECT are {', '.join(_KNOWN)}"
            raise problem(queries.sql, node, f"there is no hint {name}", hint)


def state_ttls(queries: QueryBinder, node: exp.Select, scope: Scope) -> Ttls:
    """Return the times to live (ms) that the hints of a SELECT give its tables, by the names by which the tables are known there.

    Raises:
        SqlParseError: If a name is not that of a table of FROM, or a time is none.
    """
    hints = node.args.get("hint")
    found: dict[str, int] = {}
    names = [source.name for source in scope.sources if source.name is not None]
    for each in hints.expressions if hints else ():
        if each.name.upper() != "STATE_TTL":
            continue
        arguments = each.meta["arguments"]
        if not arguments or not all(isinstance(argument, tuple) for argument in arguments):
            raise problem(queries.sql, node, "STATE_TTL takes names of tables with times", "write STATE_TTL('orders' = '1 d')")
        for name, text in arguments:
            if name not in names:
                near = difflib.get_close_matches(name, names, n=1)
                hint = f"did you mean {quoted(near[0])}?" if near else f"the tables are: {', '.join(map(quoted, names))}"
                raise problem(queries.sql, node, f"STATE_TTL names a table that is not in FROM: {quoted(name)}", hint)
            found.setdefault(name, _millis(queries, node, text))
    return found


def _millis(queries: QueryBinder, node: exp.Select, text: str) -> int:
    try:
        return parse_duration(text).to_millis()
    except ConfigurationError as error:
        raise problem(queries.sql, node, f"STATE_TTL: {error.message}", "write a time such as '1 d', '30 min' or '0 s' for ever") from error


def with_join_hints(queries: QueryBinder, node: exp.Select, scope: Scope, relation: Relation) -> Relation:
    """Return the joins of FROM with the ways to do them that hints name; the first hint for a join counts.

    Raises:
        SqlParseError: If a hint names no table, or none of FROM.
    """
    hints = node.args.get("hint")
    names = [source.name for source in scope.sources]
    known = [name for name in names if name is not None]
    found: dict[str, str] = {}
    for each in hints.expressions if hints else ():
        strategy = each.name.upper()
        if strategy not in _JOINS:
            continue
        tables = each.meta["arguments"]
        if not tables or not all(isinstance(table, str) for table in tables):
            raise problem(queries.sql, node, f"{strategy} takes the names of tables", f"write {strategy}(orders)")
        for name in tables:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                hint = f"did you mean {quoted(near[0])}?" if near else f"the tables are: {', '.join(map(quoted, known))}"
                raise problem(queries.sql, node, f"{strategy} names a table that is not in FROM: {quoted(name)}", hint)
            found.setdefault(name, strategy)
    return _each_join(relation, scope.sources, [found.get(name or "") for name in names], _with_join_hints) if found else relation


def _with_join_hints(join: Join, strategies: Sequence[str | None]) -> Join:
    first = strategies[0] if len(strategies) == 2 else None  # noqa: PLR2004 - two tables are one join
    found = [JoinHint(strategy, side) for strategy, side in ((first, 0), (strategies[-1], 1)) if strategy is not None]
    return replace(join, hint=found[0] if found else None)


_Value = TypeVar("_Value")


def _each_join(
    relation: Relation,
    sources: Sequence[Source],
    values: Sequence[_Value],
    change: Callable[[Join, Sequence[_Value]], Join],
    start: int = -1,
) -> Relation:
    """Return the rows of FROM with its joins changed; each is given the values of the items of FROM in it.

    ``start`` is the first column of the last item; a join whose left side contains it belongs to a query of a condition.
    """
    if len(sources) == 1:
        return relation
    start = sources[-1].start if start < 0 else start
    below = relation.inputs
    if isinstance(relation, Join) and len(relation.left.fields) <= start:
        return change(replace(relation, left=_each_join(relation.left, sources[:-1], values[:-1], change)), values)
    if isinstance(relation, Join | Filter | Project):
        first = relation.expressions[start] if isinstance(relation, Project) else None
        start = first.index if isinstance(first, InputRef) else start
        return relation.with_inputs(_each_join(below[0], sources, values, change, start), *below[1:])
    if not below or isinstance(relation, Union):
        return relation
    return relation.with_inputs(_each_join(below[0], sources[:-1], values[:-1], change), *below[1:])


def parallelisms(queries: QueryBinder, node: exp.Select) -> Mapping[str, int]:
    """Return how parallel the operators of a SELECT are to be by ``PARALLELISM``: by kind, ``""`` for all that are not named.

    Raises:
        SqlParseError: If there is no such kind, or it is no number.
    """
    hints = node.args.get("hint")
    found: dict[str, int] = {}
    for each in hints.expressions if hints else ():
        if each.name.upper() != "PARALLELISM":
            continue
        for argument in each.meta["arguments"] or ("",):
            kind, number = argument if isinstance(argument, tuple) else ("", argument)
            if kind and kind not in PARALLEL:
                near = difflib.get_close_matches(kind, PARALLEL, n=1)
                hint = f"did you mean {near[0]}?" if near else f"the kinds are: {', '.join(PARALLEL)}"
                raise problem(queries.sql, node, f"PARALLELISM names no kind of operators: {kind!r}", hint)
            if not number.strip().isdecimal() or int(number) < 1:
                hint = "write PARALLELISM('4') or PARALLELISM('Join' = '4', 'Aggregate' = '8')"
                raise problem(queries.sql, node, f"PARALLELISM: {number!r} is no number of subtasks", hint)
            found[kind] = int(number)
    return found


def with_parallelism(relation: Relation, wanted: Mapping[str, int]) -> Relation:
    """Return a relation whose operators are as parallel as a hint says, or as the job, where no query below has decided."""
    inputs = [with_parallelism(each, wanted) for each in relation.inputs]
    if any(new is not old for new, old in zip(inputs, relation.inputs, strict=True)):
        relation = relation.with_inputs(*inputs)
    if relation.name in PARALLEL and getattr(relation, "parallelism", None) is None:
        return replace(relation, parallelism=wanted.get(relation.name, wanted.get("", 0)))  # type: ignore[type-var]
    return relation


def with_ttls(relation: Relation, scope: Scope, ttls: Ttls) -> Relation:
    """Return the joins of FROM with times to live of their sides. A side that is a join itself has none of its own."""
    if not ttls:
        return relation
    return _each_join(relation, scope.sources, [ttls.get(source.name or "") for source in scope.sources], _with_ttls)


def _with_ttls(join: Join, ttls: Sequence[int | None]) -> Join:
    return replace(join, ttl=(ttls[0] if len(ttls) == 2 else None, ttls[-1]))  # noqa: PLR2004 - two tables are one join
