"""Internal. Which watermarks of tables are emitted between rows that come together: those that somebody sees there.

Operators of tables compute with whole batches, and what is late among their rows is seen to where watermarks are made. Behind them,
functions of a stream ask for the watermark at each record, have timers, or drop late records; and an expression of a query may ask, too.
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
"""Kinds of operators of streams whose functions do not hear of watermarks; one that is not named here may."""


def show_watermarks(graph: StreamGraph) -> None:
    """Have the watermarks of tables emitted row by row where an operator behind them reads them."""
    makers = [node for node in graph.nodes.values() if node.operator.kind == _MAKER]
    for node in makers if graph.runtime_mode != "BATCH" else ():
        if any(_reads(graph.nodes[behind]) for behind in graph.behind(node.id)):
            node.operator = replace(node.operator, params={**node.operator.params, WATERMARKS_BY_ROW: True})


def _reads(node: StreamNode) -> bool:
    kind = node.operator.kind
    return bool(node.operator.params.get(READS_WATERMARKS)) or not (kind in _BLIND or kind.startswith("table_"))
