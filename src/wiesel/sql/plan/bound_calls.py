"""Internal. Calls of aggregates as operators run them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from wiesel.columnar.aggregates.calls import BoundCall
from wiesel.columnar.aggregates.registry import Spec
from wiesel.columnar.aggregates.user_aggregates import UserAggregate, require_retract
from wiesel.sql.plan.changelog import changes_of
from wiesel.sql.plan.relations import Aggregate, AggregateCall, Relation

if TYPE_CHECKING:
    from wiesel.sql.plan.window_relations import WindowAggregate

__all__ = ["bound_call", "calls_of_groups", "calls_of_windows"]


def bound_call(call: AggregateCall, below: Relation, *, retracts: bool, folds: bool = False) -> BoundCall:
    """Return a call as operators run it, over the columns of a relation."""
    for option in call.options if retracts and folds else ():
        if isinstance(option, UserAggregate):
            require_retract(option)
    types = tuple(below.fields[index].data_type for index in call.arguments)
    return BoundCall(call.function, Spec(types, call.data_type, retracts, call.options, folds), call.arguments, call.distinct, call.filter)


def calls_of_groups(relation: Aggregate) -> tuple[BoundCall, ...]:
    """Return the calls of GROUP BY."""
    retracts = not changes_of(relation.input).append_only
    return tuple(bound_call(call, relation.input, retracts=retracts, folds=True) for call in relation.calls)


def calls_of_windows(relation: WindowAggregate) -> tuple[BoundCall, ...]:
    """Return the calls of windows; with retraction, MIN and MAX use the distinct values, counted as those of DISTINCT."""
    retracts = not changes_of(relation.input).append_only

    def bound(call: AggregateCall) -> BoundCall:
        if retracts and (call.distinct or call.function in ("MIN", "MAX")):
            return bound_call(replace(call, distinct=True), relation.input, retracts=False)
        return bound_call(call, relation.input, retracts=retracts)

    return tuple(map(bound, relation.calls))
