"""Operators of a checkpoint: their identifiers, and metadata that is available without reading state."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wiesel.core.argument_checks import describe, require_instance
from wiesel.core.user_location import program_error
from wiesel.graph.operator_ids import id_of_uid

__all__ = ["OperatorIdentifier", "OperatorOverview", "StateOverview"]

_HASH = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True)
class OperatorIdentifier:
    """Identifier of an operator of a checkpoint; create it with :meth:`for_uid` or :meth:`for_uid_hash`.

    Attributes:
        operator_id: Id of its state in the checkpoint.
        uid: The uid; None if only the id is known.
    """

    operator_id: str
    uid: str | None = None

    @staticmethod
    def for_uid(uid: str) -> OperatorIdentifier:
        """Return the operator with this uid in the program (``stream.uid("...")``)."""
        require_instance(uid, str, "a uid", "give the uid that the program sets by uid(...)")
        if not uid:
            raise program_error(f"a uid is a text, got {describe(uid)}", "give the uid that the program sets by uid(...)")
        return OperatorIdentifier(id_of_uid(uid), uid)

    @staticmethod
    def for_uid_hash(uid_hash: str) -> OperatorIdentifier:
        """Return the operator with this id: 32 hexadecimal digits, as in overviews of operators without a uid."""
        require_instance(uid_hash, str, "the id of an operator", "use the operator_id of an overview")
        if not _HASH.fullmatch(uid_hash):
            raise program_error(f"the id of an operator has 32 hexadecimal digits, got {describe(uid_hash)}", "use for_uid for a uid")
        return OperatorIdentifier(uid_hash)

    @staticmethod
    def of(operator: OperatorIdentifier | str) -> OperatorIdentifier:
        """Return the identifier itself, or that of a uid."""
        require_instance(operator, (OperatorIdentifier, str), "an operator", "give its uid, or an OperatorIdentifier")
        return operator if isinstance(operator, OperatorIdentifier) else OperatorIdentifier.for_uid(operator)

    def __str__(self) -> str:
        return f"uid {self.uid!r}" if self.uid is not None else f"id {self.operator_id}"


@dataclass(frozen=True)
class StateOverview:
    """One state of an operator, as the checkpoint describes it.

    Attributes:
        name: Its name.
        kind: ``value``, ``list``, ``map``, ``reducing`` or ``aggregating`` (keyed state); ``operator list``, ``union list`` or
            ``broadcast``.
        type: The declared type; None if none was declared or it is not known.
        ttl_ms: Time to live, None for none.
    """

    name: str
    kind: str
    type: str | None = None
    ttl_ms: int | None = None

    def __str__(self) -> str:
        about = ", ".join([self.kind, *([self.type] if self.type else []), *([f"ttl {self.ttl_ms} ms"] if self.ttl_ms else [])])
        return f"{self.name} ({about})"


@dataclass(frozen=True)
class OperatorOverview:
    """An operator of a checkpoint.

    Attributes:
        uid: The uid in the program, None if it has none.
        name: Its name in the plan.
        operator_id: Its id.
        parallelism: Number of subtasks.
        max_parallelism: Number of key groups.
        states: Its states, by name.
        size_bytes: Size of its state, including the part that is stored in the metadata.
        files: Number of its files.
        has_other_state: Whether it is a source with positions or a sink with its own state, in their private formats.
    """

    uid: str | None
    name: str
    operator_id: str
    parallelism: int
    max_parallelism: int
    states: Mapping[str, StateOverview]
    size_bytes: int
    files: int
    has_other_state: bool

    @property
    def identifier(self) -> OperatorIdentifier:
        """The identifier of the operator."""
        return OperatorIdentifier(self.operator_id, self.uid)


def named(operator: Mapping[str, Any]) -> str:
    """Return the name of an operator in messages."""
    return f"{operator['name']} (uid {operator['uid']!r})" if operator.get("uid") else f"{operator['name']} (id {operator['id']})"
