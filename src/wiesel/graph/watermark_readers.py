"""Internal. Selects the watermarks of tables that are emitted between rows of a batch: those read by an operator there.

Operators of tables process whole batches, and late rows are handled where watermarks are generated. Downstream, functions of a stream read
the watermark at each record, have timers, or drop late records; an expression of a query may read it, too.
"""

from __future__ import annotations

from dataclasses import replace

from wiesel.graph.specs import READS_WATERMARKS, WATERMARKS_BY_ROW, StreamGraph, StreamNode

__all__ = ["show_watermarks"]

_MAKER = "table_watermark"
_BLIND = frozenset(
    """
    map flat_map filter project convert keyed_map keyed_flat_map keyed_filter keyed_reduce co_map co_flat_map async_wait sink
    """.split()
)
"""Kinds of stream operators whose functions do not see watermarks; all others may."""


def show_watermarks(graph: StreamGraph) -> None:
    """Emit the watermarks of tables row by row where a downstream operator reads them."""
    makers = [node for node in graph.nodes.values() if node.operator.kind == _MAKER]
    for node in makers if graph.runtime_mode != "BATCH" else ():
        if any(_reads(graph.nodes[behind]) for behind in graph.behind(node.id)):
            node.operator = replace(node.operator, params={**node.operator.params, WATERMARKS_BY_ROW: True})


def _reads(node: StreamNode) -> bool:
    kind = node.operator.kind
    return bool(node.operator.params.get(READS_WATERMARKS)) or not (kind in _BLIND or kind.startswith("table_"))
