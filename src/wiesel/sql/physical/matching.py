"""Internal. Patterns of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wiesel.columnar.arrow_types import arrow_type
from wiesel.runtime.table.match_spec import MatchSpec, ValueSpec, VariableSpec
from wiesel.sql.physical.translator import Translator, single
from wiesel.sql.plan.bound_calls import bound_call
from wiesel.sql.plan.relations import TimeAttribute

if TYPE_CHECKING:
    from wiesel.graph.transformations import Transformation
    from wiesel.sql.plan.match_relations import Match, MatchValue, MatchVariable
    from wiesel.sql.plan.relations import Relation

__all__ = ["match"]


def match(translator: Translator, relation: Match) -> Transformation:
    """Return a row for each match."""
    below = relation.input
    by_clock = below.fields[relation.time].time is TimeAttribute.PROCTIME
    spec = MatchSpec(
        relation.partition,
        None if by_clock else relation.time,
        tuple((key.index, key.ascending, key.nulls_first) for key in relation.order),
        tuple(_variable(each, below) for each in relation.variables),
        relation.within_ms,
        relation.skip,
        relation.skip_to,
        tuple(_value(each, below) for each in relation.values),
        relation.outputs,
        translator.schema(below),
        translator.schema(relation),
    )
    source = translator.by_key(translator.translate(below), relation.partition)
    operator = translator.operator("Match", "table_match", spec, [source])
    return operator if relation.partition else single(operator)


def _variable(variable: MatchVariable, below: Relation) -> VariableSpec:
    values = tuple(_value(each, below) for each in variable.values)
    return VariableSpec(variable.name, variable.least, variable.most, variable.greedy, variable.plain, variable.condition, values)


def _value(value: MatchValue, below: Relation) -> ValueSpec:
    call = None if value.call is None else bound_call(value.call, below, retracts=False)
    data_type = below.fields[value.column].data_type if value.call is None else value.call.data_type
    return ValueSpec(value.variable, value.column, value.offset, call, arrow_type(data_type))
