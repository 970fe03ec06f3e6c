"""Connected streams: two streams as the inputs of one operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wiesel.core.argument_checks import require_function
from wiesel.core.user_location import program_error
from wiesel.datastream._stream import DataStream
from wiesel.datastream.keyed_stream import KeyedStream
from wiesel.graph.specs import OperatorSpec
from wiesel.spi.functions import CoFlatMapFunction, CoMapFunction, CoProcessFunction, KeyedCoProcessFunction, KeySelector
from wiesel.types.typeinfo import TypeInformation
from wiesel.types.types import require_type

__all__ = ["ConnectedStreams"]


class ConnectedStreams:
    """Two streams, possibly of different types, as the inputs of one function with different methods.

    If both are keyed, the function has keyed state and timers, which both streams share.
    """

    def __init__(self, stream1: DataStream, stream2: DataStream) -> None:
        self.stream1 = stream1
        self.stream2 = stream2

    def key_by(
        self,
        key_selector1: Callable[[Any], Any] | KeySelector,
        key_selector2: Callable[[Any], Any] | KeySelector,
        key_type: TypeInformation | None = None,
    ) -> ConnectedStreams:
        """Return the streams, both partitioned by key; the keys of both must be of one type."""
        return ConnectedStreams(self.stream1.key_by(key_selector1, key_type), self.stream2.key_by(key_selector2, key_type))

    def map(self, func: CoMapFunction, output_type: TypeInformation | None = None) -> DataStream:
        """Return the results of ``map1`` and ``map2`` for the records of the first and second stream; None is no result."""
        require_function(func, CoMapFunction, "map() on connected streams", callable_ok=False)
        return self._transform("Co-Map", "co_map", func, output_type)

    def flat_map(self, func: CoFlatMapFunction, output_type: TypeInformation | None = None) -> DataStream:
        """Return all results of ``flat_map1`` and ``flat_map2`` for the records of the first and second stream."""
        require_function(func, CoFlatMapFunction, "flat_map() on connected streams", callable_ok=False)
        return self._transform("Co-Flat Map", "co_flat_map", func, output_type)

    def process(self, func: CoProcessFunction | KeyedCoProcessFunction, output_type: TypeInformation | None = None) -> DataStream:
        """Return the results of ``process_element1`` and ``process_element2`` for the records of the first and second stream."""
        if self._is_keyed_stream():
            if not isinstance(func, CoProcessFunction):
                require_function(func, KeyedCoProcessFunction, "process() on keyed connected streams", callable_ok=False)
            return self._transform("Keyed Co-Process", "keyed_co_process", func, output_type)
        if isinstance(func, KeyedCoProcessFunction):
            raise program_error(
                f"{type(func).__name__} is a KeyedCoProcessFunction, but the connected streams are not both keyed",
                "call key_by(selector1, selector2) on the connected streams, or subclass CoProcessFunction",
            )
        require_function(func, CoProcessFunction, "process() on connected streams", callable_ok=False)
        return self._transform("Co-Process", "co_process", func, output_type)

    def _transform(self, name: str, kind: str, function: Any, output_type: TypeInformation | None) -> DataStream:
        declared = require_type(output_type, "an operator on connected streams")
        keyed = self._is_keyed_stream()
        # co_map and co_flat_map have one kind for both: with keys their functions may use keyed state.
        params = {} if kind.endswith("process") else {"keyed": keyed}
        spec = OperatorSpec(kind, params, {"function": function, "output_type": declared})
        environment = self.stream1.get_execution_environment()
        inputs = (self.stream1._transformation, self.stream2._transformation)
        return DataStream(environment, environment._add_operator(name, spec, inputs, declared, keyed=keyed))

    def _is_keyed_stream(self) -> bool:
        return isinstance(self.stream1, KeyedStream) and isinstance(self.stream2, KeyedStream)
