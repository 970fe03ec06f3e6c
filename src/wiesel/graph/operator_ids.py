"""Internal. Stable operator ids: from the uid if the user sets one, else from the operator's position in the graph.

As in Flink's StreamGraphHasherV2 an id without uid depends on the node's position in a breadth-first traversal from the sources and on the
ids of its inputs, so the same program has the same ids in every process, and adding an operator upstream changes those downstream.
"""

from __future__ import annotations

import hashlib
from collections import deque

from wiesel.core.errors import ProgramError
from wiesel.graph.specs import StreamGraph, StreamNode


def _digest(*parts: str) -> str:
    return hashlib.md5("\x1f".join(parts).encode(), usedforsecurity=False).hexdigest()


def id_of_uid(uid: str) -> str:
    """Return the id of an operator to which the program gives a uid."""
    return _digest("uid", uid)


def walk(graph: StreamGraph) -> list[int]:
    """Return the node ids in topological order; ties in the order of creation."""
    missing = {n: len({(e.source, e.input_index, e.side_tag) for e in graph.in_edges(n)}) for n in graph.nodes}
    ready = deque(sorted(n for n, count in missing.items() if count == 0))
    order: list[int] = []
    seen: set[tuple[int, int, int, str | None]] = set()
    while ready:
        node = ready.popleft()
        order.append(node)
        for edge in graph.out_edges(node):
            mark = (edge.source, edge.target, edge.input_index, edge.side_tag)
            if mark in seen:
                continue
            seen.add(mark)
            missing[edge.target] -= 1
            if missing[edge.target] == 0:
                ready.append(edge.target)
    if len(order) != len(graph.nodes):
        raise ProgramError(
            "the graph of the program has a cycle", hint="feedback edges are made with iterations, not by connecting streams"
        )
    return order


def operator_ids(graph: StreamGraph) -> dict[int, str]:
    """Return the id of every node.

    Raises:
        ProgramError: If two operators have the same uid.
    """
    ids: dict[int, str] = {}
    by_uid: dict[str, StreamNode] = {}
    for place, node_id in enumerate(walk(graph)):
        node = graph.nodes[node_id]
        if node.uid_hash:
            ids[node_id] = node.uid_hash
        elif node.uid:
            other = by_uid.get(node.uid)
            if other is not None:
                raise ProgramError(
                    f"the uid {node.uid!r} is given to two operators: {other.name} ({other.user_location}) and "
                    f"{node.name} ({node.user_location})",
                    hint="uids must be unique in a job",
                )
            by_uid[node.uid] = node
            ids[node_id] = id_of_uid(node.uid)
        else:
            inputs = [f"{ids[e.source]}/{e.input_index}/{e.side_tag or ''}" for e in graph.in_edges(node_id)]
            ids[node_id] = _digest("place", str(place), *inputs)
    return ids
