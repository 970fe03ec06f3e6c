"""Internal. The LMDB environment of a backend: private to the task, never synced, as recovery starts from the checkpoint."""

from __future__ import annotations

import ctypes
import os
import shutil
import tempfile
import threading
import weakref
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import lmdb

from wiesel.core.errors import ResourceError
from wiesel.core.private_folders import make_private_folder
from wiesel.state.snapshots import SnapshotLostError

__all__ = ["LmdbEnvironment", "Snapshot"]

_CHUNK_ENTRIES = 1024
_HEADROOM = 4
_MADV_DONTNEED = 4
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_LARGEST_MAP_BYTES = 1 << 46


class Snapshot:
    """The contents at one moment, to be read by any thread while writes go on.

    Args:
        environment: What is read.
        transaction: The read transaction of that moment; None reads what is there at the time of each run.
    """

    def __init__(self, environment: LmdbEnvironment, transaction: Any) -> None:
        self._environment = environment
        self._transaction = transaction
        self.map_bytes = environment.map_bytes

    def chunks(self, start: bytes = b"", stop: bytes | None = None) -> Iterator[list[tuple[bytes, bytes]]]:
        """Yield runs of (key, value) in order, from ``start`` on, as long as the key is below ``stop``.

        Between two runs the environment may grow and its pages may be dropped from memory, so no cursor outlives a run.
        """
        following: bytes | None = start
        while following is not None:
            chunk, following = self._environment.read_chunk(self, self._transaction, following, stop)
            if chunk:
                yield chunk


