"""Internal. Checks that VARIANTs, and maps, which have no order, are not used as grouping, sort or distinct keys. As in Flink."""

from __future__ import annotations

from collections.abc import Iterator

from wiesel.core.errors import ProgramError
from wiesel.sql.plan.key_forms import MAPS, holds
from wiesel.sql.plan.match_relations import Match
from wiesel.sql.plan.over_relations import OverAggregate
from wiesel.sql.plan.relations import Aggregate, Relation, Sort, SortKey, TopN, walk
from wiesel.sql.plan.user_relations import TableAggregate
from wiesel.sql.plan.window_relations import WindowAggregate
from wiesel.types.logical import contains, quoted
from wiesel.types.logical_variant import VariantType

__all__ = ["check_keys"]

_WITH_KEYS = Aggregate | Match | OverAggregate | Sort | TableAggregate | TopN | WindowAggregate


def check_keys(root: Relation) -> None:
    """Refuse plans whose rows are grouped, sorted or told apart by values of type VARIANT, or sorted by maps.

    Raises:
        ProgramError: If a key is, or has parts that are.
    """
    for relation in walk(root):
        if not isinstance(relation, _WITH_KEYS):
            continue
        columns = relation.inputs[0].fields
        for key in getattr(relation, "keys", ()):
            if isinstance(key, SortKey) and holds(columns[key.index].data_type, MAPS):
                kind = columns[key.index].data_type.as_summary_string()
                message = f"rows cannot be sorted by {quoted(columns[key.index].name)}: values of type {kind} have no order, as in Flink"
                raise ProgramError(message, hint="sort by a part of it, such as MAP_KEYS(m)")
        for index in _keys(relation):
            if contains(columns[index].data_type, VariantType):
                message = f"rows cannot be grouped, sorted or told apart by {quoted(columns[index].name)}: it is VARIANT, as in Flink"
                raise ProgramError(message, hint="take the text of a part of it: JSON_STRING(v['name'])")


def _keys(relation: Relation) -> Iterator[int]:
    """Return the columns of the input by which a relation groups, sorts, partitions and tells values apart."""
    for key in (*getattr(relation, "keys", ()), *getattr(relation, "partition", ())):
        yield key.index if isinstance(key, SortKey) else key
    for call in getattr(relation, "calls", ()):
        if call.distinct:
            yield from call.arguments
