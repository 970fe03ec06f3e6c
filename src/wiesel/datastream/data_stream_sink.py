"""Sinks of streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wiesel.datastream._operator_settings import OperatorSettings
from wiesel.graph.transformations import OperatorTransformation

if TYPE_CHECKING:
    from wiesel.datastream.stream_execution_environment import StreamExecutionEnvironment

__all__ = ["DataStreamSink"]


class DataStreamSink(OperatorSettings):
    """A sink added to a stream; its name, uid, parallelism and so on can be set."""

    def __init__(self, environment: StreamExecutionEnvironment, transformation: OperatorTransformation) -> None:
        self._environment = environment
        self._transformation = transformation
