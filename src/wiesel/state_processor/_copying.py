"""Internal. Copies of another checkpoint's state: unchanged, or with another number of key groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, cast

from wiesel.checkpoint.snapshot import OperatorStateSnapshot
from wiesel.checkpoint.store import StateFiles
from wiesel.core.clock import SystemClock
from wiesel.state.backend import KeyGroupRange, StateFile, StateHandle
from wiesel.state.key_groups import key_group, key_group_range
from wiesel.state.operator_state import OPERATOR_STATE
from wiesel.state.tracked import TrackedBackend
from wiesel.state_processor._checkpoint import handles_of
from wiesel.state_processor._parts import Expiry, keyed_parts, working_backend

__all__ = ["FileCopier", "renumbered"]


class FileCopier:
    """Writer of state files that copies each file of another checkpoint once."""

    def __init__(self, files: StateFiles) -> None:
        self._files = files
        self._copies: dict[str, StateFile] = {}

    def write(self, name_hint: str, data: Sequence[bytes | memoryview]) -> StateFile:
        """See ``StateFileWriter``."""
        return self._files.write(name_hint, data)

    def copy(self, file: StateFile) -> StateFile:
        """Return a copy of a file.

        Raises:
            CorruptCheckpointError: It is missing, torn or altered.
        """
        if file.inline is not None:
            return file
        copy = self._copies.get(file.name)
        if copy is None:
            copy = self._copies[file.name] = self.write("copy", [self._files.read(file)])
        return copy

    def copied(self, state: OperatorStateSnapshot) -> OperatorStateSnapshot:
        """Return the state of a subtask with copies of its files."""
        return state if state.state is None else replace(state, state=self.copied_handle(state.state))

    def copied_handle(self, handle: StateHandle) -> StateHandle:
        """Return a handle with copies of its files, on which checkpoints of a job that starts from it do not depend."""
        files = tuple(self.copy(file) for file in handle.files)
        return replace(handle, files=files, meta={**handle.meta, "savepoint": True})

    @property
    def reader(self) -> StateFiles:
        """The reader of files."""
        return self._files


def renumbered(
    states: list[tuple[int, OperatorStateSnapshot]],
    operator_id: str,
    *,
    parallelism: int,
    max_parallelism: int,
    backend: str,
    checkpoint_id: int,
    files: FileCopier,
) -> list[tuple[int, OperatorStateSnapshot]]:
    """Return an operator's state with another number of key groups, by subtask.

    Each old subtask's keyed state is read once and its keys are distributed over the new subtasks. Operator state stays in its subtask.
    """
    clock = SystemClock()
    old = dict(states)
    handles = handles_of(states)
    with ExitStack() as stack:
        targets = []
        for subtask in range(parallelism):
            groups = key_group_range(subtask, max_parallelism, parallelism)
            made = working_backend(backend, groups, clock=clock, operator_id=operator_id, subtask=subtask, parallelism=parallelism)
            targets.append((cast("TrackedBackend", stack.enter_context(made)), _within(groups)))
        for part in keyed_parts(handles, files.reader, backend, Expiry(), None):
            with part.opened() as source:
                for target, keep in targets:
                    target.copy_from(cast("TrackedBackend", source), keep)
        result = []
        for subtask, (target, _) in enumerate(targets):
            before = old.get(subtask, OperatorStateSnapshot())
            if not handles:
                result.append((subtask, before))
                continue
            keyed = target.snapshot(checkpoint_id, full=True).run(files)
            result.append((subtask, replace(before, state=_with_operator_state(keyed, before.state, files))))
        return result


def _within(groups: KeyGroupRange) -> Callable[[Any], bool]:
    start, end, count = groups.start, groups.end, groups.max_parallelism
    return lambda key: start <= key_group(key, count) < end


def _with_operator_state(keyed: StateHandle, before: StateHandle | None, files: FileCopier) -> StateHandle:
    """Return a handle with the operator state that another one has."""
    count = 0 if before is None else before.meta.get("operator_files", 0)
    if before is None or not count:
        return keyed
    copies = tuple(files.copy(file) for file in before.files[-count:])
    meta = {**keyed.meta, "operator_files": count, OPERATOR_STATE: before.meta[OPERATOR_STATE]}
    return replace(keyed, files=(*keyed.files, *copies), meta=meta)
