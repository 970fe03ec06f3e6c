"""Internal. Settings of created operators: name, uid, parallelism, chaining, slot sharing group."""

from __future__ import annotations

from typing import Any, TypeVar

from wiesel.core.argument_checks import require_count, require_instance
from wiesel.core.errors import ProgramError
from wiesel.core.user_location import program_error
from wiesel.datastream._no_java import NoJavaObjects
from wiesel.datastream.slot_sharing_group import SlotSharingGroup
from wiesel.graph.transformations import OperatorTransformation, Transformation

__all__ = ["MAX_PARALLELISM_LIMIT", "OperatorSettings"]

MAX_PARALLELISM_LIMIT = 1 << 15
"""Flink's upper bound of the maximum parallelism."""

_TEXT = "give a text"

S = TypeVar("S", bound="OperatorSettings")


class OperatorSettings(NoJavaObjects):
    """Setters that change one operator and return the object itself."""

    _transformation: Transformation

    def _operator(self, setting: str) -> OperatorTransformation:
        """Return the operator to change.

        Raises:
            ProgramError: If this stream is not the direct result of an operator.
        """
        if isinstance(self._transformation, OperatorTransformation):
            return self._transformation
        raise self._no_operator(setting)

    def _no_operator(self, setting: str) -> ProgramError:
        return program_error(
            f"{setting} configures an operator, but a partitioning or union of streams is none",
            "call it on the stream that an operator such as map() returned",
        )

    def name(self: S, name: str) -> S:
        """Set the name of the operator, which shows in plans, logs and metrics."""
        require_instance(name, str, "the name of an operator", _TEXT)
        self._operator("name()").node.name = name
        return self

    def uid(self: S, uid: str) -> S:
        """Set the id that identifies the state of this operator in checkpoints and savepoints.

        It must be unique in the job. Operators with uids keep their state when the program changes.
        """
        require_instance(uid, str, "an uid", _TEXT)
        if not uid:
            raise program_error("an uid must not be empty", "give a string that is unique in the job")
        self._operator("uid()").node.uid = uid
        return self

    def set_uid_hash(self: S, uid_hash: str) -> S:
        """Set the operator id itself: 32 hex digits, as in logs and savepoints; for repairs only."""
        operator = self._operator("set_uid_hash()")
        require_instance(uid_hash, str, "an uid hash", "give 32 hex digits, or use uid()")
        if len(uid_hash) != 32 or not set(uid_hash.lower()) <= set("0123456789abcdef"):
            raise program_error(f"an uid hash must have 32 hex digits, got {uid_hash!r}", "copy it from the log or savepoint, or use uid()")
        operator.node.uid_hash = uid_hash.lower()
        return self

    def set_parallelism(self: S, parallelism: int) -> S:
        """Set the number of subtasks of this operator."""
        operator = self._operator("set_parallelism()")
        require_count(parallelism, "parallelism")
        if operator.non_parallel and parallelism != 1:
            raise program_error(
                f"{operator.node.name!r} can only have parallelism 1, got {parallelism}",
                "set the parallelism of the operators behind it instead",
            )
        operator.node.parallelism, operator.node.parallelism_set = parallelism, True
        return self

    def set_description(self: S, description: str) -> S:
        """Set the description, which shows in plans; the name should be short, the description may be long."""
        require_instance(description, str, "a description", _TEXT)
        self._operator("set_description()").node.description = description
        return self

    def disable_chaining(self: S) -> S:
        """Run this operator in a separate task."""
        self._operator("disable_chaining()").node.chaining = "never"
        return self

    def slot_sharing_group(self: S, slot_sharing_group: str | SlotSharingGroup) -> S:
        """Set the slot sharing group: operators of different groups never share a slot nor a chain.

        Without one, an operator inherits the group shared by all its inputs, else ``default``.
        """
        operator = self._operator("slot_sharing_group()")
        group: Any = slot_sharing_group
        require_instance(group, (str, SlotSharingGroup), "a slot sharing group", "give its name or a SlotSharingGroup")
        operator.node.slot_sharing_group = group if isinstance(group, str) else group.get_name()
        return self
