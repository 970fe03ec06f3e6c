"""Internal. Rows that functions of users return for groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wiesel.columnar.aggregates.user_aggregates import UserAggregate, require_retract
from wiesel.runtime.table.table_aggregate import TableAggregateSpec
from wiesel.sql.changelog import changes_of
from wiesel.sql.physical.translator import Translator, single

if TYPE_CHECKING:
    from wiesel.datastream._transformations import Transformation
    from wiesel.sql.user_plan import TableAggregate

__all__ = ["table_aggregate"]


def table_aggregate(translator: Translator, relation: TableAggregate) -> Transformation:
    """Return the rows of groups.

    Raises:
        ProgramError: If rows of the input may be taken back, and the function cannot do so.
    """
    function = relation.call.options[0]
    assert isinstance(function, UserAggregate)  # noqa: S101 - the call of one
    if not changes_of(relation.input).append_only:
        require_retract(function)
    spec = TableAggregateSpec(relation.keys, relation.call.arguments, function, translator.schema(relation))
    source = translator.by_key(translator.translate(relation.input), relation.keys)
    operator = translator.operator("TableAggregate", "table_table_aggregate", spec, [source])
    return operator if relation.keys else single(operator)
