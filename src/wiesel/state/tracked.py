"""Internal. Base of the built-in backends: timers, operator state, schemas, and composing and restoring snapshots."""

from __future__ import annotations

import gc
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import repeat
from typing import Any

from wiesel.core.clock import Clock
from wiesel.core.errors import InvariantError, StateMigrationError
from wiesel.core.options import CHECKPOINT_INCREMENTAL
from wiesel.state.backend import KeyedTable, KeyGroupRange, OperatorStateStore, StateBackend, StateFile, StateFileReader, StateHandle
from wiesel.state.changelog import FORMAT_VERSION, OPERATOR, TIMERS, Section, encoded_section, read_file
from wiesel.state.key_groups import key_group
from wiesel.state.operator_state import OPERATOR_STATE, HeapOperatorState, OperatorStateImage, shares
from wiesel.state.schema import STORAGE, StateSchema, check_schema, resolve_records, snapshot_of
from wiesel.state.snapshots import Chain, Contents, FileScope, Link, Part
from wiesel.state.timers import HeapTimerQueue
from wiesel.state.ttl import TtlSettings, join_times, split_times, with_ttl

__all__ = ["NATIVE", "TrackedBackend"]

NATIVE = "native"
"""Key in the meta of a handle: its first files are those of a database; the value describes them."""

_FLOOR_BYTES = 1 << 20
_MOST_DELTA = 4
"""Maximal ratio of the changes to the last full write: a quarter of what is written is then written twice."""
_MOST_FILES = 400
_SLICE_ENTRIES = 1 << 16


