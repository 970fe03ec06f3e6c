"""Internal. Pruning of row groups of Parquet files by conditions, using their minimum and maximum values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.expressions import Call, Expression, InputRef, Literal

__all__ = ["may_hold"]

_TURNED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

# Whether a value between a least and a greatest one can fulfil a comparison with a literal.
_POSSIBLE: dict[str, Callable[[Any, Any, Any], bool]] = {
    "=": lambda least, most, value: _holds(pc.less_equal, least, value) and _holds(pc.less_equal, value, most),
    "<": lambda least, most, value: _holds(pc.less, least, value),
    "<=": lambda least, most, value: _holds(pc.less_equal, least, value),
    ">": lambda least, most, value: _holds(pc.greater, most, value),
    ">=": lambda least, most, value: _holds(pc.greater_equal, most, value),
}


def may_hold(group: Any, names: Sequence[str], stored: pa.Schema, filters: Sequence[Expression]) -> bool:
    """Return whether a row group can hold a row for which all conditions are true.

    Args:
        group: The metadata of the row group.
        names: The columns that conditions refer to by their index.
        stored: The types of the columns in the file.
        filters: The conditions.
    """
    places = {group.column(index).path_in_schema: index for index in range(group.num_columns)}
    return all(_possible(each, group, names, stored, places) for each in filters)


def _possible(condition: Expression, group: Any, names: Sequence[str], stored: pa.Schema, places: dict[str, int]) -> bool:
    found = _comparison(condition)
    if found is None:
        return True
    function, column, literal = found
    name = names[column.index]
    kind = arrow_type(column.data_type)
    # A value of another type than the table's is converted: its order may be another one then.
    if name not in places or stored.field(name).type != kind or literal.value is None:
        return True
    statistics = group.column(places[name]).statistics
    if statistics is None or not statistics.has_min_max:
        return True
    least, most = (pa.scalar(bound, kind) for bound in (statistics.min, statistics.max))
    return _POSSIBLE[function](least, most, pa.scalar(literal.value, arrow_type(literal.data_type)))


def _comparison(condition: Expression) -> tuple[str, InputRef, Literal] | None:
    if not isinstance(condition, Call) or condition.function not in _TURNED:
        return None
    one, other = condition.operands
    if isinstance(one, InputRef) and isinstance(other, Literal):
        return condition.function, one, other
    if isinstance(one, Literal) and isinstance(other, InputRef):
        return _TURNED[condition.function], other, one
    return None


def _holds(compare: Any, left: Any, right: Any) -> bool:
    try:
        return compare(left, right).as_py() is not False
    except pa.ArrowException:
        return True  # not comparable: nothing is known