class LmdbEnvironment:
    """Keys and values on disk.

    Args:
        parent: Directory in which a new one is made.
        name: Begins the name of that directory.
        map_bytes: Size up to which the file can grow before the map has to be made larger.
        resident_bytes: How much of the file may stay mapped into memory.
    """

    def __init__(self, parent: str, name: str, map_bytes: int, resident_bytes: int) -> None:
        make_private_folder(Path(parent))
        self._path = tempfile.mkdtemp(prefix=f"{name}-", dir=parent)
        self.map_bytes = map_bytes
        self._resident_bytes = resident_bytes
        # One thread writes and reads, another reads snapshots; the map must not move while either is inside LMDB.
        self._lock = threading.RLock()
        self._environment = lmdb.open(
            self._path,
            map_size=map_bytes,
            sync=False,
            metasync=False,
            # Measured: a writable map is no faster for bulk writes, and a stray pointer could damage it.
            writemap=False,
            readahead=False,
            meminit=False,
            # Without the lock file's table of readers, writes would reuse the pages of snapshots that are being read.
            lock=True,
            max_readers=64,
        )
        self._snapshots: weakref.WeakSet[Snapshot] = weakref.WeakSet()
        self._reader: Any = self._environment.begin()

    @property
    def path(self) -> str:
        """The directory."""
        return self._path

    def get(self, key: bytes) -> bytes | None:
        """Return a value, or None."""
        value: bytes | None = self._reader.get(key)
        return value

    def snapshot(self) -> Snapshot:
        """Return the present contents."""
        with self._lock:
            # Room for what is written while the snapshot is read, as enlarging the map would end it.
            if not self._snapshots and self.size_bytes() * _HEADROOM > self.map_bytes:
                self.grow(self.size_bytes() * _HEADROOM)
            snapshot = Snapshot(self, self._environment.begin())
            self._snapshots.add(snapshot)
            return snapshot

    def live(self) -> Snapshot:
        """Return a reader of the contents as they are at each run."""
        return Snapshot(self, None)

    def read_chunk(
        self, snapshot: Snapshot, transaction: Any, start: bytes, stop: bytes | None
    ) -> tuple[list[tuple[bytes, bytes]], bytes | None]:
        """Return a run of entries and where the next one begins, None at the end.

        Raises:
            SnapshotLostError: If the map had to be made larger since the snapshot was taken, which ends its transaction.
        """
        with self._lock:
            if transaction is not None and snapshot.map_bytes != self.map_bytes:
                raise SnapshotLostError(
                    f"a snapshot of {self._path} was lost because the state outgrew the map of {snapshot.map_bytes} bytes",
                    hint="nothing, the next one succeeds; a larger wiesel.state.lmdb.map-size avoids it",
                )
            with (transaction or self._reader).cursor() as cursor:
                if not cursor.set_range(start):
                    return [], None
                chunk = list(islice(cursor, _CHUNK_ENTRIES + 1))
        if stop is not None and chunk[-1][0] >= stop:
            return chunk[: bisect_left(chunk, (stop,))], None
        following: bytes | None = chunk.pop()[0] if len(chunk) > _CHUNK_ENTRIES else None
        return chunk, following

    def first_key(self, start: bytes) -> bytes | None:
        """Return the first key at or after ``start``, None if there is none."""
        with self._lock, self._reader.cursor() as cursor:
            return cursor.key() if cursor.set_range(start) else None

    def write(self, removed: Iterable[bytes], removed_prefixes: Iterable[bytes], entries: list[tuple[bytes, bytes]]) -> None:
        """Remove keys and all keys with certain prefixes, then set entries, all at once.

        Raises:
            ResourceError: If the disk is full.
        """
        entries.sort()
        removed, removed_prefixes = list(removed), list(removed_prefixes)
        with self._lock:
            self._reader.abort()
            try:
                self._write(removed, removed_prefixes, entries)
            finally:
                self._reader = self._environment.begin()
            self._drop_pages()

    def _write(self, removed: list[bytes], removed_prefixes: list[bytes], entries: list[tuple[bytes, bytes]]) -> None:
        while True:
            try:
                with self._environment.begin(write=True) as transaction:
                    for key in removed:
                        transaction.delete(key)
                    with transaction.cursor() as cursor:
                        for prefix in removed_prefixes:
                            found = cursor.set_range(prefix)
                            while found and cursor.key().startswith(prefix):
                                found = cursor.delete() and bool(cursor.key())
                        if entries:
                            cursor.putmulti(entries)
                return
            except lmdb.MapFullError as error:
                self._grow(error)
            except lmdb.Error as error:
                raise ResourceError(
                    f"state cannot be written to {self._path}: {error}",
                    hint="check the free space of the local directory, or let the backend use another one",
                ) from error

    def grow(self, map_bytes: int) -> None:
        """Create the map at least this large; snapshots that are open are lost."""
        with self._lock:
            self._reader.abort()
            while self.map_bytes < map_bytes:
                self._grow(None)
            self._reader = self._environment.begin()

    def _grow(self, error: Exception | None) -> None:
        if self.map_bytes >= _LARGEST_MAP_BYTES:
            raise ResourceError(f"state in {self._path} has outgrown {self.map_bytes} bytes", hint="raise the parallelism") from error
        self.map_bytes *= 2
        self._environment.set_mapsize(self.map_bytes)

    def size_bytes(self) -> int:
        """Return the bytes of the pages in use."""
        with self._lock:
            info = self._environment.info()
            return int(info["last_pgno"] + 1) * int(self._environment.stat()["psize"])

    def _drop_pages(self) -> None:
        """Give mapped pages back once they are many; they stay in the kernel's cache as long as there is room for it."""
        if _resident_file_bytes() > self._resident_bytes:
            for start, length in _mappings(f"{self._path}/data.mdb"):
                _madvise(start, length)

    def drop_pages(self) -> None:
        """See ``_drop_pages``; called now and then by who reads much."""
        with self._lock:
            self._drop_pages()

    def close(self) -> None:
        """Close the environment and remove its directory."""
        with self._lock:
            self._reader.abort()
            self._environment.close()
            shutil.rmtree(self._path, ignore_errors=True)


def _resident_file_bytes() -> int:
    """Return how many bytes of files (and shared memory) are mapped and in memory; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[2]) * _PAGE_BYTES
    except OSError:
        return 0


def _mappings(path: str) -> list[tuple[int, int]]:
    found = []
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            if line.rstrip().endswith(path):
                start, _, end = line.split(" ", 1)[0].partition("-")
                found.append((int(start, 16), int(end, 16) - int(start, 16)))
    return found


def _madvise(start: int, length: int) -> None:
    with suppress(OSError, AttributeError):
        madvise = ctypes.CDLL(None).madvise
        madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        madvise(start, length, _MADV_DONTNEED)
