"""Internal. Drawing of the operators before a stream, for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from wiesel.graph.operator_ids import walk
from wiesel.graph.specs import Loop, StreamGraph, StreamNode
from wiesel.graph.transformations import operators_behind
from wiesel.types.typeinfo import PickledBytesTypeInfo

if TYPE_CHECKING:
    from wiesel.datastream._stream import DataStream

__all__ = ["stream_html"]

_BOX_WIDTH, _BOX_HEIGHT = 170, 44
_STEP_X, _STEP_Y = 260, 64
_FEEDBACK_Y = 24
_LONGEST = 24
_SOURCE, _PLAIN, _STEP, _LOOP_END = "#e3f1e3", "#e8eef8", "#fdf3dc", "#f6d9a8"
_MARKER = (
    '<defs><marker id="arrow" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
    '<path d="M0,0 L8,4 L0,8 z" fill="#666"/></marker></defs>'
)


def stream_html(stream: DataStream) -> str:
    """Return a drawing of the plan up to a stream, and the type of its records."""
    graph = stream.get_execution_environment()._graph_of(operators_behind(stream._transformation))
    records = stream.get_type()
    kind = "any objects" if isinstance(records, PickledBytesTypeInfo) else str(records)
    return f"<div><div>{type(stream).__name__} of {escape(kind)}</div>{_svg(graph)}</div>"


def _svg(graph: StreamGraph) -> str:
    places = _places(graph)
    width = max(x for x, _ in places.values()) + _BOX_WIDTH + 2
    height = max(y for _, y in places.values()) + _BOX_HEIGHT + 2
    arrows = "".join(
        _arrow(places[edge.source], places[edge.target], edge.partitioner.kind + (f" [{edge.side_tag}]" if edge.side_tag else ""))
        for edge in graph.edges
    )
    loops = graph.loops()
    boxes = "".join(
        _box(node, places[node.id], node.parallelism or graph.default_parallelism, _colour(node, loops)) for node in graph.nodes.values()
    )
    height += _FEEDBACK_Y if loops else 0
    arrows += "".join(_feedback(places[loop.tail], places[loop.head], height - _FEEDBACK_Y // 2) for loop in loops)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="11">'
        f"{_MARKER}{arrows}{boxes}</svg>"
    )


def _places(graph: StreamGraph) -> dict[int, tuple[int, int]]:
    """Return the upper left corners: the column of an operator is its longest path from a source."""
    column: dict[int, int] = {}
    for node_id in walk(graph):
        column[node_id] = max((column[edge.source] + 1 for edge in graph.in_edges(node_id)), default=0)
    used: dict[int, int] = {}
    places = {}
    for node_id, at in column.items():
        places[node_id] = (1 + at * _STEP_X, 1 + used.get(at, 0) * _STEP_Y)
        used[at] = used.get(at, 0) + 1
    return places


def _colour(node: StreamNode, loops: list[Loop]) -> str:
    if node.is_source:
        return _SOURCE
    if any(node.id in (loop.head, loop.tail) for loop in loops):
        return _LOOP_END
    return _STEP if any(node.id in loop.step for loop in loops) else _PLAIN


def _box(node: StreamNode, place: tuple[int, int], parallelism: int, colour: str) -> str:
    x, y = place
    name = node.name if len(node.name) <= _LONGEST else node.name[: _LONGEST - 1] + "…"
    return (
        f"<g><title>{escape(node.name)}, made at {escape(node.user_location or '?')}</title>"
        f'<rect x="{x}" y="{y}" width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" rx="5" fill="{colour}" stroke="#888"/>'
        f'<text x="{x + 8}" y="{y + 18}">{escape(name)}</text>'
        f'<text x="{x + 8}" y="{y + 34}" fill="#666">parallelism {parallelism}</text></g>'
    )


def _arrow(source: tuple[int, int], target: tuple[int, int], text: str) -> str:
    x1, y1 = source[0] + _BOX_WIDTH, source[1] + _BOX_HEIGHT // 2
    x2, y2 = target[0], target[1] + _BOX_HEIGHT // 2
    middle = f'x="{(x1 + x2) // 2}" y="{(y1 + y2) // 2 - 4}"'
    return (
        f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#666" marker-end="url(#arrow)"/>'
        f'<text {middle} text-anchor="middle" fill="#666">{escape(text)}</text>'
    )


def _feedback(tail: tuple[int, int], head: tuple[int, int], below: int) -> str:
    """The feedback edge, back from the tail to the head below all boxes."""
    x1, y1 = tail[0] + _BOX_WIDTH // 2, tail[1] + _BOX_HEIGHT
    x2, y2 = head[0] + _BOX_WIDTH // 2, head[1] + _BOX_HEIGHT
    return (
        f'<path d="M{x1},{y1} L{x1},{below} L{x2},{below} L{x2},{y2 + 2}" fill="none" stroke="#b36b00" stroke-dasharray="5,3" '
        f'marker-end="url(#arrow)"/><text x="{(x1 + x2) // 2}" y="{below - 4}" text-anchor="middle" fill="#b36b00">feedback</text>'
    )
