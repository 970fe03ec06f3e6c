"""Function classes of the DataStream API and their contexts.

Life cycle of a function: it is pickled into every subtask; there ``open`` is called once, before the first record; then its methods are
called from one thread, never concurrently; ``close`` is called once at the end, also after a failure. A restart begins with a fresh copy of
the function: data that must survive belongs in state.

Process functions return their results as an iterable: they are generators, or return a list, or None for no result. A result
``(OutputTag, value)`` goes to the side output of that tag.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from wiesel.spi.timers import TimeDomain, TimerService

if TYPE_CHECKING:
    from wiesel.spi.state import (
        AggregatingState,
        AggregatingStateDescriptor,
        BroadcastState,
        ListState,
        ListStateDescriptor,
        MapState,
        MapStateDescriptor,
        ReadOnlyBroadcastState,
        ReducingState,
        ReducingStateDescriptor,
        StateDescriptor,
        ValueState,
        ValueStateDescriptor,
    )

__all__ = [
    "AggregateFunction",
    "AllWindowFunction",
    "BaseBroadcastProcessFunction",
    "BroadcastProcessFunction",
    "CoFlatMapFunction",
    "CoMapFunction",
    "CoProcessFunction",
    "FilterFunction",
    "FlatMapFunction",
    "Function",
    "FunctionWrapper",
    "KeySelector",
    "KeyedBroadcastProcessFunction",
    "KeyedCoProcessFunction",
    "KeyedProcessFunction",
    "KeyedStateFunction",
    "KeyedStateStore",
    "MapFunction",
    "NullByteKeySelector",
    "Partitioner",
    "PassThroughAllWindowFunction",
    "PassThroughWindowFunction",
    "ProcessAllWindowFunction",
    "ProcessFunction",
    "ProcessWindowFunction",
    "ReduceFunction",
    "ReduceFunctionWrapper",
    "RuntimeContext",
    "TimeDomain",
    "TimerService",
    "WindowFunction",
    "as_key_selector",
    "as_partitioner",
    "as_reduce_function",
    "user_callable",
]

W = TypeVar("W")
W2 = TypeVar("W2")
IN = TypeVar("IN")
IN1 = TypeVar("IN1")
IN2 = TypeVar("IN2")
OUT = TypeVar("OUT")
KEY = TypeVar("KEY")


class KeyedStateStore(ABC):
    """Access to keyed state: state of the key of the present record (or timer).

    The same name returns the same state. Usually called once, in ``open``.

    Raises:
        StateAccessError: If the stream is not keyed.
        StateMigrationError: If the state restored under that name does not fit the descriptor.
    """

    @abstractmethod
    def get_state(self, state_descriptor: ValueStateDescriptor) -> ValueState[Any]:
        """Return a state that holds one value."""

    @abstractmethod
    def get_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        """Return a state that holds a list."""

    @abstractmethod
    def get_map_state(self, state_descriptor: MapStateDescriptor) -> MapState[Any, Any]:
        """Return a state that holds a dict."""

    @abstractmethod
    def get_reducing_state(self, state_descriptor: ReducingStateDescriptor) -> ReducingState[Any]:
        """Return a state that combines values by a reduce function."""

    @abstractmethod
    def get_aggregating_state(self, state_descriptor: AggregatingStateDescriptor) -> AggregatingState[Any, Any]:
        """Return a state that combines values by an aggregate function."""


class RuntimeContext(KeyedStateStore):
    """Information on the subtask of a function."""

    @abstractmethod
    def get_task_name(self) -> str:
        """Return the name of the task."""

    @abstractmethod
    def get_number_of_parallel_subtasks(self) -> int:
        """Return the parallelism."""

    @abstractmethod
    def get_max_number_of_parallel_subtasks(self) -> int:
        """Return the maximum parallelism to which the job can be rescaled: the number of key groups."""

    @abstractmethod
    def get_index_of_this_subtask(self) -> int:
        """Return the index of this subtask: 0 .. parallelism - 1."""

    @abstractmethod
    def get_attempt_number(self) -> int:
        """Return the number of restarts of the task before this attempt; 0 at first."""

    @abstractmethod
    def get_task_name_with_subtasks(self) -> str:
        """Return the name with the subtask, counted from 1, and the attempt, counted from 0: ``MyTask (3/6)#0``."""

    @abstractmethod
    def get_job_parameter(self, key: str, default_value: str) -> str:
        """Return a global parameter of the job."""

    @abstractmethod
    def get_metrics_group(self) -> Any:
        """Return the metric group of the function."""

    def get_distributed_cache(self) -> Any:
        """Return the distributed cache: ``get_distributed_cache().get_file(name)`` is the local path. PyFlink lacks it."""
        raise NotImplementedError(f"{type(self).__name__} has no distributed cache")


