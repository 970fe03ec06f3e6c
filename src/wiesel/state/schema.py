"""Internal. Compatibility of restored state with the declarations of the program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wiesel.core.errors import StateMigrationError
from wiesel.types.serializers import Compatibility, PickleSerializer, migrator, mismatch, resolver, serializer_from_snapshot

__all__ = ["STORAGE", "StateSchema", "check_schema", "resolve_records"]

STORAGE = {"value": "value", "reducing": "value", "aggregating": "value", "list": "list", "map": "map"}
"""Kind of state -> kind of storage."""


@dataclass(frozen=True)
class StateSchema:
    """Declaration of a state.

    Attributes:
        kind: ``value``, ``list``, ``map``, ``reducing`` or ``aggregating``.
        ttl: True if values carry the time of their last access.
        serializer: Snapshot of the serializer of the declared type, JSON-able; None if no type was declared.
        ttl_ms: The time to live, for readers without the program; None if there is none or it was not written.
    """

    kind: str
    ttl: bool = False
    serializer: Any = None
    ttl_ms: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the schema as stored in the meta of a handle."""
        return {"kind": self.kind, "ttl": self.ttl, "serializer": self.serializer, "ttl_ms": self.ttl_ms}

    @staticmethod
    def from_json(data: dict[str, Any]) -> StateSchema:
        """Read a schema from the meta of a handle."""
        return StateSchema(data["kind"], data.get("ttl", False), data.get("serializer"), data.get("ttl_ms"))


def snapshot_of(serializer: Any) -> Any:
    """Return the JSON-able snapshot of a serializer; None for None."""
    return None if serializer is None else serializer.snapshot()


def check_schema(name: str, restored: StateSchema, kind: str, serializer: Any) -> Callable[[Any], Any] | None:
    """Return a function that converts restored values to the declared type, None if they fit unchanged.

    Args:
        name: Name of the state.
        restored: The restored declaration of that name.
        kind: Kind declared now.
        serializer: Serializer of the type declared now; None accepts all.

    Raises:
        StateMigrationError: If the restored state does not fit.
    """
    if restored.kind != kind:
        raise StateMigrationError(
            f"state {name!r} was restored as {restored.kind} state, the program declares {kind} state",
            hint="give the new state another name, or restore without the old one",
            state=name,
        )
    if serializer is None or restored.serializer is None or restored.serializer == serializer.snapshot():
        return None
    compatibility = serializer.resolve_compatibility(restored.serializer)
    if compatibility is Compatibility.COMPATIBLE:
        return None
    old, new = serializer_from_snapshot(restored.serializer), serializer
    if compatibility is Compatibility.MIGRATE and isinstance(old, PickleSerializer) and isinstance(new, PickleSerializer):
        return migrator(old.type_info, new.type_info)
    why = mismatch(_type_of(old), _type_of(new)) if isinstance(old, PickleSerializer) and isinstance(new, PickleSerializer) else ""
    raise StateMigrationError(
        f"state {name!r} was written with type {_type_of(old)}, the program declares {_type_of(new)}" + (f": {why}" if why else ""),
        hint="declare the old type, or one that it can become (fields added with a default, removed, renamed with an alias, "
        "numbers widened), or use another state name",
        state=name,
    )


def resolve_records(serializer: Any) -> Callable[[Any], Any] | None:
    """Return a function that converts restored values of a declared type to their classes, None if the type has none."""
    return resolver(serializer.type_info) if isinstance(serializer, PickleSerializer) else None


def _type_of(serializer: Any) -> Any:
    return getattr(serializer, "type_info", serializer)
