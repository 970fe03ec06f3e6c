"""Internal. Partial matches in keyed state.

For each key there are:

* *groups*: the runs that began with the same event, by the event's number. A group is ``(start time, runs, complete)``; a run ``(state,
    node, time of its last event)``; ``complete`` holds the nodes of matches that wait until earlier ones are decided. The next number is
    stored under ``COUNTER``.
* *nodes*: the taken events of a run: ``(stage, event number, previous node, references)``. Runs that fork share the nodes before the fork,
    so a node is immutable: taking one event writes one node, however long the match.
* *events*: each event referenced by a node, once; and the number of references, if it is more than one.

All are maps with access to single entries: an event changes the entries of the affected runs only, and a checkpoint writes these.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from wiesel.core.errors import invariant
from wiesel.state.backend import MapTable, StateBackend

__all__ = ["COUNTER", "Group", "PartialMatches", "Run", "Turn"]

COUNTER = -1

Run = tuple[int, int, int]
Group = tuple[int, tuple[Run, ...], tuple[int, ...]]


def _map(backend: StateBackend, name: str, serializer: Any = None) -> MapTable:
    table = backend.table(name, serializer=serializer, kind="map")
    invariant(isinstance(table, MapTable), "the backend gave no map table")
    return table  # type: ignore[return-value]


class PartialMatches:
    """The tables of one operator."""

    def __init__(self, backend: StateBackend, event_serializer: Any) -> None:
        self.groups = _map(backend, "cep-runs")
        self.nodes = _map(backend, "cep-nodes")
        self.events = _map(backend, "cep-events", event_serializer)
        self.shared = _map(backend, "cep-shared-events")


class Turn:
    """Changes for one key caused by one event, or by time. Nothing is written before :meth:`commit`."""

    def __init__(self, tables: PartialMatches, key: Any, groups: dict[int, Group], event: Any = None) -> None:
        self._tables = tables
        self._key = key
        self._event = event
        self._references: defaultdict[int, int] = defaultdict(int)
        self._fresh: dict[int, tuple[int, int, int]] = {}
        self.before = groups
        self.changed: dict[int, Group | None] = {}
        counter: Any = groups.get(COUNTER)
        self.event_number: int = counter or 1
        self._next = self.event_number + 1

    def take(self, stage: int, previous: int) -> int:
        """Return a new node for the event, after another one (0: none)."""
        node = self._next
        self._next = node + 1
        self._fresh[node] = (stage, self.event_number, previous)
        return node

    def refer(self, node: int, by: int = 1) -> None:
        """Change the reference count of a node, on which a run or match ends, by ``by``."""
        self._references[node] += by

    def path(self, node: int) -> list[tuple[int, int]]:
        """Return (stage, event number) of all events up to a node, in order."""
        taken: list[tuple[int, int]] = []
        fresh, nodes, key = self._fresh, self._tables.nodes, self._key
        while node:
            entry = fresh.get(node) or nodes.get_entry(key, node)
            taken.append((entry[0], entry[1]))
            node = entry[2]
        taken.reverse()
        return taken

    def event(self, number: int) -> Any:
        """Return an event."""
        return self._event if number == self.event_number else self._tables.events.get_entry(self._key, number)

    def commit(self) -> None:
        """Write the changes, and remove unreferenced entries."""
        kept = self._keep_fresh()
        self._release()
        groups, key = self._tables.groups, self._key
        left = len(self.before) - (COUNTER in self.before)
        for start, group in self.changed.items():
            known = start in self.before
            if group is None:
                left -= known
                if known:
                    groups.remove_entry(key, start)
            else:
                left += not known
                groups.put_entry(key, start, group)
        if not left:
            groups.remove(key)
        elif kept:
            groups.put_entry(key, COUNTER, self._next)

    def _keep_fresh(self) -> int:
        """Write the new referenced nodes, and the event if it is referenced."""
        tables, key, references = self._tables, self._key, self._references
        kept = 0
        for node, (stage, event, previous) in self._fresh.items():
            count = references.pop(node, 0)
            if count > 0:
                kept += 1
                tables.nodes.put_entry(key, node, (stage, event, previous, count))
                if previous:
                    references[previous] += 1
        if kept:
            tables.events.put_entry(key, self.event_number, self._event)
        if kept > 1:
            tables.shared.put_entry(key, self.event_number, kept)
        return kept

    def _release(self) -> None:
        tables, key, references = self._tables, self._key, self._references
        todo = [node for node in references if node]
        while todo:
            node = todo.pop()
            by = references.pop(node, 0)
            if not by:
                continue
            stage, event, previous, count = tables.nodes.get_entry(key, node)
            if count + by > 0:
                tables.nodes.put_entry(key, node, (stage, event, previous, count + by))
                continue
            tables.nodes.remove_entry(key, node)
            self._release_event(event)
            if previous:
                references[previous] -= 1
                todo.append(previous)

    def _release_event(self, number: int) -> None:
        shared, key = self._tables.shared, self._key
        count = shared.get_entry(key, number)
        if count is None:
            self._tables.events.remove_entry(key, number)
        elif count == 2:
            shared.remove_entry(key, number)
        else:
            shared.put_entry(key, number, count - 1)
