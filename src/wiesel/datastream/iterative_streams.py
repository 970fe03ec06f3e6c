"""Iterative streams: streams with a feedback edge."""

from __future__ import annotations

from wiesel.core.argument_checks import require_count, require_instance
from wiesel.core.user_location import program_error, user_location
from wiesel.datastream._stream import DataStream
from wiesel.datastream.connected_streams import ConnectedStreams
from wiesel.graph.specs import FEEDBACK_TAG, ITERATION_HEAD, ITERATION_TAIL, OperatorSpec
from wiesel.graph.transformations import (
    OperatorTransformation,
    SideOutputTransformation,
    UnionTransformation,
    all_before,
    operators_behind,
)
from wiesel.types.record_type import T
from wiesel.types.typeinfo import PickledBytesTypeInfo, TypeInformation
from wiesel.types.types import require_type

__all__ = ["ConnectedIterativeStreams", "IterativeStream"]


def iterate(stream: DataStream[T], max_wait_time_ms: int) -> IterativeStream[T]:
    """See ``DataStream.iterate``."""
    require_count(max_wait_time_ms, "max_wait_time_ms", minimum=0)
    environment = stream.get_execution_environment()
    spec = OperatorSpec(ITERATION_HEAD)
    head = environment._add_operator("Iteration Head", spec, (stream._transformation,), stream.get_type())
    behind = [o.node for o in operators_behind(stream._transformation)]
    head.node.parallelism = max((n.parallelism for n in behind if n.parallelism is not None), default=head.node.parallelism)
    head.node.parallelism_set = any(n.parallelism_set for n in behind)
    params = {"iteration": head.node.id, "max_wait_ms": max_wait_time_ms, "connected": False}
    head.node.operator = OperatorSpec(ITERATION_HEAD, params)
    return IterativeStream(stream, head)


class IterativeStream(DataStream[T]):
    """The records of a loop: those of the input, and the feedback. Created by :meth:`DataStream.iterate`.

    A stream derived from this one is passed to :meth:`close_with` as the feedback. All other streams derived from the loop's streams leave
    the loop.
    """

    def __init__(self, origin: DataStream[T], head: OperatorTransformation) -> None:
        super().__init__(origin.get_execution_environment(), head)
        self._origin = origin
        self._head = head

    def close_with(self, feedback_stream: DataStream[T]) -> DataStream[T]:
        """Set the feedback records; several calls add several streams.

        Args:
            feedback_stream: A stream derived from this one, by at least one operator.

        Returns:
            The same stream.
        """
        _require_stream(feedback_stream)
        declared, own = feedback_stream.get_type(), self.get_type()
        if declared != own and not any(isinstance(t, PickledBytesTypeInfo) for t in (declared, own)):
            raise program_error(
                f"the feedback is of type {declared}, but the iteration of type {own}",
                "map() the feedback to the type of the input, or use with_feedback_type() for feedback of another type",
            )
        return close(self._environment, self._head, feedback_stream)

    def with_feedback_type(self, feedback_type: TypeInformation | None = None) -> ConnectedIterativeStreams:
        """Return input and feedback as two streams, for one function with a method for each; the feedback may have another type.

        Args:
            feedback_type: The type of the feedback; any picklable objects if it is None.
        """
        if self._head.feedback is not None:
            raise program_error("the iteration was closed already", "call with_feedback_type() before close_with()")
        declared = require_type(feedback_type, "with_feedback_type()")
        self._head.node.operator = OperatorSpec(ITERATION_HEAD, {**self._head.node.operator.params, "connected": True})
        side = SideOutputTransformation(declared, user_location(), self._head, FEEDBACK_TAG)
        return ConnectedIterativeStreams(self, DataStream(self._environment, side), self._head)


class ConnectedIterativeStreams(ConnectedStreams):
    """The input of a loop, and the feedback, as the two inputs of one operator. Created by :meth:`IterativeStream.with_feedback_type`."""

    def __init__(self, stream1: DataStream, stream2: DataStream, head: OperatorTransformation) -> None:
        super().__init__(stream1, stream2)
        self._head = head

    def close_with(self, feedback_stream: DataStream) -> DataStream:
        """Set the feedback records as the second stream; see :meth:`IterativeStream.close_with`."""
        return close(self.stream1.get_execution_environment(), self._head, feedback_stream)


def _require_stream(given: object) -> None:
    require_instance(given, DataStream, "the argument of close_with()", "give a stream that is made from the iterative stream")


def close(environment: object, head: OperatorTransformation, feedback_stream: DataStream[T]) -> DataStream[T]:
    """Add a feedback stream to the tail of an iteration, creating the tail with the first one."""
    _require_stream(feedback_stream)
    if feedback_stream.get_execution_environment() is not environment:
        raise program_error("close_with() got a stream of another environment", "give a stream that is made from the iterative stream")
    behind = feedback_stream._transformation
    if head not in all_before(operators_behind(behind)) or head in operators_behind(behind):
        raise program_error(
            "close_with() got a stream that is not made from the iterative stream",
            "give the result of map(), filter(), process() or another operator on it: without one, records would go round for nothing",
        )
    if head.feedback is None:
        spec = OperatorSpec(ITERATION_TAIL, {"iteration": head.node.id})
        head.feedback = feedback_stream._environment._add_operator("Iteration Tail", spec, (behind,), feedback_stream.get_type())
    else:
        location = user_location()
        head.feedback.inputs = (UnionTransformation(head.output_type, location, (*head.feedback.inputs, behind)),)
    return feedback_stream
