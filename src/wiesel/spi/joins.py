"""Functions of joins and co-groups, and their records."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, Generic, NamedTuple, TypeVar

from wiesel.spi.functions import Function

__all__ = ["CoGroupFunction", "FlatJoinFunction", "JoinFunction", "ProcessJoinFunction", "TaggedUnion"]

IN1 = TypeVar("IN1")
IN2 = TypeVar("IN2")
OUT = TypeVar("OUT")


class TaggedUnion(NamedTuple):
    """A record of one of two streams that are joined in windows, as their assigner, trigger and evictor get it.

    Attributes:
        side: 0 for a record of the first stream, 1 for one of the second.
        value: The record.
    """

    side: int
    value: Any

    def is_one(self) -> bool:
        """Return whether the record is from the first stream."""
        return self.side == 0

    def is_two(self) -> bool:
        """Return whether the record is from the second stream."""
        return self.side == 1

    def get_one(self) -> Any:
        """Return the record if it is from the first stream, else None."""
        return self.value if self.side == 0 else None

    def get_two(self) -> Any:
        """Return the record if it is from the second stream, else None."""
        return self.value if self.side == 1 else None


class JoinFunction(Function, Generic[IN1, IN2, OUT]):
    """At most one result per pair of records."""

    @abstractmethod
    def join(self, first: IN1, second: IN2) -> OUT | None:
        """Return the result for a record of the first stream and one of the second; None is no result."""


class FlatJoinFunction(Function, Generic[IN1, IN2, OUT]):
    """Any number of results per pair of records."""

    @abstractmethod
    def join(self, first: IN1, second: IN2) -> Iterable[OUT] | None:
        """Return or yield the results for a record of the first stream and one of the second."""


class CoGroupFunction(Function, Generic[IN1, IN2, OUT]):
    """Results for all records of a key and window at once; either side may be empty, as in outer joins."""

    @abstractmethod
    def co_group(self, first: list[IN1], second: list[IN2]) -> Iterable[OUT] | None:
        """Return or yield the results for the records of the first stream and those of the second."""


class ProcessJoinFunction(Function, Generic[IN1, IN2, OUT]):
    """Any number of results per pair of records of an interval join, with access to their timestamps and to side outputs."""

    class Context(ABC):
        """The context of the present pair; valid during the call only. Timestamps are in ms."""

        @abstractmethod
        def get_left_timestamp(self) -> int:
            """Return the timestamp of the left record."""

        @abstractmethod
        def get_right_timestamp(self) -> int:
            """Return the timestamp of the right record."""

        @abstractmethod
        def get_timestamp(self) -> int:
            """Return the later one of the two, which is the timestamp of the results."""

    @abstractmethod
    def process_element(self, left: IN1, right: IN2, ctx: ProcessJoinFunction.Context) -> Any:
        """Return or yield the results for a pair; ``(OutputTag, value)`` goes to a side output."""