class TrackedBackend(StateBackend):
    """State of one operator in one subtask, written as a chain of changes.

    Args:
        operator_id: Part of the names of state files.
        subtask: Index of the subtask.
        parallelism: Number of subtasks of the operator.
        key_group_range: Key groups that belong to the subtask.
        local_dir: Directory for working files.
        clock: For the time to live.
        options: The job's options.
    """

    backend_type = ""

    def __init__(
        self,
        *,
        operator_id: str,
        subtask: int,
        parallelism: int,
        key_group_range: KeyGroupRange,
        local_dir: str,
        clock: Clock,
        options: Mapping[str, Any],
    ) -> None:
        self._local_dir = local_dir
        self._options = options
        self._incremental = CHECKPOINT_INCREMENTAL.parse(options.get(CHECKPOINT_INCREMENTAL.key, True))
        self._subtask = subtask
        self._parallelism = parallelism
        self._range = key_group_range
        self._clock = clock
        self._timers: dict[str, HeapTimerQueue] = {}
        self._operator_state = HeapOperatorState()
        self._schemas: dict[str, StateSchema] = {}
        self._restored_schemas: dict[str, StateSchema] = {}
        self._chain = Chain(f"{operator_id}-{subtask}", (key_group_range.start, key_group_range.end))
        self._rewrite_from: int | None = None
        self._rewrite_link: Link | None = None
        self._must_rewrite = False

    # Methods of the backends

    @abstractmethod
    def _open_table(self, name: str, storage: str) -> KeyedTable:
        """Return the table of a name; ``storage`` is ``value``, ``list`` or ``map``."""

    @abstractmethod
    def _rename_table(self, old: str, new: str) -> None:
        """Rename a table; the new name is unused."""

    @abstractmethod
    def _set_pruning(self, name: str, prune: Callable[[Any], Any]) -> None:
        """Set the function that removes expired values when state is rewritten."""

    @abstractmethod
    def _freeze(self) -> tuple[int, list[Part]]:
        """Return number and contents of the changes to keyed state since the last snapshot, and start a new set of changes."""

    @abstractmethod
    def _begin_rewrite(self) -> None:
        """Begin to rewrite all keyed state."""

    @abstractmethod
    def _rewrite_slice(self, limit: int) -> tuple[list[Part], bool]:
        """Return the next slice of about ``limit`` entries, and whether it is the last."""

    @abstractmethod
    def _all_parts(self) -> list[Part]:
        """Return all keyed state, independent of the tracked changes."""

    @abstractmethod
    def _apply(self, section: Section, storage: str, keep: Callable[[Any], bool] | None) -> None:
        """Apply a section of keyed state from a state file."""

    @abstractmethod
    def _restored(self) -> None:
        """Discard recorded changes after all sections have been applied."""

    def _continues(self, handle: StateHandle) -> bool:
        """Return whether the chain of files can continue those of a restored handle, which belongs to a checkpoint."""
        return NATIVE not in handle.meta

    def _apply_native(self, handle: StateHandle, reader: StateFileReader) -> None:
        """Apply the part of a handle that has the format of the ``rocksdb`` backend."""
        from wiesel.state.rocksdb_native import native_sections

        for section, storage in native_sections(handle, reader, self._range, self._local_dir):
            self._apply(section, storage, None)

    def _resolve(self, name: str, resolve: Callable[[Any], Any]) -> None:
        """Convert restored values in memory to their classes. This is no change: they are stored by the names of their fields."""

    # StateBackend

    def table(
        self, name: str, *, serializer: Any = None, ttl: TtlSettings | None = None, kind: str = "value", aliases: Sequence[str] = ()
    ) -> KeyedTable:
        """See ``StateBackend``."""
        storage = STORAGE[kind]
        for alias in aliases:
            self._take_over(alias, name)
        known = self._schemas.get(name)
        if known is not None and known.kind != kind:
            raise StateMigrationError(
                f"state {name!r} is used as {known.kind} and as {kind} state in one operator", hint="use two names", state=name
            )
        restored = self._restored_schemas.pop(name, None)
        convert = None if restored is None else check_schema(name, restored, kind, serializer)
        table = self._open_table(name, storage)
        self._schemas[name] = StateSchema(kind, ttl is not None, snapshot_of(serializer), None if ttl is None else ttl.ttl_ms)
        if restored is not None:
            self._adapt(table, storage, restored.ttl, ttl is not None, convert)
            resolve = resolve_records(serializer) if convert is None else None
            if resolve is not None:
                self._resolve(name, _within_times(storage, resolve) if ttl is not None else resolve)
        if ttl is None:
            return table
        wrapped = with_ttl(table, storage, ttl, self._clock)
        if ttl.cleanup_in_full_snapshot:
            self._set_pruning(name, wrapped.prune)
        return wrapped

    def _take_over(self, alias: str, name: str) -> None:
        """Rename restored state."""
        if name in self.schemas or alias not in self._restored_schemas:
            return
        schema = self._restored_schemas.pop(alias)
        self._open_table(alias, STORAGE[schema.kind])
        self._rename_table(alias, name)
        self._restored_schemas[name] = schema
        # The existing files have it under its earlier name.
        self._must_rewrite = True

    def _adapt(self, table: KeyedTable, storage: str, had_ttl: bool, has_ttl: bool, convert: Callable[[Any], Any] | None) -> None:
        """Convert restored values to the declared type, with or without access times as declared now."""
        if convert is None and had_ttl == has_ttl:
            return
        now_ms = self._clock.now_ms()
        for key, namespace, stored in table.items():
            bare, accessed_ms = split_times(storage, stored) if had_ttl else (stored, None)
            if convert is not None:
                bare = convert(bare)
            table.put(key, join_times(storage, bare, accessed_ms or repeat(now_ms)) if has_ttl else bare, namespace)

    def timers(self, name: str) -> HeapTimerQueue:
        """See ``StateBackend``."""
        queue = self._timers.get(name)
        if queue is None:
            queue = self._timers[name] = HeapTimerQueue(name)
        return queue

    @property
    def schemas(self) -> dict[str, StateSchema]:
        """Schemas of the keyed states, both accessed and restored ones."""
        return self._restored_schemas | self._schemas

    def copy_from(self, other: TrackedBackend, keep: Callable[[Any], bool]) -> None:
        """Copy keyed state and timers of another backend as stored, including access times, for the keys selected by ``keep``."""
        for name, schema in other.schemas.items():
            storage = STORAGE[schema.kind]
            self._schemas[name] = schema
            target = self._open_table(name, storage)
            for key, namespace, stored in other._open_table(name, storage).items():
                if keep(key):
                    target.put(key, stored, namespace)
        for name, queue in other._timers.items():
            target_queue = self.timers(name)
            for timestamp, key, namespace in queue.items():
                if keep(key):
                    target_queue.register(timestamp, key, namespace)

    @property
    def operator_state(self) -> OperatorStateStore:
        """See ``StateBackend``."""
        return self._operator_state

    # Snapshots

    def snapshot(self, checkpoint_id: int, *, full: bool = False) -> Link:
        """See ``StateBackend``. A full snapshot is independent: it neither uses nor alters the chain of incremental ones."""
        contents = Contents(operator_state=self._encoded_operator_state(), meta=self._meta(savepoint=full))
        if full:
            contents.slices = [*self._all_parts(), *(queue.all_parts() for queue in self._timers.values())]
            return self._chain.standing_alone(contents)
        changed, changes = self._freeze()
        for queue in self._timers.values():
            changed += queue.changed_entries
            changes.append(queue.freeze())
        contents.changes = changes
        self._rewrite(changed, contents)
        link = self._chain.append(contents)
        if contents.keep_from is not None:
            self._rewrite_link = link
        return link

    def _rewrite(self, changed: int, contents: Contents) -> None:
        """Add a slice of all state if the chain has become too long."""
        last = self._rewrite_link
        if last is not None and last.is_essential and not last.is_written:
            # All later links would depend on one that may never be written.
            self._must_rewrite = True
        if not self._incremental:
            self._must_rewrite = True
        if self._rewrite_from is None:
            if not self._chain_too_long():
                return
            self._rewrite_from = self._chain.next_index
            self._begin_rewrite()
            for queue in self._timers.values():
                queue.begin_scan()
        # The size of a slice is bounded to bound the pause, but keeps up with the rate of changes.
        limit = 1 << 62 if self._must_rewrite else max(_SLICE_ENTRIES, changed)
        slices, done = self._rewrite_slice(limit)
        for queue in self._timers.values():
            if queue.scanning:
                count, part = queue.scan_slice(limit)
                limit = max(limit - count, 1)
                slices.append(part)
                done = done and not queue.scanning
        contents.slices = slices
        if done:
            contents.keep_from, self._rewrite_from = self._rewrite_from, None
            contents.essential, self._must_rewrite = self._must_rewrite, False

    def _chain_too_long(self) -> bool:
        if self._must_rewrite:
            return True
        if self._rewrite_link is not None and not self._rewrite_link.is_written:
            return False
        size = self._chain.size
        return size.files > _MOST_FILES or size.delta_bytes > max(_MOST_DELTA * size.base_bytes, _FLOOR_BYTES)

    def _encoded_operator_state(self) -> bytes | None:
        state = self._operator_state
        if state.empty:
            return None
        return encoded_section(Section(OPERATOR, "operator state", 1, state.image.columns()))

    def _meta(self, *, savepoint: bool) -> dict[str, Any]:
        return {
            "backend": self.backend_type,
            "format": FORMAT_VERSION,
            "subtask": self._subtask,
            "parallelism": self._parallelism,
            "max_parallelism": self._range.max_parallelism,
            "savepoint": savepoint,
            OPERATOR_STATE: None if self._operator_state.empty else self._operator_state.summary(),
            "states": {name: schema.to_json() for name, schema in self.schemas.items()},
        }

    def snapshot_failed(self, checkpoint_id: int) -> None:
        """See ``StateBackend``: nothing to do, as the next link of the chain writes the missing changes."""

    # Restore

    def restore(self, handles: Iterable[StateHandle], reader: StateFileReader) -> None:
        """See ``StateBackend``."""
        handles = [handle for handle in handles if self._readable(handle)]
        own = self._range
        keyed = [handle for handle in handles if handle.key_group_start < own.end and handle.key_group_end > own.start]
        with _no_cycle_collection():
            files = [file for handle in keyed for file in self._restore_keyed(handle, reader)]
        self._restore_operator(handles, reader)
        for queue in self._timers.values():
            queue.restored()
        self._restored()
        if not all(self._continues(handle) and not handle.meta.get("savepoint") for handle in keyed):
            # A savepoint is owned by the user: checkpoints must not depend on its files.
            self._must_rewrite = True
        else:
            self._chain.start_from(files)

    def _readable(self, handle: StateHandle) -> bool:
        meta = handle.meta
        if meta.get("format", FORMAT_VERSION) > FORMAT_VERSION:
            raise StateMigrationError(
                f"the state has format {meta['format']}, this version reads up to {FORMAT_VERSION}", hint="use the version that wrote it"
            )
        if meta.get("max_parallelism", self._range.max_parallelism) != self._range.max_parallelism:
            raise StateMigrationError(
                f"the state was written with max parallelism {meta['max_parallelism']}, the operator now has {self._range.max_parallelism}",
                hint=f"set_max_parallelism({meta['max_parallelism']}) on the operator or environment: it can never change for kept state",
            )
        return True

    def _restore_keyed(self, handle: StateHandle, reader: StateFileReader) -> list[tuple[StateFile, FileScope]]:
        """Apply the files of a handle; return those with own entries, and their key groups."""
        schemas = {name: StateSchema.from_json(data) for name, data in handle.meta["states"].items()}
        for name, schema in schemas.items():
            before = self._restored_schemas.setdefault(name, schema)
            if before.kind != schema.kind:
                raise StateMigrationError(f"subtasks stored state {name!r} as {before.kind} and as {schema.kind}", state=name)
        own, applied, native = self._range, [], 0
        if NATIVE in handle.meta:
            native = len(handle.meta[NATIVE]["files"])
            self._apply_native(handle, reader)
        keyed = handle.files[native : len(handle.files) - handle.meta.get("operator_files", 0)]
        for file, (start, end, pure) in zip(keyed, handle.meta["scopes"], strict=True):
            scope = FileScope(max(start, own.start), min(end, own.end), pure and own.start <= start and end <= own.end)
            if scope.start >= scope.end:
                continue
            keep = None if scope.pure else self._belongs_to(scope)
            for section in read_file(reader.read(file), file.name):
                if section.operation == TIMERS:
                    self.timers(section.name).apply(section, keep)
                else:
                    self._apply(section, STORAGE[schemas[section.name].kind], keep)
            applied.append((file, scope))
        return applied

    def _belongs_to(self, scope: FileScope) -> Callable[[Any], bool]:
        start, end, max_parallelism = scope.start, scope.end, self._range.max_parallelism
        return lambda key: start <= key_group(key, max_parallelism) < end

    def _restore_operator(self, handles: Sequence[StateHandle], reader: StateFileReader) -> None:
        """Restore the share of this subtask of the operator state of the old ones; files without entries for it are not read."""
        old = sorted((handle for handle in handles if handle.meta.get(OPERATOR_STATE)), key=lambda handle: handle.meta["subtask"])
        metas = [handle.meta for handle in old]
        for handle, share in zip(old, shares(metas, self._subtask, self._parallelism), strict=True):
            if not share:
                continue
            file = handle.files[-1]
            for section in read_file(reader.read(file), file.name):
                if section.operation != OPERATOR:
                    raise InvariantError(f"state file {file.name} has operation {section.operation} among operator state")
                self._operator_state.take(share, OperatorStateImage(*section.columns))
        self._operator_state.restored(meta[OPERATOR_STATE] for meta in metas)


def _within_times(storage: str, resolve: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def resolve_stored(stored: Any) -> Any:
        bare, accessed_ms = split_times(storage, stored)
        return join_times(storage, resolve(bare), accessed_ms)

    return resolve_stored


@contextmanager
def _no_cycle_collection() -> Iterator[None]:
    """Disable garbage collection temporarily: scanning millions of new objects repeatedly takes longer than reading them."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
