"""Internal. Metadata of a retained checkpoint, and the operators in it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wiesel.checkpoint.coordinator import Checkpoint
from wiesel.checkpoint.snapshot import OperatorStateSnapshot
from wiesel.checkpoint.snapshots import find_snapshot
from wiesel.checkpoint.store import StateFiles
from wiesel.core.errors import StateMigrationError
from wiesel.core.user_location import program_error, user_location
from wiesel.state.backend import StateHandle
from wiesel.state.operator_state import OPERATOR_STATE
from wiesel.state.schema import StateSchema
from wiesel.state_processor.operators import OperatorIdentifier, OperatorOverview, StateOverview, named
from wiesel.types.typeinfo import PickledBytesTypeInfo
from wiesel.types.types import type_from_json

__all__ = ["StoredCheckpoint", "handles_of", "schema_of", "type_of", "unknown_state"]

_OPERATOR_KINDS = {"split": "operator list", "union": "union list", "broadcast": "broadcast"}


class StoredCheckpoint:
    """A stored checkpoint with the description of its job.

    Attributes:
        path: Its path.
        checkpoint: The checkpoint; its files have absolute paths.
        facts: Description of the job in the metadata.
    """

    def __init__(self, path: str, checkpoint: Checkpoint, facts: dict[str, Any], *, signed: bool = False) -> None:
        self.path = path
        self.checkpoint = checkpoint
        self.facts = facts
        self._signed = signed

    @staticmethod
    def load(path: str, key: bytes | None = None) -> StoredCheckpoint:
        """Read the metadata of a checkpoint, or for a job's path, of its newest complete checkpoint, as a restore would.

        Args:
            path: Path of the checkpoint or job.
            key: Key with which the metadata and all read files must be signed; None: no signature is required.

        Raises:
            CorruptCheckpointError: If there is no checkpoint, or it is incomplete or altered.
            UntrustedSnapshotError: If it is not signed with the key.
        """
        found = find_snapshot(path, verify=False, key=key)
        return StoredCheckpoint(found.path, found.checkpoint, found.facts, signed=key is not None)

    @property
    def files(self) -> StateFiles:
        """The reader of the files."""
        return StateFiles("/", "", "read", signed=self._signed)

    def operators(self) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Return all operators (id, name, uid) and their vertices (parallelism, maxParallelism)."""
        return [(operator, vertex) for vertex in self.facts["vertices"] for operator in vertex["operators"]]

    def find(self, identifier: OperatorIdentifier | str) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return an operator and its vertex.

        Raises:
            ProgramError: The checkpoint has no such operator.
        """
        wanted = OperatorIdentifier.of(identifier)
        for operator, vertex in self.operators():
            if operator["id"] == wanted.operator_id:
                return operator, vertex
        known = ", ".join(named(operator) for operator, _ in self.operators()) or "none"
        raise program_error(f"{self.path} has no operator with {wanted}", f"it has {known}")

    def snapshots(self, operator_id: str) -> list[tuple[int, OperatorStateSnapshot]]:
        """Return the state of an operator in each subtask that has any, in their order."""
        found = [
            (subtask, task.operators[operator_id]) for (_, subtask), task in self.checkpoint.tasks.items() if operator_id in task.operators
        ]
        return sorted(found, key=lambda pair: pair[0])

    def handles(self, operator_id: str) -> list[StateHandle]:
        """Return the handles of an operator's state, in the order of its subtasks.

        Raises:
            StateMigrationError: If another package's state backend wrote them in its own format.
        """
        return handles_of(self.snapshots(operator_id))

    def overview(self, operator: dict[str, Any], vertex: dict[str, Any]) -> OperatorOverview:
        """Return the metadata of an operator."""
        snapshots = [state for _, state in self.snapshots(operator["id"])]
        handles = [state.state for state in snapshots if state.state is not None]
        files = {f.name: f.size for handle in handles for f in handle.files}
        return OperatorOverview(
            uid=operator.get("uid"),
            name=operator["name"],
            operator_id=operator["id"],
            parallelism=int(vertex["parallelism"]),
            max_parallelism=int(vertex["maxParallelism"]),
            states={state.name: state for state in _states(handles)},
            size_bytes=sum(files.values()),
            files=len(files),
            has_other_state=any(s.reader_splits is not None or s.writer_state is not None or s.committables for s in snapshots)
            or operator["id"] in self.checkpoint.enumerators,
        )


def handles_of(snapshots: Iterable[tuple[int, OperatorStateSnapshot]]) -> list[StateHandle]:
    """Return the handles of an operator's subtasks.

    Raises:
        StateMigrationError: If another package's state backend wrote them in its own format.
    """
    handles = [state.state for _, state in snapshots if state.state is not None]
    for handle in handles:
        if "states" not in handle.meta or "scopes" not in handle.meta:
            raise StateMigrationError(
                f"the state was written by the state backend {handle.meta.get('backend')!r}, in a format of its own",
                hint="what the backends hashmap, lmdb and rocksdb wrote can be read",
            )
    return handles


def _states(handles: Iterable[StateHandle]) -> Iterable[StateOverview]:
    for handle in handles:
        for name, data in handle.meta.get("states", {}).items():
            schema = StateSchema.from_json(data)
            yield StateOverview(name, schema.kind, _type_text(schema.serializer), schema.ttl_ms)
        facts = handle.meta.get(OPERATOR_STATE) or {}
        for part, kind in _OPERATOR_KINDS.items():
            for name in facts.get(part, ()):
                yield StateOverview(name, kind, _type_text(facts["types"].get(name)))


def _type_text(serializer: dict[str, Any] | None) -> str | None:
    if serializer is None:
        return None
    declared = type_of(serializer)
    if declared is None:
        return str(serializer.get("serializer"))
    # # Pickled objects have no description.
    told = (declared, *declared.children())
    return None if any(isinstance(kind, PickledBytesTypeInfo) for kind in told) else str(declared)


def type_of(serializer: dict[str, Any] | None) -> Any:
    """Return the declared type in a serializer's snapshot, or None if there is none or it is unknown."""
    if serializer is None or serializer.get("serializer") != "type":
        return None
    return type_from_json(serializer)


def schema_of(handles: Iterable[StateHandle], name: str) -> StateSchema | None:
    """Return the description of a keyed state in the handles."""
    for handle in handles:
        data = handle.meta["states"].get(name)
        if data is not None:
            return StateSchema.from_json(data)
    return None


def unknown_state(what: str, known: Iterable[str], name: str, operator: dict[str, Any]) -> Exception:
    """Return the error for a name that an operator has no state of."""
    names = ", ".join(sorted(known)) or "none"
    return program_error(f"{named(operator)} has no {what} {name!r} in the checkpoint", f"it has {names}", location=user_location())
