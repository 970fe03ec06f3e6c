"""Internal. The ``rocksdb`` backend: keyed state in RocksDB, whose files are the checkpoint.

Tables, keys and the object cache are those of the ``lmdb`` backend. A checkpoint stores the RocksDB files that no earlier one has stored; a
savepoint is written in the common format of all backends. See docs/design for the reasons.
"""

from __future__ import annotations

import mmap
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from wiesel.core.options import ROCKSDB_BLOCK_CACHE_SIZE, ROCKSDB_CACHE_SIZE, ROCKSDB_WRITE_BUFFER_COUNT, ROCKSDB_WRITE_BUFFER_SIZE
from wiesel.state.backend import StateFile, StateFileReader, StateFileWriter, StateHandle
from wiesel.state.changelog import Section
from wiesel.state.lmdb import LmdbBackend
from wiesel.state.lmdb_keys import range_of, state_id_of
from wiesel.state.rocksdb_env import RocksDbEnvironment, RocksDbSettings
from wiesel.state.rocksdb_native import fill, opened, shared_groups
from wiesel.state.snapshots import Link, Part, SnapshotLostError
from wiesel.state.tracked import NATIVE

__all__ = ["RocksDbBackend"]


class _StoredFiles:
    """The files of the database that checkpoints have stored, and their handles."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, StateFile] = {}
        self._last: tuple[int, dict[str, StateFile]] | None = None

    def start_from(self, files: dict[str, StateFile]) -> None:
        """Load the files of a restored checkpoint. The file that lists all others changes with every checkpoint."""
        self._known = {name: file for name, file in files.items() if name.endswith(".sst")}

    def unchanged(self, sequence: int) -> dict[str, StateFile] | None:
        """Return the files of the last checkpoint if the database has not been written since."""
        last = self._last
        return None if last is None or last[0] != sequence else last[1]

    def store(self, sequence: int, paths: list[Path], hint: str, writer: StateFileWriter) -> dict[str, StateFile]:
        """Return all files of a checkpoint, storing those that were not stored before.

        Args:
            sequence: The sequence number of the database at the checkpoint.
            paths: The files.
            hint: Prefix of their names.
            writer: Stores them.
        """
        with self._lock:
            found: dict[str, StateFile] = {}
            for path in paths:
                known = self._known.get(path.name)
                found[path.name] = _store(path, hint, writer) if known is None else known
            tables = {name: file for name, file in found.items() if name.endswith(".sst")}
            # A file that is missing in the newest checkpoint never reappears.
            if self._last is None or sequence > self._last[0]:
                self._known, self._last = tables, (sequence, found)
            else:
                self._known = tables | self._known
            return found


def _store(path: Path, hint: str, writer: StateFileWriter) -> StateFile:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as contents, memoryview(contents) as view:
        return writer.write(f"{hint}-{path.suffix[1:] or path.name.partition('-')[0].lower()}", [view])


class _NativeSnapshot:
    """A snapshot: the files of the database, and a link of the chain with timers and operator state."""

    def __init__(self, link: Link, store: Callable[[StateFileWriter], dict[str, StateFile]], meta: dict[str, Any]) -> None:
        self._link = link
        self._store = store
        self._meta = meta

    def run(self, writer: StateFileWriter) -> StateHandle:
        """See ``SnapshotTask``.

        Raises:
            SnapshotLostError: If the backend was closed meanwhile.
        """
        handle = self._link.run(writer)
        files = self._store(writer)
        native = {**self._meta, "files": list(files)}
        return replace(handle, files=(*files.values(), *handle.files), meta={**handle.meta, NATIVE: native})


class RocksDbBackend(LmdbBackend):
    """See the module."""

    backend_type = "rocksdb"
    cache_option = ROCKSDB_CACHE_SIZE

    _environment: RocksDbEnvironment

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._stored = _StoredFiles()
        self._base: StateHandle | None = None

    def _open_environment(self, name: str) -> RocksDbEnvironment:
        count = ROCKSDB_WRITE_BUFFER_COUNT
        settings = RocksDbSettings(
            self._size_option(ROCKSDB_BLOCK_CACHE_SIZE),
            self._size_option(ROCKSDB_WRITE_BUFFER_SIZE),
            count.parse(self._options.get(count.key, count.default)),
        )
        return RocksDbEnvironment(self._local_dir, name, settings)

    def _open_table(self, name: str, storage: str) -> Any:
        self._environment.open()
        return super()._open_table(name, storage)

    def _keep_changes(self, sections: Iterable[Section]) -> None:
        """Discard them: the database has them, and its files are the checkpoint."""

    # Snapshots

    def snapshot(self, checkpoint_id: int, *, full: bool = False) -> Any:
        """See ``StateBackend``. RocksDB's memtables are flushed to a file on the local disk in the synchronous part."""
        link = super().snapshot(checkpoint_id, full=full)
        if full or not self._incremental:
            return link
        tables = [[name, table.storage] for name, table in self._tables.items()]
        return _NativeSnapshot(link, self._freeze_files(), {"tables": tables, "number": self._number})

    def _freeze_files(self) -> Callable[[StateFileWriter], dict[str, StateFile]]:
        """Return a function that stores the present files."""
        if not self._environment.is_open:
            return lambda _: {}
        sequence, hint, stored = self._environment.sequence(), self._chain.name, self._stored
        unchanged = stored.unchanged(sequence)
        if unchanged is not None:
            return lambda _: unchanged
        checkpoint = self._environment.checkpoint()

        def store(writer: StateFileWriter) -> dict[str, StateFile]:
            try:
                return stored.store(sequence, checkpoint.files(), hint, writer)
            except FileNotFoundError as error:
                raise SnapshotLostError(f"files of a checkpoint have gone: {error}", hint="nothing, if the task was ending") from error
            finally:
                checkpoint.remove()

        return store

    def _freeze(self) -> tuple[int, list[Part]]:
        self.flush()
        return 0, []

    def _rewrite_slice(self, limit: int) -> tuple[list[Part], bool]:
        # Non-incremental checkpoints are written in the common format, so all state belongs to the chain.
        return ([] if self._incremental else self._all_parts()), True

    def _all_parts(self) -> list[Part]:
        return super()._all_parts() if self._environment.is_open else []

    # Restore

    def restore(self, handles: Iterable[StateHandle], reader: StateFileReader) -> None:
        """See ``StateBackend``. The handle with most of the own key groups is opened, entries of others are copied."""
        handles = [handle for handle in handles if self._readable(handle)]
        fitting = [(end - start, handle) for handle in handles for start, end in [shared_groups(handle, self._range)]]
        native = [(groups, handle) for groups, handle in fitting if groups > 0 and handle.meta.get(NATIVE, {}).get("files")]
        if native:
            self._go_on_with(max(native, key=lambda found: found[0])[1], reader)
        super().restore(handles, reader)
        self._base = None

    def _go_on_with(self, handle: StateHandle, reader: StateFileReader) -> None:
        self._base = handle
        fill(self._environment, handle, reader)
        native, own = handle.meta[NATIVE], self._range
        for name, storage in native["tables"]:
            self._open_table(name, storage)
        self._number = native["number"]
        bounds = ((0, own.start), (own.end, own.max_parallelism))
        foreign = [(range_of(start, 0), range_of(end, 0)) for start, end in bounds if _overlaps(handle, start, end)]
        if foreign:
            self._environment.remove_ranges(foreign)
        if not handle.meta.get("savepoint"):
            self._stored.start_from(dict(zip(native["files"], handle.files, strict=False)))

    def _continues(self, handle: StateHandle) -> bool:
        # The files of other backends have been applied to the database; the chain of this one only has timers.
        return NATIVE in handle.meta

    def _apply_native(self, handle: StateHandle, reader: StateFileReader) -> None:
        native = handle.meta[NATIVE]
        start, end = shared_groups(handle, self._range)
        if handle is self._base or not native["files"] or start >= end:
            return
        numbers: dict[int, bytes] = {}
        for name, storage in native["tables"]:
            table = self._open_table(name, storage)
            for store in (table.void, table.spaced):
                numbers[len(numbers)] = range_of(0, next(number for number, known in self._stores.items() if known is store))[2:]
        self._number = max(self._number, native["number"])
        with opened(handle, reader, self._local_dir) as other:
            for chunk in other.snapshot().chunks(range_of(start, 0), range_of(end, 0)):
                self._environment.write((), (), [(key[:2] + numbers[state_id_of(key)] + key[4:], value) for key, value in chunk])


def _overlaps(handle: StateHandle, start: int, end: int) -> bool:
    """Return whether a handle overlaps a range of key groups."""
    return max(handle.key_group_start, start) < min(handle.key_group_end, end)
