"""Internal. The RocksDB database of a backend: private to the task, without a log, as recovery starts from the checkpoint."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from wiesel.core.errors import ResourceError, WieselError
from wiesel.core.private_folders import make_private_folder
from wiesel.state.rocksdb_library import rocksdict

__all__ = ["LocalCheckpoint", "RocksDbEnvironment", "RocksDbSettings"]

_CHUNK_ENTRIES = 1024
_BLOOM_BITS = 10
_WINDOW, _DELETIONS = 4096, 2048
"""Window of entries and number of deletions in it at which a file is compacted early, as reads have to skip deletions."""


@dataclass(frozen=True)
class RocksDbSettings:
    """Memory of a database: bytes of the block cache and of a write buffer, and the number of write buffers."""

    block_cache_bytes: int = 64 << 20
    write_buffer_bytes: int = 64 << 20
    write_buffers: int = 2

    def options(self) -> Any:
        """Return RocksDB's options."""
        library = rocksdict()
        options = library.Options(raw_mode=True)
        options.create_if_missing(True)
        table = library.BlockBasedOptions()
        table.set_block_cache(library.Cache(self.block_cache_bytes))
        # Otherwise indexes and filters of all files are in memory in addition to the cache, however large the state is.
        table.set_cache_index_and_filter_blocks(True)
        table.set_pin_l0_filter_and_index_blocks_in_cache(True)
        table.set_bloom_filter(_BLOOM_BITS, False)
        options.set_block_based_table_factory(table)
        options.set_write_buffer_size(self.write_buffer_bytes)
        options.set_max_write_buffer_number(self.write_buffers)
        options.set_level_compaction_dynamic_level_bytes(True)
        options.set_compression_type(library.DBCompressionType.lz4())
        options.add_compact_on_deletion_collector_factory(_WINDOW, _DELETIONS, 0.5)
        options.set_max_background_jobs(2)
        options.set_keep_log_file_num(1)
        options.set_max_log_file_size(1 << 20)
        return options


class LocalCheckpoint:
    """Hard links to the files at one moment, removed with this object."""

    def __init__(self, directory: str, path: str) -> None:
        self._path = Path(path)
        self._remove = weakref.finalize(self, shutil.rmtree, directory, True)

    def files(self) -> list[Path]:
        """Return the files needed to open the database; the one that lists the others is last."""
        found = [path for path in self._path.iterdir() if path.suffix == ".sst" or path.name.startswith("MANIFEST-")]
        return [*sorted(found), self._path / "CURRENT"]

    def remove(self) -> None:
        """Remove the links."""
        self._remove()


class _Snapshot:
    """The contents at the moment in which the cursor was created; for one reader at a time.

    A cursor sees them for as long as it lives. One obtained from rocksdict's snapshots does not: it sees later writes.
    """

    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor

    def chunks(self, start: bytes = b"", stop: bytes | None = None) -> Iterator[list[tuple[bytes, bytes]]]:
        """See ``DiskSnapshot``."""
        cursor = self._cursor
        read, chunk = cursor.key, []
        cursor.seek(start)
        while cursor.valid():
            key = read()
            if stop is not None and key >= stop:
                break
            chunk.append((key, cursor.value()))
            if len(chunk) == _CHUNK_ENTRIES:
                yield chunk
                chunk = []
            cursor.next()
        if chunk:
            yield chunk


class _Live:
    """The current contents at each read: a long-lived cursor would retain files that are no longer needed."""

    def __init__(self, database: Any) -> None:
        self._database = database

    def chunks(self, start: bytes = b"", stop: bytes | None = None) -> Iterator[list[tuple[bytes, bytes]]]:
        """See ``DiskSnapshot``."""
        bounds = rocksdict().ReadOptions()
        if stop is not None:
            if start >= stop:
                return
            bounds.set_iterate_upper_bound(stop)
        while chunk := list(islice(self._database.items(from_key=start, read_opt=bounds), _CHUNK_ENTRIES)):
            yield chunk
            start = chunk[-1][0] + b"\0"


