"""User functions: the names of ``pyflink.datastream.functions``."""

from __future__ import annotations

from typing import TypeVar

from wiesel.core.user_location import program_error
from wiesel.spi.async_functions import AsyncFunction, AsyncRetryPredicate, AsyncRetryStrategy
from wiesel.spi.checkpointed import CheckpointedFunction, FunctionInitializationContext, FunctionSnapshotContext
from wiesel.spi.functions import (
    AggregateFunction,
    AllWindowFunction,
    BaseBroadcastProcessFunction,
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    FilterFunction,
    FlatMapFunction,
    Function,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    KeyedStateFunction,
    KeyedStateStore,
    KeySelector,
    MapFunction,
    NullByteKeySelector,
    Partitioner,
    PassThroughAllWindowFunction,
    PassThroughWindowFunction,
    ProcessAllWindowFunction,
    ProcessFunction,
    ProcessWindowFunction,
    ReduceFunction,
    RuntimeContext,
    WindowFunction,
)
from wiesel.spi.joins import CoGroupFunction, FlatJoinFunction, JoinFunction, ProcessJoinFunction, TaggedUnion
from wiesel.spi.timers import TimerService

__all__ = [
    "AggregateFunction",
    "AllWindowFunction",
    "AsyncFunction",
    "AsyncRetryPredicate",
    "AsyncRetryStrategy",
    "BaseBroadcastProcessFunction",
    "BroadcastProcessFunction",
    "CheckpointedFunction",
    "CoFlatMapFunction",
    "CoGroupFunction",
    "CoMapFunction",
    "CoProcessFunction",
    "FilterFunction",
    "FlatJoinFunction",
    "FlatMapFunction",
    "Function",
    "FunctionInitializationContext",
    "FunctionSnapshotContext",
    "JoinFunction",
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
    "ProcessJoinFunction",
    "ProcessWindowFunction",
    "ReduceFunction",
    "RuntimeContext",
    "SinkFunction",
    "SourceFunction",
    "TaggedUnion",
    "TimerService",
    "WindowFunction",
]

W, W2, IN, IN1, IN2, OUT, KEY = TypeVar("W"), TypeVar("W2"), TypeVar("IN"), TypeVar("IN1"), TypeVar("IN2"), TypeVar("OUT"), TypeVar("KEY")
"""Type variables of PyFlink's module, imported by programs for annotations."""


class SourceFunction(Function):
    """Flink's older interface of sources: the handle of a Java object, which does not exist here.

    Raises:
        ProgramError: Always.
    """

    def __init__(self, source_func: object = None) -> None:
        raise program_error("SourceFunction wraps a Java object, which does not exist here", "use a Source of wiesel.datastream.connectors")


class SinkFunction(Function):
    """Flink's older interface of sinks: the handle of a Java object, which does not exist here.

    Raises:
        ProgramError: Always.
    """

    def __init__(self, sink_func: object = None) -> None:
        raise program_error("SinkFunction wraps a Java object, which does not exist here", "use a Sink of wiesel.datastream.connectors")
