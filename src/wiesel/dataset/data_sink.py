"""Data sinks."""

from __future__ import annotations

from wiesel.core.argument_checks import require_count, require_instance
from wiesel.dataset._plan import Node

__all__ = ["DataSink"]


class DataSink:
    """A sink of a program; it runs with ``env.execute()``."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def name(self, name: str) -> DataSink:
        """Set the name that shows in plans and metrics."""
        require_instance(name, str, "the name", "give a text")
        self._node.name = name
        return self

    def set_parallelism(self, parallelism: int) -> DataSink:
        """Set the number of subtasks: with 1 all records go to one file."""
        self._node.parallelism = require_count(parallelism, "parallelism")
        return self