class RocksDbEnvironment:
    """Keys and values in RocksDB. Opened by ``open``: most operators have no keyed state.

    Args:
        parent: Directory in which a new one is created.
        name: Prefix of the name of that directory.
        settings: Memory of the database.

    Raises:
        ConfigurationError: If RocksDB is not installed.
    """

    def __init__(self, parent: str, name: str, settings: RocksDbSettings) -> None:
        self._library = rocksdict()
        make_private_folder(Path(parent))
        self._path = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=parent))
        self._settings = settings
        self._database: Any = None
        self._get: Any = None

    @property
    def path(self) -> str:
        """See ``DiskEnvironment``."""
        return str(self._path)

    @property
    def is_open(self) -> bool:
        """True if the database is open."""
        return self._database is not None

    def open(self, files: Mapping[str, Iterable[bytes]] | None = None) -> None:
        """Open the database, with the files of a checkpoint if given: name -> contents in parts."""
        if self._database is not None:
            return
        directory = self._path / "db"
        directory.mkdir()
        with _disk_errors("open", self._path):
            for name, parts in (files or {}).items():
                with (directory / name).open("wb") as file:
                    file.writelines(parts)
            self._database = self._library.Rdict(str(directory), self._settings.options())
        options = self._library.WriteOptions()
        options.disable_wal = True
        self._database.set_write_options(options)
        self._get = self._database.get

    def get(self, key: bytes) -> bytes | None:
        """See ``DiskEnvironment``."""
        value: bytes | None = self._get(key)
        return value

    def snapshot(self) -> _Snapshot:
        """See ``DiskEnvironment``."""
        return _Snapshot(self._database.iter())

    def live(self) -> _Live:
        """See ``DiskEnvironment``."""
        return _Live(self._database)

    def first_key(self, start: bytes) -> bytes | None:
        """See ``DiskEnvironment``."""
        cursor = self._database.iter()
        cursor.seek(start)
        return cursor.key() if cursor.valid() else None

    def write(self, removed: Iterable[bytes], removed_prefixes: Iterable[bytes], entries: Iterable[tuple[bytes, bytes]]) -> None:
        """See ``DiskEnvironment``."""
        batch = self._library.WriteBatch(raw_mode=True)
        delete, put = batch.delete, batch.put
        for key in removed:
            delete(key)
        # Not delete_range: every read would have to check all such ranges.
        cursor: Any = None
        for prefix in removed_prefixes:
            cursor = cursor or self._database.iter()
            cursor.seek(prefix)
            while cursor.valid() and (key := cursor.key()).startswith(prefix):
                delete(key)
                cursor.next()
        for key, value in entries:
            put(key, value)
        self._apply(batch)

    def remove_ranges(self, ranges: Iterable[tuple[bytes, bytes]]) -> None:
        """Remove all keys of a few ranges."""
        batch = self._library.WriteBatch(raw_mode=True)
        for start, stop in ranges:
            batch.delete_range(start, stop)
        self._apply(batch)

    def _apply(self, batch: Any) -> None:
        with _disk_errors("write", self._path):
            self._database.write(batch)

    def sequence(self) -> int:
        """Return the sequence number: the count of changes."""
        return int(self._database.latest_sequence_number())

    def checkpoint(self) -> LocalCheckpoint:
        """Flush the memtables and return links to all files."""
        directory = tempfile.mkdtemp(prefix="chk-", dir=self._path)
        with _disk_errors("write", self._path):
            self._database.flush()
            self._library.Checkpoint(self._database).create_checkpoint(f"{directory}/files")
        return LocalCheckpoint(directory, f"{directory}/files")

    def drop_pages(self) -> None:
        """See ``DiskEnvironment``: nothing to do, as RocksDB maps no files."""

    def size_bytes(self) -> int:
        """See ``DiskEnvironment``."""
        if self._database is None:
            return 0
        names = ("rocksdb.total-sst-files-size", "rocksdb.cur-size-all-mem-tables")
        return sum(int(self._database.property_int_value(name) or 0) for name in names)

    def close(self) -> None:
        """See ``DiskEnvironment``."""
        if self._database is not None:
            self._database.close()
        shutil.rmtree(self._path, ignore_errors=True)


@contextmanager
def _disk_errors(what: str, path: Path) -> Iterator[None]:
    # RocksDB's own errors come as plain exceptions.
    try:
        yield
    except WieselError:
        raise
    except Exception as error:
        raise ResourceError(
            f"RocksDB cannot {what} state in {path}: {error}",
            hint="check the free space of the local directory, or let the backend use another one",
        ) from error
