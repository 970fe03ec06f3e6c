"""Functions, orders, aggregations and join hints for programs over bounded data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any

from wiesel.spi.functions import FilterFunction, FlatMapFunction, Function, KeySelector, MapFunction, ReduceFunction
from wiesel.spi.joins import FlatJoinFunction, JoinFunction

__all__ = [
    "Aggregations",
    "Aggregator",
    "CoGroupFunction",
    "ConvergenceCriterion",
    "CrossFunction",
    "DoubleSumAggregator",
    "FilterFunction",
    "FlatJoinFunction",
    "FlatMapFunction",
    "GroupCombineFunction",
    "GroupReduceFunction",
    "JoinFunction",
    "JoinHint",
    "KeySelector",
    "LongSumAggregator",
    "MapFunction",
    "MapPartitionFunction",
    "Order",
    "ReduceFunction",
]


class MapPartitionFunction(Function):
    """Any number of results for all records of a subtask."""

    @abstractmethod
    def map_partition(self, values: Iterator[Any]) -> Iterable[Any] | None:
        """Return or yield the results."""


class GroupReduceFunction(Function):
    """Any number of results for all records of a group.

    One with a method ``combine(values)`` is also called with parts of groups before the exchange; its results replace them, so they must
    have the type of the records.
    """

    @abstractmethod
    def reduce(self, values: Iterator[Any]) -> Iterable[Any] | None:
        """Return or yield the results; the iterator can be consumed once."""


class GroupCombineFunction(Function):
    """Any number of results for some of the records of a group, as many as fit into memory."""

    @abstractmethod
    def combine(self, values: Iterator[Any]) -> Iterable[Any] | None:
        """Return or yield the results; the iterator can be consumed once."""


class CoGroupFunction(Function):
    """Any number of results for the records of one key, of two inputs; either may have none."""

    @abstractmethod
    def co_group(self, first: Iterator[Any], second: Iterator[Any]) -> Iterable[Any] | None:
        """Return or yield the results; the iterators can be consumed once."""


class CrossFunction(Function):
    """One result for each pair of records."""

    @abstractmethod
    def cross(self, first: Any, second: Any) -> Any:
        """Return the result."""


class Order(Enum):
    """The order of a sort."""

    ASCENDING = "ascending"
    DESCENDING = "descending"


class Aggregations(Enum):
    """The aggregations of one field."""

    SUM = "sum"
    MIN = "min"
    MAX = "max"


class JoinHint(Enum):
    """Strategy of a join: the shipping of its inputs, and the build side of a hash join."""

    OPTIMIZER_CHOOSES = "optimizer chooses"
    BROADCAST_HASH_FIRST = "broadcast hash first"
    BROADCAST_HASH_SECOND = "broadcast hash second"
    REPARTITION_HASH_FIRST = "repartition hash first"
    REPARTITION_HASH_SECOND = "repartition hash second"
    REPARTITION_SORT_MERGE = "repartition sort merge"


class Aggregator(ABC):
    """Aggregates values from functions in the step of an iteration, over all subtasks, separately for each round."""

    @abstractmethod
    def get_aggregate(self) -> Any:
        """Return the aggregate."""

    @abstractmethod
    def aggregate(self, element: Any) -> None:
        """Add a value, or the aggregate of another subtask."""

    @abstractmethod
    def reset(self) -> None:
        """Reset to the initial value."""


class LongSumAggregator(Aggregator):
    """The sum of integers."""

    def __init__(self) -> None:
        self._sum = 0

    def get_aggregate(self) -> int:
        """Return the sum."""
        return self._sum

    def aggregate(self, element: int) -> None:
        """Add a number."""
        self._sum += element

    def reset(self) -> None:
        """Go back to 0."""
        self._sum = 0


class DoubleSumAggregator(Aggregator):
    """The sum of floating-point numbers."""

    def __init__(self) -> None:
        self._sum = 0.0

    def get_aggregate(self) -> float:
        """Return the sum."""
        return self._sum

    def aggregate(self, element: float) -> None:
        """Add a number."""
        self._sum += element

    def reset(self) -> None:
        """Go back to 0."""
        self._sum = 0.0


class ConvergenceCriterion(ABC):
    """Decides when an iteration has converged."""

    @abstractmethod
    def is_converged(self, iteration: int, value: Any) -> bool:
        """Return whether round ``iteration`` (from 1), with aggregate ``value``, was the last one."""
