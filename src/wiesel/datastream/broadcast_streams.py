"""Broadcast streams, and the streams connected with them."""

from __future__ import annotations

from typing import Any

from wiesel.core.argument_checks import require_function, require_instance
from wiesel.core.errors import ArgumentTypeError
from wiesel.core.user_location import program_error
from wiesel.datastream._stream import DataStream
from wiesel.datastream.keyed_stream import KeyedStream
from wiesel.graph.specs import OperatorSpec
from wiesel.spi.functions import BroadcastProcessFunction, KeyedBroadcastProcessFunction
from wiesel.spi.state import MapStateDescriptor
from wiesel.types.typeinfo import TypeInformation
from wiesel.types.types import require_type

__all__ = ["BroadcastConnectedStream", "BroadcastStream"]


class BroadcastStream:
    """A stream that is broadcast to all subtasks of the operator it will be connected to, with descriptors of broadcast states.

    Created by ``DataStream.broadcast`` with descriptors; passed to ``connect`` of another stream.
    """

    def __init__(self, input_stream: DataStream, broadcast_state_descriptors: list[MapStateDescriptor]) -> None:
        self.input_stream = input_stream
        self.broadcast_state_descriptors = broadcast_state_descriptors


class BroadcastConnectedStream:
    """A stream, keyed or not, and a broadcast one, as the inputs of one function with different methods.

    The broadcast side may change the broadcast states, in the same way on all subtasks; the other side reads them.
    """

    def __init__(
        self, non_broadcast_stream: DataStream, broadcast_stream: BroadcastStream, broadcast_state_descriptors: list[MapStateDescriptor]
    ) -> None:
        self.non_broadcast_stream = non_broadcast_stream
        self.broadcast_stream = broadcast_stream
        self.broadcast_state_descriptors = broadcast_state_descriptors

    def process(
        self,
        func: BroadcastProcessFunction[Any, Any, Any] | KeyedBroadcastProcessFunction[Any, Any, Any, Any],
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Return the results of ``process_element`` and ``process_broadcast_element`` (and timers) for the records of the two streams.

        Args:
            func: A KeyedBroadcastProcessFunction if the non-broadcast stream is keyed, else a BroadcastProcessFunction.
            output_type: The type of the results; pickled objects if it is None.
        """
        declared = require_type(output_type, "process() on a stream connected with a broadcast one")
        if self._is_keyed_stream():
            if isinstance(func, BroadcastProcessFunction):
                raise program_error(
                    f"{type(func).__name__} is a BroadcastProcessFunction, but the stream that is not broadcast is keyed",
                    "subclass KeyedBroadcastProcessFunction, or do not call key_by before",
                    ArgumentTypeError,
                )
            require_function(func, KeyedBroadcastProcessFunction, "process() on a keyed stream with a broadcast one", callable_ok=False)
            return self._transform("Keyed-Co-Process-Broadcast", "keyed_broadcast_process", func, declared)
        if isinstance(func, KeyedBroadcastProcessFunction):
            raise program_error(
                f"{type(func).__name__} is a KeyedBroadcastProcessFunction, but the stream that is not broadcast is not keyed",
                "call key_by(...) on it before connect, or subclass BroadcastProcessFunction",
                ArgumentTypeError,
            )
        require_function(func, BroadcastProcessFunction, "process() on a stream with a broadcast one", callable_ok=False)
        return self._transform("Co-Process-Broadcast", "broadcast_process", func, declared)

    def _transform(self, name: str, kind: str, function: Any, output_type: TypeInformation) -> DataStream:
        descriptors = self.broadcast_state_descriptors
        payload = {"function": function, "output_type": output_type, "descriptors": descriptors}
        spec = OperatorSpec(kind, {"states": [d.name for d in descriptors]}, payload)
        environment = self.non_broadcast_stream.get_execution_environment()
        inputs = (self.non_broadcast_stream._transformation, self.broadcast_stream.input_stream._transformation)
        return DataStream(environment, environment._add_operator(name, spec, inputs, output_type, keyed=self._is_keyed_stream()))

    def _is_keyed_stream(self) -> bool:
        return isinstance(self.non_broadcast_stream, KeyedStream)


def require_descriptors(descriptors: list[Any]) -> list[MapStateDescriptor]:
    """Check the state descriptors of a broadcast stream and return them without duplicates.

    Raises:
        ProgramError: If one does not describe a map, or two of one name have different types.
    """
    by_name: dict[str, MapStateDescriptor] = {}
    for descriptor in descriptors:
        require_instance(descriptor, MapStateDescriptor, "a broadcast state", "give MapStateDescriptor(name, type of keys, type of values)")
        known = by_name.setdefault(descriptor.name, descriptor)
        if known.type_info != descriptor.type_info:
            raise program_error(
                f"two broadcast states have the name {descriptor.name!r}, with types {known.type_info} and {descriptor.type_info}",
                "give each state a name of its own",
            )
    return list(by_name.values())
