"""Records grouped by key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wiesel.core.argument_checks import require_count, require_function
from wiesel.dataset._builtin import FirstOfGroup
from wiesel.dataset._keys import KeySpec
from wiesel.dataset.data_set import AggregatedDataSet, DataSet, _ascending
from wiesel.dataset.functions import Aggregations, GroupCombineFunction, GroupReduceFunction, Order, ReduceFunction
from wiesel.types.typeinfo import TypeInformation
from wiesel.types.types import require_type

__all__ = ["SortedGrouping", "UnsortedGrouping"]


class _Grouping:
    def __init__(self, data: DataSet[Any], key: KeySpec, sort: tuple[tuple[KeySpec, bool], ...] = ()) -> None:
        self._data = data
        self._key = key
        self._sort = sort

    def reduce_group(self, func: Callable[[Any], Any] | GroupReduceFunction, output_type: TypeInformation | None = None) -> DataSet[Any]:
        """Return the results of ``func`` for each group, whose records it gets as an iterator."""
        require_function(func, GroupReduceFunction, "reduce_group()")
        return self._grouped("group_reduce", "GroupReduce", require_type(output_type, "reduce_group()"), func)

    def combine_group(self, func: Callable[[Any], Any] | GroupCombineFunction, output_type: TypeInformation | None = None) -> DataSet[Any]:
        """Return the results of ``func`` for parts of groups: records of a subtask, as many as fit into memory, without an exchange."""
        require_function(func, GroupCombineFunction, "combine_group()")
        return self._grouped("group_combine", "GroupCombine", require_type(output_type, "combine_group()"), func)

    def first(self, n: int) -> DataSet[Any]:
        """Return ``n`` records of each group, the first ones of sorted groups, or all if there are fewer."""
        function = FirstOfGroup(require_count(n, "n"))
        return self._grouped("group_reduce", "First", self._data.get_type(), function, keeps_key=True)

    def _grouped(self, kind: str, name: str, output_type: TypeInformation, func: Any, *, keeps_key: bool = False) -> DataSet[Any]:
        params = {"keeps_key": keeps_key}
        return self._data._then(kind, name, output_type, function=func, keys=(self._key,), sort=self._sort, params=params)


class UnsortedGrouping(_Grouping):
    """Records grouped by key, unordered within a group."""

    def reduce(self, func: Callable[[Any, Any], Any] | ReduceFunction) -> DataSet[Any]:
        """Return one record per group, reduced by calling ``func`` with two at a time."""
        require_function(func, ReduceFunction, "reduce()", arguments=2)
        return self._data._then("reduce", "Reduce", self._data.get_type(), function=func, keys=(self._key,))

    def aggregate(self, aggregation: Aggregations, field: int | str) -> AggregatedDataSet:
        """Return one record per group with the aggregated field; more aggregations are added by ``and_aggregate``."""
        return AggregatedDataSet.of(self._data, self._key, aggregation, field)

    def sum(self, field: int | str) -> AggregatedDataSet:
        """Return one record per group with the sum of a field."""
        return self.aggregate(Aggregations.SUM, field)

    def min(self, field: int | str) -> AggregatedDataSet:
        """Return one record per group with the minimum of a field."""
        return self.aggregate(Aggregations.MIN, field)

    def max(self, field: int | str) -> AggregatedDataSet:
        """Return one record per group with the maximum of a field."""
        return self.aggregate(Aggregations.MAX, field)

    def min_by(self, *fields: int | str) -> DataSet[Any]:
        """Return the record of each group with the smallest fields."""
        return self._data._selected(fields, self._key, largest=False)

    def max_by(self, *fields: int | str) -> DataSet[Any]:
        """Return the record of each group with the largest fields."""
        return self._data._selected(fields, self._key, largest=True)

    def sort_group(self, key: Any, order: Order = Order.ASCENDING, key_type: TypeInformation | None = None) -> SortedGrouping:
        """Return the grouping with the records of each group sorted by a field or a key selector."""
        return SortedGrouping(self._data, self._key, ()).sort_group(key, order, key_type)


class SortedGrouping(_Grouping):
    """Records grouped by key and sorted within each group."""

    def sort_group(self, key: Any, order: Order = Order.ASCENDING, key_type: TypeInformation | None = None) -> SortedGrouping:
        """Return the grouping sorted by one more key."""
        sort = (self._data._key((key,), "sort_group()", key_type), _ascending(order))
        return SortedGrouping(self._data, self._key, (*self._sort, sort))
