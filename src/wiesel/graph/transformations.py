"""Internal. Transformations recorded by a program's calls, before they become a :class:`~wiesel.graph.specs.StreamGraph`.

Only operators become nodes. Partitionings, side outputs and unions say something about the edge from one operator to the next;
they are resolved when the graph is built, which happens at every ``execute`` for what is then reachable.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from wiesel.core.config import Configuration
from wiesel.core.errors import invariant
from wiesel.core.user_location import program_error
from wiesel.graph.round_inputs import add_round_inputs
from wiesel.graph.specs import FORWARD, ITERATION_HEAD, REBALANCE, ColumnKeys, PartitionerSpec, StreamEdge, StreamGraph, StreamNode
from wiesel.graph.watermark_readers import show_watermarks
from wiesel.types.typeinfo import TypeInformation

__all__ = [
    "CacheTransformation",
    "GraphSettings",
    "OperatorTransformation",
    "PartitionTransformation",
    "SideOutputTransformation",
    "Transformation",
    "UnionTransformation",
    "all_before",
    "build_stream_graph",
    "operators_behind",
]


@dataclass(eq=False)
class Transformation:
    """Something that has records of one type.

    Attributes:
        output_type: The declared type of the records; pickled objects if none was declared.
        location: ``file:line`` in the user's program.
    """

    output_type: TypeInformation
    location: str


@dataclass(eq=False)
class OperatorTransformation(Transformation):
    """An operator.

    Attributes:
        node: The node it will be; copied into each graph, so what is set here later does not change graphs already built.
        inputs: What it reads, one per logical input.
        name_pattern: How the name shows in graphs, e.g. ``Source: {}``.
        non_parallel: Whether its parallelism is 1 for good.
        side_types: Types of the side outputs that were read, by tag id.
        feedback: The tail, if this is the head of an iteration that is closed.
    """

    node: StreamNode
    inputs: tuple[Transformation, ...] = ()
    name_pattern: str = "{}"
    non_parallel: bool = False
    side_types: dict[str, TypeInformation] = field(default_factory=dict)
    feedback: OperatorTransformation | None = None


@dataclass(eq=False)
class PartitionTransformation(Transformation):
    """The same records, partitioned for their consumers."""

    input: Transformation
    partitioner: PartitionerSpec


@dataclass(eq=False)
class SideOutputTransformation(Transformation):
    """The side output of an operator with a tag."""

    input: OperatorTransformation
    tag_id: str


@dataclass(eq=False)
class CacheTransformation(Transformation):
    """The records of an operator, or what a job before has kept of them: then ``reader`` is a source that reads it."""

    input: OperatorTransformation
    reader: OperatorTransformation | None = None


@dataclass(eq=False)
class UnionTransformation(Transformation):
    """The records of all inputs."""

    inputs: tuple[Transformation, ...]


@dataclass(frozen=True)
class GraphSettings:
    """Settings of the environment for the operators of a graph. ``runtime_mode`` may be ``AUTOMATIC``."""

    job_name: str
    parallelism: int
    max_parallelism: int | None
    chaining_enabled: bool
    buffer_timeout_ms: int
    runtime_mode: str
    config: Configuration


@dataclass(frozen=True)
class _Origin:
    """The origin of an edge, with properties of the virtual transformations in between."""

    operator: OperatorTransformation
    partitioner: PartitionerSpec | None = None
    side_tag: str | None = None
    location: str = ""


def _origins(transformation: Transformation) -> list[_Origin]:
    """Return the operators behind a transformation. The partitioning next to the reader wins, as in Flink."""
    match transformation:
        case OperatorTransformation():
            return [_Origin(transformation)]
        case SideOutputTransformation(input=operator, tag_id=tag_id):
            return [_Origin(operator, side_tag=tag_id)]
        case PartitionTransformation(input=behind, partitioner=partitioner, location=location):
            return [replace(origin, partitioner=partitioner, location=location) for origin in _origins(behind)]
        case CacheTransformation(input=computed, reader=reader):
            return [_Origin(reader or computed)]
        case UnionTransformation(inputs=inputs):
            return [origin for behind in inputs for origin in _origins(behind)]
    invariant(False, f"unknown transformation {transformation!r}")
    return []


def operators_behind(transformation: Transformation) -> list[OperatorTransformation]:
    """Return the operators whose records these are."""
    return [origin.operator for origin in _origins(transformation)]


def all_before(sinks: Iterable[OperatorTransformation]) -> list[OperatorTransformation]:
    """Return these operators and all before them, loops as a whole, in the order of the calls that made them."""
    found: dict[int, OperatorTransformation] = {}
    waiting = list(sinks)
    while waiting:
        operator = waiting.pop()
        if operator.node.id in found:
            continue
        found[operator.node.id] = operator
        waiting.extend(origin.operator for behind in operator.inputs for origin in _origins(behind))
        if operator.feedback is not None:
            tail = operator.feedback.node
            tail.parallelism, tail.parallelism_set = operator.node.parallelism, operator.node.parallelism_set
            waiting.append(operator.feedback)
    return [found[node_id] for node_id in sorted(found)]


def build_stream_graph(operators: Sequence[OperatorTransformation], settings: GraphSettings) -> StreamGraph:
    """Build the graph of these operators and all that they read.

    Raises:
        ProgramError: If a forward connection joins different parallelisms, or BATCH mode meets an unbounded source.
    """
    reachable = all_before(operators)
    mode = _runtime_mode(reachable, settings.runtime_mode)
    graph = StreamGraph(
        job_name=settings.job_name,
        default_parallelism=settings.parallelism,
        default_max_parallelism=settings.max_parallelism,
        chaining_enabled=settings.chaining_enabled,
        buffer_timeout_ms=settings.buffer_timeout_ms,
        runtime_mode=mode,
        config=settings.config.to_dict(),
    )
    for operator in reachable:
        graph.nodes[operator.node.id] = _finished_node(operator, mode)
        for index, behind in enumerate(operator.inputs):
            graph.edges.extend(_edge(origin, operator, index) for origin in _origins(behind))
    add_round_inputs(graph)
    show_watermarks(graph)
    return graph


def _runtime_mode(operators: Sequence[OperatorTransformation], mode: str) -> str:
    unbounded = [o for o in operators if o.node.is_source and not o.node.bounded]
    loops = [o for o in operators if o.node.operator.kind == ITERATION_HEAD]
    if loops and mode == "BATCH":
        raise program_error(
            "the job runs in BATCH mode, in which an operator starts when those before it have ended: a loop would never start",
            "use RuntimeExecutionMode.STREAMING, also for bounded input",
            location=loops[0].location,
        )
    if loops:
        return "STREAMING"
    if mode == "AUTOMATIC":
        return "STREAMING" if unbounded else "BATCH"
    if mode == "BATCH" and unbounded:
        raise program_error(
            f"the job runs in BATCH mode but its source {unbounded[0].node.name!r} never ends",
            "use a bounded source, or RuntimeExecutionMode.STREAMING",
            location=unbounded[0].location,
        )
    return mode


def _finished_node(operator: OperatorTransformation, mode: str) -> StreamNode:
    node = operator.node
    spec = node.operator
    if spec.kind == "keyed_reduce":
        # In BATCH mode all records of a key come before the result: only the last value is one.
        spec = replace(spec, params={**spec.params, "final_only": mode == "BATCH"})
    return replace(node, name=operator.name_pattern.format(node.name), operator=spec)


def _edge(origin: _Origin, target: OperatorTransformation, input_index: int) -> StreamEdge:
    source = origin.operator
    same = source.node.parallelism == target.node.parallelism
    partitioner = origin.partitioner or (FORWARD if same else REBALANCE)
    if same and isinstance(partitioner.payload, ColumnKeys) and partitioner.payload.in_place:
        partitioner = FORWARD
    if partitioner.kind == "forward" and not same:
        raise program_error(
            f"forward() cannot connect {source.node.name!r} with parallelism {source.node.parallelism} to "
            f"{target.node.name!r} with parallelism {target.node.parallelism}",
            "give both the same parallelism, or use rebalance(), rescale(), shuffle(), broadcast() or global_()",
            location=origin.location,
        )
    return StreamEdge(source.node.id, target.node.id, partitioner, input_index, origin.side_tag)
