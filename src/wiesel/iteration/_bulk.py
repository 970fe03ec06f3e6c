"""Internal. Bulk iterations, and the base of delta iterations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from wiesel.core.argument_checks import require_count, require_instance
from wiesel.core.user_location import program_error
from wiesel.datastream import AggregateFunction, DataStream
from wiesel.graph.specs import ITERATION_HEAD, ITERATION_TAIL, OperatorSpec
from wiesel.graph.transformations import OperatorTransformation, all_before, operators_behind

__all__ = ["Converged", "iterate_bulk", "make_head", "make_tail"]

Converged: TypeAlias = Callable[[int, Any], bool]


def iterate_bulk(
    initial: DataStream,
    step: Callable[[DataStream], Any],
    *,
    max_rounds: int | None = None,
    aggregator: AggregateFunction | None = None,
    converged: Converged | None = None,
    name: str = "Bulk Iteration",
) -> DataStream:
    """Return the result of the last round of a step: round 1 starts from the initial records, each later one from the previous result.

    It ends after ``max_rounds`` rounds, when ``converged`` returns true, or after a round without results.

    Args:
        initial: The records of round 1; a bounded stream.
        step: Gets the stream of a round's records and returns the stream of its results; with an ``aggregator``, a pair of that stream and
            the stream of the criterion. It is called once, when the job is built. Other streams that it uses must be bounded; no round
            passes before all of their records have arrived.
        max_rounds: Maximal number of rounds.
        aggregator: Aggregates the criterion's records of each round; its ``merge`` is used.
        converged: Called after each round, in the process of the JobMaster, with the round's number and the aggregator's result (None
            without one).
        name: Name of the iteration.
    """
    if max_rounds is None and converged is None:
        raise program_error("the iteration would have no end", "give max_rounds, or converged, or both")
    head = make_head(initial, max_rounds, aggregator, converged, name)
    given: Any = step(DataStream(initial.get_execution_environment(), head))
    following, criterion = _criterion(given, aggregator)
    return make_tail(head, following, criterion, aggregator, emits_result=True)


def _criterion(given: Any, aggregator: AggregateFunction | None) -> tuple[DataStream, DataStream | None]:
    if aggregator is None:
        require_instance(given, DataStream, "what the step returned", "return the stream of the next round's records")
        return given, None
    if not (isinstance(given, tuple) and len(given) == 2 and all(isinstance(s, DataStream) for s in given)):
        raise program_error(
            f"with an aggregator the step must return two streams, but it returned {given!r:.100}",
            "return the stream of the next round's records and the stream of the criterion",
        )
    return given


def make_head(
    initial: DataStream, max_rounds: int | None, aggregator: AggregateFunction | None, converged: Converged | None, name: str
) -> OperatorTransformation:
    """Add the head of an iteration in rounds."""
    require_instance(initial, DataStream, "the input of an iteration", "give a stream")
    require_instance(name, str, "the name of an iteration", "give a text")
    if aggregator is not None:
        require_instance(aggregator, AggregateFunction, "the aggregator", "subclass AggregateFunction")
    if max_rounds is not None:
        require_count(max_rounds, "max_rounds")
    test: Any = converged
    if test is not None and not callable(test):
        hint = "e.g. lambda round, value: value < 1e-6"
        raise program_error(f"converged must be a function of round and value, got {test!r:.100}", hint)
    environment = initial.get_execution_environment()
    transformation = initial._transformation
    head = environment._add_operator(f"{name}: Head", OperatorSpec(ITERATION_HEAD), (transformation,), initial.get_type())
    behind = [o.node for o in operators_behind(transformation)]
    head.node.parallelism = max(n.parallelism or 1 for n in behind)
    head.node.parallelism_set = any(n.parallelism_set for n in behind)
    params = {"iteration": head.node.id, "rounds": True, "max_rounds": max_rounds, "name": name}
    head.node.operator = OperatorSpec(ITERATION_HEAD, params, {"aggregator": aggregator, "converged": converged})
    return head


def make_tail(
    head: OperatorTransformation,
    following: DataStream,
    criterion: DataStream | None,
    aggregator: AggregateFunction | None,
    *,
    emits_result: bool,
) -> DataStream:
    """Add the tail, and return the stream of its results."""
    environment = following.get_execution_environment()
    for stream in (following, criterion):
        if stream is None:
            continue
        behind = operators_behind(stream._transformation)
        if head not in all_before(behind) or head in behind:
            raise program_error(
                "the step returned a stream that is not made from the one it got",
                "return the result of map(), process() or another operator on it",
            )
    inputs = tuple(s._transformation for s in (following, criterion) if s is not None)
    name = f"{head.node.operator.params['name']}: Tail"
    params = {"iteration": head.node.id, "rounds": True, "emits_result": emits_result}
    spec = OperatorSpec(ITERATION_TAIL, params, {"aggregator": aggregator})
    head.feedback = environment._add_operator(name, spec, inputs, following.get_type())
    head.feedback.node.parallelism, head.feedback.node.parallelism_set = head.node.parallelism, head.node.parallelism_set
    return DataStream(environment, head.feedback)
