"""Writer of checkpoints from data or from other checkpoints."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from wiesel.checkpoint.coordinator import Checkpoint
from wiesel.checkpoint.file_io import open_root
from wiesel.checkpoint.snapshot import OperatorStateSnapshot, TaskSnapshot
from wiesel.checkpoint.store import CheckpointStore, StateFiles
from wiesel.core.argument_checks import require_count, require_instance
from wiesel.core.errors import CheckpointStorageError
from wiesel.core.user_location import program_error
from wiesel.engine.deployment import KEY_TYPES, facts_of, key_type_facts
from wiesel.engine.registry import snapshot_key
from wiesel.state.key_groups import MAX_MAX_PARALLELISM
from wiesel.state_processor._bootstrap import bootstrap
from wiesel.state_processor._checkpoint import StoredCheckpoint
from wiesel.state_processor._copying import FileCopier, renumbered
from wiesel.state_processor.operators import OperatorIdentifier, named
from wiesel.state_processor.transformation import StateBootstrapTransformation

__all__ = ["SavepointWriter"]

_DEFAULT_MAX_PARALLELISM = 128
_CHECKPOINT = re.compile(r"chk-([1-9][0-9]*)")


@dataclass
class _Operator:
    """An operator of the checkpoint to be written: copied or new."""

    identifier: OperatorIdentifier
    name: str
    kept: list[tuple[int, OperatorStateSnapshot]] | None = None
    enumerator: Any = None
    made: StateBootstrapTransformation | None = None
    key_facts: dict[str, Any] = field(default_factory=dict)


@dataclass
class _Vertex:
    """A chain of operators, which share parallelism and number of key groups."""

    name: str
    parallelism: int
    max_parallelism: int
    from_max_parallelism: int
    operators: list[_Operator] = field(default_factory=list)


class SavepointWriter:
    """Writer of checkpoints from which jobs can start (``execution.state-recovery.path``).

    ::

        totals = OperatorTransformation.bootstrap_with(rows).key_by(lambda row: row.user).transform(PutTotals())
        SavepointWriter.new_savepoint().with_operator("totals", totals).write("/checkpoints/from-warehouse")

    Identify operators by their uid, or by an :class:`OperatorIdentifier`. Nothing is read or written before :meth:`write`.
    """

    def __init__(self, parallelism: int, max_parallelism: int, state_backend: str) -> None:
        require_count(parallelism, "parallelism")
        _check_max(max_parallelism)
        self._parallelism = parallelism
        self._max_parallelism = max_parallelism
        self._backend = state_backend
        self._vertices: list[_Vertex] = []
        self._base: StoredCheckpoint | None = None

    @staticmethod
    def new_savepoint(
        max_parallelism: int = _DEFAULT_MAX_PARALLELISM, *, parallelism: int = 1, state_backend: str = "hashmap"
    ) -> SavepointWriter:
        """Create a writer without operators.

        Args:
            max_parallelism: Number of key groups: that of the job (``set_max_parallelism``; 128 by default for jobs with up to 85
                subtasks).
            parallelism: Number of subtasks in the checkpoint; in a job of this parallelism one subtask reads each.
            state_backend: Backend that holds state while it is created: ``hashmap`` (in memory) or ``lmdb`` (on disk). A job can start from
                the checkpoint with either.
        """
        return SavepointWriter(parallelism, max_parallelism, state_backend)

    @staticmethod
    def from_existing_savepoint(path: str, *, parallelism: int = 1, state_backend: str = "hashmap") -> SavepointWriter:
        """Create a writer with all contents of a checkpoint, including positions of sources; the checkpoint is not changed.

        Args:
            path: Path of a checkpoint (``.../<job id>/chk-7``), or of a job, for its newest one.
            parallelism: See :meth:`new_savepoint`; for added operators.
            state_backend: See :meth:`new_savepoint`.

        Raises:
            CorruptCheckpointError: If there is no checkpoint, or its metadata is incomplete or altered.
        """
        stored = StoredCheckpoint.load(path)
        numbers = [int(vertex["maxParallelism"]) for vertex in stored.facts["vertices"]]
        writer = SavepointWriter(parallelism, max(numbers, default=_DEFAULT_MAX_PARALLELISM), state_backend)
        writer._base = stored
        for vertex in stored.facts["vertices"]:
            groups = int(vertex["maxParallelism"])
            kept = _Vertex(vertex["name"], int(vertex["parallelism"]), groups, groups)
            for operator in vertex["operators"]:
                identifier = OperatorIdentifier(operator["id"], operator.get("uid"))
                snapshots, enumerator = stored.snapshots(operator["id"]), stored.checkpoint.enumerators.get(operator["id"])
                key_facts = {KEY_TYPES: operator[KEY_TYPES]} if KEY_TYPES in operator else {}
                kept.operators.append(_Operator(identifier, operator["name"], snapshots, enumerator, key_facts=key_facts))
            writer._vertices.append(kept)
        return writer

    # # Contents

    def with_operator(self, operator: OperatorIdentifier | str, transformation: StateBootstrapTransformation) -> SavepointWriter:
        """Add an operator with the state of a transformation.

        Raises:
            ProgramError: If the checkpoint has this operator already; remove it first.
        """
        require_instance(
            transformation,
            StateBootstrapTransformation,
            "the state of with_operator()",
            "give what OperatorTransformation.bootstrap_with(...)....transform(...) returns",
        )
        identifier = OperatorIdentifier.of(operator)
        if self._find(identifier) is not None:
            raise program_error(f"the checkpoint has an operator with {identifier} already", "call remove_operator() first to replace it")
        parallelism = 1 if transformation.one_subtask else self._parallelism
        groups = transformation.max_parallelism or self._max_parallelism
        vertex = _Vertex(transformation.name, parallelism, groups, groups)
        key_facts = key_type_facts([transformation.key_type])
        vertex.operators.append(_Operator(identifier, transformation.name, made=transformation, key_facts=key_facts))
        self._vertices.append(vertex)
        return self

    def remove_operator(self, operator: OperatorIdentifier | str) -> SavepointWriter:
        """Remove an operator: its state, and the positions of a source."""
        vertex, found = self._found(operator)
        vertex.operators.remove(found)
        return self

    def change_operator_identifier(self, operator: OperatorIdentifier | str, to: OperatorIdentifier | str) -> SavepointWriter:
        """Assign an operator's state to another uid, for a program that changed the uid or added one."""
        target = OperatorIdentifier.of(to)
        _, found = self._found(operator)
        if self._find(target) is not None:
            raise program_error(f"the checkpoint has an operator with {target} already", "call remove_operator() first to replace it")
        found.identifier = target
        return self

    def change_max_parallelism(self, max_parallelism: int) -> SavepointWriter:
        """Change the number of key groups of all operators, including those added before. Keyed state is rewritten."""
        _check_max(max_parallelism)
        self._max_parallelism = max_parallelism
        for vertex in self._vertices:
            if vertex.parallelism > max_parallelism:
                raise program_error(
                    f"{vertex.name} has {vertex.parallelism} subtasks in the checkpoint, more than {max_parallelism} key groups",
                    "give a greater number; run the job with fewer subtasks and take a checkpoint to go below",
                )
            vertex.max_parallelism = max_parallelism
        return self

    def _find(self, identifier: OperatorIdentifier) -> tuple[_Vertex, _Operator] | None:
        for vertex in self._vertices:
            for operator in vertex.operators:
                if operator.identifier.operator_id == identifier.operator_id:
                    return vertex, operator
        return None

    def _found(self, operator: OperatorIdentifier | str) -> tuple[_Vertex, _Operator]:
        identifier = OperatorIdentifier.of(operator)
        found = self._find(identifier)
        if found is None:
            known = ", ".join(named(_facts_of(o)) for v in self._vertices for o in v.operators) or "none"
            raise program_error(f"the checkpoint has no operator with {identifier}", f"it has {known}")
        return found

    # Writing

    def write(self, path: str) -> str:
        """Write the checkpoint atomically: if it fails, there is none.

        Args:
            path: Directory to be created, a path or URI: ``/checkpoints/from-warehouse``. Its parent may be the checkpoint directory of the
                jobs, but need not be.

        Returns:
            The path of the checkpoint; ``execution.state-recovery.path`` takes it, and ``path`` too.

        Raises:
            CheckpointStorageError: If there is a checkpoint already, or the storage failed.
            CorruptCheckpointError: If a file of the source checkpoint is missing, incomplete or altered.
            UserFunctionError: If a function that creates state raised.
        """
        if not any(vertex.operators for vertex in self._vertices):
            raise program_error("the checkpoint has no operator", "add one by with_operator()")
        directory, name, checkpoint_id = _place(path)
        store, root = CheckpointStore(directory, name), open_root(directory)
        if root.names(name):
            raise CheckpointStorageError(f"there is something at {path} already", hint="give a new path, or delete what is there")
        attempt = store.acquire()
        files = FileCopier(StateFiles(directory, name, f"{attempt}-{uuid4().hex[:8]}"))
        try:
            checkpoint = self._checkpoint(checkpoint_id, attempt, files)
            store.publish(checkpoint, self._facts(name), snapshot_key(make=True))
        except BaseException:
            # # Another writer of the same path would have registered itself; then this one must not delete anything.
            store.check_fence()
            root.delete(name)
            raise
        return store.path_of(checkpoint_id)

    def _checkpoint(self, checkpoint_id: int, attempt: int, files: FileCopier) -> Checkpoint:
        tasks: dict[tuple[int, int], dict[str, OperatorStateSnapshot]] = {}
        for number, vertex in enumerate(self._vertices):
            for operator in vertex.operators:
                for subtask, state in self._states(operator, vertex, checkpoint_id, files):
                    tasks.setdefault((number, subtask), {})[operator.identifier.operator_id] = state
        enumerators = {o.identifier.operator_id: o.enumerator for v in self._vertices for o in v.operators if o.enumerator is not None}
        return Checkpoint(
            checkpoint_id,
            attempt,
            time.time_ns() // 1_000_000,
            {task: TaskSnapshot(operators) for task, operators in sorted(tasks.items())},
            enumerators,
            finished=frozenset() if self._base is None else self._base.checkpoint.finished & tasks.keys(),
            savepoint=True,
        )

    def _states(
        self, operator: _Operator, vertex: _Vertex, checkpoint_id: int, files: FileCopier
    ) -> list[tuple[int, OperatorStateSnapshot]]:
        if operator.made is not None:
            made = bootstrap(
                operator.made,
                operator.identifier,
                parallelism=vertex.parallelism,
                max_parallelism=vertex.max_parallelism,
                backend=self._backend,
                checkpoint_id=checkpoint_id,
                files=files,
            )
            return list(enumerate(made))
        kept = operator.kept or []
        if vertex.max_parallelism == vertex.from_max_parallelism:
            return [(subtask, files.copied(state)) for subtask, state in kept]
        return renumbered(
            kept,
            operator.identifier.operator_id,
            parallelism=vertex.parallelism,
            max_parallelism=vertex.max_parallelism,
            backend=self._backend,
            checkpoint_id=checkpoint_id,
            files=files,
        )

    def _facts(self, job_id: str) -> dict[str, Any]:
        name = "state processor" if self._base is None else self._base.facts.get("name", "")
        return facts_of(job_id, name, self._vertices, _facts_of)


def _facts_of(operator: _Operator) -> dict[str, Any]:
    return {"id": operator.identifier.operator_id, "name": operator.name, "uid": operator.identifier.uid, **operator.key_facts}


def _place(path: str) -> tuple[str, str, int]:
    """Return directory, name and number of a checkpoint to be written at a path."""
    require_instance(path, str, "the path of a checkpoint", "give a path or URI, e.g. /checkpoints/from-warehouse")
    clean = path.rstrip("/")
    parent, _, name = clean.rpartition("/")
    numbered = _CHECKPOINT.fullmatch(name)
    number = int(numbered[1]) if numbered else 1
    if numbered:
        parent, _, name = parent.rpartition("/")
    if not name:
        raise program_error(f"a checkpoint cannot lie at {path!r}", "give the path of a new directory, e.g. /checkpoints/from-warehouse")
    return parent or ("/" if clean.startswith("/") else "."), name, number


def _check_max(max_parallelism: int) -> None:
    require_count(max_parallelism, "max_parallelism")
    if max_parallelism > MAX_MAX_PARALLELISM:
        raise program_error(f"there are at most {MAX_MAX_PARALLELISM} key groups, not {max_parallelism}", "give what the job has")
