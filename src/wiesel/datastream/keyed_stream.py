"""Keyed streams."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Any, NoReturn

from wiesel.core.argument_checks import require_count, require_function
from wiesel.core.errors import ArgumentTypeError
from wiesel.core.user_location import program_error
from wiesel.datastream._stream import DataStream
from wiesel.graph.specs import OperatorSpec
from wiesel.graph.transformations import OperatorTransformation, PartitionTransformation
from wiesel.spi.builtin_functions import FieldAggregation
from wiesel.spi.functions import (
    FilterFunction,
    FlatMapFunction,
    KeyedProcessFunction,
    KeySelector,
    MapFunction,
    Partitioner,
    ReduceFunction,
)
from wiesel.spi.windows import CountSlidingWindowAssigner, CountTumblingWindowAssigner, WindowAssigner
from wiesel.types.record_type import T
from wiesel.types.typeinfo import BasicTypeInfo, RowTypeInfo, TupleTypeInfo, TypeInformation
from wiesel.types.types import require_type

if TYPE_CHECKING:
    from wiesel.datastream.joined_streams import IntervalJoin
    from wiesel.datastream.stream_execution_environment import StreamExecutionEnvironment
    from wiesel.datastream.windowed_stream import WindowedStream

__all__ = ["KeyedStream"]


class KeyedStream(DataStream[T]):
    """A stream whose records are partitioned by key: functions on it have state and timers per key.

    It is not an operator, so it has no name, uid or parallelism; and its partitioning cannot be replaced.
    """

    class AccumulateType(Enum):
        """The aggregations of one field."""

        MIN = 1
        MAX = 2
        MIN_BY = 3
        MAX_BY = 4
        SUM = 5

    def __init__(
        self,
        environment: StreamExecutionEnvironment,
        transformation: PartitionTransformation,
        key_type: TypeInformation,
        origin_stream: DataStream,
    ) -> None:
        super().__init__(environment, transformation)
        self._key_type = key_type
        self._origin_stream = origin_stream

    # Operators per key.

    def map(self, func: Callable[[Any], Any] | MapFunction, output_type: TypeInformation | None = None) -> DataStream:
        """Return the stream with each record replaced by the result of ``func``; a MapFunction may use keyed state."""
        require_function(func, MapFunction, "map()")
        return self._keyed("Map", "keyed_map", func, require_type(output_type, "map()"))

    def flat_map(self, func: Callable[[Any], Any] | FlatMapFunction, output_type: TypeInformation | None = None) -> DataStream:
        """Return the stream with each record replaced by all results of ``func``; a FlatMapFunction may use keyed state."""
        require_function(func, FlatMapFunction, "flat_map()")
        return self._keyed("FlatMap", "keyed_flat_map", func, require_type(output_type, "flat_map()"))

    def filter(self, func: Callable[[Any], Any] | FilterFunction) -> DataStream:
        """Return the records for which ``func`` returns a true value; a FilterFunction may use keyed state."""
        require_function(func, FilterFunction, "filter()")
        return self._keyed("Filter", "keyed_filter", func, None)

    def process(self, func: KeyedProcessFunction, output_type: TypeInformation | None = None) -> DataStream:  # type: ignore[override]
        """Return the results of ``func`` for each record and timer; it has keyed state and timers."""
        require_function(func, KeyedProcessFunction, "process() on a keyed stream", callable_ok=False)
        return self._keyed("KEYED PROCESS", "keyed_process", func, require_type(output_type, "process()"))

    def reduce(self, func: Callable[[Any, Any], Any] | ReduceFunction) -> DataStream:
        """Return the running reduction of each key's records by ``func``; in BATCH mode only the final one per key.

        Args:
            func: Combines the result so far with the next record; the result has the type of the records.
        """
        require_function(func, ReduceFunction, "reduce()", arguments=2)
        spec = OperatorSpec("keyed_reduce", {"final_only": False}, {"function": func, "output_type": self.get_type()})
        return self._add("Reduce", spec, self.get_type(), keyed=True)

    def _keyed(self, name: str, kind: str, function: Any, output_type: TypeInformation | None) -> DataStream:
        spec = OperatorSpec(kind, payload={"function": function, "output_type": output_type})
        return self._add(name, spec, output_type or self.get_type(), keyed=True)

    # Aggregations of one field.

    def sum(self, position_to_sum: int | str = 0) -> DataStream:
        """Return the running sum of a field (position, or name in a row); the other fields are those of the key's first record."""
        return self._accumulate(position_to_sum, "sum")

    def min(self, position_to_min: int | str = 0) -> DataStream:
        """Return the running minimum of a field; the other fields are those of the key's first record."""
        return self._accumulate(position_to_min, "min")

    def max(self, position_to_max: int | str = 0) -> DataStream:
        """Return the running maximum of a field; the other fields are those of the key's first record."""
        return self._accumulate(position_to_max, "max")

    def min_by(self, position_to_min_by: int | str = 0) -> DataStream:
        """Return the record with the smallest field so far, the first of equal ones."""
        return self._accumulate(position_to_min_by, "min_by")

    def max_by(self, position_to_max_by: int | str = 0) -> DataStream:
        """Return the record with the largest field so far, the first of equal ones."""
        return self._accumulate(position_to_max_by, "max_by")

    def _accumulate(self, position: int | str, kind: str) -> DataStream:
        if not isinstance(position, (int, str)):
            raise program_error(
                f"{kind}() got {position!r} instead of a field", "give the position of the field, or its name in a row", ArgumentTypeError
            )
        _check_field(self.get_type(), position, kind)
        return self.reduce(FieldAggregation(kind, position))

    # Windows.

    def window(self, window_assigner: WindowAssigner[Any, Any]) -> WindowedStream:
        """Return the stream with the records of each key assigned to windows."""
        from wiesel.datastream.windowed_stream import WindowedStream

        return WindowedStream(self, window_assigner)

    def count_window(self, size: int, slide: int = 0) -> WindowedStream:
        """Return the stream with each key's records in windows of ``size`` records.

        Args:
            size: Records per window.
            slide: 0 for tumbling windows, else a window over the last ``size`` records after every ``slide`` records.
        """
        require_count(size, "the size of a window")
        require_count(slide, "the slide of a window", minimum=0)
        return self.window(CountTumblingWindowAssigner(size) if slide == 0 else CountSlidingWindowAssigner(size, slide))

    # Joins.

    def interval_join(self, other: KeyedStream) -> IntervalJoin:
        """Return this stream and another keyed one, to be joined within an interval of event time.

        Continue with ``.between(lower, upper).process(function)``.
        """
        from wiesel.datastream.joined_streams import IntervalJoin

        self._check_partner(other, "interval_join()")
        if not isinstance(other, KeyedStream):
            raise program_error("interval_join() got a stream that is not keyed", "call key_by(...) on it before")
        if other._key_type != self._key_type:
            raise program_error(
                f"the keys of the two streams are of different types: {self._key_type} and {other._key_type}",
                "declare the same key_type in both key_by()",
            )
        return IntervalJoin(self, other)

    def key_by(self, key_selector: Callable[[Any], Any] | KeySelector, key_type: TypeInformation | None = None) -> KeyedStream:
        """Return the stream partitioned by another key."""
        return self._origin_stream.key_by(key_selector, key_type)

    def window_all(self, window_assigner: WindowAssigner[Any, Any]) -> Any:
        """Return the stream in non-keyed windows."""
        return self._origin_stream.window_all(window_assigner)

    # Methods not supported by keyed streams

    def cache(self) -> NoReturn:
        """Raise, as a keyed stream is not an operator."""
        raise program_error("cache() is not supported for a KeyedStream", "call cache() before key_by()")

    def shuffle(self) -> NoReturn:
        """Not for keyed streams."""
        raise self._fixed_partitioning("shuffle()")

    def rescale(self) -> NoReturn:
        """Not for keyed streams."""
        raise self._fixed_partitioning("rescale()")

    def rebalance(self) -> NoReturn:
        """Not for keyed streams."""
        raise self._fixed_partitioning("rebalance()")

    def forward(self) -> NoReturn:
        """Not for keyed streams."""
        raise self._fixed_partitioning("forward()")

    def broadcast(self, *args: Any) -> NoReturn:
        """Not for keyed streams."""
        raise self._fixed_partitioning("broadcast()")

    def global_(self) -> NoReturn:
        """Not for keyed streams."""
        raise self._fixed_partitioning("global_()")

    def partition_custom(
        self, partitioner: Callable[[Any, int], int] | Partitioner, key_selector: Callable[[Any], Any] | KeySelector
    ) -> NoReturn:
        """Not for keyed streams."""
        raise self._fixed_partitioning("partition_custom()")

    def _fixed_partitioning(self, method: str) -> Exception:
        return program_error(
            f"{method} cannot replace the partitioning of a keyed stream", "call it before key_by(), or on the result of an operator"
        )

    def _operator(self, setting: str) -> OperatorTransformation:
        raise program_error(
            f"{setting} is not for keyed streams: key_by() makes no operator, it says how records reach the next one",
            "call it on the stream that an operator such as process() or reduce() returned",
        )


def _check_field(record_type: TypeInformation, position: int | str, kind: str) -> None:
    """Check a field against the declared type of the records, if any."""
    if isinstance(record_type, BasicTypeInfo) and position != 0:
        raise program_error(
            f"{kind}({position!r}) selects a field, but the records are of type {record_type}", f"use {kind}() for plain values"
        )
    if isinstance(record_type, (TupleTypeInfo, RowTypeInfo)):
        count = len(record_type.children())
        names = record_type.get_field_names() if isinstance(record_type, RowTypeInfo) else []
        known = -count <= position < count if isinstance(position, int) else position in names
        if not known:
            raise program_error(
                f"{kind}({position!r}): {record_type} has no such field",
                f"give a position from 0 to {count - 1}" + (f" or one of {names}" if names else ""),
            )