class Function(ABC):  # noqa: B024 - users subclass it with nothing to override
    """Base of all user functions."""

    def open(self, runtime_context: RuntimeContext) -> None:
        """Initialise: get state, connect, load. Called once per subtask and attempt, before the first record."""

    def close(self) -> None:
        """Release resources. Called once, also after a failure."""


class MapFunction(Function):
    """One result per record."""

    @abstractmethod
    def map(self, value: Any) -> Any:
        """Return the result for ``value``."""


class CoMapFunction(Function):
    """One result per record of two connected streams; None is no result."""

    @abstractmethod
    def map1(self, value: Any) -> Any:
        """Return the result for a record of the first stream."""

    @abstractmethod
    def map2(self, value: Any) -> Any:
        """Return the result for a record of the second stream."""


class FlatMapFunction(Function):
    """Any number of results per record."""

    @abstractmethod
    def flat_map(self, value: Any) -> Any:
        """Return or yield the results for ``value``: any iterable, or None for no result."""


class CoFlatMapFunction(Function):
    """Any number of results per record of two connected streams."""

    @abstractmethod
    def flat_map1(self, value: Any) -> Any:
        """Return or yield the results for a record of the first stream."""

    @abstractmethod
    def flat_map2(self, value: Any) -> Any:
        """Return or yield the results for a record of the second stream."""


class ReduceFunction(Function):
    """Combines two values into one of the same type; should be associative."""

    @abstractmethod
    def reduce(self, value1: Any, value2: Any) -> Any:
        """Return ``value1`` (the result so far) combined with ``value2``."""


class AggregateFunction(Function):
    """Aggregates values in an accumulator, which may be of another type than values and result."""

    @abstractmethod
    def create_accumulator(self) -> Any:
        """Return a new accumulator, of no values."""

    @abstractmethod
    def add(self, value: Any, accumulator: Any) -> Any:
        """Return the accumulator with ``value`` added; it may be the same object, changed."""

    @abstractmethod
    def get_result(self, accumulator: Any) -> Any:
        """Return the result of an accumulator."""

    @abstractmethod
    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        """Return both accumulators in one. Only called for windows that merge (sessions)."""


class KeySelector(Function):
    """Extracts the key of a record; must be deterministic."""

    @abstractmethod
    def get_key(self, value: Any) -> Any:
        """Return the key of ``value``."""


class NullByteKeySelector(KeySelector):
    """The same key for every record: all of the stream is one group."""

    def get_key(self, value: Any) -> int:
        """Return 0."""
        return 0


class FilterFunction(Function):
    """Selects records."""

    @abstractmethod
    def filter(self, value: Any) -> bool:
        """Return whether ``value`` is kept."""


class Partitioner(Function):
    """Chooses the channel of a record by its key."""

    @abstractmethod
    def partition(self, key: Any, num_partitions: int) -> int:
        """Return the index of the channel: 0 .. ``num_partitions`` - 1."""


class FunctionWrapper(Function):
    """Adapts a callable to a function object."""

    def __init__(self, func: Callable[..., Any]) -> None:
        self._func = func


