"""Internal. GROUP BY and DISTINCT."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wiesel.columnar.aggregates.calls import BoundCall
from wiesel.columnar.aggregates.registry import Spec
from wiesel.columnar.aggregates.user_aggregates import UserAggregate, require_retract
from wiesel.sql.changelog import changes_of
from wiesel.sql.physical.translator import Translator, single

if TYPE_CHECKING:
    from wiesel.datastream._transformations import Transformation
    from wiesel.sql.plan import Aggregate, AggregateCall, Relation

__all__ = ["aggregate", "bound_call"]


def bound_call(call: AggregateCall, below: Relation, *, retracts: bool, folds: bool = False) -> BoundCall:
    """Return a call as operators run it, over the columns of a relation."""
    for option in call.options if retracts and folds else ():
        if isinstance(option, UserAggregate):
            require_retract(option)
    types = tuple(below.fields[index].data_type for index in call.arguments)
    return BoundCall(call.function, Spec(types, call.data_type, retracts, call.options, folds), call.arguments, call.distinct, call.filter)


def aggregate(translator: Translator, relation: Aggregate) -> Transformation:
    """Return the groups of rows."""
    below = relation.input
    retracts = not changes_of(below).append_only
    payload = {
        "keys": relation.keys,
        "calls": tuple(bound_call(call, below, retracts=retracts, folds=True) for call in relation.calls),
        "schema": translator.schema(relation),
        "ttl_ms": relation.ttl,
        "sends_before": translator.changes.sends_before(relation),
    }
    source = translator.by_key(translator.translate(below), relation.keys)
    operator = translator.operator("GroupAggregate", "table_group_aggregate", payload, [source])
    return operator if relation.keys else single(operator)
