"""Internal. Creates the operator of a definition, a function from streams to a stream."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wiesel.core.argument_checks import describe
from wiesel.core.config import Configuration
from wiesel.core.user_location import program_error
from wiesel.datastream import DataStream, StreamExecutionEnvironment
from wiesel.engine.base import job_settings
from wiesel.engine.shippable import check_shippable
from wiesel.graph.execution_graph import build_execution_graph
from wiesel.graph.job_graph import JobEdge, JobGraph, JobVertex, build_job_graph
from wiesel.graph.stage_plan import build_stage_plan
from wiesel.spi.source import Boundedness, Source
from wiesel.spi.watermark import WatermarkStrategy
from wiesel.types.typeinfo import TypeInformation

__all__ = ["Definition", "OperatorPlan", "plan_operator"]

Definition = Callable[..., Any]
"""Gets one stream per input and returns the stream of one operator over them."""

_NOT_HERE = {"sink": "a sink", "source": "a source"}


@dataclass(frozen=True)
class OperatorPlan:
    """The operator, its incoming edges (one per input) and the options of its tasks."""

    vertex: JobVertex
    inputs: tuple[JobEdge, ...]
    task_config: dict[str, Any]


class _Input(Source[Any]):
    """Placeholder of an input of the operator; pushed records replace it."""

    @property
    def boundedness(self) -> Boundedness:
        return Boundedness.BOUNDED

    def create_enumerator(self, context: Any, state: Any = None) -> Any:
        raise AssertionError("an input of a harness is not read")

    def create_reader(self, context: Any) -> Any:
        raise AssertionError("an input of a harness is not read")


def plan_operator(
    define: Definition,
    input_types: Sequence[TypeInformation | None] | None,
    settings: Mapping[str, Any],
    *,
    parallelism: int,
    max_parallelism: int | None,
    shipped: bool,
) -> OperatorPlan:
    """Build and plan the operator of a definition as in a job.

    Raises:
        ProgramError: If the definition does not create exactly one operator over its inputs, or is invalid.
        SerializationError: If the user's code cannot be shipped to workers.
    """
    config = Configuration.from_dict(settings)
    env = StreamExecutionEnvironment(config)
    env.set_parallelism(parallelism).disable_operator_chaining()
    if max_parallelism is not None:
        env.set_max_parallelism(max_parallelism)
    count = _input_count(define)
    types = [None] * count if input_types is None else list(input_types)
    if len(types) != count:
        raise program_error(f"the definition has {count} inputs and got {len(types)} input types", "give one per input, or None")
    streams = [env.from_source(_Input(), WatermarkStrategy.no_watermarks(), f"input {i}", t) for i, t in enumerate(types, 1)]
    made = define(*streams)
    if not isinstance(made, DataStream):
        raise program_error(
            f"the definition returned {describe(made)} instead of a stream",
            "return the result of map(), process(), reduce() or aggregate(); sinks are tested with local_environment()",
        )
    if not env._transformations:
        raise program_error("the definition makes no operator", "call an operator on the stream, e.g. lambda s: s.map(f)")
    job = build_job_graph(env._generate_stream_graph())
    if shipped:
        check_shippable(build_stage_plan(build_execution_graph(job)))
    return OperatorPlan(*_only_operator(job, count), job_settings(config).task)


def _input_count(define: Any) -> int:
    if not callable(define) or isinstance(define, type):
        raise program_error(f"a definition is a function of streams, got {describe(define)}", "e.g. lambda stream: stream.map(f)")
    parameters = inspect.signature(define).parameters.values()
    required = [p for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if not required:
        raise program_error("the definition takes no stream", "give it one parameter per input, e.g. lambda left, right: ...")
    return len(required)


def _is_input(vertex: JobVertex) -> bool:
    payload = vertex.operators[0].node.operator.payload
    return isinstance(payload, dict) and isinstance(payload.get("source"), _Input)


def _only_operator(job: JobGraph, count: int) -> tuple[JobVertex, tuple[JobEdge, ...]]:
    vertices = [v for v in job.vertices if not _is_input(v)]
    kinds = {v.operators[0].node.operator.kind for v in vertices}
    for kind in kinds & _NOT_HERE.keys():
        raise program_error(f"the definition makes {_NOT_HERE[kind]}", "run sources and sinks in a pipeline, with local_environment()")
    if len(vertices) != 1:
        names = ", ".join(v.name for v in vertices)
        raise program_error(
            f"the definition makes {len(vertices)} operators: {names}",
            "a harness drives one; run several in a pipeline, with local_environment(). Side outputs are read by side_output(tag)",
        )
    edges = job.in_edges(vertices[0].index)
    by_input = sorted(edges, key=lambda e: e.input_index)
    if [e.input_index for e in by_input] != list(range(count)):
        raise program_error(
            f"the operator {vertices[0].name} does not read each of the {count} inputs of the definition once",
            "give the definition one parameter per input of the operator",
        )
    return vertices[0], tuple(by_input)