class ReduceFunctionWrapper(FunctionWrapper, ReduceFunction):
    """A reduce function that calls ``func(value1, value2)``."""

    def reduce(self, value1: Any, value2: Any) -> Any:
        """Return the result of the callable."""
        return self._func(value1, value2)


class _KeySelectorWrapper(FunctionWrapper, KeySelector):
    def get_key(self, value: Any) -> Any:
        return self._func(value)


class _PartitionerWrapper(FunctionWrapper, Partitioner):
    def partition(self, key: Any, num_partitions: int) -> int:
        return self._func(key, num_partitions)  # type: ignore[no-any-return]


def as_reduce_function(function: ReduceFunction | Callable[[Any, Any], Any]) -> ReduceFunction:
    """Return ``function`` as a :class:`ReduceFunction`."""
    return function if isinstance(function, ReduceFunction) else ReduceFunctionWrapper(function)


def as_key_selector(function: KeySelector | Callable[[Any], Any]) -> KeySelector:
    """Return ``function`` as a :class:`KeySelector`."""
    return function if isinstance(function, KeySelector) else _KeySelectorWrapper(function)


def as_partitioner(function: Partitioner | Callable[[Any, int], int]) -> Partitioner:
    """Return ``function`` as a :class:`Partitioner`."""
    return function if isinstance(function, Partitioner) else _PartitionerWrapper(function)


def user_callable(function: Any, method: str) -> Callable[..., Any]:
    """Return the function called per record: the method of a function object, or the callable itself (without a wrapper)."""
    if isinstance(function, FunctionWrapper):
        return function._func
    bound = getattr(function, method, None)
    return bound if callable(bound) else function  # type: ignore[no-any-return]


class _TimeContext(ABC):
    """Base of the contexts of all process functions."""

    @abstractmethod
    def timer_service(self) -> TimerService:
        """Return the service for time and timers."""

    @abstractmethod
    def timestamp(self) -> int:
        """Return the timestamp (ms) of the record, or of the timer that fires; -2**63 for a record that has none."""


class ProcessFunction(Function):
    """Any number of results per record, with access to time and side outputs."""

    class Context(_TimeContext):
        """The context of the present record; valid during the call only."""

    @abstractmethod
    def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Any:
        """Return or yield the results for ``value``."""


class KeyedProcessFunction(Function):
    """Any number of results per record of a keyed stream, with keyed state, timers and side outputs."""

    class Context(_TimeContext):
        """The context of the present record; valid during the call only."""

        @abstractmethod
        def get_current_key(self) -> Any:
            """Return the key of the record, or of the timer that fires."""

    class OnTimerContext(Context):
        """The context of the firing timer."""

        @abstractmethod
        def time_domain(self) -> TimeDomain:
            """Return whether the timer is an event-time or a processing-time timer."""

    @abstractmethod
    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Any:
        """Return or yield the results for ``value``."""

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Any:
        """Return or yield results when a timer fires. The current key is the timer's; the results get its timestamp."""


class CoProcessFunction(Function):
    """Any number of results per record of two connected streams."""

    class Context(_TimeContext):
        """The context of the present record; valid during the call only."""

    @abstractmethod
    def process_element1(self, value: Any, ctx: CoProcessFunction.Context) -> Any:
        """Return or yield the results for a record of the first stream."""

    @abstractmethod
    def process_element2(self, value: Any, ctx: CoProcessFunction.Context) -> Any:
        """Return or yield the results for a record of the second stream."""


