"""Internal. Operator and partitioner specs, and the stream graph.

A spec has a kind (the key of the factory in ``wiesel.runtime.registry``), JSON-able ``params`` shown in plans, and an opaque ``payload``:
the user's functions, descriptors, sources and sinks, which are pickled by value when the job is shipped.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

DEFAULT_SLOT_SHARING_GROUP = "default"

ITERATION_HEAD, ITERATION_TAIL = "iteration_head", "iteration_tail"
"""Kinds of operators; the parameter ``iteration`` of both is the node id of the head. ``rounds``: True for an iteration in rounds."""

ITERATION_INPUT = "iteration_input"
"""Kind of operators between an iteration in rounds and a stream from outside."""

FEEDBACK_TAG = "wiesel-feedback"
"""Side output of a head with the feedback, where it is separate from the input."""


READS_WATERMARKS = "reads_watermarks"
"""Parameter of operators of tables: True if they read the watermark for each row."""

WATERMARKS_BY_ROW = "watermarks_by_row"
"""Parameter of operators that emit watermarks: True if downstream operators see those between rows of a batch."""


@dataclass(frozen=True)
class OperatorSpec:
    """One operator: its kind, visible parameters and opaque payload."""

    kind: str
    params: dict[str, Any] = field(default_factory=dict)
    payload: Any = None


@dataclass(frozen=True)
class PartitionerSpec:
    """The distribution of records over the channels of an edge.

    ``kind``: forward, rebalance, rescale, shuffle, broadcast, global, hash or custom. ``payload``: for hash the key selector, for
    custom a pair (partitioner, key selector). ``key_type``: for hash the declared type of the keys, None if none was declared.
    """

    kind: str
    payload: Any = None
    key_type: Any = None


@dataclass(frozen=True)
class ColumnKeys:
    """The payload of a hash partitioner over batches of rows. Here without Arrow, so that jobs without tables do not load it.

    Attributes:
        columns: The indexes of the key's columns.
        in_place: Whether rows were partitioned by the same values before, so that they stay where they are if the parallelism does.
    """

    columns: tuple[int, ...]
    in_place: bool = False


FORWARD = PartitionerSpec("forward")
REBALANCE = PartitionerSpec("rebalance")


@dataclass
class StreamNode:
    """An operator in the stream graph.

    ``parallelism`` and ``max_parallelism`` are None until the graph is finished, when they default to the environment's value.
    ``parallelism_set``: True if the program sets the parallelism of this operator, so that rescaling the job does not change it.
    ``chaining``: ``always``, ``head`` (starts a new chain) or ``never``. ``inputs``: number of logical inputs (0 for a source).
    """

    id: int
    name: str
    operator: OperatorSpec
    parallelism: int | None = None
    max_parallelism: int | None = None
    uid: str | None = None
    uid_hash: str | None = None
    description: str | None = None
    slot_sharing_group: str | None = None
    chaining: str = "always"
    buffer_timeout_ms: int | None = None
    state_backend: str | None = None
    inputs: int = 1
    is_source: bool = False
    is_sink: bool = False
    bounded: bool = True
    keyed: bool = False
    parallelism_set: bool = False
    output_type: Any = None
    user_location: str = ""


@dataclass
class StreamEdge:
    """A stream between two operators. ``side_tag``: the side output that it carries, or None for the main output."""

    source: int
    target: int
    partitioner: PartitionerSpec = FORWARD
    input_index: int = 0
    side_tag: str | None = None


@dataclass(frozen=True)
class Loop:
    """An iteration: its head, its tail, the origin of the feedback edge, and the operators of its step between them."""

    head: int
    tail: int
    step: frozenset[int]
    rounds: bool


@dataclass
class StreamGraph:
    """The graph built by the calls of the API, in the order of the calls."""

    job_name: str
    nodes: dict[int, StreamNode] = field(default_factory=dict)
    edges: list[StreamEdge] = field(default_factory=list)
    default_parallelism: int = 1
    default_max_parallelism: int | None = None
    chaining_enabled: bool = True
    buffer_timeout_ms: int = 100
    runtime_mode: str = "STREAMING"
    config: dict[str, Any] = field(default_factory=dict)

    def loops(self) -> list[Loop]:
        """Return the iterations, in the order of creation."""
        loops = []
        for head in (n for n in self.nodes.values() if n.operator.kind == ITERATION_HEAD):
            iteration = head.operator.params["iteration"]
            tails = [n.id for n in self.nodes.values() if n.operator.kind == ITERATION_TAIL and n.operator.params["iteration"] == iteration]
            if tails:
                inside = self._closure(head.id, forward=True) & self._closure(tails[0], forward=False)
                loops.append(Loop(head.id, tails[0], frozenset(inside - {head.id, tails[0]}), bool(head.operator.params.get("rounds"))))
        return loops

    def behind(self, node: int) -> set[int]:
        """Return the nodes reachable from a node."""
        return self._closure(node, forward=True) - {node}

    def _closure(self, start: int, *, forward: bool) -> set[int]:
        found, waiting = {start}, [start]
        while waiting:
            node = waiting.pop()
            for near in [e.target for e in self.out_edges(node)] if forward else [e.source for e in self.in_edges(node)]:
                if near not in found:
                    found.add(near)
                    waiting.append(near)
        return found

    def in_edges(self, node: int) -> list[StreamEdge]:
        """Return the incoming edges of a node, in the order of creation."""
        return [e for e in self.edges if e.target == node]

    def out_edges(self, node: int) -> list[StreamEdge]:
        """Return the outgoing edges of a node, in the order of creation."""
        return [e for e in self.edges if e.source == node]
