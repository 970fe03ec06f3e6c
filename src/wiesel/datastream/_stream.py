"""Internal. ``DataStream``: the class with most operators."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Generic, overload

from wiesel.core.argument_checks import require_built, require_count, require_function, require_instance, require_seconds
from wiesel.core.unpicklable import StaysInProgram
from wiesel.core.user_location import program_error, user_location
from wiesel.datastream._operator_settings import MAX_PARALLELISM_LIMIT, OperatorSettings
from wiesel.datastream.state_backend import StateBackend
from wiesel.graph.specs import FORWARD, REBALANCE, OperatorSpec, PartitionerSpec
from wiesel.graph.transformations import (
    PartitionTransformation,
    SideOutputTransformation,
    Transformation,
    UnionTransformation,
)
from wiesel.spi.builtin_functions import TypedKeySelector
from wiesel.spi.functions import FilterFunction, FlatMapFunction, KeySelector, MapFunction, Partitioner, ProcessFunction
from wiesel.spi.output_tag import OutputTag
from wiesel.spi.sink import Sink
from wiesel.spi.state import MapStateDescriptor
from wiesel.spi.watermark import WatermarkStrategy
from wiesel.spi.windows import WindowAssigner
from wiesel.state.factory import check_backend
from wiesel.types import Types
from wiesel.types.record_type import R, T
from wiesel.types.typeinfo import PickledBytesTypeInfo, TupleTypeInfo, TypeInformation
from wiesel.types.types import require_type

if TYPE_CHECKING:
    from wiesel.common.execution_config import ExecutionConfig
    from wiesel.datastream._cached_stream import CachedDataStream
    from wiesel.datastream._preview import Preview
    from wiesel.datastream.broadcast_streams import BroadcastConnectedStream, BroadcastStream
    from wiesel.datastream.closeable_iterator import CloseableIterator
    from wiesel.datastream.connected_streams import ConnectedStreams
    from wiesel.datastream.data_stream_sink import DataStreamSink
    from wiesel.datastream.iterative_streams import IterativeStream
    from wiesel.datastream.joined_streams import CoGroupedStreams, JoinedStreams
    from wiesel.datastream.keyed_stream import KeyedStream
    from wiesel.datastream.stream_execution_environment import StreamExecutionEnvironment
    from wiesel.datastream.windowed_stream import AllWindowedStream

__all__ = ["DataStream"]


class DataStream(OperatorSettings, StaysInProgram, Generic[T]):
    """A stream of records of one type.

    Transformations return a new stream; nothing runs before ``env.execute()``. Functions may be instances of the classes in
    :mod:`wiesel.datastream.functions` or plain callables; all of them are shipped to the workers by value. Without ``output_type``, results
    are any picklable Python objects.

    Invalid arguments raise :class:`~wiesel.core.errors.ProgramError` with the line of the call.
    """

    _use_instead = "connect the two streams, or broadcast one: a function sees the records of its own streams alone"

    def __init__(self, environment: StreamExecutionEnvironment, transformation: Transformation) -> None:
        self._environment = environment
        self._transformation = transformation

    # Properties of the stream

    def get_name(self) -> str:
        """Return the name of the operator of this stream."""
        return self._operator("get_name()").node.name

    def get_type(self) -> TypeInformation:
        """Return the declared type of the records; pickled objects if none was declared."""
        return self._transformation.output_type

    def get_execution_environment(self) -> StreamExecutionEnvironment:
        """Return the environment of this stream."""
        return self._environment

    def get_execution_config(self) -> ExecutionConfig:
        """Return the execution configuration of the environment."""
        return self._environment.get_config()

    # Settings of streams only; the others are in OperatorSettings.

    def set_max_parallelism(self, max_parallelism: int) -> DataStream[T]:
        """Set the number of key groups of this operator's state: the largest parallelism it can be rescaled to (1 to 32768)."""
        operator = self._operator("set_max_parallelism()")
        operator.node.max_parallelism = require_count(max_parallelism, "max parallelism", maximum=MAX_PARALLELISM_LIMIT)
        return self

    def set_state_backend(self, state_backend: StateBackend | str) -> DataStream[T]:
        """Set the state backend of this operator, overriding that of the job.

        Args:
            state_backend: A backend such as ``EmbeddedRocksDBStateBackend()``, or its name as in ``state.backend.type``.

        Raises:
            ConfigurationError: If there is no backend of that name, or it needs a package that is not installed.
        """
        require_instance(state_backend, (StateBackend, str), "the state backend", "e.g. HashMapStateBackend() or 'lmdb'")
        name = state_backend if isinstance(state_backend, str) else state_backend.option_value
        check_backend(name)
        self._operator("set_state_backend()").node.state_backend = name
        return self

    def force_non_parallel(self) -> DataStream[T]:
        """Set parallelism and max parallelism to 1 for good."""
        operator = self._operator("force_non_parallel()")
        operator.node.parallelism = operator.node.max_parallelism = 1
        operator.node.parallelism_set = True
        operator.non_parallel = True
        return self

    def set_buffer_timeout(self, timeout_millis: int) -> DataStream[T]:
        """Set the buffer timeout of this operator, in ms; 0 sends each record immediately, -1 uses the environment's."""
        timeout_ms = require_count(timeout_millis, "the buffer timeout", minimum=-1)
        self._operator("set_buffer_timeout()").node.buffer_timeout_ms = None if timeout_ms == -1 else timeout_ms
        return self

    def start_new_chain(self) -> DataStream[T]:
        """Do not chain this operator to its predecessor; later ones may still be chained to it."""
        self._operator("start_new_chain()").node.chaining = "head"
        return self

    # Operators.

    @overload
    def map(self, func: MapFunction, output_type: TypeInformation | None = None) -> DataStream[Any]: ...

    @overload
    def map(self, func: Callable[[T], R], output_type: TypeInformation | None = None) -> DataStream[R]: ...

    def map(self, func: Callable[[Any], Any] | MapFunction, output_type: TypeInformation | None = None) -> DataStream[Any]:
        """Return the stream with each record replaced by the result of ``func``."""
        require_function(func, MapFunction, "map()")
        return self._one_input("Map", "map", {"function": func}, require_type(output_type, "map()"))

    @overload
    def flat_map(self, func: FlatMapFunction, output_type: TypeInformation | None = None) -> DataStream[Any]: ...

    @overload
    def flat_map(self, func: Callable[[T], Iterable[R] | None], output_type: TypeInformation | None = None) -> DataStream[R]: ...

    def flat_map(self, func: Callable[[Any], Any] | FlatMapFunction, output_type: TypeInformation | None = None) -> DataStream[Any]:
        """Return the stream with each record replaced by all that ``func`` returns or yields for it; ``func`` returns an iterable."""
        require_function(func, FlatMapFunction, "flat_map()")
        return self._one_input("FlatMap", "flat_map", {"function": func}, require_type(output_type, "flat_map()"))

    def filter(self, func: Callable[[T], Any] | FilterFunction) -> DataStream[T]:
        """Return the records for which ``func`` returns a true value."""
        require_function(func, FilterFunction, "filter()")
        return self._one_input("Filter", "filter", {"function": func}, self.get_type(), declared=False)

    def process(self, func: ProcessFunction, output_type: TypeInformation | None = None) -> DataStream:
        """Return the results of ``func`` for each record; it has timestamps, watermarks and side outputs."""
        require_function(func, ProcessFunction, "process()", callable_ok=False)
        return self._one_input("PROCESS", "process", {"function": func}, require_type(output_type, "process()"))

    def project(self, *field_indexes: int) -> DataStream:
        """Return a stream of tuples with the fields at these positions; the stream must be of a declared tuple type."""
        row_type = self.get_type()
        if not isinstance(row_type, TupleTypeInfo):
            raise program_error(
                f"only streams of tuples can be projected, this one is of {row_type}", "declare output_type=Types.TUPLE([...])"
            )
        types = row_type.get_field_types()
        if not field_indexes:
            raise program_error("project() needs at least one field", "give positions of fields, counted from 0")
        for index in field_indexes:
            require_count(index, "a field's position", minimum=0, maximum=len(types) - 1)
        projected = Types.TUPLE([types[i] for i in field_indexes])
        return self._add("Projection", OperatorSpec("project", {"fields": list(field_indexes)}), projected)

    def assign_timestamps_and_watermarks(self, watermark_strategy: WatermarkStrategy) -> DataStream[T]:
        """Return the stream with timestamps and watermarks of this strategy, replacing existing ones.

        Sources accept a strategy as well (``from_source``), which is applied per split, so prefer it.
        """
        require_instance(
            watermark_strategy, WatermarkStrategy, "the watermark strategy", "e.g. WatermarkStrategy.for_monotonous_timestamps()"
        )
        # A copy: with_timestamp_assigner changes the strategy itself, which the user may modify further.
        spec = OperatorSpec("timestamps", payload={"strategy": copy.copy(watermark_strategy)})
        return self._add("Timestamps/Watermarks", spec, self.get_type())

    # Several streams

    def union(self, *streams: DataStream[T]) -> DataStream[T]:
        """Return the records of this stream and of all others, in undefined order.

        Raises:
            ProgramError: If two streams declare different types.
        """
        everything = (self, *streams)
        for stream in streams:
            self._check_partner(stream, "union()")
        declared = [s.get_type() for s in everything if not isinstance(s.get_type(), PickledBytesTypeInfo)]
        for other in declared[1:]:
            if other != declared[0]:
                raise program_error(
                    f"streams of different types cannot be united: {declared[0]} and {other}", "map() them to one type before"
                )
        united = declared[0] if len(declared) == len(everything) else Types.PICKLED_BYTE_ARRAY()
        inputs: list[Transformation] = []
        for stream in everything:
            behind = stream._transformation
            inputs.extend(behind.inputs if isinstance(behind, UnionTransformation) else (behind,))
        return self._virtual(UnionTransformation(united, user_location(), tuple(inputs)))

    @overload
    def connect(self, ds: DataStream) -> ConnectedStreams: ...

    @overload
    def connect(self, ds: BroadcastStream) -> BroadcastConnectedStream: ...

    def connect(self, ds: DataStream | BroadcastStream) -> ConnectedStreams | BroadcastConnectedStream:
        """Return this stream and another one as the two inputs of one operator; the types may differ.

        Args:
            ds: A stream; or the result of ``broadcast`` with state descriptors, whose states each subtask of the operator holds.
        """
        from wiesel.datastream.broadcast_streams import BroadcastConnectedStream, BroadcastStream
        from wiesel.datastream.connected_streams import ConnectedStreams

        if isinstance(ds, BroadcastStream):
            self._check_partner(ds.input_stream, "connect()")
            return BroadcastConnectedStream(self, ds, ds.broadcast_state_descriptors)
        self._check_partner(ds, "connect()")
        return ConnectedStreams(self, ds)

    def join(self, other: DataStream) -> JoinedStreams:
        """Return this stream and another one, to be joined by key and window: all pairs of matching records.

        Continue with ``.where(key).equal_to(key).window(assigner).apply(function)``. See also :meth:`KeyedStream.interval_join`.
        """
        from wiesel.datastream.joined_streams import JoinedStreams

        self._check_partner(other, "join()")
        return JoinedStreams(self, other)

    def co_group(self, other: DataStream) -> CoGroupedStreams:
        """Return this stream and another one, to be co-grouped by key and window: one call for all records of both.

        Continue with ``.where(key).equal_to(key).window(assigner).apply(function)``.
        """
        from wiesel.datastream.joined_streams import CoGroupedStreams

        self._check_partner(other, "co_group()")
        return CoGroupedStreams(self, other)

    def _check_partner(self, other: Any, method: str) -> None:
        require_instance(other, DataStream, f"the argument of {method}", "give streams of this environment")
        if other._environment is not self._environment:
            raise program_error(f"{method} got a stream of another environment", "build the whole job with one StreamExecutionEnvironment")

    def cache(self) -> CachedDataStream[T]:
        """Cache the records of this stream when a job first computes them, so that later jobs of this environment read them.

        In BATCH mode only; otherwise the records are recomputed each time. They are in files of the program's temporary directory until the
        environment is closed, the program ends or :meth:`CachedDataStream.invalidate` is called; lost files are recomputed.

        Raises:
            ProgramError: If this stream is not the direct result of an operator.
        """
        from wiesel.datastream._cached_stream import cache_of

        return cache_of(self)

    def iterate(self, max_wait_time_ms: int = 0) -> IterativeStream[T]:
        """Return the stream at the start of a loop; its ``close_with`` sets the feedback records.

        After the end of its input the loop continues until it has no more records.

        Args:
            max_wait_time_ms: If it is above 0, the loop ends when the input has ended and no feedback has arrived for this time; later
                feedback is lost.
        """
        from wiesel.datastream.iterative_streams import iterate

        return iterate(self, max_wait_time_ms)

    # Partitionings.

    def key_by(self, key_selector: Callable[[T], Any] | KeySelector, key_type: TypeInformation | None = None) -> KeyedStream[T]:
        """Return the stream partitioned by key: records of one key go to one subtask, which has state and timers per key.

        Args:
            key_selector: Returns the key of a record: any value that is compared by its contents. Values that compare equal
                (``1`` and ``1.0``, ``0.0`` and ``-0.0``) are one key, NaN is one key, lists, dicts and sets are copied.
            key_type: The type of the keys; any picklable objects if it is None.
        """
        from wiesel.datastream.keyed_stream import KeyedStream

        require_function(key_selector, KeySelector, "key_by()")
        declared = require_type(key_type, "key_by()")
        selector = key_selector if declared.compile_coercer() is None else TypedKeySelector(key_selector, declared)
        partitioner = PartitionerSpec("hash", selector, declared if key_type is not None else None)
        partitioned = PartitionTransformation(self.get_type(), user_location(), self._transformation, partitioner)
        return KeyedStream(self._environment, partitioned, declared, self)

    def shuffle(self) -> DataStream[T]:
        """Send each record to a subtask chosen at random."""
        return self._partition(PartitionerSpec("shuffle"))

    def rebalance(self) -> DataStream[T]:
        """Distribute records round-robin to all subtasks; also the default between operators of different parallelism."""
        return self._partition(REBALANCE)

    def rescale(self) -> DataStream[T]:
        """Distribute records round-robin to a part of the subtasks, so that each sender has separate receivers or the reverse."""
        return self._partition(PartitionerSpec("rescale"))

    def forward(self) -> DataStream[T]:
        """Send records to the subtask of the same index; both operators must have the same parallelism."""
        return self._partition(FORWARD)

    @overload
    def broadcast(self) -> DataStream[T]: ...

    @overload
    def broadcast(
        self, broadcast_state_descriptor: MapStateDescriptor, *other_broadcast_state_descriptors: MapStateDescriptor
    ) -> BroadcastStream: ...

    def broadcast(
        self, broadcast_state_descriptor: MapStateDescriptor | None = None, *other_broadcast_state_descriptors: MapStateDescriptor
    ) -> DataStream[T] | BroadcastStream:
        """Send every record to all subtasks.

        Args:
            broadcast_state_descriptor: Descriptor of a state that each subtask of the receiving operator holds. With it the result is an
                argument for ``connect`` of another stream.
            other_broadcast_state_descriptors: More such states.
        """
        from wiesel.datastream.broadcast_streams import BroadcastStream, require_descriptors

        broadcast = self._partition(PartitionerSpec("broadcast"))
        if broadcast_state_descriptor is None and not other_broadcast_state_descriptors:
            return broadcast
        return BroadcastStream(broadcast, require_descriptors([broadcast_state_descriptor, *other_broadcast_state_descriptors]))

    def global_(self) -> DataStream[T]:
        """Send all records to the first subtask (``global`` in Flink's Java API, which is a keyword in Python)."""
        return self._partition(PartitionerSpec("global"))

    def partition_custom(
        self, partitioner: Callable[[Any, int], int] | Partitioner, key_selector: Callable[[Any], Any] | KeySelector
    ) -> DataStream[T]:
        """Partition records by a custom ``partitioner``.

        Args:
            partitioner: Returns the index of a subtask for a key and the number of subtasks.
            key_selector: Returns the key of a record.
        """
        require_function(partitioner, Partitioner, "partition_custom()", arguments=2)
        require_function(key_selector, KeySelector, "partition_custom()")
        return self._partition(PartitionerSpec("custom", (partitioner, key_selector)))

    def _partition(self, partitioner: PartitionerSpec) -> DataStream[T]:
        return self._virtual(PartitionTransformation(self.get_type(), user_location(), self._transformation, partitioner))

    # Side outputs and windows.

    def get_side_output(self, output_tag: OutputTag) -> DataStream:
        """Return the side output of the operator of this stream with a tag; it may be used several times."""
        require_instance(output_tag, OutputTag, "the argument of get_side_output()", "give an OutputTag('name', type)")
        operator = self._operator("get_side_output()")
        if (
            isinstance(operator.inputs[0] if operator.inputs else None, SideOutputTransformation)
            and operator.node.operator.kind == "convert"
        ):
            raise program_error("a side output has no side outputs itself", "call get_side_output() on the stream that process() returned")
        known = operator.side_types.setdefault(output_tag.tag_id, output_tag.type_info)
        if known != output_tag.type_info:
            raise program_error(
                f"the side output {output_tag.tag_id!r} is read as {output_tag.type_info} and as {known}",
                "use the same OutputTag everywhere",
            )
        side = SideOutputTransformation(output_tag.type_info, user_location(), operator, output_tag.tag_id)
        return DataStream(self._environment, side)._one_input("Map", "convert", {}, output_tag.type_info)

    def window_all(self, window_assigner: WindowAssigner[Any, Any]) -> AllWindowedStream:
        """Return the stream in non-keyed windows; the window operator has parallelism 1."""
        from wiesel.datastream.windowed_stream import AllWindowedStream

        return AllWindowedStream(self, window_assigner)

    # Sinks.

    def print(self, sink_identifier: str | None = None) -> DataStreamSink:
        """Print the records to the standard output of the process that runs the program, one per line.

        Args:
            sink_identifier: Prefix of each line, as ``identifier:3> text`` (without the subtask's number at parallelism 1).
        """
        from wiesel.connectors.print.sink import PrintSink

        if sink_identifier is not None:
            require_instance(sink_identifier, str, "the sink identifier", "give a text")
        sink = PrintSink(self.get_type(), sink_identifier or "")
        return self._add_sink(sink, "Print to Std. Out", "Sink: {}")

    def sink_to(self, sink: Sink) -> DataStreamSink:
        """Write the records to a sink."""
        require_built(sink, Sink, "sink_to()")
        return self._add_sink(sink, "Sink", "{}: Writer")

    def add_sink(self, sink_func: Sink) -> DataStreamSink:
        """Add a sink; the older name of :meth:`sink_to`.

        Flink's sink functions are Java objects, which are not supported; it accepts the same sinks as :meth:`sink_to`.
        """
        require_built(sink_func, Sink, "add_sink()")
        return self.sink_to(sink_func)

    @overload
    def execute_and_collect(self, job_execution_name: str | None = None, limit: None = None) -> CloseableIterator[T]: ...

    @overload
    def execute_and_collect(self, job_execution_name: str | None = None, *, limit: int) -> list[T]: ...

    @overload
    def execute_and_collect(self, job_execution_name: str | None, limit: int) -> list[T]: ...

    @overload
    def execute_and_collect(self, job_execution_name: str | None = None, limit: int | None = None) -> CloseableIterator[T] | list[T]: ...

    def execute_and_collect(self, job_execution_name: str | None = None, limit: int | None = None) -> CloseableIterator[T] | list[T]:
        """Run the job and return the records of this stream.

        With checkpoints on, records are returned when a checkpoint has made them final, so that a failure repeats none.

        Args:
            job_execution_name: Name of the job.
            limit: Return a list of at most this number of records and cancel the job; otherwise an iterator over all is returned, which
                cancels the job when it is closed (use it in a ``with``).
        """
        from wiesel.datastream.closeable_iterator import execute_and_collect

        if job_execution_name is not None:
            require_instance(job_execution_name, str, "the name of a job", "give a text")
        if limit is not None:
            require_count(limit, "limit")
        return execute_and_collect(self, job_execution_name, limit)

    # Creation of streams

    def _one_input(
        self, name: str, kind: str, payload: dict[str, Any], output_type: TypeInformation, *, declared: bool = True, keyed: bool = False
    ) -> DataStream:
        payload["output_type"] = output_type if declared else None
        return self._add(name, OperatorSpec(kind, payload=payload), output_type, keyed=keyed)

    def _add(self, name: str, spec: OperatorSpec, output_type: TypeInformation, *, keyed: bool = False) -> DataStream:
        operator = self._environment._add_operator(name, spec, (self._transformation,), output_type, keyed=keyed)
        return DataStream(self._environment, operator)

    def preview(self, n: int = 20, seconds: float = 2.0) -> Preview[T]:
        """Return the first records of this stream, for notebooks: also of unbounded streams. Specific to Wiesel.

        The job of this stream alone runs on the local engine, in this process and with its virtual clock: no Spark is started, sinks and
        other streams of the environment do not run, no checkpoints are taken, and the program can still be run by ``execute()``.

        Args:
            n: Maximal number of records.
            seconds: Time after which the records received so far are returned.

        Raises:
            JobExecutionError: If the job failed.
        """
        from wiesel.datastream._preview import preview

        return preview(self, require_count(n, "n"), require_seconds(seconds))

    def _repr_html_(self) -> str:
        from wiesel.datastream._plan_drawing import stream_html

        return stream_html(self)

    def _add_sink(self, sink: Sink, name: str, pattern: str) -> DataStreamSink:
        from wiesel.datastream.data_stream_sink import DataStreamSink

        spec = OperatorSpec("sink", payload={"sink": sink, "input_type": self.get_type()})
        operator = self._environment._add_operator(name, spec, (self._transformation,), self.get_type(), name_pattern=pattern)
        operator.node.is_sink = True
        return DataStreamSink(self._environment, operator)

    def _virtual(self, transformation: Transformation) -> DataStream[T]:
        return DataStream(self._environment, transformation)