class KeyedCoProcessFunction(Function):
    """Any number of results per record of two connected keyed streams, with shared keyed state and timers."""

    class Context(_TimeContext):
        """The context of the present record; valid during the call only."""

        @abstractmethod
        def get_current_key(self) -> Any:
            """Return the key of the record, or of the timer that fires."""

    class OnTimerContext(Context):
        """The context of the firing timer."""

        @abstractmethod
        def time_domain(self) -> TimeDomain:
            """Return whether the timer is an event-time or a processing-time timer."""

    @abstractmethod
    def process_element1(self, value: Any, ctx: KeyedCoProcessFunction.Context) -> Any:
        """Return or yield the results for a record of the first stream."""

    @abstractmethod
    def process_element2(self, value: Any, ctx: KeyedCoProcessFunction.Context) -> Any:
        """Return or yield the results for a record of the second stream."""

    def on_timer(self, timestamp: int, ctx: KeyedCoProcessFunction.OnTimerContext) -> Any:
        """Return or yield results when a timer fires. The current key is the timer's; the results get its timestamp."""


class WindowFunction(Function, Generic[IN, OUT, KEY, W]):
    """Results for the elements of a key's window."""

    @abstractmethod
    def apply(self, key: KEY, window: W, inputs: Iterable[IN]) -> Iterable[OUT]:
        """Return or yield the results of one evaluation of the window."""


class AllWindowFunction(Function, Generic[IN, OUT, W]):
    """Results for the elements of a window that is not keyed."""

    @abstractmethod
    def apply(self, window: W, inputs: Iterable[IN]) -> Iterable[OUT]:
        """Return or yield the results of one evaluation of the window."""


class ProcessWindowFunction(Function, Generic[IN, OUT, KEY, W]):
    """Results for the elements of a key's window, with its metadata and state."""

    class Context(ABC, Generic[W2]):
        """The context of the evaluated window."""

        @abstractmethod
        def window(self) -> W2:
            """Return the window."""

        @abstractmethod
        def current_processing_time(self) -> int:
            """Return the clock of the machine, in ms."""

        @abstractmethod
        def current_watermark(self) -> int:
            """Return the watermark (ms) that the operator has reached."""

        @abstractmethod
        def window_state(self) -> KeyedStateStore:
            """Return the state of this key and window; its contents must be cleared in ``clear``."""

        @abstractmethod
        def global_state(self) -> KeyedStateStore:
            """Return the state of this key, common to all its windows."""

    @abstractmethod
    def process(self, key: KEY, context: ProcessWindowFunction.Context[W], elements: Iterable[IN]) -> Iterable[OUT]:
        """Return or yield the results of one evaluation of the window."""

    def clear(self, context: ProcessWindowFunction.Context[W]) -> None:
        """Clear the state of the window, which is dropped now."""


class ProcessAllWindowFunction(Function, Generic[IN, OUT, W]):
    """Results for the elements of a window that is not keyed, with its metadata and state."""

    class Context(ABC, Generic[W2]):
        """The context of the evaluated window."""

        @abstractmethod
        def window(self) -> W2:
            """Return the window."""

        @abstractmethod
        def window_state(self) -> KeyedStateStore:
            """Return the state of this window; its contents must be cleared in ``clear``."""

        @abstractmethod
        def global_state(self) -> KeyedStateStore:
            """Return the state shared by all windows of the key."""

    @abstractmethod
    def process(self, context: ProcessAllWindowFunction.Context[W], elements: Iterable[IN]) -> Iterable[OUT]:
        """Return or yield the results of one evaluation of the window."""

    def clear(self, context: ProcessAllWindowFunction.Context[W]) -> None:
        """Clear the state of the window, which is dropped now."""


class PassThroughWindowFunction(WindowFunction[IN, IN, KEY, W]):
    """The elements of the window, as they are."""

    def apply(self, key: KEY, window: W, inputs: Iterable[IN]) -> Iterable[IN]:
        """Return the elements."""
        return inputs


class PassThroughAllWindowFunction(AllWindowFunction[IN, IN, W]):
    """The elements of the window, as they are."""

    def apply(self, window: W, inputs: Iterable[IN]) -> Iterable[IN]:
        """Return the elements."""
        return inputs


class BaseBroadcastProcessFunction(Function):
    """Base of the functions that connect a stream with a broadcast stream."""

    class BaseContext(ABC):
        """Base of the contexts of both sides."""

        @abstractmethod
        def timestamp(self) -> int:
            """Return the timestamp (ms) of the record; -2**63 if it has none."""

        @abstractmethod
        def current_processing_time(self) -> int:
            """Return the clock of the machine, in ms."""

        @abstractmethod
        def current_watermark(self) -> int:
            """Return the watermark (ms) that the operator has reached."""

    class Context(BaseContext):
        """The context of the broadcast side: it may change the broadcast state, in the same way on all subtasks."""

        @abstractmethod
        def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> BroadcastState[Any, Any]:
            """Return the broadcast state of that name."""

    class ReadOnlyContext(BaseContext):
        """The context of the non-broadcast side: it may read the broadcast state."""

        @abstractmethod
        def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> ReadOnlyBroadcastState[Any, Any]:
            """Return the broadcast state of that name, to be read only."""


class BroadcastProcessFunction(BaseBroadcastProcessFunction, Generic[IN1, IN2, OUT]):
    """Connects a stream that is not keyed with a broadcast one."""

    class Context(BaseBroadcastProcessFunction.Context, ABC):
        """The context of the broadcast side."""

    class ReadOnlyContext(BaseBroadcastProcessFunction.ReadOnlyContext, ABC):
        """The context of the non-broadcast side."""

    @abstractmethod
    def process_element(self, value: IN1, ctx: BroadcastProcessFunction.ReadOnlyContext) -> Any:
        """Return or yield the results for a record of the stream that is not broadcast."""

    @abstractmethod
    def process_broadcast_element(self, value: IN2, ctx: BroadcastProcessFunction.Context) -> Any:
        """Return or yield the results for a record of the broadcast stream; called for it on every subtask."""


class KeyedStateFunction(ABC):
    """A function of the state of every key; see :meth:`KeyedBroadcastProcessFunction.Context.apply_to_keyed_state`."""

    @abstractmethod
    def process(self, key: Any, state: Any) -> None:
        """Read or change ``state``, which is that of ``key`` during the call."""


class KeyedBroadcastProcessFunction(BaseBroadcastProcessFunction, Generic[KEY, IN1, IN2, OUT]):
    """Connects a keyed stream with a broadcast one."""

    class Context(BaseBroadcastProcessFunction.Context, ABC):
        """The context of the broadcast side. It has no current key, so it can neither use keyed state directly nor register timers."""

        @abstractmethod
        def apply_to_keyed_state(
            self, state_descriptor: StateDescriptor, function: KeyedStateFunction | Callable[[Any, Any], None]
        ) -> None:
            """Call ``function`` with each key of this subtask with a value in a keyed state, and with that state.

            Args:
                state_descriptor: The descriptor of the keyed state, as used in ``open``.
                function: Called as ``function(key, state)``; the state is that of ``key`` during the call.
            """

    class ReadOnlyContext(BaseBroadcastProcessFunction.ReadOnlyContext, ABC):
        """The context of the keyed side."""

        @abstractmethod
        def timer_service(self) -> TimerService:
            """Return the service for time and timers."""

        @abstractmethod
        def get_current_key(self) -> Any:
            """Return the key of the record."""

    class OnTimerContext(ReadOnlyContext, ABC):
        """The context of the firing timer."""

        @abstractmethod
        def time_domain(self) -> TimeDomain:
            """Return whether the timer is an event-time or a processing-time timer."""

    @abstractmethod
    def process_element(self, value: IN1, ctx: KeyedBroadcastProcessFunction.ReadOnlyContext) -> Any:
        """Return or yield the results for a record of the keyed stream."""

    @abstractmethod
    def process_broadcast_element(self, value: IN2, ctx: KeyedBroadcastProcessFunction.Context) -> Any:
        """Return or yield the results for a record of the broadcast stream; called for it on every subtask."""

    def on_timer(self, timestamp: int, ctx: KeyedBroadcastProcessFunction.OnTimerContext) -> Any:
        """Return or yield results when a timer fires. The current key is the timer's; the results get its timestamp."""
